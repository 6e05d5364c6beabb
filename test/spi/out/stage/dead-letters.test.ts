import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { openDeadLetters, topics } from '#src/platform/broker/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createLetterSubjects, createRefusals } from '#src/spi/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { createCentralBank } from '../../../../src/simulators/central-bank/index.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { endToEndId } from '../../../support/messages.ts'
import { transfer } from '../../../support/participant.ts'
import { issueCertificate } from '../../../support/pki.ts'
import { answer, interfaceClient, rawServer } from '../../link/support.ts'
import { accepting, ispb, rigOn, runningOn, signingWith } from './support.ts'

const database = await createTestDatabase(10)
const rig = await rigOn(database)
const bank = await createCentralBank({ longPollMs: 50, openingBalanceCents: 10n ** 12n })
const client = interfaceClient(
  { PRIMARY: bank.url, SECONDARY: bank.secondaryUrl },
  { attemptsMax: 1 },
  ispb,
)
const { sql } = database
const running = runningOn(rig)

afterEach(async () => {
  await sql`truncate spi_messages, spi_sendings, spi_transactions, spi_history, webhook_events cascade`
})
afterAll(async () => {
  await rig.broker.stop()
  await bank.stop()
  await database.close()
})

const settledBy = (ids: readonly string[]) =>
  bank.book().operations.filter(({ endToEndId }) => ids.includes(endToEndId))

/** The messages of requests, whole. */
const textsOf = (requests: readonly { readonly body: Uint8Array }[]): readonly string[] =>
  requests.flatMap(({ body }) => {
    const text = Buffer.from(Bun.gunzipSync(new Uint8Array(body))).toString()
    return [...text.matchAll(/<Envelope[\s\S]*?<\/Envelope>/g)].map(([one]) => one)
  })

describe('a process that dies after sending', () => {
  const refused = answer(400, {}, '<problem><type>https://x/error/charset</type></problem>')
  /** A stage whose requests arrive and are never answered loses its session, as by SIGKILL; then `work` runs. */
  const afterDeath = async (
    work: (first: readonly { readonly body: Uint8Array }[]) => Promise<void>,
  ): Promise<void> => {
    const silent = rawServer(() => answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() }))
    const over = Promise.withResolvers<void>()
    const inner = interfaceClient({ PRIMARY: silent.url }, {}, ispb)
    const dying = {
      ...inner,
      send: async (...args: Parameters<typeof inner.send>) => {
        await inner.send(...args)
        await over.promise
        return { kind: 'unknown', reason: 'killed' } as const
      },
    }
    const stage = rig.outbound(dying, { signing: signingWith(issueCertificate('old')) })
    await stage.start?.()
    while (silent.requests.length === 0) await Bun.sleep(5)
    const stopped = stage.drain?.()
    await sql`update broker_lanes set until = '-infinity' where owner is not null`
    await work(silent.requests)
    over.resolve()
    await stopped
    await stage.stop?.()
    silent.stop()
  }

  test('leaves its bytes: no others are sent, whoever signs by now', async () => {
    await rig.pay(1)
    await afterDeath(async (first) => {
      const server = rawServer(() => answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() }))
      const next = interfaceClient({ PRIMARY: server.url }, {}, ispb)
      await running(() => rig.until('SENT', 1), next, {
        signing: signingWith(issueCertificate('new')),
      })
      server.stop()
      expect(textsOf(server.requests)).toEqual(textsOf(first))
    })
  })

  test('leaves a doubt: what is refused afterwards is UNKNOWN, not FAILED', async () => {
    await rig.pay(1)
    await afterDeath(async () => {
      const server = rawServer(() => refused)
      const next = interfaceClient({ PRIMARY: server.url }, {}, ispb)
      await running(() => rig.until('UNKNOWN', 1), next)
      server.stop()
    })
    expect((await rig.statuses())['FAILED']).toBeUndefined()
  })

  test('without having reached anybody leaves none: what is refused then FAILED', async () => {
    const away = rawServer(() => 'cut')
    away.stop()
    const unreachable = interfaceClient({ PRIMARY: away.url }, {}, ispb)
    await rig.pay(1)
    let attempts = 0
    await running(
      async () => {
        while (attempts < 2) await Bun.sleep(5)
      },
      {
        ...unreachable,
        send: (...args) => {
          attempts++
          return unreachable.send(...args)
        },
      },
    )
    const server = rawServer(() => refused)
    await running(() => rig.until('FAILED', 1), interfaceClient({ PRIMARY: server.url }, {}, ispb))
    server.stop()
  })
})

