import { CodecError } from '#codecs/bytes'
import {
  bytesOfHex,
  CardMessage,
  type Composite,
  createCompositeWriter,
  createFieldSetter,
  createMessagePacker,
  createPacker,
  type Dialect,
  type FieldValue,
  type GatewayMti,
} from '#codecs/iso8583'
import {
  advisedMessages,
  baseFields,
  baseMessages,
  extendedPayment,
  isAboutPayment,
  isAdviceName,
} from './base.ts'
import { compileComposite, hasSensitive } from './composite.ts'
import type { ContentForm, FieldForm, LeafForm, MessageName } from './form.ts'
import { createKeeper, type Keeper, keptPlaces } from './keep.ts'
import {
  ContentError,
  compileLeaf,
  constantsOf,
  type Leaf,
  type LeafContext,
  lengthMaxOf,
  messageBytesMax,
} from './leaf.ts'
import { sampleFacts } from './samples.ts'
import {
  type AcquirerNumbers,
  authorizationCount,
  bitOf,
  cardNumber,
  type Facts,
} from './sources.ts'

/** What the messages to one network say, compiled. */
export type Content = {
  /** False: the network takes no such message. */
  readonly has: (name: MessageName) => boolean
  /** The MTI of a message that is sent for the first time. */
  readonly mtiOf: (name: MessageName) => GatewayMti
  /** DE 3 of a message, which its reversal repeats. */
  readonly processingCodeOf: (name: MessageName, facts: Facts) => string
  /**
   * Holds `pan` of the facts itself, no copy of it: `wipe` of the message clears it.
   *
   * @param isRepeat the same message again, as xxx1
   * @throws MissingFactError, TooLongFactError
   */
  readonly build: (name: MessageName, facts: Facts, isRepeat?: boolean) => CardMessage
  /** Whether the number of authorizations is among the totals. */
  readonly countsAuthorizations: boolean
  /** How private fields are to be read. */
  readonly composites: ReadonlyMap<number, Composite<unknown>>
  /** Fields with an entry that is never shown: neither is what it stands in. */
  readonly secret: ReadonlySet<number>
  /** Undefined if nothing of answers is kept. */
  readonly keeper: Keeper | undefined
}

type Place = { readonly dialect: Dialect; readonly content: ContentForm | undefined }

type Compiled = {
  readonly mti: GatewayMti
  readonly repeatMti: GatewayMti
  readonly put: readonly ((message: CardMessage, facts: Facts) => void)[]
  readonly processingCode: Leaf | undefined
}

const messageNames = Object.keys(baseMessages) as readonly MessageName[]
const originalData = 90
/** The layer of the gateway's own fields. */
const gateway = 'gateway'

/** STAN and response code; without them no answer can be understood. */
const answerFields = [11, 39] as const

/**
 * Compiles what a network's file says, and sees to it that the dialect can carry it, before the first payment needs it.
 *
 * @param content undefined for that of the gateway
 * @param takesInstallments whether DE 67 says in how many parts the holder pays, where there is no content
 * @param takesPins whether the network's security has keys for PIN blocks
 * @param reconciles whether the network is sent totals
 * @throws ContentError or Error that names the place, the field and the rule
 */
export const createContent = (
  dialect: Dialect,
  content?: ContentForm | undefined,
  takesInstallments = true,
  takesPins = false,
  reconciles = false,
): Content => {
  const acquirer = acquirerOf(content)
  const context: LeafContext = { acquirer, kept: keptPlaces(content, dialect, acquirer), takesPins }
  const composites = new Map(
    Object.entries(content?.composites ?? {}).map(([de, form]) => [
      Number(de),
      compileComposite(form, context, `composites.${de}`),
    ]),
  )
  const place = { dialect, content }
  const messages = new Map<MessageName, Compiled>()
  for (const name of messageNames) {
    if (!isTaken(name, content) || (isOfDays(name) && !reconciles)) continue
    const fields = fieldsOf(name, place, takesInstallments)
    messages.set(name, compileMessage(name, fields, place, composites, context))
  }
  const of = (name: MessageName): Compiled => {
    const message = messages.get(name)
    if (message === undefined) throw new Error(`the card network takes no ${name}`)
    return message
  }
  // Without a file we cannot tell the network whether we take approved parts.
  const untold = content === undefined ? bitOf('accept_partial') : 0
  const compiled: Content = {
    has: (name) => messages.has(name),
    mtiOf: (name) => of(name).mti,
    processingCodeOf: (name, facts) => of(name).processingCode?.(facts) ?? '',
    build: (name, facts, isRepeat = false) => {
      const { mti, repeatMti, put } = of(name)
      const message = new CardMessage()
      message.mti = isRepeat ? repeatMti : mti
      for (const one of put) one(message, facts)
      facts.carried |= untold
      return message
    },
    countsAuthorizations: Object.values(content?.messages.reconciliation?.fields ?? {}).some(
      (form) => formOf(form).from === authorizationCount,
    ),
    composites,
    secret: new Set(
      [...composites].flatMap(([de, composite]) => (hasSensitive(composite) ? [de] : [])),
    ),
    keeper: createKeeper(content?.keep ?? {}, context.kept, composites, dialect),
  }
  checkCarries(dialect, compiled, context)
  return compiled
}

