import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import { type Route, type RouteContract, route } from '#src/platform/http/index.ts'
import { transactionStatuses } from '../domain.ts'
import { drexErrors, networkErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import type { Funding, Sandbox } from '../sandbox.ts'
import { amount } from '../templates/fields.ts'
import { requireWallet } from '../wallets/rights.ts'
import { once } from './once.ts'
import { addressSchema, networkSchema } from './shared.ts'

const bodyBytesMax = 4_096

const fundSchema = z.strictObject({
  wallet: addressSchema,
  amount: amount.optional(),
  network: networkSchema.optional(),
})

const fundingSchema = z.object({
  wallet: z.string(),
  amount: z.string().nullable(),
  currency: z.literal('DREX'),
  network: networkSchema,
  transaction_id: z.string().nullable().meta({ description: 'Null if nothing was left to do' }),
  status: z.enum(transactionStatuses),
  tx_hash: z.string().nullable(),
})

const documents = {
  fundSandboxWallet: {
    at: 'POST /v1/drex/sandbox/fund',
    scope: 'drex:transfer',
    bodyBytesMax,
    operation: 'fundSandboxWallet',
    summary: 'Get currency for trials',
    description:
      'Sandbox networks only. Admits a wallet or contract to the currency and, with an `amount`, issues to it. Waits some seconds for the end; then `GET /v1/contracts/{currency}/calls/{transaction_id}` follows it.',
    idempotent: true,
    body: { 'application/json': fundSchema },
    bodyExamples: {
      some: { wallet: '0x1111111111111111111111111111111111111111', amount: '100.00' },
    },
    exampleFrom: { '/wallet': 'listWallets#/wallets/0/address' },
    responses: { 200: { description: 'Funded, or on its way', schema: fundingSchema } },
    errors: [
      drexErrors.contract_reverted,
      drexErrors.token_unusable,
      drexErrors.wallet_disabled,
      ...networkErrors,
    ],
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const sandboxRoutes = (sandbox: Sandbox, sql: Client): readonly Route[] => [
  route(documents.fundSandboxWallet, (asked) =>
    once(sql, asked, {
      status: 200,
      allow: (caller, { wallet }) => requireWallet(caller, wallet),
      prepare: ({ wallet, amount, network }, caller) =>
        sandbox.fund({ wallet, amount, network }, caller),
      show,
      audit: ({ last, wallet }) =>
        last === undefined
          ? undefined
          : { action: 'drex.fund', object: wallet, outcome: 'pending' },
    }),
  ),
]

const show = ({ wallet, amount, network, last }: Funding): z.infer<typeof fundingSchema> => ({
  wallet: checksumAddress(wallet),
  amount: amount ?? null,
  currency: 'DREX',
  network,
  transaction_id: last?.id ?? null,
  status: last?.status ?? 'confirmed',
  tx_hash: last?.hash ?? null,
})
