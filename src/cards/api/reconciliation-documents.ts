import { z } from 'zod'
import { pageQuery, pageResponses, type RouteContract } from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import { type FeeName, feeNames } from '../reconciliation/fees.ts'
import { reconciliationStatuses } from '../reconciliation/schema.ts'
import { bookedKinds, byKind } from '../reconciliation/totals.ts'
import { listDefault, listMax } from './documents.ts'
import { seenTo } from './waiting-documents.ts'

/** Business days compared with networks, in the OpenAPI document. */

const identifier = /^\d{1,18}$/

const reconciliationParams = z.object({ id: z.string().regex(identifier) })
const movementQuery = z.strictObject(pageQuery(identifier, listMax, listDefault))
const reconciliationQuery = z.strictObject({
  ...pageQuery(identifier, listMax, listDefault),
  network: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,31}$/)
    .optional()
    .meta({ description: 'By its name in the settings.' }),
  status: z.enum(reconciliationStatuses).optional(),
})

const sum = z.object({
  number: z.int(),
  amount: z.int().meta({ description: 'In minor units.' }),
})
const told = z.object({
  number: z.int().nullable().meta({ description: 'Null: not told, or not to be read.' }),
  amount: z.int().nullable().meta({ description: 'In minor units.' }),
})

const authorizations = z.int().nullable()
const fee = z.int().nullable().meta({
  description: 'DE 82 to 85, in minor units. Null: not told, or not to be read.',
})
const fees = z.object(
  Object.fromEntries(feeNames.map((name) => [name, fee])) as Record<FeeName, typeof fee>,
)

const reconciliation = z
  .object({
    id: z.string(),
    network: z.string(),
    day: z.iso.date().meta({ description: 'The business day, DE 15.' }),
    currency: z.string(),
    status: z.enum(reconciliationStatuses),
    ours: z
      .object({
        ...byKind(() => sum),
        authorizations: authorizations.meta({ description: 'DE 81. Null: they are not counted.' }),
        fees: fees.nullable().meta({
          description:
            'By the answers to sales and refunds, where each told of them. Null: not known.',
        }),
        net: z.int().meta({ description: 'Debits less credits, in minor units.' }),
      })
      .nullable()
      .meta({ description: 'By our book, as it was first sent. Null: it is yet to be.' }),
    theirs: z
      .object({
        ...byKind(() => told),
        authorizations: authorizations.meta({
          description: 'DE 81. Null: not told, or not to be read.',
        }),
        fees: fees.nullable().meta({ description: 'What the network charges. Null: not told.' }),
      })
      .nullable()
      .meta({ description: 'As the network told. Null: it told no totals.' }),
    difference: z
      .object({
        ...byKind(() => told),
        authorizations: authorizations.meta({ description: 'Null: not told, or not counted.' }),
        fees: fees.nullable().meta({ description: 'Null: none that both know.' }),
      })
      .nullable()
      .meta({ description: 'What our book has more than the network’s; negative: less.' }),
    stan: z.string().nullable().meta({ description: 'DE 11 of the message sent last.' }),
    attempts: z
      .int()
      .meta({ description: 'How often the network may have got the message of that STAN.' }),
    upload: z
      .object({
        status: z.enum(['under_way', 'done']),
        taken: z.int(),
        refused: z.int(),
      })
      .nullable()
      .meta({
        description:
          'Of the transactions of the day one by one, after which the totals are compared again. Null: not asked for.',
      }),
    response_code: z.string().nullable().meta({ description: 'DE 39 of the last answer.' }),
    settlement_code: z.string().nullable().meta({ description: 'DE 66 of the answer.' }),
    created_at: z.iso.datetime(),
    sent_at: z.iso.datetime().nullable(),
    ended_at: z.iso.datetime().nullable(),
    resolved_at: z.iso.datetime().nullable(),
    resolved_reason: z.string().nullable(),
  })
  .meta({ id: 'CardReconciliation' })

const movement = z
  .object({
    id: z.string(),
    transaction_id: z.string(),
    kind: z.enum(bookedKinds),
    amount: z.int().meta({ description: 'In minor units.' }),
    stan: z.string().meta({
      description:
        'DE 11 of the message that moved it; of a reversal that of what it takes back; of the void of a part its own.',
    }),
    rrn: z.string().nullable().meta({ description: 'DE 37.' }),
    at: z.iso.datetime(),
  })
  .meta({ id: 'CardMovement' })

export const reconciliationDocuments = {
  list: {
    at: 'GET /v1/transactions/reconciliations',
    scope: 'ops:read',
    operation: 'listReconciliations',
    summary: 'Business days compared with their networks, newest first',
    description:
      'Of all accounts. What moved in a day by our book, by the network’s, and the difference, in each currency.',
    query: reconciliationQuery,
    responses: pageResponses('reconciliations', reconciliation),
  },
  movements: {
    at: 'GET /v1/transactions/reconciliations/{id}/movements',
    scope: 'ops:read',
    operation: 'listReconciliationMovements',
    summary: 'What our totals of a business day are the sum of, in the order of booking',
    description:
      'To find what the network has and we have not, or the other way round. Empty where there is no such reconciliation.',
    params: reconciliationParams,
    query: movementQuery,
    exampleFrom: { id: 'listReconciliations#/reconciliations/0/id' },
    responses: pageResponses('movements', movement),
  },
  resolve: {
    at: 'POST /v1/transactions/reconciliations/{id}/resolve',
    ...seenTo,
    operation: 'resolveReconciliation',
    summary: 'Say that somebody has seen to a business day that differs',
    params: reconciliationParams,
    exampleFrom: { id: 'listReconciliations#/reconciliations/0/id' },
    errors: [cardErrors.reconciliation_not_found, cardErrors.invalid_reason],
  },
} satisfies Readonly<Record<string, RouteContract>>
