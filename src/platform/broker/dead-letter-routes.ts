import { z } from 'zod'
import { type Client, storedOr } from '../database/index.ts'
import {
  ApiError,
  actorOf,
  httpErrors,
  idParams,
  nextCursor,
  pageOf,
  pageQuery,
  type Route,
  type RouteContract,
  respond,
  route,
  routesWithout,
  runOnce,
  text,
} from '../http/index.ts'
import { createJob } from '../jobs/index.ts'
import type { Check, Feature } from '../lifecycle/index.ts'
import type { Logger, Metrics } from '../observe/index.ts'
import { deadLetterHeaders } from './dead-letter.ts'
import {
  type DeadLetterBox,
  LetterStaysError,
  type LetterSubjects,
  type ListedLetter,
  openDeadLetters,
} from './postgresql/dead-letters.ts'

const codeCharactersMax = 100
/** Kafka takes no longer names. */
const topicCharactersMax = 249
/** Letters that one request retries: each is a transaction's work. */
const retriedMax = 500
/** Letters that are looked at for their classes, and counted. */
const classedMax = 10_000

const code = text(codeCharactersMax).meta({ example: 'refused_by_interface' })
const query = z.strictObject({
  code: code.optional().meta({ description: 'Only those with this error code.' }),
  ...pageQuery(/^\d{1,18}$/, 500, 50),
})
/** The form of ids in the list; no letter has another. */
const idForm = /^\d{1,19}$/
const retryBody = z
  .strictObject({
    code,
    topic: text(topicCharactersMax)
      .optional()
      .meta({ description: 'Only those that came from this topic.', example: 'spi.outbound' }),
  })
  .meta({ id: 'RetryDeadLettersRequest' })

const letter = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    topic: z.string().nullable().meta({ description: 'Where it came from.' }),
    code: z.string().nullable().meta({ description: 'Why nobody could handle it.' }),
    attempts: z.int().nullable(),
    first_failure_at: z.iso.datetime().nullable(),
    key: z.string().nullable(),
    bytes: z.int(),
    can_be_retried: z.boolean().meta({
      description:
        'Not where it holds no whole message, or does not say where it came from: it can only be thrown away.',
    }),
  })
  .meta({ id: 'DeadLetter' })
const list = z.object({
  dead_letters: z.array(letter),
  classes: z
    .array(
      z.object({
        code: z.string().nullable(),
        topic: z.string().nullable(),
        count: z.int(),
        can_be_retried: z.int().meta({ description: 'How many of them.' }),
      }),
    )
    .meta({ description: `How many there are of each, among the newest ${classedMax}.` }),
  next_cursor: nextCursor,
})
const retried = z.object({ retried: z.int() })

