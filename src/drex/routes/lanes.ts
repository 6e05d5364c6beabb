import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import { callerOf, type Route } from '#src/platform/http/index.ts'
import { networksFor } from '../chains.ts'
import { transactionStatuses } from '../domain.ts'
import { checksumAddress } from '../evm/address.ts'
import { type Lane, lanesMax, lanesOf, openMax } from '../lanes.ts'
import { walletsOf } from '../wallets/rights.ts'

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
      })
      .meta({ id: 'NonceLane' }),
  ),
})

export const laneRoute = (sql: Client): Route => ({
  method: 'GET',
  path: '/v1/drex/lanes',
  scope: 'drex:read',
  errorStyle: 'envelope',
  document: {
    operation: 'listNonceLanes',
    summary: 'Nonces of each wallet on each network, and what holds them up',
    description: `Those with the oldest open transaction first, at most ${lanesMax}. A wallet has a lane once it has sent something.`,
    tag: 'Digital currency',
    responses: { 200: { description: 'The lanes', schema: lanesSchema } },
  },
  async handle(c) {
    const caller = callerOf(c)
    const lanes = await lanesOf(sql, {
      account: caller.owner,
      networks: networksFor(caller.environment),
      wallets: walletsOf(caller),
    })
    return Response.json({ lanes: lanes.map(show) })
  },
})

const show = (lane: Lane) => ({
  network: lane.network,
  sender: checksumAddress(lane.sender),
  wallet_id: lane.walletId,
  label: lane.label,
  next_nonce: lane.nextNonce,
  open: lane.open,
  oldest_at: lane.oldestAt?.toISOString() ?? null,
  oldest_status: lane.oldestStatus,
})
