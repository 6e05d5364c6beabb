import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import {
  ApiError,
  type Caller,
  httpErrors,
  id,
  jsonMembers,
  jsonValue,
  pageResponse,
  pageResponses,
  type Route,
  type RouteContract,
  route,
  text,
} from '#src/platform/http/index.ts'
import type { CallOutcome, Contracts } from '../contracts/service.ts'
import type { Contract } from '../contracts/store.ts'
import { drexErrors, networkErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import type { Hex } from '../evm/hex.ts'
import { templateNames } from '../templates/index.ts'
import { requireWallet } from '../wallets/rights.ts'
import { exampleAsset, exampleCall, exampleRegistration } from './examples.ts'
import { type Audited, once } from './once.ts'
import {
  addressSchema,
  anyContract,
  networkQuery,
  networkSchema,
  pageOnly,
  walletsFrom,
} from './shared.ts'
import { templatesRoute } from './templates.ts'
import { showTracked, trackedSchema } from './tracked.ts'
import { correctionsSchema, showCorrection } from './transfer-form.ts'

const bodyBytesMax = 1_048_576
const abiEntriesMax = 1_000

const label = text(100)

const deploySchema = z.strictObject({
  template: z.enum(templateNames),
  params: jsonMembers(100),
  network: networkSchema.optional(),
  signer_wallet: addressSchema.optional(),
  label: label.optional(),
})

const registerSchema = z.strictObject({
  address: addressSchema,
  abi: z
    .array(z.object({ type: text(100) }).catchall(jsonValue))
    .min(1)
    .max(abiEntriesMax),
  network: networkSchema.optional(),
  label: label.optional(),
})

const callSchema = z.strictObject({
  function: text(300),
  params: jsonValue
    .refine((value) => typeof value === 'object' && value !== null, 'must be an object or an array')
    .default({})
    .meta({
      description:
        'Arguments: by name in an object, by position in an array. Underscores at the ends of a name may be left out where no two names then are the same.',
    }),
  signer_wallet: addressSchema.optional(),
  network: networkSchema.optional(),
})

const contractSchema = z
  .object({
    contract_id: z.string(),
    address: z.string().nullable().meta({ description: 'Known once the deployment is signed' }),
    network: z.string(),
    template: z.enum(templateNames).nullable(),
    label: z.string(),
    status: z.enum(['pending', 'deploying', 'deployed', 'permitted', 'failed', 'registered']),
    tx_hash: z.string().nullable(),
    deployer: z.string().nullable(),
    params: z.unknown(),
    error: z.record(z.string(), z.unknown()).nullable(),
    created_at: z.iso.datetime(),
    abi: z.array(z.unknown()).optional(),
    corrections: correctionsSchema.optional(),
  })
  .meta({ id: 'Contract' })

const trackedCallSchema = trackedSchema.extend({ corrections: correctionsSchema })

const callResultSchema = z.union([
  z.object({ function: z.string(), result: z.unknown() }),
  z.object({
    function: z.string(),
    transaction_id: z.string(),
    status: z.literal('pending'),
    tx_hash: z.string().nullable().meta({ description: 'null: it is not signed yet.' }),
  }),
])

const addressParams = z.object({ address: addressSchema })
const callParams = z.object({ address: addressSchema, id })

const documents = {
  deployContract: {
    at: 'POST /v1/contracts/deploy',
    scope: 'contracts:deploy',
    bodyBytesMax,
    operation: 'deployContract',
    summary: 'Deploy a contract from a template',
    description:
      'Without `signer_wallet` the gateway’s own wallet deploys. On a permissioned network the contract is then added to the account rules; its status becomes `permitted`.',
    idempotent: true,
    body: { 'application/json': deploySchema },
    bodyExamples: { asset: exampleAsset },
    exampleFrom: {
      '/params/owner':
        'listTransfers?status=confirmed&full_addresses=true#/transfers/0/from_wallet',
    },
    responses: { 202: { description: 'Accepted', schema: contractSchema } },
    errors: [
      drexErrors.contract_reverted,
      drexErrors.account_not_permitted,
      drexErrors.wallet_not_found,
      ...networkErrors,
    ],
  },
  registerContract: {
    at: 'POST /v1/contracts',
    scope: 'contracts:deploy',
    bodyBytesMax,
    operation: 'registerContract',
    summary: 'Register a contract that is there already, with its ABI',
    idempotent: true,
    body: { 'application/json': registerSchema },
    bodyExamples: { token: exampleRegistration },
    responses: { 201: { description: 'Registered', schema: contractSchema } },
    errors: [
      drexErrors.contract_not_found,
      drexErrors.contract_exists,
      drexErrors.network_unreachable,
    ],
  },
  callContract: {
    at: 'POST /v1/contracts/{address}/call',
    scope: 'contracts:call',
    bodyBytesMax,
    operation: 'callContract',
    summary: 'Call a function of a contract',
    description:
      'A view answers at once with its `result`. Anything else is simulated, then sent: `transaction_id` follows it. Whole numbers are decimal strings.',
    params: addressParams,
    idempotent: true,
    body: { 'application/json': callSchema },
    bodyExamples: { transfer: exampleCall },
    exampleFrom: { ...anyContract, ...walletsFrom('', 'signer_wallet', 'params/to') },
    responses: { 200: { description: 'Result, or what follows it', schema: callResultSchema } },
    errors: [
      drexErrors.contract_not_found,
      drexErrors.contract_reverted,
      drexErrors.answer_unreadable,
      drexErrors.account_not_permitted,
      drexErrors.wallet_not_found,
      drexErrors.wallet_cannot_sign,
      drexErrors.network_unreachable,
    ],
  },
  listContracts: {
    at: 'GET /v1/contracts',
    scope: 'contracts:read',
    operation: 'listContracts',
    summary: 'Contracts, newest first',
    query: pageOnly,
    responses: pageResponses('contracts', contractSchema, 'One page'),
  },
  getContract: {
    at: 'GET /v1/contracts/{address}',
    scope: 'contracts:read',
    operation: 'getContract',
    summary: 'One contract with its ABI',
    params: addressParams,
    exampleFrom: anyContract,
    query: networkQuery,
    responses: { 200: { description: 'The contract', schema: contractSchema } },
    errors: [drexErrors.contract_not_found],
  },
  getContractCall: {
    at: 'GET /v1/contracts/{address}/calls/{id}',
    scope: 'contracts:read',
    operation: 'getContractCall',
    summary: 'Where a call is',
    params: callParams,
    exampleFrom: { ...anyContract, id: 'callContract#/transaction_id' },
    responses: { 200: { description: 'The call', schema: trackedCallSchema } },
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const contractRoutes = (contracts: Contracts, sql: Client): readonly Route[] => [
  route(documents.deployContract, (asked) =>
    once(sql, asked, {
      status: 202,
      allow: allowSigner,
      prepare: ({ signer_wallet: signerWallet, label, ...body }, caller) =>
        contracts.deploy({ ...body, signerWallet, label: label ?? body.template }, caller),
      show,
      audit: ({ id }) => ({ action: 'contracts.deploy', object: id, outcome: 'pending' }),
      reread: (kept) => withoutAddress(kept, contracts),
    }),
  ),
  route(documents.registerContract, (asked) =>
    once(sql, asked, {
      status: 201,
      // Moves nothing.
      allow: () => {},
      prepare: ({ label = 'registered', ...body }, caller) =>
        contracts.register({ ...body, label }, caller),
      show,
      audit: ({ id }) => ({ action: 'contracts.register', object: id, outcome: 'registered' }),
    }),
  ),
  route(documents.callContract, (asked) =>
    once(sql, asked, {
      status: 200,
      allow: allowSigner,
      prepare: ({ signer_wallet: signerWallet, ...body }, caller) =>
        contracts.call({ ...body, address: asked.params.address, signerWallet }, caller),
      show: showOutcome,
      audit: auditOf,
    }),
  ),
  // Before the route that would take `templates` as an address.
  templatesRoute(),
  ...readRoutes(contracts),
]

const allowSigner = (caller: Caller, body: { readonly signer_wallet?: Hex | undefined }): void => {
  if (body.signer_wallet !== undefined) requireWallet(caller, body.signer_wallet)
}

/** A repetition should not get an answer that was stored before the address was known. */
const withoutAddress = async (
  kept: string,
  contracts: Contracts,
): Promise<Contract | undefined> => {
  const { contract_id: id, address } = contractSchema.parse(JSON.parse(kept))
  return address === null ? contracts.deployed(id) : undefined
}

const auditOf = (outcome: CallOutcome): Audited | undefined =>
  outcome.kind === 'view'
    ? undefined
    : { action: 'contracts.call', object: outcome.transactionId, outcome: 'pending' }

const showOutcome = (outcome: CallOutcome) => {
  const { signature } = outcome
  return outcome.kind === 'view'
    ? { function: signature, result: outcome.result }
    : {
        function: signature,
        transaction_id: outcome.transactionId,
        status: 'pending',
        tx_hash: null,
      }
}

const readRoutes = (contracts: Contracts): readonly Route[] => [
  route(documents.listContracts, async ({ query: { cursor, limit }, caller }) => {
    const found = await contracts.list(caller.owner, cursor, limit + 1)
    return pageResponse('contracts', found, limit, show)
  }),
  route(documents.getContract, async ({ params, query: { network }, caller }) => {
    const { contract, corrections } = await contracts.getWhole(params.address, network, caller)
    const { abi } = contract
    return Response.json({ ...show(contract), abi, corrections: corrections.map(showCorrection) })
  }),
  route(documents.getContractCall, async ({ params: { address, id: callId }, caller }) => {
    const tracked = await contracts.tracked(address, callId, caller)
    if (tracked === undefined) {
      throw new ApiError(httpErrors.not_found, 'The contract has no such call.')
    }
    const { call, corrections } = tracked
    return Response.json({ ...showTracked(call), corrections: corrections.map(showCorrection) })
  }),
]

const show = (contract: Contract) => ({
  contract_id: contract.id,
  address: contract.address === undefined ? null : checksumAddress(contract.address),
  network: contract.network,
  template: contract.template ?? null,
  label: contract.label,
  status: statusOf(contract),
  tx_hash: contract.hash ?? null,
  deployer: contract.deployer === undefined ? null : checksumAddress(contract.deployer),
  params: contract.params,
  error: contract.error ?? null,
  created_at: contract.createdAt.toISOString(),
})

const statusOf = (contract: Contract): z.infer<typeof contractSchema>['status'] => {
  switch (contract.status) {
    case undefined:
      return 'registered'
    case 'pending':
      return 'pending'
    case 'signed':
    case 'broadcast':
    case 'mined':
      return 'deploying'
    case 'confirmed':
      return contract.permitStatus === 'confirmed' ? 'permitted' : 'deployed'
    case 'reverted':
    case 'failed':
    case 'cancelled':
      return 'failed'
  }
}
