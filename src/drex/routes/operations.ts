import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import {
  idParams,
  jsonMembers,
  pageResponse,
  pageResponses,
  type Route,
  type RouteContract,
  route,
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
import { addressSchema, networkSchema, pageOnly } from './shared.ts'
import {
  correctionsSchema,
  errorSchema,
  showCorrection,
  showStep,
  stepSchema,
} from './transfer-form.ts'

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
    corrections: correctionsSchema.optional(),
    result: z
      .record(z.string(), z.string())
      .nullable()
      .optional()
      .meta({ description: 'Of one that is confirmed: `proposal_id` of a proposed swap' }),
  })
  .meta({ id: 'Operation' })

const documents = {
  createOperation: {
    at: 'POST /v1/drex/operations',
    scope: 'contracts:call',
    bodyBytesMax,
    operation: 'createOperation',
    summary: 'Do something with the network’s own contracts',
    description:
      'Admission of accounts, frozen balances, institutions’ wallets, conversion of reserves. Its first step is tried before it is taken; then it is followed like a transfer, and `drex.operation.changed` tells of its end. What moves money needs `drex:transfer` beside `contracts:call`.',
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
  listOperationTypes: {
    at: 'GET /v1/drex/operations/types',
    scope: 'drex:read',
    operation: 'listOperationTypes',
    summary: 'The operations and the JSON Schema of their parameters',
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
  listOperations: {
    at: 'GET /v1/drex/operations',
    scope: 'drex:read',
    operation: 'listOperations',
    summary: 'Operations, newest first',
    query: pageOnly,
    responses: pageResponses('operations', operationSchema, 'One page'),
  },
  getOperation: {
    at: 'GET /v1/drex/operations/{id}',
    scope: 'drex:read',
    operation: 'getOperation',
    summary: 'One operation and its steps',
    params: idParams,
    exampleFrom: { id: 'createOperation#/operation_id' },
    responses: { 200: { description: 'The operation', schema: operationSchema } },
    errors: [drexErrors.operation_not_found],
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const operationRoutes = (operations: Operations, sql: Client): readonly Route[] => [
  route(documents.createOperation, (asked) =>
    once(sql, asked, {
      status: 202,
      allow: allowOperation,
      prepare: ({ operation, params, signer_wallet: signerWallet, network, reference }, caller) =>
        operations.create({ operation, params, signerWallet, network, reference }, caller),
      show: (operation) => show(operation),
      audit: ({ id, kind }) => ({ action: 'drex.operation', object: id, outcome: kind }),
    }),
  ),
  // Before the route that would take `types` as an id.
  route(documents.listOperationTypes, () =>
    Response.json({
      operations: operationNames.map((operation) => ({
        operation,
        summary: definitions[operation].summary,
        moves_money: definitions[operation].movesMoney,
        params: z.toJSONSchema(definitions[operation].params, { io: 'input' }),
      })),
    }),
  ),
  route(documents.listOperations, async ({ query: { cursor, limit }, caller }) => {
    const found = await operations.list(cursor, limit + 1, caller)
    return pageResponse('operations', found, limit, (each) => show(each))
  }),
  route(documents.getOperation, async ({ params, caller }) => {
    const { operation, steps, corrections, result } = await operations.get(params.id, caller)
    return Response.json({
      ...show(operation, steps),
      corrections: corrections.map(showCorrection),
      result: result ?? null,
    })
  }),
]

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
