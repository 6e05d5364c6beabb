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
 * Returns the business rules that a message breaks whose parameters are well formed. They are about payments of this
 * institution; a message that cites the payment of another one has nothing to do with them.
 */
export const brokenRules = (
  messageType: BuildableMessage,
  params: unknown,
  context: RuleContext,
): readonly BuildProblem[] => {
  if (messageType !== 'PACS008') return []
  const { transactions, local_instrument: instrument } = recordOf(params)
  if (!Array.isArray(transactions)) return []
  return transactions.flatMap((one, index) =>
    brokenBy(recordOf(one), instrument, context).map((problem) => ({
      ...problem,
      pointer: `/transactions/${index}/${problem.pointer}`,
    })),
  )
}

type Fields = Readonly<Record<string, unknown>>

const brokenBy = (
  payment: Fields,
  instrument: unknown,
  context: RuleContext,
): readonly BuildProblem[] => {
  const id = payment['end_to_end_id']
  return [
    ...(typeof id === 'string' ? brokenById(id, payment, instrument, context) : []),
    ...(recordOf(payment['creditor'])['ispb'] === context.ispb
      ? [
          {
            pointer: 'creditor/ispb',
            rule: 'settlement',
            message: 'is this institution: a payment within it is not settled over the SPI',
            expected: 'the ISPB of another institution',
          },
        ]
      : []),
  ]
}

const brokenById = (
  id: string,
  payment: Fields,
  instrument: unknown,
  { ispb, nowMs }: RuleContext,
): readonly BuildProblem[] => {
  const pointer = 'end_to_end_id'
  const moment = operationMoment(id)
  if (moment === undefined) {
    return [{ pointer, rule: 'date', message: 'has a minute that does not exist in UTC' }]
  }
  // The receiver made the id of a recurring payment, with the charge, days before.
  if (instrument === 'AUTO') return []
  const makers = [
    ispb,
    recordOf(payment['debtor'])['ispb'],
    String(payment['initiator_document'] ?? '').slice(0, 8),
  ]
  const isNear = Math.abs(moment.getTime() - nowMs) <= toleranceMs
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
      : [
          {
            pointer,
            rule: 'ispb',
            message: 'was made by another institution',
            expected: 'the ISPB of the sender or debtor, or the start of the initiator\u2019s CNPJ',
          },
        ]),
  ]
}