const isOfDays = (name: MessageName): boolean =>
  name === 'reconciliation' || name === 'batch_upload'

/** If a network takes no message for an operation, it takes no advice for it either. */
const isTaken = (name: MessageName, content: ContentForm | undefined): boolean =>
  content?.messages[name] !== null &&
  (!isAdviceName(name) || content?.messages[advisedMessages[name]] !== null)

const minutesPerHour = 60

const acquirerOf = (content: ContentForm | undefined): AcquirerNumbers => {
  const zone = content?.time_zone ?? '+00:00'
  const minutes = Number(zone.slice(1, 3)) * minutesPerHour + Number(zone.slice(4))
  return {
    acquirerId: content?.acquirer_id ?? '',
    forwarderId: content?.forwarder_id ?? '',
    offsetMinutes: zone.startsWith('-') ? -minutes : minutes,
  }
}

type Fields = ReadonlyMap<number, readonly [form: FieldForm, path: string]>

type Layer = readonly (readonly [string, FieldForm])[]

/**
 * The fields of a message: those of the gateway, then those of all messages, then its own. An advice has those of the
 * message in whose place it is, and its own.
 */
const fieldsOf = (
  name: MessageName,
  { dialect, content }: Place,
  takesInstallments: boolean,
): Fields => {
  const isPayment = isAboutPayment(name)
  const plain = isAdviceName(name) ? advisedMessages[name] : name
  const inDialect = Object.entries(baseMessages[plain].fields).filter(
    // Where it is missing, DE 37 alone says what a reversal takes back.
    ([de]) => Number(de) !== originalData || dialect.fields[originalData] !== undefined,
  )
  const hasInstallments = plain === 'authorization' && content === undefined && takesInstallments
  const ofFile = (one: MessageName): readonly [string, Layer] => [
    `messages.${one}.fields`,
    Object.entries(content?.messages[one]?.fields ?? {}),
  ]
  const layers: readonly (readonly [string, Layer])[] = [
    [gateway, isPayment ? Object.entries(baseFields) : []],
    ['fields', isPayment ? Object.entries(content?.fields ?? {}) : []],
    [gateway, inDialect],
    [gateway, hasInstallments ? Object.entries(extendedPayment) : []],
    ofFile(plain),
    ...(plain === name
      ? []
      : [[gateway, Object.entries(baseMessages[name].fields)] as const, ofFile(name)]),
  ]
  const fields = new Map<number, readonly [FieldForm, string]>()
  for (const [layer, given] of layers) {
    for (const [de, form] of given) fields.set(Number(de), [form, `${layer}.${de}`])
  }
  return new Map([...fields].filter(([, [form]]) => form !== null).toSorted(([a], [b]) => a - b))
}

const compileMessage = (
  name: MessageName,
  fields: Fields,
  { dialect, content }: Place,
  composites: ReadonlyMap<number, Composite<Leaf>>,
  context: LeafContext,
): Compiled => {
  const mti = mtiOf(name, content)
  const put = [...fields].map(([de, [form, path]]) => {
    // Whether the dialect carries those of the gateway, the longest messages show.
    const isOurs = path.startsWith(`${gateway}.`)
    const spec = dialect.fields[de]
    if (spec === undefined && !isOurs) {
      throw new ContentError(path, `dialect ${dialect.name} has no field ${de}`)
    }
    if (form === 'composite') return putComposite(de, composites.get(de), path)
    const leafForm = formOf(form)
    if (!isOurs) checkConstants(de, leafForm, dialect, path)
    const length = isOurs || spec === undefined ? undefined : lengthMaxOf(spec)
    return putLeaf(de, leafForm, spec?.type === 'b', context, path, length)
  })
  const [processing] = fields.get(3) ?? []
  const form = processing === undefined ? undefined : formOf(processing)
  return {
    mti,
    repeatMti: `${mti.slice(0, 3)}1` as GatewayMti,
    put,
    processingCode:
      form === undefined || name.endsWith('reversal') || name === 'batch_upload'
        ? undefined
        : compileLeaf(form, undefined, context, 'fields.3'),
  }
}

