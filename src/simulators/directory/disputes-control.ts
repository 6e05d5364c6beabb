/** The simulator's endpoints by which other institutions report infractions, and ask for refunds and judge them. */

import { z } from 'zod'
import {
  type DirectoryRefund,
  type InfractionReport,
  infractionResults,
  refundResults,
} from '#codecs/dict'
import { ispbForm } from '#codecs/taxpayer'
import type { Infractions } from './infractions.ts'
import type { Refunds } from './refunds.ts'
import type { Transaction } from './transactions.ts'

const ispb = z.string().regex(ispbForm)
const transactionId = z.string().regex(/^[0-9A-Za-z]{8,32}$/)
const word = z.string().regex(/^[A-Z][A-Z_]{1,49}$/)
const prose = z.string().min(1).max(2_000)
const amountCents = z
  .int()
  .min(1)
  .max(10 ** 15)

const transactionBody = z.strictObject({
  id: transactionId,
  debited: ispb,
  credited: ispb,
  amount_cents: amountCents,
  settled_at: z.iso.datetime({ offset: true }).optional(),
})

const reportBody = z.strictObject({
  participant: ispb,
  transaction_id: transactionId,
  details: prose.optional(),
  reason: word.default('REFUND_REQUEST'),
  situation: word.default('SCAM'),
})

const reportAct = z.strictObject({
  participant: ispb,
  result: z.enum(infractionResults).optional(),
  fraud_type: word.optional(),
  analysis: prose.optional(),
})

const refundBody = z.strictObject({
  participant: ispb,
  transaction_id: transactionId,
  amount_cents: amountCents,
  reason: word.default('FRAUD'),
  details: prose.optional(),
})

const refundAct = z.strictObject({
  participant: ispb,
  result: z.enum(refundResults).optional(),
  rejection_reason: word.optional(),
  analysis: prose.optional(),
  return_id: transactionId.optional(),
})

export type Disputes = {
  readonly addTransaction: (transaction: Transaction) => void
  readonly infractions: Infractions
  readonly refunds: Refunds
}

/** An endpoint: undefined of a path or body that is not its own. */
type Act = (params: readonly string[], body: unknown) => unknown

/** JSON has no integers of our size. */
const shown = (record: InfractionReport | DirectoryRefund): object =>
  JSON.parse(
    JSON.stringify(record, (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    ),
  ) as object

const actsOn = ({
  addTransaction,
  infractions,
  refunds,
}: Disputes): readonly (readonly [path: RegExp, act: Act])[] => [
  [
    /^\/simulator\/transactions$/,
    (_, body) => {
      const { settled_at: settledAt, amount_cents: cents, ...parts } = transactionBody.parse(body)
      const settledMs = settledAt === undefined ? Date.now() : Date.parse(settledAt)
      addTransaction({ ...parts, amountCents: BigInt(cents), settledMs })
      return {}
    },
  ],
  [
    /^\/simulator\/infraction-reports$/,
    (_, body) => {
      const { participant, transaction_id: id, ...asked } = reportBody.parse(body)
      const request = { ...asked, details: asked.details, contact: undefined }
      return shown(infractions.create({ ...request, transactionId: id }, participant))
    },
  ],
  [
    /^\/simulator\/infraction-reports\/([0-9a-f-]{36})\/(acknowledge|close|cancel)$/,
    ([id = '', operation], body) => {
      const { participant, result, fraud_type: fraudType, analysis } = reportAct.parse(body)
      if (operation === 'acknowledge') return shown(infractions.acknowledge(id, participant))
      if (operation === 'cancel') return shown(infractions.cancel(id, participant))
      const closing = { result: result ?? 'DISAGREED', fraudType, analysis }
      return shown(infractions.close(id, participant, closing))
    },
  ],
  [
    /^\/simulator\/refunds$/,
    (_, body) => {
      const {
        participant,
        transaction_id: id,
        amount_cents: cents,
        ...asked
      } = refundBody.parse(body)
      const request = { ...asked, details: asked.details, amountCents: BigInt(cents) }
      return shown(refunds.create({ ...request, transactionId: id }, participant))
    },
  ],
  [
    /^\/simulator\/refunds\/([0-9a-f-]{36})\/(close|cancel)$/,
    ([id = '', operation], body) => {
      const { participant, result, analysis, ...more } = refundAct.parse(body)
      if (operation === 'cancel') return shown(refunds.cancel(id, participant))
      return shown(
        refunds.close(id, participant, {
          result: result ?? 'REJECTED',
          analysis,
          effectiveCents: undefined,
          rejectionReason: more.rejection_reason,
          returnId: more.return_id,
        }),
      )
    },
  ],
]

/** @returns undefined: the path is another's. @throws Refusal, ZodError */
export const createDisputesControl = (disputes: Disputes) => {
  const acts = actsOn(disputes)
  return (path: string, body: unknown): unknown => {
    for (const [form, act] of acts) {
      const [matched, ...params] = form.exec(path) ?? []
      if (matched !== undefined) return act(params, body)
    }
    return undefined
  }
}

export const disputeEndpoints = [
  'POST /simulator/transactions',
  'POST /simulator/infraction-reports',
  'POST /simulator/infraction-reports/{id}/acknowledge|close|cancel',
  'POST /simulator/refunds',
  'POST /simulator/refunds/{id}/close|cancel',
]
