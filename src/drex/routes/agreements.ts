/** What the routes of deliveries and liens share. */
import { z } from 'zod'
import {
  type ErrorDefinition,
  idParams,
  pageResponse,
  pageResponses,
  type Route,
  type RouteContract,
  route,
} from '#src/platform/http/index.ts'
import type { Kind, Of, readersOf } from '../agreements/service.ts'
import type { Agreement, Event } from '../agreements/store.ts'
import { drexErrors, networkErrors, signingErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import { networkSchema, pageSchema } from './shared.ts'
import {
  correctionsSchema,
  errorSchema,
  showCorrection,
  showStep,
  stepSchema,
} from './transfer-form.ts'

/** What all routes that change an agreement have in common. */
export const changing = {
  scope: 'drex:transfer',
  bodyBytesMax: 4_096,
} as const

/** The refusals of every route that signs a step. */
export const refusals = [
  ...signingErrors,
  drexErrors.policy_refused,
  drexErrors.contract_reverted,
  drexErrors.answer_unreadable,
  drexErrors.account_not_permitted,
  ...networkErrors,
] as const

const toldSchema = z.object({
  event: z.string(),
  tx_hash: z.string(),
  block_number: z.int(),
  mismatch: z
    .string()
    .nullable()
    .meta({ description: 'What the tokens’ own events tell, where that is something else' }),
})

export const commonFields = {
  network: networkSchema,
  reference: z.string().nullable(),
  tx_hash: z
    .string()
    .nullable()
    .meta({ description: 'Of the transaction that made it what it is' }),
  error: errorSchema.nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}

const wholeFields = {
  steps: z.array(stepSchema),
  corrections: correctionsSchema,
  events: z.array(toldSchema),
}

export const showCommon = ({ network, reference, state, createdAt, changedAt }: Agreement) => ({
  network,
  reference: reference ?? null,
  tx_hash: state.hash,
  error: state.error,
  created_at: createdAt.toISOString(),
  updated_at: changedAt.toISOString(),
})

const showTold = ({ name, hash, blockNumber, mismatch }: Event) => ({
  event: name,
  tx_hash: hash,
  block_number: blockNumber,
  mismatch: mismatch ?? null,
})

type Reading<K extends Kind> = {
  readonly path: string
  readonly agreements: ReturnType<typeof readersOf<K>>
  readonly statuses: readonly string[]
  readonly parts: readonly Agreement['part'][]
  readonly list: {
    readonly operation: string
    readonly summary: string
    /** The member of the answer that holds the page. */
    readonly name: string
  }
  readonly read: {
    readonly operation: string
    readonly summary: string
    readonly description: string
    /** Where "Try it out" takes the id from. */
    readonly idFrom: string
    /** The schema's id in the document. */
    readonly schemaId: string
    readonly notFound: ErrorDefinition
  }
  readonly schema: z.ZodObject
  readonly show: (agreement: Of<K>) => object
}

export const readingRoutes = <K extends Kind>(reading: Reading<K>): readonly Route[] => [
  listRoute(reading),
  readRoute(reading),
]

const listRoute = <K extends Kind>(reading: Reading<K>): Route => {
  const { path, agreements, list, schema, show } = reading
  const query = z.strictObject({
    ...pageSchema,
    status: z.enum(reading.statuses).optional(),
    part: z.enum(reading.parts).optional(),
  })
  const document = {
    at: `GET ${path}`,
    scope: 'drex:read',
    operation: list.operation,
    summary: list.summary,
    query,
    responses: pageResponses(list.name, schema, 'One page'),
  } as const satisfies RouteContract
  return route(document, async ({ query: { cursor: beforeId, limit, status, part }, caller }) => {
    const filter = { beforeId, status, part, limit: limit + 1 }
    return pageResponse(list.name, await agreements.list(filter, caller), limit, show)
  })
}

const readRoute = <K extends Kind>({ path, agreements, read, schema, show }: Reading<K>): Route => {
  const { operation, summary, description, idFrom, schemaId, notFound } = read
  const document = {
    at: `GET ${path}/{id}`,
    scope: 'drex:read',
    operation,
    summary,
    params: idParams,
    exampleFrom: { id: idFrom },
    responses: { 200: { description, schema: schema.extend(wholeFields).meta({ id: schemaId }) } },
    errors: [notFound],
  } as const satisfies RouteContract
  return route(document, async ({ params: { id }, caller }) => {
    const { agreement, steps, corrections, told } = await agreements.get(id, caller)
    return Response.json({
      ...show(agreement),
      steps: steps.map((step) => showStep(step, checksumAddress)),
      corrections: corrections.map(showCorrection),
      events: told.map(showTold),
    })
  })
}