/** An advice in place of a message that is an advice already, as some captures are, has its type. */
const mtiOf = (name: MessageName, content: ContentForm | undefined): GatewayMti => {
  const given = content?.messages[name]?.mti
  if (given !== undefined || !isAdviceName(name)) return given ?? baseMessages[name].mti
  return `${mtiOf(advisedMessages[name], content).slice(0, 2)}20` as GatewayMti
}

const formOf = (form: FieldForm): LeafForm =>
  typeof form === 'string' ? { value: form } : (form ?? {})

const putComposite = (de: number, composite: Composite<Leaf> | undefined, path: string) => {
  if (composite === undefined) throw new ContentError(path, `composites has no ${de}`)
  const write = createCompositeWriter(composite, String(de))
  const set = createFieldSetter(de)
  return (message: CardMessage, facts: Facts): void => {
    const bytes = write(facts)
    if (bytes !== undefined) set(message, bytes)
  }
}

const putLeaf = (
  de: number,
  form: LeafForm,
  isBytes: boolean,
  context: LeafContext,
  path: string,
  length: number | undefined,
): ((message: CardMessage, facts: Facts) => void) => {
  if (form.from === cardNumber) {
    if (de !== 2) throw new ContentError(path, `${cardNumber} goes into field 2 only`)
    return (message, { pan }) => {
      message.pan = pan
    }
  }
  const leaf = compileLeaf(form, isBytes ? undefined : length, context, path)
  if (leaf === undefined) throw new ContentError(path, 'a value, from or "composite"')
  const set = createFieldSetter(de)
  return (message, facts) => {
    const text = leaf(facts)
    if (text !== undefined) set(message, fieldValueOf(de, text, isBytes))
  }
}

/** @throws CodecError for a text that is not of the field */
const fieldValueOf = (de: number, text: string, isBytes: boolean): FieldValue => {
  const value = isBytes ? bytesOfHex(text) : text
  if (value !== undefined) return value
  const rule = 'hexadecimal digits of whole bytes'
  throw new CodecError('iso8583_character', 0, `field ${de}: ${rule}`, { field: String(de), rule })
}

/** Each constant has to fit its field, whichever of them a payment needs. */
const checkConstants = (de: number, form: LeafForm, dialect: Dialect, path: string): void => {
  const packer = createPacker(dialect)
  const isBytes = dialect.fields[de]?.type === 'b'
  for (const text of constantsOf(form)) {
    try {
      packer.pack(
        '0100',
        { [de]: fieldValueOf(de, text, isBytes) },
        new Uint8Array(messageBytesMax),
      )
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      throw new ContentError(path, error.message)
    }
  }
}

const titles: Readonly<Record<MessageName, string>> = {
  authorization: 'an authorization',
  verification: 'a verification',
  increment: 'an increment',
  capture: 'a capture',
  refund: 'a refund',
  authorization_advice: 'an advice of an authorization',
  capture_advice: 'an advice of a capture',
  refund_advice: 'an advice of a refund',
  reversal: 'a reversal',
  partial_reversal: 'a partial reversal',
  batch_upload: 'a batch upload',
  reconciliation: 'a reconciliation',
  management: 'a sign-on',
}

/** @throws Error that names the message and the field that its dialect cannot carry */
const checkCarries = (dialect: Dialect, content: Content, { kept }: LeafContext): void => {
  const missing = answerFields.find((de) => dialect.fields[de] === undefined)
  if (missing !== undefined) throw new Error(`dialect ${dialect.name} has no field ${missing}`)
  const pack = createMessagePacker(createPacker(dialect))
  for (const name of messageNames) {
    if (!content.has(name)) continue
    for (const facts of sampleFacts(kept, name)) {
      try {
        pack(content.build(name, facts), new Uint8Array(messageBytesMax))
      } catch (error) {
        if (!(error instanceof Error)) throw error
        throw new Error(`dialect ${dialect.name} cannot carry ${titles[name]}: ${error.message}`)
      }
    }
  }
}
