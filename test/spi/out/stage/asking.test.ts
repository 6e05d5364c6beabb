/** Who asks for what nobody has answered, and what does not wait for that. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { createResend } from '#src/spi/index.ts'
import { countedMax } from '#src/spi/messages/domain.ts'
import { insertMessages } from '#src/spi/messages/index.ts'
import { countUnknown, hasToAsk, lockUnanswered, noteReasks } from '#src/spi/out/stage/store.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { until } from '../../../support/until.ts'
import { answer, interfaceClient, rawServer } from '../../link/support.ts'
import { message } from '../../messages/support.ts'
import { ispb, rigOn, runningOn } from './support.ts'

const database = await createTestDatabase(10)
const rig = await rigOn(database)
const { sql } = database
const running = runningOn(rig)
const { key, record } = testKey('spi:send')
const { call } = testApp(createResend({ sql }).routes ?? [], { keys: [record] })

const server = rawServer(() => answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() }))

afterEach(async () => {
  await sql`truncate spi_messages, spi_sendings, spi_transactions, spi_history, spi_resends cascade`
})
afterAll(async () => {
  server.stop()
  await rig.broker.stop()
  await database.close()
})

/** Whatever is sent is late at once, and is asked for once in the time of a test. */
const parts = {
  settings: {
    requestsMax: 4,
    channelFailover: true,
    settlementLimitSeconds: 0,
    scheduledLimitSeconds: 2_760,
    syncTimeoutSeconds: 5,
  },
  watchTimes: { everyMs: 20, reaskFirstMs: 120_000, reaskMaxMs: 900_000 },
}

/** What a process sends, by EndToEndId in the order of sending, and the answers that it gets: none while `hold` is true. */
const processOf = ({ hold }: { readonly hold: (endToEndId: string) => boolean }) => {
  const inner = interfaceClient({ PRIMARY: server.url }, {}, ispb)
  const released = Promise.withResolvers<void>()
  const sent: string[] = []
  const send: typeof inner.send = async (channel, messages, ...more) => {
    const ids = messages.map(
      (xml) => /<EndToEndId>(\w+)</.exec(Buffer.from(xml).toString())?.[1] ?? '',
    )
    sent.push(...ids)
    if (ids.some(hold)) await released.promise
    return inner.send(channel, messages, ...more)
  }
  return { client: { ...inner, send }, sent, release: () => released.resolve() }
}

const paid = async (): Promise<string> => {
  const [endToEndId = ''] = await rig.pay(1)
  return endToEndId
}

const messageOf = async (endToEndId: string) => {
  const [row] = await sql<{ id: string; status: string; reasks: number | null }[]>`
    select id, status, reasks from spi_messages where end_to_end_id = ${endToEndId}`
  if (row === undefined) throw new Error('not stored')
  return row
}

test('while an ask has no end, others are marked, and what a person wants sent again goes out', async () => {
  const first = await paid()
  let sendings = 0
  // Sent by the queue, then asked for without an end.
  const one = processOf({ hold: (endToEndId) => endToEndId === first && ++sendings === 2 })
  await running(
    async () => {
      await until(() => sendings === 2)
      const second = await paid()
      await until(async () => (await messageOf(second)).status === 'UNKNOWN')
      const { id } = await messageOf(second)
      expect((await call('POST', `/v1/spi/messages/${id}/resend`, { key })).status).toBe(202)
      await until(() => one.sent.filter((endToEndId) => endToEndId === second).length === 2)
      one.release()
    },
    one.client,
    parts,
  )
}, 60_000)

