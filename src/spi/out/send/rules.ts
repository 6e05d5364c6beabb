import type { BuildableMessage, BuildProblem } from '#codecs/iso20022'
import { operationMoment } from '../../messages/index.ts'
import { recordOf } from './domain.ts'

/** How far the moment in an EndToEndId may be from that of its processing; the SPI refuses what is further. */
const toleranceMs = 12 * 3_600_000

export type RuleContext = {
  /** This institution's. */
  readonly ispb: string
  readonly nowMs: number
}

/**
 * Returns the business rules that a message breaks whose parameters are well formed. They are about what this
 * institution makes, payments, returns and charges; what a message cites was made by another one, long ago perhaps.
 */
export const brokenRules = (
  messageType: BuildableMessage,
  params: unknown,
  context: RuleContext,
): readonly BuildProblem[] => {
  const message = recordOf(params)
  switch (messageType) {
    case 'PACS008':
      return brokenByEach(message, 'transactions', (one) =>
        brokenByPayment(one, message['local_instrument'], context),
      )
    case 'PACS004':
      return Array.isArray(message['transactions'])
        ? brokenByEach(message, 'transactions', (one) => brokenByReturn(one, context))
        : placed('', brokenByReturn(message, context))
    case 'PAIN013':
      return brokenByEach(message, 'charges', (one) => brokenByCharge(one, context))
    default:
      return []
  }
}

type Fields = Readonly<Record<string, unknown>>
/** Pointers are relative. */
type Problems = readonly BuildProblem[]

const brokenByEach = (
  message: Fields,
  list: string,
  broken: (one: Fields) => Problems,
): Problems => {
  const all = message[list]
  if (!Array.isArray(all)) return []
  return all.flatMap((one, index) => placed(`/${list}/${index}`, broken(recordOf(one))))
}

const placed = (place: string, problems: Problems): Problems =>
  problems.map((problem) => ({ ...problem, pointer: `${place}/${problem.pointer}` }))

const brokenByPayment = (payment: Fields, instrument: unknown, context: RuleContext): Problems => {
  const { ispb } = context
  const makers = [
    ispb,
    recordOf(payment['debtor'])['ispb'],
    String(payment['initiator_document'] ?? '').slice(0, 8),
  ]
  // The receiver made the id of a recurring payment, with the charge, days before.
  const made = { makers: instrument === 'AUTO' ? undefined : makers, expected: madeByPayer }
  const isOwn = recordOf(payment['creditor'])['ispb'] === ispb
  return [
    ...brokenById(payment, { field: 'end_to_end_id', ...made }, context.nowMs),
    ...(isOwn ? [settlement('creditor/ispb')] : []),
  ]
}

const brokenByReturn = (one: Fields, { ispb, nowMs }: RuleContext): Problems => {
  const { returning_ispb: returning = ispb, receiving_ispb: receiving } = one
  const made = { field: 'return_id', makers: [ispb, returning], expected: madeByReturner }
  return [
    ...brokenById(one, made, nowMs),
    ...(receiving === ispb || (receiving !== undefined && receiving === returning)
      ? [settlement('receiving_ispb')]
      : []),
  ]
}

const brokenByCharge = (charge: Fields, { ispb }: RuleContext): Problems => {
  const makers = [ispb, recordOf(charge['creditor'])['ispb']]
  return brokenById(charge, { field: 'end_to_end_id', makers, expected: madeByCreditor })
}

const madeByPayer = 'the ISPB of the sender or debtor, or the start of the initiator\u2019s CNPJ'
const madeByReturner = 'the ISPB of the sender or of the institution that returns'
const madeByCreditor = 'the ISPB of the sender or creditor'

const settlement = (pointer: string): BuildProblem => ({
  pointer,
  rule: 'settlement',
  message: 'is the same institution: what stays within it is not settled over the SPI',
  expected: 'the ISPB of another institution',
})

type MadeId = {
  readonly field: string
  /** ISPBs that it may have; undefined: any, and any real minute. */
  readonly makers: readonly unknown[] | undefined
  /** The makers in words. */
  readonly expected: string
}

/** @param nowMs - undefined: it may be made long before its operation */
const brokenById = (one: Fields, { field, makers, expected }: MadeId, nowMs?: number): Problems => {
  const id = one[field]
  if (typeof id !== 'string') return []
  const pointer = field
  const moment = operationMoment(id)
  if (moment === undefined) {
    return [{ pointer, rule: 'date', message: 'has a minute that does not exist in UTC' }]
  }
  if (makers === undefined) return []
  const isNear = nowMs === undefined || Math.abs(moment.getTime() - nowMs) <= toleranceMs
  return [
    ...(isNear
      ? []
      : [
          {
            pointer,
            rule: 'date',
            message: 'has a moment more than 12 hours from now',
            expected: 'a UTC minute within 12 hours of now',
          },
        ]),
    ...(makers.includes(id.slice(1, 9))
      ? []
      : [{ pointer, rule: 'ispb', message: 'was made by another institution', expected }]),
  ]
}
