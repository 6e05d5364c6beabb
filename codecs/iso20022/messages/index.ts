import { admi002 } from './admi.002/index.ts'
import { admi004 } from './admi.004/index.ts'
import { camt014 } from './camt.014/index.ts'
import { camt025 } from './camt.025/index.ts'
import { camt029 } from './camt.029/index.ts'
import { camt052 } from './camt.052/index.ts'
import { camt053 } from './camt.053/index.ts'
import { camt054 } from './camt.054/index.ts'
import { camt055 } from './camt.055/index.ts'
import { camt060 } from './camt.060/index.ts'
import type { MessageDefinition } from './definition.ts'
import { pacs002 } from './pacs.002/index.ts'
import { pacs004 } from './pacs.004/index.ts'
import { pacs008 } from './pacs.008/index.ts'
import { pain009 } from './pain.009/index.ts'
import { pain011 } from './pain.011/index.ts'
import { pain012 } from './pain.012/index.ts'
import { pain013 } from './pain.013/index.ts'
import { pain014 } from './pain.014/index.ts'
import { pibr001 } from './pibr.001/index.ts'
import { pibr002 } from './pibr.002/index.ts'
import { reda014 } from './reda.014/index.ts'
import { reda016 } from './reda.016/index.ts'
import { reda017 } from './reda.017/index.ts'
import { reda022 } from './reda.022/index.ts'
import { reda031 } from './reda.031/index.ts'
import { reda041 } from './reda.041/index.ts'
import { trck002 } from './trck.002/index.ts'

/** Every message type of the SPI by its name. To add one, add its folder and an entry here. */
export const messageDefinitions = {
  'pacs.008': pacs008,
  'pacs.002': pacs002,
  'pacs.004': pacs004,
  'pain.009': pain009,
  'pain.011': pain011,
  'pain.012': pain012,
  'pain.013': pain013,
  'pain.014': pain014,
  'camt.014': camt014,
  'camt.025': camt025,
  'camt.029': camt029,
  'camt.052': camt052,
  'camt.053': camt053,
  'camt.054': camt054,
  'camt.055': camt055,
  'camt.060': camt060,
  'admi.002': admi002,
  'admi.004': admi004,
  'pibr.001': pibr001,
  'pibr.002': pibr002,
  'reda.014': reda014,
  'reda.016': reda016,
  'reda.017': reda017,
  'reda.022': reda022,
  'reda.031': reda031,
  'reda.041': reda041,
  'trck.002': trck002,
} as const satisfies Readonly<Record<string, MessageDefinition>>

type Definitions = typeof messageDefinitions

export type MessageType = keyof Definitions

/** The compiler checks here that each stands under its own name and names only existing types. */
const checked: { readonly [T in MessageType]: MessageDefinition<MessageType> & { type: T } } =
  messageDefinitions

export const messageTypes = Object.keys(checked) as readonly MessageType[]

/**
 * True for a type of the SPI, in dotted lower case.
 *
 * @example isMessageType('pacs.008') // true
 */
export const isMessageType = (text: string): text is MessageType => Object.hasOwn(checked, text)

/**
 * The definition of any type.
 *
 * @example definitionOf('pacs.008').facts.transaction // 'CdtTrfTxInf'
 */
export const definitionOf = (type: MessageType): MessageDefinition<MessageType> => checked[type]
