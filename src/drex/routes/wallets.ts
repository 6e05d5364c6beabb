import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import {
  actorOf,
  idParams,
  pageResponse,
  pageResponses,
  type Route,
  type RouteContract,
  route,
  text,
  writeAudit,
} from '#src/platform/http/index.ts'
import { trackedOfWallet } from '../contracts/store.ts'
import { madeBy } from '../creation.ts'
import type { WantedKey } from '../custody/adoption.ts'
import { keyServices } from '../custody/key-service.ts'
import { drexErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import { alertsSchema } from '../wallets/alerts.ts'
import { policySchema } from '../wallets/policy.ts'
import { requireAllWallets } from '../wallets/rights.ts'
import type { Wallets } from '../wallets/service.ts'
import { type Wallet, walletStatuses, walletTypes } from '../wallets/store.ts'
import { once } from './once.ts'
import { addressSchema, anyWallet, metadataSchema, pageOnly } from './shared.ts'
import { showTracked, trackedSchema } from './tracked.ts'

const common = { label: text(100), metadata: metadataSchema.default({}) }

const createSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('managed'), ...common }),
  z.strictObject({ type: z.enum(['external', 'web3signer']), ...common, address: addressSchema }),
  z.strictObject({
    type: z.enum(keyServices),
    ...common,
    key_name: text(500).meta({
      description: 'Id, ARN or alias of the key at AWS; name of the key version at Google',
    }),
  }),
])

const wantedKey = (body: z.output<typeof createSchema>): WantedKey => {
  switch (body.type) {
    case 'managed':
      return { type: body.type }
    case 'external':
    case 'web3signer':
      return { type: body.type, address: body.address }
    case 'aws_kms':
    case 'gcp_kms':
      return { type: body.type, keyName: body.key_name }
  }
}

