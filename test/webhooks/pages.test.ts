/** What the statements of webhooks read, on every engine at hand, whatever the plans were made of. */
import type { Client } from '#src/platform/database/index.ts'
import { emitEvents } from '../../src/webhooks/events.ts'
import { bringEvents, fanOut, markPublished, takeOutbox } from '../../src/webhooks/outbox.ts'
import {
  claimDue,
  judgeEndpoints,
  retryElsewhere,
  writeOutcomes,
} from '../../src/webhooks/queue.ts'
import { forgetEvents, forgetRemoved, forgetSequences } from '../../src/webhooks/retention.ts'
import { createEndpointStore } from '../../src/webhooks/store.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 40_000
/** Rows of a list that a statement is given. */
const listed = 20
/** Pages that a statement may read, whatever is stored: fifty for each row of its list, which may be a new row. */
const pagesMax = 50 * listed
/** The API Pix makes one for each Pix key. */
const topics = 10_000
/** Endpoints for types, each of an account of its own: half of them take what every event is, half what none is. */
const ofTypes = 10_000
/** The walk over all subjects reads so many rows at once, in the order of their key. */
const walkPagesMax = 6_000

/** The outcome of an attempt writes to its delivery, whose index entries are all new, and to the log. */
const outcomePagesMax = 60 * listed
const pagesOfListMax = 20 * listed
/** What is read of one delivery. */
const pagesOfOneMax = 50
/** For each of three patterns: the first hundred endpoints, and the index of all. */
const pagesOfQuestionMax = 3 * pagesOfOneMax

const isWalk = (text: string): boolean =>
  text.includes('as materialized') && text.includes('subject >')

/** Whether somebody takes some events. */
const isQuestion = (text: string): boolean => text.startsWith('select pattern from')

type Made = { readonly events: readonly string[]; readonly delivery: string }

const endpoint = 'whk_1'
/** It takes nothing. */
const awayEndpoint = 'whk_2'
/** It takes all but the first that it was sent. */
const oldEndpoint = 'whk_3'
const url = 'https://a.example'