describe('dead letters', () => {
  const watchTimes = { everyMs: 60_000 }
  const impatient = {
    requestsMax: 4,
    channelFailover: true,
    settlementLimitSeconds: 0,
    scheduledLimitSeconds: 2_760,
    syncTimeoutSeconds: 5,
  }
  const unusable = (): never => {
    throw new Error('a fault of ours')
  }

  test('what no channel is configured for is FAILED at once and blocks nobody', async () => {
    const onlyPrimary = interfaceClient({ PRIMARY: bank.url }, {}, ispb)
    const letters = openDeadLetters(sql)
    const before = (await letters.list(1_000)).length
    const codes = async () => {
      const rows = await sql<{ type: string; code: string | null }[]>`
        select type, error_code as code from spi_messages order by id`
      return rows.map(({ type, code }) => [type, code])
    }
    const none = 'channel_not_configured'
    const giveBack = {
      original_end_to_end_id: endToEndId(1),
      amount: 100,
      return_reason: 'MD06',
      receiving_ispb: accepting,
    }
    // A return has one channel; a payment may take another.
    await rig.pay(1, { message_type: 'PACS004', params: giveBack })
    await rig.pay(1)
    await running(
      () => rig.until('SENT', 1),
      interfaceClient({ SECONDARY: bank.secondaryUrl }, {}, ispb),
    )
    expect(await codes()).toEqual([
      ['pacs.004', none],
      ['pacs.008', null],
    ])
    await sql`truncate spi_messages cascade`
    await rig.pay(1, { channel: 'SECONDARY' })
    await rig.pay(1)
    const settings = { ...impatient, settlementLimitSeconds: 60, channelFailover: false }
    await running(() => rig.until('SENT', 1), onlyPrimary, { settings })
    expect(await codes()).toEqual([
      ['pacs.008', none],
      ['pacs.008', null],
    ])
    const [last, first] = await letters.list(2)
    expect([first, last].map((letter) => letter?.headers['dlq-error-code'])).toEqual([none, none])
    // Once there is one, it is sent after all.
    expect(await letters.retry(last?.id ?? 0n, commandActor())).toBe(true)
    await running(() => rig.until('SENT', 2), client, { settings })
    expect((await letters.list(1_000)).length).toBe(before + 1)
  })

  test('what is thrown out of dlq is REJECTED if it is FAILED, and never goes out', async () => {
    const onlyPrimary = interfaceClient({ PRIMARY: bank.url }, {}, ispb)
    const letters = openDeadLetters(
      sql,
      false,
      createLetterSubjects(emitEvents, undefined, undefined),
    )
    const failed = async (): Promise<bigint> => {
      await rig.pay(1, { channel: 'SECONDARY' })
      const settings = { ...impatient, settlementLimitSeconds: 60, channelFailover: false }
      await running(() => rig.until('FAILED', 1), onlyPrimary, { settings })
      return (await letters.list(1))[0]?.id ?? 0n
    }
    const first = await failed()
    // Another process copied the letter: its retry must have no effect, either.
    const [copy] = await sql<{ id: bigint }[]>`
      insert into broker_dead_letters (key, headers, value)
      select key, headers, value from broker_dead_letters where id = ${String(first)} returning id`
    expect(await letters.drop(first, commandActor())).toBe(true)
    expect(await letters.drop(first, commandActor())).toBe(false)
    expect(await rig.statuses()).toEqual({ REJECTED: 1 })
    expect(await letters.retry(copy?.id ?? 0n, commandActor())).toBe(true)
    const requests = rawServer(() => answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() }))
    const open = interfaceClient({ PRIMARY: requests.url, SECONDARY: requests.url }, {}, ispb)
    await running(() => Bun.sleep(500), open)
    requests.stop()
    expect([requests.requests.length, await rig.statuses()]).toEqual([0, { REJECTED: 1 }])
    await sql`truncate spi_messages cascade`
    for (const status of ['QUEUED', 'SENT', 'UNKNOWN', 'ACCEPTED']) {
      const letter = await failed()
      await sql`update spi_messages set status = ${status}`
      expect(await letters.drop(letter, commandActor())).toBe(true)
      expect(await rig.statuses()).toEqual({ [status]: 1 })
      await sql`truncate spi_messages cascade`
    }
  })

  test('what is retried is QUEUED with that, and sent even if its queue entry is lost', async () => {
    const onlyPrimary = interfaceClient({ PRIMARY: bank.url }, {}, ispb)
    const letters = openDeadLetters(
      sql,
      false,
      createLetterSubjects(emitEvents, undefined, undefined),
    )
    await rig.pay(1, { channel: 'SECONDARY' })
    const settings = { ...impatient, settlementLimitSeconds: 60, channelFailover: false }
    await running(() => rig.until('FAILED', 1), onlyPrimary, { settings })
    const [letter] = await letters.list(1)
    expect(await letters.retry(letter?.id ?? 0n, commandActor())).toBe(true)
    expect(await rig.statuses()).toEqual({ QUEUED: 1 })
    await sql`delete from broker_queue where id > 0`
    const [kept] = await sql<{ isTrusted: boolean }[]>`
      select requeue_after is null and requeued_at > now() - interval '1 minute' as "isTrusted"
      from spi_messages`
    expect(kept).toEqual({ isTrusted: true })
    await sql`update spi_messages set requeued_at = now() - interval '1 hour'`
    const parts = { settings: impatient, requeueEveryMs: 20, watchTimes }
    await running(() => rig.until('SENT', 1), client, parts)
    const history = await sql<{ status: string }[]>`
      select status from spi_history order by position`
    expect(history.map(({ status }) => status)).toEqual(['QUEUED', 'FAILED', 'QUEUED', 'SENT'])
  })

  test('what has settled in part is not sent again, and of the rest a person says what it is', async () => {
    const letters = openDeadLetters(
      sql,
      false,
      createLetterSubjects(emitEvents, undefined, undefined),
    )
    const onlyPrimary = interfaceClient({ PRIMARY: bank.url }, {}, ispb)
    const settings = { ...impatient, settlementLimitSeconds: 60, channelFailover: false }
    for (const act of ['retry', 'drop'] as const) {
      await rig.pay(1, {
        channel: 'SECONDARY',
        params: {
          local_instrument: 'MANU',
          transactions: [transfer(ispb, accepting, 1), transfer(ispb, accepting, 2)],
        },
      })
      await running(() => rig.until('FAILED', 1), onlyPrimary, { settings })
      await sql`update spi_transactions set status = 'ACSC' where position = 0`
      const [letter] = await letters.list(1)
      expect(await letters[act](letter?.id ?? 0n, commandActor())).toBe(true)
      const status = act === 'retry' ? 'FAILED' : 'REJECTED'
      expect(await rig.statuses()).toEqual({ [status]: 1 })
      const [row] = await sql<{ code: string }[]>`select error_code as code from spi_messages`
      if (act === 'drop') expect(row?.code).toBe('never_sent')
      await sql`truncate spi_messages, spi_transactions, spi_history, spi_message_keys cascade`
      // What was retried would become a letter of the next round, as a message that nobody knows.
      await sql`truncate broker_dead_letters`
      await sql`delete from broker_queue where id > 0`
    }
  })

  test('what is thrown out of dlq stays settled where its answer came in spite of all', async () => {
    const letters = openDeadLetters(
      sql,
      false,
      createLetterSubjects(emitEvents, undefined, undefined),
    )
    const onlyPrimary = interfaceClient({ PRIMARY: bank.url }, {}, ispb)
    await rig.pay(1, { channel: 'SECONDARY' })
    const settings = { ...impatient, settlementLimitSeconds: 60, channelFailover: false }
    await running(() => rig.until('FAILED', 1), onlyPrimary, { settings })
    // As an earlier version left it.
    await sql`update spi_transactions set status = 'ACSC'`
    const [letter] = await letters.list(1)
    expect(await letters.drop(letter?.id ?? 0n, commandActor())).toBe(true)
    expect(await rig.statuses()).toEqual({ FAILED: 1 })
  })

  test.each([
    ['a payment', {}],
    [
      'a return',
      {
        message_type: 'PACS004',
        params: {
          original_end_to_end_id: endToEndId(1),
          amount: 100,
          return_reason: 'MD06',
          receiving_ispb: accepting,
        },
      },
    ],
  ])('no clock throws away the letter of %s that FAILED', async (_, body) => {
    await sql`truncate broker_dead_letters`
    const onlySecondary = interfaceClient({ SECONDARY: bank.secondaryUrl }, {}, ispb)
    const letters = openDeadLetters(
      sql,
      false,
      createLetterSubjects(emitEvents, undefined, undefined),
    )
    await rig.pay(1, body)
    const settings = { ...impatient, settlementLimitSeconds: 60, channelFailover: false }
    await running(() => rig.until('FAILED', 1), onlySecondary, { settings })
    await sql`update broker_dead_letters set published_at = now() - interval '8 days'`
    expect(await letters.dropOld(7)).toEqual({ dropped: 0, held: 1 })
    expect(await letters.countHeld(7)).toBe(1)
    // What nothing of money hangs on goes: sent meanwhile by a copy of it, say.
    for (const status of ['QUEUED', 'SENT', 'UNKNOWN', 'ACCEPTED', 'REJECTED']) {
      await sql`update spi_messages set status = ${status}`
      expect(await letters.countHeld(7)).toBe(0)
    }
    expect(await letters.dropOld(7)).toEqual({ dropped: 1, held: 0 })
  })

  test('a message that cannot be sent is FAILED, stays so, and is sent once taken out of dlq', async () => {
    const ids = await rig.pay(1)
    const letters = openDeadLetters(sql)
    const before = (await letters.list(1_000)).length
    // The row cannot be noted down: nothing of it goes out.
    await sql`alter table spi_sendings add constraint broken check (xml is null)`
    await running(
      async () => {
        await rig.until('FAILED', 1)
        // The sweeper looks many times more and leaves it alone.
        await Bun.sleep(300)
      },
      client,
      { settings: impatient, requeueEveryMs: 20, watchTimes },
    )
    await sql`alter table spi_sendings drop constraint broken`
    const kept = await letters.list(1_000)
    expect(kept).toHaveLength(before + 1)
    expect(kept[0]?.headers).toMatchObject({ 'dlq-error-code': 'attempts_exhausted' })
    const found = await sql<{ code: string }[]>`select error_code as code from spi_messages`
    expect([...found]).toEqual([{ code: 'attempts_exhausted' }])
    expect(settledBy(ids)).toHaveLength(0)

    expect(await letters.retry(kept[0]?.id ?? 0n, commandActor())).toBe(true)
    await running(() => rig.until('SENT', 1), client)
    expect(settledBy(ids)).toHaveLength(1)
    const rows = await sql<{ status: string; code: string | null }[]>`
      select h.status, m.error_code as code from spi_history h join spi_messages m on m.id = h.message_id
      order by position`
    expect([...rows]).toEqual(
      ['QUEUED', 'FAILED', 'QUEUED', 'SENT'].map((status) => ({ status, code: null })),
    )
  })

  test('what access is refused for waits, and is sent once it is granted', async () => {
    let isLocked = true
    const server = rawServer(({ body }) => {
      if (isLocked) return answer(403, { 'Content-Type': 'application/problem+xml' }, '')
      const count = Buffer.from(Bun.gunzipSync(new Uint8Array(body)))
        .toString()
        .split('<AppHdr>').length
      return answer(201, {
        'PI-ResourceId': Array.from({ length: count - 1 }, Bun.randomUUIDv7).join(','),
      })
    })
    await rig.pay(3)
    const client = interfaceClient({ PRIMARY: server.url }, {}, ispb)
    const lookAfterMs = 300
    const stage = rig.outbound(client, { lookAfterMs, requeueEveryMs: 100 })
    const startedMs = performance.now()
    await stage.start?.()
    const isRefused = async () => (await stage.health?.())?.status === 'down'
    while (!(await isRefused())) await Bun.sleep(5)
    expect(await stage.health?.()).toMatchObject({ status: 'down', ready: true })
    await Bun.sleep(200)
    const asked = server.requests.length
    const found = await sql<{ status: string }[]>`select distinct status from spi_messages`
    expect([...found]).toEqual([{ status: 'QUEUED' }])
    // One message says nothing of others: the request of all is cut until a second one alone is refused.
    const looks = Math.ceil((performance.now() - startedMs) / lookAfterMs)
    expect(asked).toBeLessThanOrEqual(5 + looks)
    isLocked = false
    await rig.until('SENT', 3)
    expect(await stage.health?.()).toMatchObject({ status: 'ok' })
    await stage.drain?.()
    await stage.stop?.()
    server.stop()
  })

  test('one that is refused access alone holds up no other, and is sent once it is let in', async () => {
    const [bad = ''] = await rig.pay(4)
    let isLocked = true
    const server = rawServer(({ body }) => {
      const xml = Buffer.from(Bun.gunzipSync(new Uint8Array(body))).toString()
      if (isLocked && xml.includes(bad)) {
        return answer(403, { 'Content-Type': 'application/problem+xml' }, '')
      }
      return answer(201, {
        'PI-ResourceId': Array.from(
          { length: xml.split('<AppHdr>').length - 1 },
          Bun.randomUUIDv7,
        ).join(','),
      })
    })
    const client = interfaceClient({ PRIMARY: server.url }, {}, ispb)
    const stage = rig.outbound(client, { lookAfterMs: 60_000, requeueEveryMs: 100 })
    await stage.start?.()
    await rig.until('SENT', 3)
    // What comes later is not held up either.
    await rig.pay(1)
    await rig.until('SENT', 4)
    const asked = server.requests.length
    while (server.requests.length < asked + 2) await Bun.sleep(5)
    await rig.pay(1)
    await rig.until('SENT', 5)
    expect(await stage.health?.()).toMatchObject({ status: 'ok' })
    isLocked = false
    await rig.until('SENT', 6)
    await stage.drain?.()
    await stage.stop?.()
    server.stop()
  })

  test('one that may be with the central bank is UNKNOWN, and asked for until it answers', async () => {
    const ids = await rig.pay(1)
    await running(
      () => rig.until('UNKNOWN', 1),
      { ...client, send: async () => unusable() },
      { watchTimes },
    )
    expect(settledBy(ids)).toHaveLength(0)
    // Sent at last it is past the limit.
    const wasSent = async () =>
      (await sql`select from spi_history where detail = 'known to be sent: PRIMARY'`).length === 1
    await running(
      async () => {
        while (!(await wasSent())) await Bun.sleep(5)
      },
      client,
      {
        settings: impatient,
        watchTimes: { everyMs: 20, reaskFirstMs: 50, reaskMaxMs: 100 },
      },
    )
    expect(settledBy(ids)).toHaveLength(1)
  })
})

describe('a payment that the broker refuses to take from the outbox', () => {
  test('FAILED with its letter, and is sent once somebody retries that', async () => {
    const metrics = createMetrics({ version: 'test', withProcess: false })
    const end = createRefusals(emitEvents, undefined, metrics)
    await rig.pay(1)
    const [queued] = await sql<{ headers: Readonly<Record<string, string>> }[]>`
      select headers from broker_queue where topic = ${topics.outbound}`
    const message = { value: new Uint8Array(), headers: queued?.headers ?? {} }
    await sql.begin((tx) => end(tx, { ...message, topic: topics.webhookEvents }, 'refused'))
    expect(await rig.statuses()).toEqual({ QUEUED: 1 })
    await sql.begin((tx) => end(tx, { ...message, topic: topics.outbound }, 'refused'))
    expect(await rig.statuses()).toEqual({ FAILED: 1 })
    expect((await metrics.render()).text).toContain('status="FAILED"} 1')
    const { reopen } = createLetterSubjects(emitEvents, undefined, undefined)
    await sql.begin((tx) => reopen(tx, message))
    await running(() => rig.until('SENT', 1), client)
  })
})
