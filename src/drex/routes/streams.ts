/** Subscriptions to what contracts tell; their events go to webhooks. */
import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import {
  actorOf,
  id,
  jsonMembers,
  pageResponse,
  pageResponses,
  type Route,
  type RouteContract,
  route,
  text,
  writeAudit,
} from '#src/platform/http/index.ts'
import { drexErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import type { Streams } from '../streams/service.ts'
import type { Stream } from '../streams/store.ts'
import { once } from './once.ts'
import { addressSchema, anyContract, networkQuery, networkSchema, pageSchema } from './shared.ts'

const indexedMax = 3

const createSchema = z.strictObject({
  event: text(300).meta({ description: 'Name, or signature where a name is overloaded' }),
  where: jsonMembers(indexedMax)
    .default({})
    .meta({ description: 'What indexed arguments must be, by name; the others may be anything' }),
  from_block: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'First block that is read; the next to come when left out' }),
  network: networkSchema.optional(),
})

const streamSchema = z
  .object({
    stream_id: z.string(),
    contract_id: z.string(),
    network: z.string(),
    address: z.string(),
    event: z.string().meta({ description: 'Its signature' }),
    where: z.record(z.string(), z.unknown()),
    next_block: z.int().meta({ description: 'The next that is read; all before it are told' }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'ContractStream' })

const addressParams = z.object({ address: addressSchema })
const streamParams = z.object({ address: addressSchema, id })
const listQuery = z.strictObject({ ...pageSchema, network: networkSchema.optional() })

const documents = {
  createContractStream: {
    at: 'POST /v1/contracts/{address}/streams',
    scope: 'contracts:deploy',
    operation: 'createContractStream',
    summary: 'Follow an event of a contract',
    description:
      'Webhooks for `drex.contract.event` get each, once its block has its confirmations, and `drex.contract.event_removed` if the chain takes it back.',
    params: addressParams,
    exampleFrom: anyContract,
    idempotent: true,
    body: { 'application/json': createSchema },
    bodyExamples: { transfers: { event: 'Transfer', where: {} } },
    responses: { 201: { description: 'Followed', schema: streamSchema } },
    errors: [
      drexErrors.contract_not_found,
      drexErrors.too_many_streams,
      drexErrors.network_unreachable,
    ],
  },
  listContractStreams: {
    at: 'GET /v1/contracts/{address}/streams',
    scope: 'contracts:read',
    operation: 'listContractStreams',
    summary: 'The streams of a contract, newest first',
    params: addressParams,
    exampleFrom: anyContract,
    query: listQuery,
    responses: pageResponses('streams', streamSchema, 'One page'),
    errors: [drexErrors.contract_not_found],
  },
  deleteContractStream: {
    at: 'DELETE /v1/contracts/{address}/streams/{id}',
    scope: 'contracts:deploy',
    operation: 'deleteContractStream',
    summary: 'Follow an event no more',
    params: streamParams,
    exampleFrom: { ...anyContract, id: 'createContractStream#/stream_id' },
    query: networkQuery,
    responses: { 204: { description: 'Deleted' } },
    errors: [drexErrors.contract_not_found],
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const streamRoutes = (streams: Streams, sql: Client): readonly Route[] => [
  route(documents.createContractStream, (asked) =>
    once(sql, asked, {
      status: 201,
      // What contracts tell is public.
      allow: () => {},
      prepare: ({ event, where, from_block: fromBlock, network }, caller) =>
        streams.create({ address: asked.params.address, network, event, where, fromBlock }, caller),
      show,
      audit: (stream) => ({ action: 'streams.create', object: stream.id, outcome: 'created' }),
    }),
  ),
  route(
    documents.listContractStreams,
    async ({ params: { address }, query: { cursor, limit, network }, caller }) => {
      const found = await streams.list({ address, network }, caller, cursor, limit + 1)
      return pageResponse('streams', found, limit, show)
    },
  ),
  route(
    documents.deleteContractStream,
    async ({ params: { address, id: streamId }, query: { network }, caller }) => {
      await streams.remove({ address, network, id: streamId }, caller, (tx) =>
        writeAudit(tx, {
          actor: actorOf(caller),
          action: 'streams.delete',
          object: streamId,
          outcome: 'deleted',
        }),
      )
      return new Response(null, { status: 204 })
    },
  ),
]

const show = (stream: Stream) => ({
  stream_id: stream.id,
  contract_id: stream.contractId,
  network: stream.network,
  address: checksumAddress(stream.address),
  event: stream.event,
  where: stream.filter,
  next_block: stream.position.number + 1,
  created_at: stream.createdAt.toISOString(),
})
