import { z } from 'zod'
import {
  idParams,
  instant,
  nextCursor,
  pageOf,
  pageQuery,
  type Route,
  type RouteContract,
  route,
} from '#src/platform/http/index.ts'
import type { Chains } from '../chains.ts'
import { formatUnits } from '../domain.ts'
import { drexErrors, networkErrors } from '../errors.ts'
import { abbreviateAddress, checksumAddress, zeroAddress } from '../evm/address.ts'
import type { Hex } from '../evm/hex.ts'
import { kindOf } from '../ledger/entries.ts'
import type { Statement, Statements } from '../ledger/statement.ts'
import type { StatementKey } from '../ledger/statement-store.ts'
import type { Wallets } from '../wallets/service.ts'
import { addressSchema, anyWallet, fullAddresses, networkSchema } from './shared.ts'

const listMax = 200
const listDefault = 50
const keyForm = /^(\d{1,14})-(\d{1,15})-(\d{1,9})-(in|out)$/

const query = z.strictObject({
  ...pageQuery(keyForm, listMax, listDefault),
  network: networkSchema.optional(),
  token: addressSchema.optional().meta({ description: 'The network’s currency by default' }),
  from: instant.optional().meta({ description: 'Booked then or later' }),
  to: instant.optional().meta({ description: 'Booked before' }),
  full_addresses: fullAddresses,
})

const decimal = z.string().meta({ example: '1500.00' })
const signedDecimal = z.string().meta({ example: '-0.01' })

const movementSchema = z.object({
  movement_id: z.string(),
  booked_at: z.iso.datetime().meta({ description: 'The time that its block tells' }),
  direction: z.enum(['in', 'out']),
  kind: z
    .enum(['transfer', 'mint', 'burn'])
    .meta({ description: '`mint`: newly issued; `burn`: redeemed' }),
  amount: decimal,
  balance: signedDecimal.meta({ description: 'After it' }),
  counterparty: z.string().nullable().meta({ description: 'Null for `mint` and `burn`' }),
  tx_hash: z.string(),
  block_number: z.int(),
  transfer_id: z
    .string()
    .nullable()
    .meta({ description: 'The transfer of the account that moved it' }),
  reference: z.string().nullable(),
})

const statementSchema = z
  .object({
    wallet_id: z.string(),
    wallet: z.string(),
    network: networkSchema,
    token: z.string(),
    currency: z.literal('DREX'),
    opening_balance: signedDecimal.meta({ description: 'Before the first movement of the page' }),
    closing_balance: signedDecimal.meta({ description: 'After the last movement of the page' }),
    as_of_block: z.int().meta({ description: 'Up to where the chain was read' }),
    checked_block: z
      .int()
      .nullable()
      .meta({ description: 'Where the balance was last compared with the currency’s own' }),
    difference: signedDecimal.meta({
      description:
        'What the currency told then beyond the movements; anything but 0.00 is an alarm',
    }),
    movements: z.array(movementSchema),
    next_cursor: nextCursor,
  })
  .meta({ id: 'WalletStatement' })

type Deps = {
  readonly chains: Chains
  readonly wallets: Wallets
  readonly statements: Statements
}

const document = {
  at: 'GET /v1/wallets/{id}/statement',
  asksOthers: true,
  scope: 'wallets:read',
  operation: 'readWalletStatement',
  summary: 'What came to a wallet and left it, oldest first, with the balance after each',
  description:
    'Every movement of the currency that has its confirmations, whoever made it: transfers of this gateway and of others, contracts, swaps, issue and redemption. The statement of a wallet begins with the block in which it first moved here; what it held before is its first opening balance.',
  params: idParams,
  exampleFrom: anyWallet,
  query,
  responses: { 200: { description: 'One page', schema: statementSchema } },
  errors: [
    drexErrors.wallet_not_found,
    drexErrors.statement_not_ready,
    drexErrors.token_unusable,
    ...networkErrors,
  ],
} as const satisfies RouteContract

export const statementRoute = ({ chains, wallets, statements }: Deps): Route =>
  route(document, async ({ params, query, caller }) => {
    const { cursor, limit, network, token, from, to, full_addresses } = query
    const wallet = await wallets.get(params.id, caller)
    const chain = chains.require(network, caller.environment)
    const statement = await statements.read(chain, {
      wallet: wallet.address,
      account: caller.owner,
      token,
      limit: limit + 1,
      from,
      to,
      after: readKey(cursor),
    })
    const form = full_addresses ? checksumAddress : abbreviateAddress
    const { items, next } = pageOf(statement.movements, limit, keyOf)
    const last = items.at(-1)
    return Response.json({
      wallet_id: wallet.id,
      wallet: form(wallet.address),
      network: chain.network.id,
      ...show(statement),
      closing_balance: signedUnits(last?.balance ?? statement.opening, statement.decimals),
      movements: items.map((item) => showMovement(item, statement.decimals, form)),
      next_cursor: next,
    })
  })

const keyOf = ({ bookedAt, blockNumber, logIndex, side }: StatementKey): string =>
  `${bookedAt.getTime()}-${blockNumber}-${logIndex}-${side}`

const readKey = (key: string | undefined): StatementKey | undefined => {
  const [, at, block, index, side] = (key !== undefined && keyForm.exec(key)) || []
  if (side !== 'in' && side !== 'out') return undefined
  return {
    bookedAt: new Date(Number(at)),
    blockNumber: Number(block),
    logIndex: Number(index),
    side,
  }
}

const show = ({ token, opening, at, checkedBlock, difference, decimals }: Statement) => ({
  token: checksumAddress(token),
  currency: 'DREX',
  opening_balance: signedUnits(opening, decimals),
  as_of_block: at.blockNumber,
  checked_block: checkedBlock ?? null,
  difference: signedUnits(difference, decimals),
})

const showMovement = (
  movement: Statement['movements'][number],
  decimals: number,
  form: (address: Hex) => string,
) => ({
  movement_id: movement.id,
  booked_at: movement.bookedAt.toISOString(),
  direction: movement.side,
  kind: kindOf(movement),
  amount: formatUnits(movement.amount, decimals),
  balance: signedUnits(movement.balance, decimals),
  counterparty: movement.counterparty === zeroAddress ? null : form(movement.counterparty),
  tx_hash: movement.hash,
  block_number: movement.blockNumber,
  transfer_id: movement.transferId ?? null,
  reference: movement.reference ?? null,
})

/** Only a currency that does not keep its own rules can make a balance negative. */
const signedUnits = (units: bigint, decimals: number): string =>
  units < 0n ? `-${formatUnits(-units, decimals)}` : formatUnits(units, decimals)
