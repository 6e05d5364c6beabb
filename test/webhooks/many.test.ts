/** More endpoints than a process keeps: the API Pix makes one for each Pix key. */
import { afterAll, expect, spyOn, test } from 'bun:test'
import { createWebhookService } from '../../src/webhooks/service.ts'
import { createEndpointStore } from '../../src/webhooks/store.ts'
import { quietLogger } from '../support/database.ts'
import { emit, openTestDatabase, startReceiver, startWebhooks, until } from './support.ts'

const database = await openTestDatabase()
const hooks = await startWebhooks(database)
const target = startReceiver(
  (_, { path }) => new Response('', { status: path === '/42/pix' ? 410 : 200 }),
)
await database.sql`
  insert into webhook_endpoints (id, url, topic, events)
  select 'whk_' || n, ${new URL(target.url).origin} || '/' || n, 'api-pix/pix/' || n,
    array['api-pix/pix/' || n] from generate_series(1, 300) n`
// The list of endpoints is kept for a second.
await Bun.sleep(1_100)
afterAll(async () => {
  await hooks.stop()
  await target.stop()
  await database.close()
})

const paths = () => target.received.map(({ path }) => path).toSorted()
const emitTo = (n: number) =>
  emit(database, { type: 'pix.received', subject: `e${n}`, topic: `api-pix/pix/${n}` })

test('each is told of its topic alone, and who takes the type is told of all', async () => {
  for (const n of [7, 299, 301]) await emitTo(n)
  await until(() => target.received.length === 2)
  expect(paths()).toEqual(['/299/pix', '/7/pix'])
  await hooks.subscribe(target.url, { events: ['pix.*'] })
  for (const n of [8, 301]) await emitTo(n)
  await until(() => target.received.length === 5)
  expect(paths()).toEqual(['/299/pix', '/7/pix', '/8/pix', '/hook', '/hook'])
})

test('one that is gone is sent nothing more', async () => {
  await emitTo(42)
  const isActive = async () =>
    (await database.sql`select from webhook_endpoints where id = 'whk_42' and active`).count === 1
  await until(async () => !(await isActive()))
  const before = paths().filter((path) => path === '/42/pix').length
  await emitTo(42)
  await emitTo(43)
  await until(() => paths().includes('/43/pix'))
  expect([before, paths().filter((path) => path === '/42/pix').length]).toEqual([1, 1])
})

test('those that are disabled with a backlog are stepped over once in a while, not with each look', async () => {
  await database.sql`
    with event as (
      insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
      values ('evt_old', 'pix.received', '{}', 's', 1, '{}', now()) returning id)
    insert into webhook_deliveries (id, event_id, endpoint_id)
    select 'dlv_old', id, 'whk_42' from event`
  const store = createEndpointStore(database.sql)
  await until(async () => (await store.waiting()).join() === 'whk_42')
  let walks = 0
  const service = createWebhookService({
    store: {
      ...store,
      waiting: () => {
        walks++
        return store.waiting()
      },
    },
    send: async () => {
      throw new Error('nothing is sent here')
    },
    commonSecret: 'common secret of all',
    sealer: undefined,
    logger: quietLogger,
  })
  let nowMs = performance.now()
  using _ = spyOn(performance, 'now').mockImplementation(() => nowMs)
  const active = async () => (await service.activeEndpoints()).map(({ id }) => id)
  expect(await active()).toEqual([])
  const [endpoint] = await database.sql<{ id: string }[]>`
    select id from webhook_endpoints where active order by id limit 1`
  const id = endpoint?.id ?? ''
  service.note([id, 'whk_42'])
  for (let look = 0; look < 5; look++) expect(await active()).toEqual([id])
  expect(walks).toBe(1)
  nowMs += 1_100
  expect(await active()).toEqual([])
  expect(walks).toBe(2)
})
