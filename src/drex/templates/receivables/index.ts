import { z } from 'zod'
import { text } from '#src/platform/http/index.ts'
import { addressSchema } from '../../evm/address.ts'
import { amount, bps, bpsMax, day, hash, name, symbol } from '../fields.ts'
import { defineTemplate } from '../template.ts'

const date = day.transform((text) => Date.parse(text) / 1000)

const params = z
  .strictObject({
    name,
    symbol,
    originator: addressSchema.optional(),
    payer: addressSchema,
    debtor_ref: hash,
    face_value: amount,
    issue_date: date,
    due_date: date,
    discount_bps: bps(bpsMax - 1).default(0),
    grace_days: z.int().min(0).max(365).default(0),
    recourse: z.boolean().default(false),
    payment_token: addressSchema.optional(),
    document_hash: hash,
    registrar: text(100, { charactersMin: 0 }).default(''),
    registrar_id: text(100, { charactersMin: 0 }).default(''),
  })
  .refine((params) => params.due_date > params.issue_date, {
    path: ['due_date'],
    message: 'must be after issue_date',
  })

/** An ERC-20 of one receivable, bought at a discount and paid at its due date. */
export const template = defineTemplate({
  params,
  artifact: () => import('./generated/Receivables.json'),
  terms: async (params, place) => {
    const { payment_token: paymentToken = place.token } = params
    return [
      {
        name: params.name,
        symbol: params.symbol,
        originator: params.originator ?? place.deployer,
        payer: params.payer,
        debtorRef: params.debtor_ref,
        faceValue: await place.unitsOf(paymentToken, params.face_value, 'face_value'),
        issueDate: params.issue_date,
        dueDate: params.due_date,
        discountBps: params.discount_bps,
        graceDays: params.grace_days,
        recourse: params.recourse,
        paymentToken,
        documentHash: params.document_hash,
        registrar: params.registrar,
        registrarId: params.registrar_id,
      },
    ]
  },
})