const work = async (sql: Client, { events, delivery }: Made): Promise<void> => {
  const store = createEndpointStore(sql)
  await sql
    .begin(async (tx) => {
      await emitEvents(
        tx,
        events.map((id) => ({ type: 'pacs.008', subject: id, data: {} })),
      )
      await emitEvents(tx, [{ type: 'pacs.004', subject: 'untaken', data: {} }])
      // Once more, now that we know that nobody takes it.
      await emitEvents(tx, [{ type: 'pacs.004', subject: 'untaken', data: {} }])
      const topic = 'api-pix/pix/7'
      await emitEvents(tx, [{ type: 'pix.received', subject: 'of a key', topic, data: {} }])
      const taken = await takeOutbox(tx, listed, undefined)
      await takeOutbox(tx, listed, new Date(Date.now() - 1_000))
      await fanOut(tx, events, ['default'])
      await markPublished(
        tx,
        taken.map(({ id }) => id),
      )
      const claimed = await claimDue(
        tx as unknown as Client,
        { rooms: new Map([[endpoint, listed]]), free: listed },
        30,
        new Map([[endpoint, new Date(0)]]),
      )
      const result = {
        outcome: { kind: 'delivered' } as const,
        at: new Date(),
        durationMs: 1,
        statusCode: 200,
        answer: undefined,
        errorClass: undefined,
      } as const
      await writeOutcomes(
        tx,
        claimed.map((one) => ({ delivery: one, url, result, step: { state: 'delivered' } })),
      )
      await judgeEndpoints(tx, [{ id: endpoint, url, succeeded: true, gone: false }], 60, 60)
      for (const one of [endpoint, awayEndpoint, oldEndpoint]) {
        await retryElsewhere(tx, { id: one }, 'https://b.example')
      }
      await retryElsewhere(tx, { topic }, 'https://b.example')
      throw new Undone()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  for (const status of [null, 'pending', 'exhausted', 'delivered'] as const) {
    for (const one of [endpoint, awayEndpoint, oldEndpoint]) {
      const page = await store.deliveries(one, { status, limit: listed, before: undefined })
      const last = page.at(-1)
      const before = last === undefined ? undefined : `${last.at} ${last.id}`
      await store.deliveries(one, { status, limit: listed, before })
    }
  }
  await store.healthOf([endpoint, awayEndpoint, oldEndpoint], listed)
  const page = { limit: listed, before: undefined }
  for (const createdBy of [null, 'a']) {
    const visible = { account: 'default', createdBy }
    await store.deliveriesOf('s7', visible, page)
    const { rows } = await store.deliveriesOf('wallet', visible, page)
    const before = `${rows.at(-1)?.eventId ?? 'evt_z'} ${rows.at(-1)?.endpointId ?? ''}`
    await store.deliveriesOf('wallet', visible, { limit: listed, before })
    for (const needsAttention of [false, true]) {
      const [first] = await store.list(visible, { limit: 1, after: undefined, needsAttention })
      const after =
        first === undefined ? `${new Date().toISOString()} w` : `${first.at} ${first.id}`
      await store.list(visible, { limit: listed, after, needsAttention })
    }
  }
  await store.delivery(delivery)
  await store.replay(delivery)
  await forgetEvents(sql, 3_650)
  await forgetRemoved(sql)
  const since = new Date(Date.now() - 3_600_000)
  await store.replayFailed(endpoint, { since, before: new Date(), until: since })
  await forgetSequences(sql, 3_650)
  await sql`
    insert into webhook_events (id, type, patterns, subject, sequence, data)
    values (${`evt_${Bun.randomUUIDv7()}`}, 'pacs.004', '{pacs.004}', 'untaken', 1, '{}')`
  await sql.begin(async (tx) => {
    // One connection is both databases.
    const both = tx as unknown as Client
    const begin = (take: (from: Client) => unknown) => take(both)
    await bringEvents({ begin } as unknown as Client, both, 1)
  })
  await store.active(listed)
  await store.activeOf([...(await store.waiting()), endpoint])
}

class Undone extends Error {}

/** By statements of the test's own: delivered ones, but for each thousandth exhausted, and the last 60 pending. */
const store = async (sql: Client): Promise<Made> => {
  await sql.unsafe(`
    create table made as
    select n, 'evt_' || substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0') as id, at
    from (
      select n, at, lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as h
      from (
        select n, now() - interval '30 days' + make_interval(secs => n * ${(29 * 86_400) / stored}::float8) as at
        from generate_series(1, ${stored}) n
      ) moments
    ) ids;
    insert into webhook_endpoints (id, url, events, created_at)
    select 'whk_' || n, 'https://example.org', '{pacs.008}', now() - interval '31 days'
    from generate_series(1, 3) n;
    insert into webhook_endpoints (id, url, topic, events)
    select 'whk_key_' || n, 'https://example.org/' || repeat('x', 400), 'api-pix/pix/' || n,
      array['api-pix/pix/' || n] from generate_series(1, ${topics}) n;
    insert into webhook_endpoints (id, account, url, events)
    select 'whk_type_' || n, 'account ' || n, 'https://example.org/' || repeat('x', 400),
      case when n % 2 = 0 then '{pacs.008}'::text[] else '{camt.053,camt.054}' end
      from generate_series(1, ${2 * ofTypes}) n;
    insert into webhook_endpoints (id, account, url, events, active, disabled_at)
    select 'whk_off_' || n, 'of one inactive ' || n, 'https://example.org/' || repeat('x', 400), '{pacs.004}', false,
      now() - make_interval(mins => n)
    from generate_series(1, ${ofTypes}) n;
    insert into webhook_events (id, type, patterns, subject, sequence, data, created_at, published_at)
    select id, 'pacs.008', '{pacs.008}', case when n % 4 = 0 then 'wallet' else 's' || n end, 1, repeat('x', 200), at, at from made;
    insert into webhook_sequences (subject, last) select 's' || n, 1 from made;
    insert into webhook_deliveries (id, event_id, endpoint_id, status, created_at, next_attempt_at)
    select 'dlv_' || n, id, '${endpoint}', case when n % 1000 = 0 then 'exhausted'
        when n > ${stored} - 60 then 'pending' else 'delivered' end, at, at from made;
    insert into webhook_deliveries (id, event_id, endpoint_id, status, created_at, next_attempt_at)
    select 'dlv_of_' || n, id, '${awayEndpoint}', 'pending', at, at from made;
    insert into webhook_deliveries (id, event_id, endpoint_id, status, created_at, next_attempt_at)
    select 'dlv_old_' || n, id, '${oldEndpoint}', case when n < 60 then 'pending' else 'delivered' end, at, at from made;
    insert into webhook_attempts (delivery_id, at, duration_ms) select 'dlv_' || n, at, 5 from made;`)
  const rows = await sql<{ id: string }[]>`
    select id from made order by md5(n::text) limit ${listed}`
  return { events: rows.map(({ id }) => id), delivery: 'dlv_7' }
}

const budgetOf = (text: string): number => {
  if (isWalk(text)) return walkPagesMax
  if (isQuestion(text)) return pagesOfQuestionMax
  if (text.includes('webhook_attempts where')) return pagesOfOneMax
  if (text.includes('insert into webhook_attempts')) return outcomePagesMax
  // A page of one status, or of all.
  return text.includes('of_status') ? pagesOfListMax : pagesMax
}

holdPageBudgets<Made>({
  absent: {
    events: Array.from({ length: listed }, () => `evt_${Bun.randomUUIDv7()}`),
    delivery: 'dlv_absent',
  },
  store,
  work,
  walks: isWalk,
  isTooDear: ({ text, pagesPerCall }) => pagesPerCall > budgetOf(text),
})
