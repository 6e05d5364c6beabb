import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import {
  idParams,
  pageResponse,
  pageResponses,
  type Route,
  type RouteContract,
  route,
} from '#src/platform/http/index.ts'
import { type Held, reasonOf } from '../engine/held-store.ts'
import { drexErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import type { HeldTransactions } from '../held.ts'
import { requireAllWallets } from '../wallets/rights.ts'
import { once } from './once.ts'
import { networkSchema, pageOnly, transactionHash } from './shared.ts'

const bodyBytesMax = 4_096

const heldSchema = z
  .object({
    transaction_id: z.string(),
    kind: z.string(),
    subject: z.string().meta({ description: 'The transfer, operation or contract it belongs to' }),
    network: networkSchema,
    from_wallet: z.string(),
    to: z.string().nullable().meta({ description: 'The contract that it calls' }),
    data: z.string().meta({ description: 'What it calls, as it would be sent' }),
    created_at: z.iso.datetime(),
    held_since: z.iso.datetime(),
    reason: z.enum(['looks_alike', 'not_told']).meta({
      description:
        '`looks_alike`: the chain has the same call of the wallet, and it is not clear whose. `not_told`: the nodes do not tell what the wallet has sent: they no longer have the states that show it, or it stays in a pool, or none tells its pool.',
    }),
    candidates: z.array(z.string()).meta({
      description:
        'Hashes of the same call by the same wallet on the chain; none if the nodes do not tell',
    }),
  })
  .meta({ id: 'HeldTransaction' })

const decisionSchema = z
  .strictObject({
    decision: z.enum(['send', 'sent']),
    tx_hash: transactionHash.optional().meta({ description: 'Exactly where it was sent' }),
  })
  .refine(({ decision, tx_hash }) => (decision === 'sent') === (tx_hash !== undefined), {
    path: ['tx_hash'],
    message: 'must be given with `sent`, and only then',
  })
  .meta({ id: 'HeldDecision' })

const decidedSchema = z.object({ transaction_id: z.string(), subject: z.string() })

const documents = {
  listHeldTransactions: {
    at: 'GET /v1/drex/held',
    scope: 'ops:read',
    operation: 'listHeldTransactions',
    summary: 'What may be on the chain already',
    description:
      'Of all accounts. A wallet has or may have sent what this database does not know, as after it was restored from a copy; what may be just that is not signed until somebody decides.',
    query: pageOnly,
    responses: pageResponses('held', heldSchema, 'One page'),
  },
  resolveHeldTransaction: {
    at: 'POST /v1/drex/held/{id}/resolve',
    scope: 'ops:admin',
    ofInstitution: true,
    bodyBytesMax,
    operation: 'resolveHeldTransaction',
    summary: 'Decide about a held transaction',
    description:
      '`sent`: it is the transaction with this hash, and ends as that did. `send`: none of those on the chain is it, and it is signed and sent now. To give a transfer up instead, cancel it.',
    params: idParams,
    exampleFrom: { id: 'listHeldTransactions#/held/0/transaction_id' },
    idempotent: true,
    body: { 'application/json': decisionSchema },
    bodyExamples: { send: { decision: 'send' } },
    responses: { 200: { description: 'It goes on', schema: decidedSchema } },
    errors: [drexErrors.network_unreachable],
  },
} as const satisfies Readonly<Record<string, RouteContract>>

/** A key for some wallets knows and decides nothing of others. */
const ofAll = 'what is of all wallets'

export const heldRoutes = (held: HeldTransactions, sql: Client): readonly Route[] => [
  route(documents.listHeldTransactions, async ({ query: { cursor, limit }, caller }) => {
    requireAllWallets(caller, ofAll)
    const found = await held.list(cursor, limit + 1)
    return pageResponse('held', found, limit, show)
  }),
  route(documents.resolveHeldTransaction, (asked) =>
    once(sql, asked, {
      status: 200,
      allow: (caller) => requireAllWallets(caller, ofAll),
      prepare: ({ tx_hash: hash }) => held.decide(asked.params.id, hash),
      show: ({ id, subject }) => ({ transaction_id: id, subject }),
      audit: ({ id }) => ({ action: 'drex.resolve', object: id, outcome: 'released' }),
    }),
  ),
]

const show = (held: Held): z.infer<typeof heldSchema> => ({
  transaction_id: held.id,
  kind: held.kind,
  subject: held.subject,
  network: held.network,
  from_wallet: checksumAddress(held.sender),
  to: held.recipient === null ? null : checksumAddress(held.recipient),
  data: held.data,
  created_at: held.createdAt.toISOString(),
  held_since: held.since.toISOString(),
  reason: reasonOf(held),
  candidates: [...held.candidates],
})
