import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { createResend } from '#src/spi/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { until } from '../../../support/until.ts'
import { answer, interfaceClient, rawServer } from '../../link/support.ts'
import { ispb, rigOn, runningOn } from '../stage/support.ts'

const database = await createTestDatabase(10)
const rig = await rigOn(database)
const { sql } = database
const running = runningOn(rig)
const { key, record } = testKey('spi:send')
const reader = testKey('messages:read')
const app = testApp(createResend({ sql }).routes ?? [], { keys: [record, reader.record] })

afterEach(async () => {
  await sql`truncate spi_messages, spi_sendings, spi_transactions, spi_history, spi_resends,
    audit_log, idempotency_keys cascade`
})
afterAll(async () => {
  await rig.broker.stop()
  await database.close()
})

type Answer = { readonly status: number; readonly json: Readonly<Record<string, unknown>> }

const resend = async (id: string, idempotencyKey?: string, by = key): Promise<Answer> => {
  const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }
  const response = await app.call('POST', `/v1/spi/messages/${id}/resend`, { key: by, headers })
  return { status: response.status, json: (await response.json()) as Answer['json'] }
}

/** A message in a status; its id. */
const stored = async (status: string, direction = 'OUTBOUND', ageMs = 0): Promise<string> => {
  const id = Bun.randomUUIDv7('hex', Date.now() - ageMs)
  await sql`
    insert into spi_messages (id, type, direction, status, channel, biz_msg_idr, transaction_count,
      signature, xml)
    values (${id}, 'pacs.008', ${direction}, ${status}, 'PRIMARY', 'M1', 1, 'NOT_CHECKED', '')`
  return id
}

const wishes = async () => (await sql`select from spi_resends`).length

describe('a message of unknown outcome', () => {
  /** Overdue at once, and left alone for a minute after it was asked for. */
  const settings = {
    requestsMax: 4,
    channelFailover: true,
    syncTimeoutSeconds: 5,
    settlementLimitSeconds: 0,
    scheduledLimitSeconds: 2_760,
  }
  const watchTimes = { everyMs: 20, reaskFirstMs: 120_000, reaskMaxMs: 900_000 }

  test('is sent again at once, the same bytes, once for each time it is asked for', async () => {
    const silent = rawServer(() => answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() }))
    const client = interfaceClient({ PRIMARY: silent.url }, {}, ispb)
    const [endToEndId = ''] = await rig.pay(1)
    const [message] = await sql<{ id: string; biz_msg_idr: string }[]>`
      select id, biz_msg_idr from spi_messages`
    const { id = '', biz_msg_idr } = message ?? {}
    await running(
      async () => {
        await rig.until('UNKNOWN', 1)
        await until(() => silent.requests.length === 2)
        // The watch leaves it alone now.
        await Bun.sleep(100)
        expect(silent.requests.length).toBe(2)
        const asked = await Promise.all([resend(id, 'once'), resend(id), resend(id)])
        for (const { status, json } of asked) {
          expect([status, json]).toEqual([
            202,
            {
              id,
              biz_msg_idr,
              end_to_end_id: endToEndId,
              status: 'UNKNOWN',
              resend_asked_at: expect.any(String),
            },
          ])
        }
        await until(() => silent.requests.length >= 3)
        await until(async () => (await wishes()) === 0)
        const before = silent.requests.length
        // A repetition of the request is none of the wish.
        expect((await resend(id, 'once')).status).toBe(202)
        await Bun.sleep(100)
        expect([silent.requests.length, await wishes()]).toEqual([before, 0])
        await resend(id, 'twice')
        await until(() => silent.requests.length === before + 1)
      },
      client,
      { settings, watchTimes },
    )
    silent.stop()
    const [first, ...others] = silent.requests.map(
      ({ body }) =>
        Buffer.from(Bun.gunzipSync(new Uint8Array(body)))
          .toString()
          .match(/<Envelope[\s\S]*<\/Envelope>/)?.[0],
    )
    expect(first).toBeDefined()
    expect(new Set(others)).toEqual(new Set([first]))
    const [last] = await sql`select detail, repetition from spi_history order by position desc`
    expect(last).toEqual({
      detail: 'sent again: taken by PRIMARY',
      repetition: silent.requests.length - 1,
    })
    const acts = await sql`
      select from audit_log where action = 'spi.resend' and object = ${id} and outcome = 'asked'`
    expect(acts).toHaveLength(4)
  }, 60_000)

  test('is forgotten where it has ended by then', async () => {
    const id = await stored('UNKNOWN')
    expect((await resend(id)).status).toBe(202)
    await sql`update spi_messages set status = 'ACCEPTED' where id = ${id}`
    const silent = rawServer(() => answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() }))
    const client = interfaceClient({ PRIMARY: silent.url }, {}, ispb)
    await running(() => until(async () => (await wishes()) === 0), client, {
      settings,
      watchTimes,
    })
    silent.stop()
    expect(silent.requests).toEqual([])
  })
})

describe('nothing is sent again', () => {
  const day = 24 * 3_600_000
  const cases: readonly (readonly [string, Parameters<typeof stored>])[] = [
    ['received', ['UNKNOWN', 'INBOUND']],
    ['waiting', ['QUEUED']],
    ['waiting', ['SENT']],
    ['ended', ['ACCEPTED']],
    ['ended', ['PARTIALLY_ACCEPTED']],
    ['ended', ['REJECTED']],
    ['ended', ['FAILED']],
    ['too_old', ['UNKNOWN', 'OUTBOUND', day + 1_000]],
  ]

  for (const [reason, parts] of cases) {
    test(`of what is ${parts.join(' ')}: ${reason}`, async () => {
      const { status, json } = await resend(await stored(...parts))
      const expected = { code: 'resend_not_possible', reason, message_status: parts[0] }
      expect([status, json]).toEqual([409, expect.objectContaining(expected)])
      expect(await wishes()).toBe(0)
      expect(await sql`select from audit_log where action = 'spi.resend'`).toHaveLength(0)
    })
  }

  test('of what is a little younger than a day it is', async () => {
    expect((await resend(await stored('UNKNOWN', 'OUTBOUND', day - 60_000))).status).toBe(202)
  })

  test.each(['sent_at', 'in_doubt_since'])(
    'of what is older, but went out within a day (%s), it is, until a day is over',
    async (column) => {
      const id = await stored('UNKNOWN', 'OUTBOUND', 3 * day)
      const sentBefore = (ms: number) =>
        sql`update spi_messages set ${sql.unsafe(column)} = ${new Date(Date.now() - ms)} where id = ${id}`
      await sentBefore(day + 1_000)
      expect((await resend(id)).json).toMatchObject({ reason: 'too_old' })
      await sentBefore(day - 60_000)
      expect((await resend(id)).status).toBe(202)
      const silent = rawServer(() => answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() }))
      const client = interfaceClient({ PRIMARY: silent.url }, {}, ispb)
      await sql`insert into spi_history (message_id, position, status) values (${id}, 0, 'UNKNOWN')`
      await sql`update spi_messages set xml = ${Bun.zstdCompressSync('<AppHdr>')}`
      await running(() => until(() => silent.requests.length > 0), client)
      silent.stop()
    },
  )

  test('of what is not there, nor for who has no right to it', async () => {
    expect((await resend(Bun.randomUUIDv7())).status).toBe(404)
    expect((await resend('no-uuid')).status).toBe(404)
    const id = await stored('UNKNOWN')
    expect((await resend(id, undefined, reader.key)).status).toBe(403)
    expect(await wishes()).toBe(0)
  })
})