test('processes beside one another ask for each once, as its time comes', async () => {
  const first = await paid()
  let sendings = 0
  const one = processOf({ hold: (endToEndId) => endToEndId === first && ++sendings === 2 })
  const other = processOf({ hold: () => false })
  const countOf = (endToEndId: string): number =>
    [...one.sent, ...other.sent].filter((sent) => sent === endToEndId).length
  await running(
    async () => {
      await until(() => sendings === 2)
      await running(
        async () => {
          // The other process alone has time for it, and would find the first before it.
          const second = await paid()
          await until(() => countOf(second) === 2)
          expect(countOf(first)).toBe(2)
          await sql`update spi_messages set reask_after = now() where end_to_end_id = ${first}`
          await until(() => countOf(first) === 3)
          expect((await messageOf(first)).reasks).toBe(2)
        },
        other.client,
        parts,
      )
      one.release()
    },
    one.client,
    parts,
  )
  // A process that starts goes on with what was begun.
  const third = await paid()
  const later = processOf({ hold: () => false })
  await running(() => until(() => later.sent.length === 2), later.client, parts)
  expect(later.sent).toEqual([third, third])
}, 60_000)

test('the next is due after a while, and what a channel turned away does not count', async () => {
  const first = await paid()
  const one = processOf({ hold: () => false })
  let turnedAway = 0
  const busy: typeof one.client = {
    ...one.client,
    send: async (...args) => {
      if ((await messageOf(first)).status !== 'UNKNOWN' || turnedAway === 2) {
        return one.client.send(...args)
      }
      turnedAway++
      const reason = 'too many requests'
      return { kind: 'unreachable', reason, retryAfterMs: 20, isDown: false }
    },
  }
  await running(() => until(() => one.sent.length === 2), busy, parts)
  const [next] = await sql`
    select reasks, reask_after - at between interval '60 s' and interval '180 s' as "isInTime"
    from spi_messages cross join (select max(at) as at from spi_history where repetition is not null) asked`
  expect(turnedAway).toBe(2)
  expect(next).toEqual({ reasks: 1, isInTime: true })
}, 60_000)

/** Payments of an hour ago that nobody has answered. */
const unanswered = async (count: number): Promise<readonly string[]> => {
  const hourAgoMs = Date.now() - 3_600_000
  const made = Array.from({ length: count }, (_, at) =>
    message(
      { type: 'pacs.008', direction: 'OUTBOUND', status: 'UNKNOWN' },
      new Date(hourAgoMs + at),
    ),
  )
  await insertMessages(sql, made)
  return made.map(({ id }) => id)
}

test('what stays unanswered waits for its turn behind all others', async () => {
  const ids = await unanswered(5)
  const now = Date.now()
  const [from, to] = [new Date(now - 86_400_000), new Date(now - 60_000)]
  const turns: number[][] = []
  for (let turn = 0; turn < 5; turn++) {
    const asked = await sql.begin(async (tx) => {
      const found = await lockUnanswered(tx, { from, to, scheduledTo: from, limit: 1 })
      const reasks = found.map((one) => ({ id: one.id, reasks: one.reasks + 1, pauseMs: 0 }))
      await noteReasks(tx, reasks)
      return found
    })
    turns.push(asked.map(({ id }) => ids.indexOf(id)).sort())
    // All that were asked for are due again.
    expect(await hasToAsk(sql, { from, to, scheduledTo: from })).toBe(true)
  }
  // One that was never asked for, and the one that has been due for longest: of two, the elder.
  expect(turns).toEqual([[0], [0, 1], [0, 2], [1, 3], [0, 4]])
})

test('one round asks for more than go out at once', async () => {
  const count = 230
  const ids = await unanswered(count)
  const one = processOf({ hold: () => false })
  const watchTimes = { ...parts.watchTimes, everyMs: 60_000 }
  const asked = async () =>
    (await sql`select from spi_messages where id = any(${ids}::uuid[]) and reasks = 1`).length
  await running(() => until(async () => (await asked()) === count), one.client, {
    ...parts,
    watchTimes,
  })
}, 60_000)

test('UNKNOWN messages are counted up to a limit', async () => {
  const over = 3
  await sql`
    insert into spi_messages (id, type, direction, status, transaction_count, signature, xml)
    select gen_random_uuid(), 'pacs.008', 'OUTBOUND', 'UNKNOWN', 1, 'NOT_CHECKED', ''
    from generate_series(1, ${countedMax + over})`
  expect(await countUnknown(sql)).toBe(countedMax)
  await sql`delete from spi_messages where id in (select id from spi_messages limit ${2 * over})`
  expect(await countUnknown(sql)).toBe(countedMax - over)
})
