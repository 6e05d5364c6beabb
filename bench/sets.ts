import {
  type CompiledSchema,
  createMessageScanner,
  knownVersions,
  messageTypes,
  ourCatalogue,
} from '#codecs/iso20022'
import { nativeText } from '#src/platform/runtime/index.ts'
import { generateMessage } from '../test/support/generated-messages.ts'
import { pacs008 } from '../test/support/messages.ts'
import { createRandom, type Random } from '../test/support/mutations.ts'
import { inOwnLayout } from './layouts.ts'
import { validSignature, variedBy } from './messages.ts'

/** One message of a set, and its schema. */
export type SetMessage = { readonly schema: CompiledSchema; readonly xml: Uint8Array }

const encoder = new TextEncoder()
const shapesEach = 3
/** The number of senders, each with its own shape of each type; most traffic is that of the first few. */
const mixShapes = 12
const texts = ['ACME', 'Padaria Central Ltda', 'José', 'Pedido 42', 'Lu & Cia', 'a', 'Rui Barbosa']

type MessageType = (typeof messageTypes)[number]

const schemaOf = (type: MessageType, version = knownVersions(type).at(-1)): CompiledSchema => {
  const schema = version === undefined ? undefined : ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error(`no schema of ${type}`)
  return schema
}

/** This many valid messages: a random walk may write twice what the schema allows once. */
const valid = (count: number, next: (index: number) => SetMessage): readonly SetMessage[] => {
  const { scan, validate } = createMessageScanner(nativeText, { learning: false })
  const all: SetMessage[] = []
  for (let index = 0; all.length < count; index++) {
    if (index > 2 * count) throw new Error('too few messages are valid')
    const one = next(index)
    if (validate(one.schema, scan(one.xml)).valid) all.push(one)
  }
  return all
}

const payment = (index: number): string => variedBy(pacs008({ signature: validSignature }), index)

const generated = (schema: CompiledSchema, shape: Random, values: Random): Uint8Array =>
  encoder.encode(generateMessage(schema, shape, { values, texts }))

/** Types by their share in an institution's traffic: a payment and its answer, now and then all else. */
const mixTypes = (random: Random): MessageType => {
  const share = random.next(100)
  if (share < 44) return 'pacs.008'
  if (share < 90) return 'pacs.002'
  return share < 94 ? 'pacs.004' : random.pick(messageTypes)
}

/** A number of a sender; small ones come far more often. */
const sender = (random: Random): number => Math.min(random.next(mixShapes), random.next(mixShapes))

/** The set where learning has to pay most: many shapes take turns, and all come again. */
export const fewShapes = `27 types, ${shapesEach} shapes each`

/**
 * Sets of `count` messages, each different from all others, the same in every run. Together they show what a parser
 * that learns from its input costs if there is little or nothing to learn.
 */
export const sets: Readonly<Record<string, (count: number) => readonly SetMessage[]>> = {
  recurring: (count) => {
    const schema = schemaOf('pacs.008', '1.13')
    return valid(count, (index) => ({ schema, xml: encoder.encode(payment(index)) }))
  },
  'every message in another layout': (count) => {
    const schema = schemaOf('pacs.008', '1.13')
    const random = createRandom(11)
    return valid(count, (index) => ({
      schema,
      xml: encoder.encode(inOwnLayout(payment(index), random)),
    }))
  },
  '27 types, random': (count) => {
    const random = createRandom(23)
    return valid(count, () => {
      const schema = schemaOf(random.pick(messageTypes))
      return { schema, xml: generated(schema, random, random) }
    })
  },
  [fewShapes]: (count) => {
    const order = createRandom(7)
    const values = createRandom(99)
    return valid(count, () => {
      const kind = order.next(messageTypes.length)
      const schema = schemaOf(messageTypes[kind] as MessageType)
      const shape = createRandom(2_654_435 * (1000 + kind * 31 + order.next(shapesEach)))
      return { schema, xml: generated(schema, shape, values) }
    })
  },
  'real mix': (count) => {
    const order = createRandom(5)
    const values = createRandom(77)
    return valid(count, () => {
      const type = mixTypes(order)
      const schema = schemaOf(type)
      const kind = messageTypes.indexOf(type)
      const shape = createRandom(9_176_263 * (1000 + kind * 31 + sender(order)))
      return { schema, xml: generated(schema, shape, values) }
    })
  },
}
