import { z } from 'zod'
import {
  idParams,
  type Route,
  type RouteContract,
  respond,
  route,
} from '#src/platform/http/index.ts'
import { transactionStatuses } from '../domain.ts'
import { drexErrors, signingErrors } from '../errors.ts'
import type { AddressForm } from '../evm/address.ts'
import { type Batches, batchRowsMax } from '../transfers/batches.ts'
import type { Transfer } from '../transfers/store.ts'
import { exampleTransfer } from './examples.ts'
import { networkSchema, walletsFrom } from './shared.ts'
import {
  addressForm,
  createdSchema,
  plainSchema,
  show,
  showSchema,
  transferSchema,
} from './transfer-form.ts'

const bodyBytesMax = 1_048_576

const createSchema = z.strictObject({
  network: networkSchema.optional(),
  transfers: z.array(plainSchema).min(1).max(batchRowsMax),
})

const batchSchema = z.object({
  batch_id: z.string(),
  network: z.string(),
  created_at: z.iso.datetime(),
  statuses: z
    .partialRecord(z.enum(transactionStatuses), z.int())
    .meta({ description: 'How many transfers have each status' }),
})

const acceptedSchema = batchSchema.extend({ transfers: z.array(createdSchema) })
const shownSchema = batchSchema.extend({ transfers: z.array(transferSchema) })

const documents = {
  createBatch: {
    at: 'POST /v1/drex/batches',
    scope: 'drex:transfer',
    bodyBytesMax,
    operation: 'createBatch',
    summary: 'Move currency in many transfers',
    description:
      'All rows are taken, or none: then `details.rows` names those that cannot be. What is taken are transfers like any other, each with its own end and event. Limits of wallets hold for the sum of their rows.',
    idempotent: true,
    query: showSchema,
    body: { 'application/json': createSchema },
    bodyExamples: { payroll: { transfers: [exampleTransfer] } },
    exampleFrom: walletsFrom('/transfers/0', 'from_wallet', 'to_wallet'),
    responses: { 202: { description: 'All are accepted', schema: acceptedSchema } },
    errors: [...signingErrors, drexErrors.policy_refused, drexErrors.network_not_configured],
  },
  getBatch: {
    at: 'GET /v1/drex/batches/{id}',
    scope: 'drex:read',
    operation: 'getBatch',
    summary: 'A batch and its transfers',
    params: idParams,
    exampleFrom: { id: 'createBatch#/batch_id' },
    query: showSchema,
    responses: { 200: { description: 'The batch', schema: shownSchema } },
    errors: [drexErrors.batch_not_found],
  },
  approveBatch: {
    at: 'POST /v1/drex/batches/{id}/approve',
    scope: 'drex:transfer',
    operation: 'approveBatch',
    summary: 'Let the held transfers of a batch go',
    description: 'By another key of the account than the one that made it.',
    params: idParams,
    exampleFrom: { id: 'createBatch#/batch_id' },
    query: showSchema,
    responses: { 200: { description: 'The batch as it is now', schema: shownSchema } },
    errors: [drexErrors.batch_not_found, drexErrors.approval_not_possible],
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const batchRoutes = (batches: Batches): readonly Route[] => [
  route(documents.createBatch, async ({ body: { network, transfers }, query, caller }) => {
    const rows = transfers.map(({ from_wallet: fromWallet, to_wallet: toWallet, ...row }) => ({
      fromWallet,
      toWallet,
      amount: row.amount,
      reference: row.reference,
      metadata: row.metadata,
    }))
    return respond(await batches.create({ network, rows }, caller, formOf(query)))
  }),
  route(documents.getBatch, async ({ params: { id }, query, caller }) =>
    Response.json(shown(id, await batches.get(id, caller), formOf(query))),
  ),
  route(documents.approveBatch, async ({ params: { id }, query, caller }) =>
    Response.json(shown(id, await batches.approve(id, caller), formOf(query))),
  ),
]

const formOf = (query: z.output<typeof showSchema>): AddressForm =>
  addressForm(query.full_addresses)

const shown = (id: string, transfers: readonly Transfer[], form: AddressForm) => {
  const statuses: Partial<Record<Transfer['status'], number>> = {}
  for (const { status } of transfers) statuses[status] = (statuses[status] ?? 0) + 1
  const [first] = transfers
  return {
    batch_id: id,
    network: first?.network,
    created_at: first?.createdAt.toISOString(),
    statuses,
    transfers: transfers.map((each) => show(each, form)),
  }
}