const exampleFrom = { id: 'listDeadLetters#/dead_letters/0/id' }
const documents = {
  list: {
    at: 'GET /v1/ops/dead-letters',
    scope: 'ops:read',
    ofInstitution: true,
    operation: 'listDeadLetters',
    summary: 'Messages that could not be handled, newest first',
    description: 'Without what they hold: `trilho dlq show` shows that.',
    query,
    responses: { 200: { description: 'They', schema: list } },
  },
  retry: {
    at: 'POST /v1/ops/dead-letters/{id}/retry',
    scope: 'ops:admin',
    ofInstitution: true,
    operation: 'retryDeadLetter',
    summary: 'Puts a message back on the topic that it came from',
    params: idParams,
    exampleFrom,
    idempotent: true,
    responses: { 202: { description: 'It is handled once more', schema: retried } },
    errors: [httpErrors.message_rejected],
  },
  retryAll: {
    at: 'POST /v1/ops/dead-letters/retry',
    scope: 'ops:admin',
    ofInstitution: true,
    operation: 'retryDeadLetters',
    summary: 'Puts all messages with an error code back',
    description: `The oldest first, at most ${retriedMax}: ask again until \`retried\` is 0. Those that cannot be retried are passed over.`,
    idempotent: true,
    body: { 'application/json': retryBody },
    responses: { 202: { description: 'How many are handled once more', schema: retried } },
  },
  drop: {
    at: 'DELETE /v1/ops/dead-letters/{id}',
    scope: 'ops:admin',
    ofInstitution: true,
    operation: 'deleteDeadLetter',
    summary: 'Throws a message away',
    description:
      'A payment or return that it kept from being sent is REJECTED and holds no sum; so is what asks about a mandate or charge.',
    params: idParams,
    exampleFrom,
    responses: { 204: { description: 'It is gone' } },
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export type DeadLettersDeps = {
  /** Undefined without a database, which is the only place where we keep letters. */
  readonly sql: Client | undefined
  /** The broker is outside of the database. */
  readonly isRelayed: boolean
  readonly subjects: LetterSubjects
  readonly retentionDays: number
  readonly logger: Logger
  readonly metrics: Metrics
}

const name = 'dead_letters'
const ageEveryMs = 3_600_000

/** Dead letters over the API, for operators, and the end of those past their retention. */
export const createDeadLetters = (deps: DeadLettersDeps): Feature => {
  const { sql, isRelayed, subjects, retentionDays: days, logger } = deps
  const boxOf = (on: Client) => openDeadLetters(on, isRelayed, subjects)
  const routesOn = (on: Client) => routesOf(on, boxOf(on))
  if (sql === undefined) return { name, routes: routesWithout(['DATABASE_DSN'], routesOn) }
  const box = boxOf(sql)
  watchLetters(deps.metrics, box, days)
  const job = createJob({
    name: 'old dead letters',
    everyMs: ageEveryMs,
    fleet: { sql },
    logger,
    run: async (round) => {
      const { dropped, held } = await box.dropOld(days, round)
      if (dropped > 0) logger.info({ letters: dropped }, 'dead letters were past their retention')
      if (held > 0) {
        logger.warn(
          { letters: held },
          'dead letters are past their retention and stay: payments, returns or requests FAILED with them',
        )
      }
    },
  })
  return {
    name,
    routes: routesOn(sql),
    checks: () => storedOr([], async () => [checkOf(await box.countHeld(days))]),
    start: job.start,
    drain: job.stop,
  }
}

const watchLetters = (metrics: Metrics, box: DeadLetterBox, days: number): void => {
  const show = (gauged: string, help: string, count: () => Promise<number>): void => {
    metrics.gauge(gauged, help, [], async (gauge) => {
      gauge.set(await count())
    })
  }
  show('spigw_broker_dead_letters_waiting', `Messages in dlq, up to ${classedMax}.`, () =>
    box.count(classedMax),
  )
  show(
    'spigw_broker_dead_letters_held',
    'Messages in dlq past their retention that stay, as payments, returns or requests FAILED with them.',
    () => box.countHeld(days),
  )
}

const checkOf = (held: number): Check =>
  held === 0
    ? {
        name: 'dead letters',
        status: 'ok',
        detail: 'nothing waits in them for long that could still be sent',
      }
    : {
        name: 'dead letters',
        status: 'warning',
        detail: `${held} are past their retention: payments, returns or requests FAILED with them, and wait for a decision`,
        fix: 'trilho dlq retry sends one after all, trilho dlq drop gives it up',
      }

const routesOf = (sql: Client, box: DeadLetterBox): readonly Route[] => [
  route(documents.list, async ({ query: { limit, cursor, code: errorCode } }) => {
    const before = cursor === undefined ? undefined : BigInt(cursor)
    const [found, classes] = await Promise.all([
      box.list(limit + 1, { before, errorCode }),
      box.classes(classedMax),
    ])
    const { items, next } = pageOf(found, limit, ({ id }) => String(id))
    return Response.json({
      dead_letters: items.map(viewOf),
      classes: classes.map(({ canBeRetried, ...one }) => ({
        ...one,
        can_be_retried: canBeRetried,
      })),
      next_cursor: next,
    })
  }),
  route(documents.retry, async ({ params, caller }) => {
    const id = idOf(params.id)
    const answered = await runOnce(sql, caller.idempotencyKey, async (tx) => {
      const isRetried = await box.retryIn(tx, id, actorOf(caller)).catch(refuseStaying)
      if (!isRetried) throw noLetter()
      return { status: 202, body: JSON.stringify({ retried: 1 }) }
    })
    return respond(answered)
  }),
  route(documents.retryAll, async ({ body: { code: errorCode, topic }, caller }) => {
    const answered = await runOnce(sql, caller.idempotencyKey, async (tx) => {
      let count = 0
      for (const id of await box.idsIn(tx, retriedMax, { errorCode, topic })) {
        if (await box.retryIn(tx, id, actorOf(caller))) count++
      }
      return { status: 202, body: JSON.stringify({ retried: count }) }
    })
    return respond(answered)
  }),
  route(documents.drop, async ({ params, caller }) => {
    const id = idOf(params.id)
    if (!(await box.drop(id, actorOf(caller)))) throw noLetter()
    return new Response(null, { status: 204 })
  }),
]

const noLetter = (): ApiError => new ApiError(httpErrors.not_found, 'No such dead letter.')

/** The largest id that the database can give. */
const idMax = 2n ** 63n - 1n

const idOf = (given: string): bigint => {
  if (!idForm.test(given)) throw noLetter()
  const id = BigInt(given)
  if (id > idMax) throw noLetter()
  return id
}

const refuseStaying = (error: unknown): never => {
  if (!(error instanceof LetterStaysError)) throw error
  throw new ApiError(httpErrors.message_rejected, error.message)
}

const viewOf = ({ id, key, headers, publishedAt, bytes, stays }: ListedLetter) => ({
  id: String(id),
  at: publishedAt.toISOString(),
  topic: headers[deadLetterHeaders.topic] ?? null,
  code: headers[deadLetterHeaders.errorCode] ?? null,
  attempts: wholeOf(headers[deadLetterHeaders.attempt]),
  first_failure_at: headers[deadLetterHeaders.firstFailure] ?? null,
  key,
  bytes,
  can_be_retried: stays === null,
})

const wholeOf = (value: string | undefined): number | null =>
  value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : null