const changeSchema = z
  .strictObject({
    status: z.enum(walletStatuses).optional(),
    label: text(100).optional(),
    policy: policySchema.optional(),
    alerts: alertsSchema.optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change something')

const walletSchema = z
  .object({
    wallet_id: z.string(),
    address: z.string(),
    type: z.enum(walletTypes),
    key_name: z.string().nullable().meta({ description: 'What the service calls its key' }),
    label: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    status: z.enum(walletStatuses),
    environment: z.enum(['test', 'live']).nullable().meta({
      description: 'Of the key that made it: it signs for such networks only; null: both',
    }),
    policy: z.record(z.string(), z.unknown()),
    alerts: z.record(z.string(), z.unknown()).meta({
      description: 'Balances below which `drex.wallet.balance_low` tells of it',
    }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Wallet' })

const documents = {
  createWallet: {
    at: 'POST /v1/wallets',
    scope: 'wallets:manage',
    operation: 'createWallet',
    summary: 'Create a wallet',
    description:
      '`managed`: the gateway makes and keeps the key. `external`: watched only. `web3signer`: a Web3Signer has the key. `aws_kms`, `gcp_kms`: a key management service has it under `key_name`; it proves itself by a signature.',
    idempotent: true,
    body: { 'application/json': createSchema },
    bodyExamples: { managed: { type: 'managed', label: 'treasury' } },
    responses: { 201: { description: 'Created', schema: walletSchema } },
    errors: [
      drexErrors.custody_not_configured,
      drexErrors.wallet_exists,
      drexErrors.key_unusable,
      drexErrors.signer_unreachable,
    ],
  },
  listWallets: {
    at: 'GET /v1/wallets',
    scope: 'wallets:read',
    operation: 'listWallets',
    summary: 'Wallets, oldest first',
    query: pageOnly,
    responses: pageResponses('wallets', walletSchema, 'One page'),
  },
  getWallet: {
    at: 'GET /v1/wallets/{id}',
    scope: 'wallets:read',
    operation: 'getWallet',
    summary: 'One wallet',
    params: idParams,
    exampleFrom: anyWallet,
    responses: { 200: { description: 'The wallet', schema: walletSchema } },
    errors: [drexErrors.wallet_not_found],
  },
  updateWallet: {
    at: 'PATCH /v1/wallets/{id}',
    scope: 'wallets:manage',
    operation: 'updateWallet',
    summary: 'Change what a wallet may be used for',
    description:
      'Nothing is signed with a wallet that is `disabled` or, for good, `archived`. `policy` and `alerts` replace the former ones. Other gateways know of a change within a second.',
    params: idParams,
    exampleFrom: anyWallet,
    body: { 'application/json': changeSchema },
    bodyExamples: { label: { label: 'reserve' } },
    responses: { 200: { description: 'The wallet as it is now', schema: walletSchema } },
    errors: [drexErrors.wallet_not_found, drexErrors.wallet_disabled],
  },
  listWalletTransactions: {
    at: 'GET /v1/wallets/{id}/transactions',
    scope: 'wallets:read',
    operation: 'listWalletTransactions',
    summary: 'What a wallet sent, and its account’s transfers to it, newest first',
    description:
      'What another account sent to it is in its statement once it has come in, and nowhere before.',
    params: idParams,
    exampleFrom: anyWallet,
    query: pageOnly,
    responses: pageResponses('transactions', trackedSchema, 'One page'),
    errors: [drexErrors.wallet_not_found],
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const walletRoutes = (wallets: Wallets, sql: Client): readonly Route[] => [
  route(documents.createWallet, (asked) =>
    once(sql, asked, {
      status: 201,
      allow: (caller) => requireAllWallets(caller, 'a new wallet'),
      prepare: async (body, caller) => {
        const { type, label, metadata } = body
        const { environment } = caller
        const key = await wallets.adoptKey(wantedKey(body), caller.owner)
        return {
          write: (tx) =>
            wallets.create({ ...madeBy(caller), ...key, type, label, metadata, environment }, tx),
        }
      },
      show,
      audit: ({ id }) => ({ action: 'wallets.create', object: id, outcome: 'created' }),
    }),
  ),
  route(documents.listWallets, async ({ query: { cursor, limit }, caller }) => {
    const found = await wallets.list(caller, cursor ?? '', limit + 1)
    return pageResponse('wallets', found, limit, show)
  }),
  route(documents.getWallet, async ({ params, caller }) =>
    Response.json(show(await wallets.get(params.id, caller))),
  ),
  route(
    documents.updateWallet,
    async ({ params: { id }, body: { status, label, policy, alerts }, caller }) => {
      const parts = [status, policy && 'policy', alerts && 'alerts', label && 'label']
      const outcome = parts.filter((each) => each !== undefined).join(', ')
      const change = { status, label, policy, alerts }
      const wallet = await wallets.change(id, caller, change, (tx) =>
        writeAudit(tx, { actor: actorOf(caller), action: 'wallets.change', object: id, outcome }),
      )
      return Response.json(show(wallet))
    },
  ),
  route(documents.listWalletTransactions, async ({ params, query: { cursor, limit }, caller }) => {
    const wallet = await wallets.get(params.id, caller)
    const found = await trackedOfWallet(sql, wallet, cursor, limit + 1)
    return pageResponse('transactions', found, limit, (each) => ({
      ...showTracked(each),
      direction: each.sender === wallet.address ? 'out' : 'in',
    }))
  }),
]

/** Never the key, sealed or not. */
const show = (wallet: Wallet) => ({
  wallet_id: wallet.id,
  address: checksumAddress(wallet.address),
  type: wallet.type,
  key_name: wallet.keyName ?? null,
  label: wallet.label,
  metadata: wallet.metadata,
  status: wallet.status,
  environment: wallet.environment ?? null,
  policy: wallet.policy,
  alerts: wallet.alerts,
  created_at: wallet.createdAt.toISOString(),
})
