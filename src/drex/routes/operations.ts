import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import {
  callerOf,
  idParams,
  jsonMembers,
  pageResponse,
  pageResponses,
  type Route,
  readParams,
  readQuery,
  text,
} from '#src/platform/http/index.ts'
import { transactionStatuses } from '../domain.ts'
import { drexErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import { operations as definitions, operationNames } from '../operations/index.ts'
import { allowOperation, type Operations } from '../operations/service.ts'
import type { Operation } from '../operations/store.ts'
import type { Step } from '../transfers/store.ts'
import { refusals } from './agreements.ts'
import { once } from './once.ts'
import { addressSchema, networkSchema, pageSchema } from './shared.ts'
import { errorSchema, showStep, stepSchema } from './transfer-form.ts'

const tag = 'Digital currency'
const path = '/v1/drex/operations'
const bodyBytesMax = 16_384
const paramsMax = 16

const createSchema = z.strictObject({
  operation: z.enum(operationNames),
  params: jsonMembers(paramsMax).meta({
    description: 'As `GET /v1/drex/operations/types` says of the operation',
  }),
  signer_wallet: addressSchema,
  network: networkSchema.optional(),
  reference: text(140).optional(),
})

const operationSchema = z
  .object({
    operation_id: z.string(),
    operation: z.enum(operationNames),
    status: z.enum(transactionStatuses).meta({ description: 'That of its last step' }),
    params: z.record(z.string(), z.unknown()),
    signer_wallet: z.string(),
    network: z.string(),
    reference: z.string().nullable(),
    tx_hash: z.string().nullable(),
    error: errorSchema.nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    steps: z.array(stepSchema).optional(),
    result: z
      .record(z.string(), z.string())
      .nullable()
      .optional()
      .meta({ description: 'Of one that is confirmed: `proposal_id` of a proposed swap' }),
  })
  .meta({ id: 'Operation' })

const pageQuery = z.strictObject(pageSchema)

export const operationRoutes = (operations: Operations, sql: Client): readonly Route[] => [
  createRoute(operations, sql),
  // Before the route that would take `types` as an id.
  typesRoute(),
  listRoute(operations),
  readRoute(operations),
]

const createRoute = (operations: Operations, sql: Client): Route => ({
  method: 'POST',
  path,
  scope: 'contracts:call',
  bodyBytesMax,
  document: {
    operation: 'createOperation',
    summary: 'Do something with the network’s own contracts',
    description:
      'Admission of accounts, frozen balances, institutions’ wallets, conversion of reserves. Its first step is tried before it is taken; then it is followed like a transfer, and `drex.operation.changed` tells of its end. What moves money needs `drex:transfer` beside `contracts:call`.',
    tag,
    idempotent: true,
    body: { 'application/json': createSchema },
    bodyExamples: {
      admission: {
        operation: 'enable_account',
        params: { wallet: '0x2222222222222222222222222222222222222222' },
        signer_wallet: '0x1111111111111111111111111111111111111111',
      },
    },
    exampleFrom: {
      '/signer_wallet':
        'listTransfers?status=confirmed&full_addresses=true#/transfers/0/from_wallet',
    },
    responses: { 202: { description: 'Accepted', schema: operationSchema } },
    errors: [...refusals, drexErrors.token_unusable, drexErrors.not_in_directory],
  },
  handle: (c) =>
    once(sql, c, {
      schema: createSchema,
      status: 202,
      allow: allowOperation,
      prepare: ({ operation, params, signer_wallet: signerWallet, network, reference }) =>
        operations.create({ operation, params, signerWallet, network, reference }, callerOf(c)),
      show: (operation) => show(operation),
      audit: ({ id, kind }) => ({ action: 'drex.operation', object: id, outcome: kind }),
    }),
})

const typesRoute = (): Route => ({
  method: 'GET',
  path: `${path}/types`,
  scope: 'drex:read',
  document: {
    operation: 'listOperationTypes',
    summary: 'The operations and the JSON Schema of their parameters',
    tag,
    responses: {
      200: {
        description: 'All operations',
        schema: z.object({
          operations: z.array(
            z.object({
              operation: z.enum(operationNames),
              summary: z.string(),
              moves_money: z.boolean(),
              params: z.record(z.string(), z.unknown()),
            }),
          ),
        }),
      },
    },
  },
  handle: async () =>
    Response.json({
      operations: operationNames.map((operation) => ({
        operation,
        summary: definitions[operation].summary,
        moves_money: definitions[operation].movesMoney,
        params: z.toJSONSchema(definitions[operation].params, { io: 'input' }),
      })),
    }),
})

const listRoute = (operations: Operations): Route => ({
  method: 'GET',
  path,
  scope: 'drex:read',
  document: {
    operation: 'listOperations',
    summary: 'Operations, newest first',
    tag,
    query: pageQuery,
    responses: pageResponses('operations', operationSchema, 'One page'),
  },
  async handle(c) {
    const { cursor, limit } = readQuery(c, pageQuery)
    const found = await operations.list(cursor, limit + 1, callerOf(c))
    return pageResponse('operations', found, limit, (each) => show(each))
  },
})

const readRoute = (operations: Operations): Route => ({
  method: 'GET',
  path: `${path}/{id}`,
  scope: 'drex:read',
  document: {
    operation: 'getOperation',
    summary: 'One operation and its steps',
    tag,
    params: idParams,
    exampleFrom: { id: 'createOperation#/operation_id' },
    responses: { 200: { description: 'The operation', schema: operationSchema } },
    errors: [drexErrors.operation_not_found],
  },
  async handle(c) {
    const { operation, steps, result } = await operations.get(
      readParams(c, idParams).id,
      callerOf(c),
    )
    return Response.json({ ...show(operation, steps), result: result ?? null })
  },
})

const show = (operation: Operation, steps?: readonly Step[]) => ({
  operation_id: operation.id,
  operation: operation.kind,
  status: operation.status,
  params: operation.params,
  signer_wallet: checksumAddress(operation.signer),
  network: operation.network,
  reference: operation.reference ?? null,
  tx_hash: operation.hash ?? null,
  error: operation.error ?? null,
  created_at: operation.createdAt.toISOString(),
  updated_at: operation.updatedAt.toISOString(),
  ...(steps === undefined ? {} : { steps: steps.map((step) => showStep(step, checksumAddress)) }),
})
