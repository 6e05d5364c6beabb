import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import {
  actorOf,
  idParams,
  type Route,
  type RouteContract,
  respond,
  route,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import { networksFor } from '../chains.ts'
import { transactionStatuses } from '../domain.ts'
import { drexErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import { type Lane, lanesMax, lanesOf, openMax, resentMax, sweepNow } from '../lanes.ts'
import { visibleTo } from '../wallets/rights.ts'
import type { Wallets } from '../wallets/service.ts'

const lanesSchema = z.object({
  lanes: z.array(
    z
      .object({
        network: z.string(),
        sender: z.string(),
        wallet_id: z.string(),
        label: z.string(),
        next_nonce: z.int().meta({ description: 'The next that is free.' }),
        open: z.int().meta({
          description: `Transactions that have not ended, up to ${openMax}.`,
        }),
        oldest_at: z.iso.datetime().nullable().meta({
          description: 'Of those the oldest, which the others wait for.',
        }),
        oldest_status: z.enum(transactionStatuses).nullable(),
        oldest_kind: z.string().nullable(),
        oldest_subject: z.string().nullable().meta({
          description: 'The transfer, operation or contract that it belongs to.',
        }),
      })
      .meta({ id: 'NonceLane' }),
  ),
})

const resentSchema = z.object({
  wallet_id: z.string(),
  resent: z.int().meta({ description: `How many, at most ${resentMax} on each network.` }),
})

const documents = {
  listNonceLanes: {
    at: 'GET /v1/drex/lanes',
    scope: 'drex:read',
    operation: 'listNonceLanes',
    summary: 'Nonces of each wallet on each network, and what holds them up',
    description: `Those with the oldest open transaction first, at most ${lanesMax}. A wallet has a lane once it has sent something.`,
    responses: { 200: { description: 'The lanes', schema: lanesSchema } },
  },
  resendWalletTransactions: {
    at: 'POST /v1/wallets/{id}/resend',
    scope: 'drex:transfer',
    operation: 'resendWalletTransactions',
    summary: 'Send again at once what a wallet has in flight',
    description:
      'The same bytes at the same nonces, with a higher fee where the network has fees and made blocks without them: of each nonce the chain takes one. The gateway does this by itself at intervals; this does not wait for the next of them. What is signed by nobody yet is not sent.',
    params: idParams,
    exampleFrom: { id: 'listNonceLanes#/lanes/0/wallet_id' },
    idempotent: true,
    responses: { 202: { description: 'It is sent again within seconds', schema: resentSchema } },
    errors: [drexErrors.wallet_not_found],
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const laneRoutes = (wallets: Wallets, sql: Client): readonly Route[] => [
  route(documents.listNonceLanes, async ({ caller }) => {
    const lanes = await lanesOf(sql, visibleTo(caller))
    return Response.json({ lanes: lanes.map(show) })
  }),
  route(documents.resendWalletTransactions, async ({ params, caller }) => {
    const { id } = await wallets.get(params.id, caller)
    const networks = networksFor(caller.environment)
    const answered = await runOnce(sql, caller.idempotencyKey, async (tx) => {
      const resent = await sweepNow(tx, { walletId: id, networks })
      const act = { action: 'drex.resend', object: id, outcome: `resent ${resent}` } as const
      await writeAudit(tx, { ...act, actor: actorOf(caller) })
      const body: z.infer<typeof resentSchema> = { wallet_id: id, resent }
      return { status: 202, body: JSON.stringify(body) }
    })
    return respond(answered)
  }),
]

const show = (lane: Lane) => ({
  network: lane.network,
  sender: checksumAddress(lane.sender),
  wallet_id: lane.walletId,
  label: lane.label,
  next_nonce: lane.nextNonce,
  open: lane.open,
  oldest_at: lane.oldestAt?.toISOString() ?? null,
  oldest_status: lane.oldestStatus,
  oldest_kind: lane.oldestKind,
  oldest_subject: lane.oldestSubject,
})
