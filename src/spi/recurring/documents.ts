import { z } from 'zod'
import { reason } from '#src/events/index.ts'
import { pageQuery, pageResponses, type RouteContract } from '#src/platform/http/index.ts'
import { chargeStates, mandateStates, stepsMax } from './domain.ts'

const limitMax = 500
const limitDefault = 50

const ident = z.string().regex(/^[0-9A-Za-z]{1,64}$/, 'must be 1 to 64 letters and digits')
const cursorForm = /^[0-9a-f-]{36} [!-~]{1,64}$/
const page = pageQuery(cursorForm, limitMax, limitDefault)

const mandateParams = z.object({ mandateId: ident.meta({ description: 'MndtId.' }) })
const chargeParams = z.object({ endToEndId: ident.meta({ description: 'EndToEndId.' }) })
const mandatesQuery = z.strictObject({ state: z.enum(mandateStates).optional(), ...page })
const chargesQuery = z.strictObject({
  state: z.enum(chargeStates).optional(),
  mandate_id: ident.optional(),
  ...page,
})

const money = z.string().nullable().meta({ description: 'Reais with two decimals.' })
const created = {
  created_at: z.iso.datetime().meta({ description: 'When the first message about it was stored.' }),
  changed_at: z.iso.datetime().nullable().meta({ description: 'When its state came.' }),
}

const mandate = z
  .object({
    mandate_id: z.string(),
    state: z.enum(mandateStates).nullable().meta({ description: 'Null: no message tells it.' }),
    terms: z
      .object({
        frequency: z.string(),
        first_collection_date: z.string(),
        final_collection_date: z.string().nullable(),
        amount: money.meta({ description: 'Of each charge; null if it varies.' }),
        creditor_ispb: z.string(),
        debtor_ispb: z.string(),
        contract_number: z.string(),
      })
      .nullable(),
    ...created,
  })
  .meta({ id: 'Mandate' })

const charge = z
  .object({
    end_to_end_id: z.string(),
    reconciliation_id: z.string().nullable(),
    mandate_id: z.string().nullable(),
    state: z.enum(chargeStates).nullable().meta({ description: 'Null: no message tells it.' }),
    terms: z
      .object({
        amount: money,
        purpose: z.string(),
        due_date: z.string(),
        execution_date_time: z.string().nullable(),
        creditor_ispb: z.string(),
        debtor_ispb: z.string(),
      })
      .nullable()
      .meta({ description: 'Of the pain.013; null if that is not stored here.' }),
    ...created,
  })
  .meta({ id: 'Charge' })

const timeline = (states: readonly [string, ...string[]]) =>
  z
    .array(
      z.object({
        at: z.iso.datetime(),
        type: z.string(),
        direction: z.enum(['INBOUND', 'OUTBOUND']),
        message_id: z.uuid(),
        message_status: z
          .string()
          .nullable()
          .meta({ description: 'Null: the message is not kept any more.' }),
        request_id: z
          .string()
          .nullable()
          .meta({ description: 'MndtReqId, or the id of a cancellation.' }),
        status: z.string().nullable().meta({ description: 'What the message says.' }),
        reason: reason.nullable(),
        state: z
          .enum(states)
          .nullable()
          .meta({ description: 'Where it led; null if it changed nothing.' }),
      }),
    )
    .meta({ description: `The messages about it in their order, the first ${stepsMax}.` })

const begins =
  'Projected from messages as they are stored, since the version that has it: of a mandate or charge whose messages came before, only what came later is known, until `trilho rebuild`. The institution\u2019s, like messages: every account with the scope sees all.'

export const documents = {
  mandates: {
    at: 'GET /v1/pix/mandates',
    scope: 'messages:read',
    operation: 'listMandates',
    summary: 'Mandates of Pix Automático, newest first',
    description: begins,
    query: mandatesQuery,
    responses: pageResponses('mandates', mandate, 'Mandates'),
  },
  mandate: {
    at: 'GET /v1/pix/mandates/{mandateId}',
    scope: 'messages:read',
    operation: 'getMandate',
    summary: 'A mandate of Pix Automático with its timeline',
    description:
      'Its state is what pain.009, pain.011 and pain.012 say, and nothing else: a request is `requested`, the payer\u2019s institution answers `pending` (PDNG), `confirmed` (CFDB), `rejected` or `cancelled` (CCLD). A refused cancellation leads back to what was before.',
    params: mandateParams,
    exampleFrom: { mandateId: 'listMandates#/mandates/0/mandate_id' },
    responses: {
      200: {
        description: 'The mandate',
        schema: mandate
          .extend({ timeline: timeline(mandateStates) })
          .meta({ id: 'MandateWithTimeline' }),
      },
    },
  },
  charges: {
    at: 'GET /v1/pix/charges',
    scope: 'messages:read',
    operation: 'listCharges',
    summary: 'Charges of Pix Automático, newest first',
    description: begins,
    query: chargesQuery,
    responses: pageResponses('charges', charge, 'Charges'),
  },
  charge: {
    at: 'GET /v1/pix/charges/{endToEndId}',
    scope: 'messages:read',
    operation: 'getCharge',
    summary: 'A charge of Pix Automático with its timeline',
    description:
      'One attempt to charge, with the EndToEndId that its payment will have. Its state is what pain.013, pain.014, camt.055 and camt.029 say; a message of ours that the central bank refuses takes back what it asked for. What became of the payment is at `GET /v1/pix/payments/{endToEndId}`.',
    params: chargeParams,
    exampleFrom: { endToEndId: 'listCharges#/charges/0/end_to_end_id' },
    responses: {
      200: {
        description: 'The charge',
        schema: charge
          .extend({ timeline: timeline(chargeStates) })
          .meta({ id: 'ChargeWithTimeline' }),
      },
    },
  },
} as const satisfies Readonly<Record<string, RouteContract>>
