import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { createXmlScanner } from '#codecs/xml'
import { openDeadLetters } from '#src/platform/broker/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { type Channel, type SendingRow, sendingOf, sentBytes } from '#src/spi/messages/index.ts'
import { createMessageVerifier } from '#src/spi/out/signing/index.ts'
import { failuresMax } from '#src/spi/out/stage/channel-health.ts'
import { createRequeue } from '#src/spi/out/stage/requeue.ts'
import { createCentralBank } from '../../../../src/simulators/central-bank/index.ts'
import { createTestDatabase, quietLogger } from '../../../support/database.ts'
import { endToEndId } from '../../../support/messages.ts'
import { transfer } from '../../../support/participant.ts'
import { issueCertificate } from '../../../support/pki.ts'
import { subscribe } from '../../../support/webhooks.ts'
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
await subscribe(sql, ['message.status'])

afterEach(async () => {
  bank.setFaults([])
  await sql`truncate spi_messages, spi_sendings, spi_transactions, spi_history, webhook_events cascade`
})
afterAll(async () => {
  await rig.broker.stop()
  await bank.stop()
  await database.close()
})

const running = runningOn(rig)

/** What was sent of every message, and what is kept of it. */
const sent = async () => {
  const rows = await sql<(SendingRow & { readonly xml: Buffer })[]>`
    select message.xml, sending.xml as "sendingXml", position as "sendingPosition",
      checksum as "sendingChecksum"
    from spi_sendings sending join spi_messages message on message.id = sending.message_id`
  return rows.map(({ xml, ...row }) => {
    const kept = sendingOf(row)
    if (kept === undefined) throw new Error('no sending')
    return { bytes: sentBytes(xml, kept), kept }
  })
}

const settledBy = (ids: readonly string[]) =>
  bank.book().operations.filter(({ endToEndId }) => ids.includes(endToEndId))

describe('sending', () => {
  test('queued payments are sent in requests of several, once each', async () => {
    const before = { ...bank.statistics().received }
    const ids = await rig.pay(40)
    await running(() => rig.until('SENT', 40), client)
    expect(settledBy(ids)).toHaveLength(40)
    const after = bank.statistics().received
    expect((after['pacs.008'] ?? 0) - (before['pacs.008'] ?? 0)).toBe(40)
    expect((after['requests'] ?? 0) - (before['requests'] ?? 0)).toBeLessThan(40)
    const [row] = await sql<{ sent: number; events: number }[]>`
      select (select count(*)::int from spi_messages where resource_id is not null) as sent,
        (select count(*)::int from webhook_events where type = 'message.status') as events`
    expect(row).toEqual({ sent: 40, events: 40 })
  })

  test('an answer that comes before the interface confirms the sending takes effect with it', async () => {
    const early = {
      ...client,
      send: async (...args: Parameters<typeof client.send>) => {
        const outcome = await client.send(...args)
        const ids = outcome.kind === 'accepted' ? outcome.resourceIds : []
        for (const id of ids) {
          await sql`
            insert into spi_pending_answers (message_id, reference, outcome, reason)
            values (${Bun.randomUUIDv7()}, ${id}, 'REJECTED', 'early')`
        }
        return outcome
      },
    }
    await rig.pay(3)
    await running(() => rig.until('REJECTED', 3), early)
    const events = await sql<{ status: string }[]>`
      select data::json ->> 'status' as status from webhook_events
      where type = 'message.status' order by sequence`
    expect(events.map(({ status }) => status)).toEqual([
      ...['SENT', 'SENT', 'SENT'],
      ...['REJECTED', 'REJECTED', 'REJECTED'],
    ])
    expect(await sql`select from spi_pending_answers`).toHaveLength(0)
  })

  test('signs, and keeps the bytes that were sent', async () => {
    const pair = issueCertificate('signer')
    const signing = signingWith(pair)
    await rig.pay(3)
    await running(() => rig.until('SENT', 3), client, { signing })
    const rows = await sent()
    expect(rows).toHaveLength(3)
    const verifier = createMessageVerifier([pair.cert])
    for (const { bytes, kept } of rows) {
      const document = createXmlScanner().scan(bytes)
      expect(verifier.verify(document)).toMatchObject({ ok: true })
      // The signature alone is kept: the rest is stored already.
      expect(kept.position).toBeGreaterThan(0)
    }
  })

  test('through faults of the interface every payment is settled once', async () => {
    bank.setFaults([
      { kind: 'error_after_storing', operation: 'send', probability: 0.3, times: 6 },
      { kind: 'cut', operation: 'send', probability: 0.3, times: 6 },
      { kind: 'unavailable', operation: 'send', times: 3 },
      { kind: 'rate_limited', operation: 'send', times: 2 },
      { kind: 'refuse_connections', times: 2 },
    ])
    const ids = await rig.pay(100)
    await running(() => rig.until('SENT', 100), client)
    expect(settledBy(ids)).toHaveLength(100)
  }, 60_000)

  test('a message refused alone fails; those beside it pass', async () => {
    const ids = await rig.pay(4)
    const [bad = ''] = ids
    const strict = rawServer(({ body }) => {
      const text = Buffer.from(Bun.gunzipSync(new Uint8Array(body))).toString()
      const count = text.split('<AppHdr>').length - 1
      if (text.includes(bad)) {
        return answer(400, {}, '<problem><type>https://x/error/charset</type></problem>')
      }
      return answer(201, {
        'PI-ResourceId': Array.from({ length: count }, Bun.randomUUIDv7).join(','),
      })
    })
    const picky = interfaceClient({ PRIMARY: strict.url }, {}, ispb)
    await running(async () => {
      await rig.until('SENT', 3)
      await rig.until('FAILED', 1)
    }, picky)
    strict.stop()
    const [failed] = await sql<{ id: string; detail: string }[]>`
      select m.end_to_end_id as id, h.detail from spi_messages m
      join spi_history h on h.message_id = m.id and h.status = 'FAILED'`
    expect(failed).toEqual({ id: bad, detail: '400 charset' })
    expect((await openDeadLetters(sql).list(10)).length).toBe(1)
  })

  test('a message that is never answered clearly holds up no other, and goes out with the same bytes', async () => {
    const [bad = ''] = await rig.pay(1)
    let isIll = true
    const asked: (string | undefined)[] = []
    const ailing = rawServer(({ body }) => {
      const text = Buffer.from(Bun.gunzipSync(new Uint8Array(body))).toString()
      const messages = text.match(/<Envelope[\s\S]*?<\/Envelope>/g) ?? []
      const about = messages.find((one) => one.includes(bad))
      if (about !== undefined) asked.push(about)
      if (about !== undefined && isIll) return answer(500)
      return answer(201, { 'PI-ResourceId': messages.map(() => Bun.randomUUIDv7()).join(',') })
    })
    const single = interfaceClient({ PRIMARY: ailing.url }, { attemptsMax: 1 }, ispb)
    await running(
      async () => {
        while (asked.length === 0) await Bun.sleep(5)
        await rig.pay(60)
        await rig.until('SENT', 60)
        expect(await rig.statuses()).toEqual({ QUEUED: 1, SENT: 60 })
        isIll = false
        await rig.until('SENT', 61)
      },
      single,
      { requeueEveryMs: 200 },
    )
    ailing.stop()
    expect(asked.length).toBeGreaterThan(2)
    expect(new Set(asked).size).toBe(1)
  }, 60_000)

  test('a payment by itself goes over the other channel while its own answers nothing clearly', async () => {
    const ill = rawServer(() => answer(500))
    const ends = { PRIMARY: ill.url, SECONDARY: bank.secondaryUrl }
    const half = interfaceClient(ends, { attemptsMax: 1 }, ispb)
    const ids = await rig.pay(1)
    await running(() => rig.until('SENT', 1), half, { requeueEveryMs: 600_000 })
    ill.stop()
    expect(settledBy(ids)).toHaveLength(1)
    expect(ill.requests.length).toBe(3)
  }, 60_000)

  test('over the other channel with the same bytes while one is away', async () => {
    const away = rawServer(() => 'cut')
    away.stop()
    const half = interfaceClient({ PRIMARY: away.url, SECONDARY: bank.secondaryUrl }, {}, ispb)
    const ids = await rig.pay(3)
    await running(() => rig.until('SENT', 3), half)
    expect(settledBy(ids)).toHaveLength(3)
    const [row] = await sql`select distinct detail from spi_history where status = 'SENT'`
    expect(row).toEqual({ detail: 'SECONDARY' })
  })

  test('a return waits for its channel, and holds up no payment that may take the other', async () => {
    const away = rawServer(() => 'cut')
    away.stop()
    const half = interfaceClient({ PRIMARY: away.url, SECONDARY: bank.secondaryUrl }, {}, ispb)
    const giveBack = (index: number) => ({
      message_type: 'PACS004',
      params: {
        original_end_to_end_id: endToEndId(index),
        amount: 1,
        return_reason: 'MD06',
        receiving_ispb: accepting,
      },
    })
    const minute = new Date().toISOString().replace(/\D/g, '').slice(0, 12)
    const answerReturn = (index: number) => ({
      message_type: 'PACS002',
      params: {
        original_end_to_end_id: endToEndId(index),
        original_instruction_id: `D${accepting}${minute}${String(index).padStart(11, '0')}`,
        status: 'ACSP',
      },
    })
    for (let index = 0; index < 20; index++) {
      await rig.pay(1, index < 10 ? giveBack(index) : answerReturn(index))
    }
    const notSent = async () => {
      const rows = await sql<{ type: string; status: string; count: number }[]>`
        select type, status, count(*)::int as count from spi_messages group by 1, 2 order by 1`
      return rows.map(({ type, status, count }) => `${count} ${type} ${status}`)
    }
    await running(
      async () => {
        while ((await rig.broker.backlog('spi.outbound', 'spi-outbound')).depth > 0) {
          await Bun.sleep(10)
        }
        await rig.pay(30)
        await rig.until('SENT', 30)
        expect(await notSent()).toEqual([
          '10 pacs.002 QUEUED',
          '10 pacs.004 QUEUED',
          '30 pacs.008 SENT',
        ])
      },
      half,
      { requeueEveryMs: 200 },
    )
    const before = bank.statistics().received['pacs.004'] ?? 0
    await running(() => rig.until('SENT', 50), client, { requeueEveryMs: 50 })
    expect((bank.statistics().received['pacs.004'] ?? 0) - before).toBe(10)
  })

  test('what the secondary channel asks to wait for holds up no payment of the primary, and goes out after', async () => {
    let isFull = true
    let turnedAway = 0
    const full = {
      kind: 'unreachable',
      reason: 'too many requests',
      retryAfterMs: 300,
      isDown: false,
    } as const
    const throttling = {
      ...client,
      send: async (...[channel, messages, ...rest]: Parameters<typeof client.send>) => {
        if (!isFull || channel !== 'SECONDARY') return client.send(channel, messages, ...rest)
        turnedAway += messages.length
        return full
      },
    }
    const unhurried = await rig.pay(40, scheduled)
    await running(
      async () => {
        while (turnedAway < 40) await Bun.sleep(5)
        const urgent = await rig.pay(30)
        await rig.until('SENT', 30)
        expect(settledBy(urgent)).toHaveLength(30)
        expect(await rig.statuses()).toEqual({ QUEUED: 40, SENT: 30 })
        isFull = false
        await rig.until('SENT', 70)
        expect(settledBy(unhurried)).toHaveLength(40)
      },
      throttling,
      { requeueEveryMs: 50 },
    )
  }, 60_000)

  const scheduled = {
    params: {
      local_instrument: 'MANU',
      service_level: 'PAGAGD',
      transactions: [transfer(ispb, accepting, 100)],
    },
  }

  /** The client, one of whose channels has tokens as told, and the other as many as anybody wants. */
  const withTokens = (
    bucket: { tokens: number },
    over = client,
    limited: Channel = 'SECONDARY',
  ): typeof client => ({
    ...over,
    pay: async (channel, messages) => {
      if (channel !== limited) return undefined
      if (bucket.tokens <= 0) {
        return { kind: 'unreachable', reason: 'no tokens', retryAfterMs: 50, isDown: false }
      }
      bucket.tokens -= messages.length
      return undefined
    },
    room: async (channel) => (channel === limited ? bucket.tokens : Infinity),
    admit: async (channel, _, costs) => {
      if (channel !== limited) return costs.length
      const admitted = Math.max(0, Math.min(bucket.tokens, costs.length))
      bucket.tokens -= admitted
      return admitted
    },
  })
  const inLine = async (): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from spi_messages
      where status = 'QUEUED' and waits_for = 'secondary' and requeued_at is null`
    return row?.count ?? 0
  }
  const untilInLine = async (count: number): Promise<void> => {
    while ((await inLine()) < count) await Bun.sleep(5)
  }

  const ways = [
    ['the secondary channel', client, 'SECONDARY'],
    ['the only one', interfaceClient({ PRIMARY: bank.url }, {}, ispb), 'PRIMARY'],
    ['the primary while the secondary is passed over', client, 'PRIMARY'],
  ] as const

  test.each(ways)(
    'what waits for %s is served by its age, before what is new, and signed when it is',
    async (way, own, limited) => {
      const bucket = { tokens: 0 }
      let failures = 0
      const isAway = way.includes('passed over')
      const over: typeof client = {
        ...own,
        send: async (channel, ...rest) => {
          if (!isAway || channel === 'PRIMARY') return own.send(channel, ...rest)
          failures++
          return { kind: 'unreachable', reason: 'away', retryAfterMs: 0, isDown: true }
        },
      }
      const metrics = createMetrics({ version: 'test', withProcess: false })
      const signed = async (): Promise<number> => {
        const { text } = await metrics.render()
        return Number(/^spigw_signing_seconds_count\S* (\d+)$/m.exec(text)?.[1] ?? 0)
      }
      const signing = signingWith(issueCertificate('signer'))
      await running(
        async () => {
          const ids = [...(await rig.pay(20, scheduled))]
          while (isAway && failures < failuresMax) await Bun.sleep(5)
          await untilInLine(20)
          const before = await signed()
          for (let served = 5; served <= 20; served += 5) {
            bucket.tokens = 5
            ids.push(...(await rig.pay(5, scheduled)))
            await rig.until('SENT', served)
            await untilInLine(20)
            const sent = await sql<{ isFirst: boolean }[]>`
            select status = 'SENT' as "isFirst" from spi_messages order by id`
            expect(sent.map((one) => one.isFirst)).toEqual(sent.map((_, at) => at < served))
            expect(await signed()).toBe(before + served)
          }
          bucket.tokens = 100
          await rig.until('SENT', 40)
          expect(settledBy(ids)).toHaveLength(40)
        },
        withTokens(bucket, over, limited),
        { requeueEveryMs: 20, metrics, signing, lookAfterMs: 600_000 },
      )
    },
    60_000,
  )

  test('a batch of both channels goes out on the primary while the secondary is asked for room', async () => {
    await rig.pay(20, scheduled)
    await rig.pay(20)
    const asked = Promise.withResolvers<void>()
    const slow = {
      ...client,
      admit: async (_channel: unknown, _line: unknown, costs: readonly number[]) => {
        await asked.promise
        return costs.length
      },
    }
    await running(async () => {
      await rig.until('SENT', 20)
      expect(await rig.statuses()).toEqual({ QUEUED: 20, SENT: 20 })
      asked.resolve()
      await rig.until('SENT', 40)
    }, slow)
  })

  test('two processes that serve one line send everything once, and no more than there are tokens for', async () => {
    const bucket = { tokens: 0 }
    const before = bank.statistics().received['pacs.008'] ?? 0
    const other = rig.outbound(withTokens(bucket), { requeueEveryMs: 20 })
    await other.start?.()
    await running(
      async () => {
        await rig.pay(60, scheduled)
        await untilInLine(60)
        for (let served = 10; served <= 60; served += 10) {
          bucket.tokens += 10
          await rig.until('SENT', served)
          expect((bank.statistics().received['pacs.008'] ?? 0) - before).toBe(served)
        }
        await other.drain?.()
        await other.stop?.()
      },
      withTokens(bucket),
      { requeueEveryMs: 20 },
    )
  }, 60_000)

  test('what joined its line before its process died waits there, though its entry comes again', async () => {
    const bucket = { tokens: 1 }
    await rig.pay(2, scheduled)
    await sql`update spi_messages set waits_for = 'secondary'`
    await running(
      async () => {
        await rig.until('SENT', 1)
        await untilInLine(1)
        bucket.tokens = 1
        await rig.until('SENT', 2)
      },
      withTokens(bucket),
      { requeueEveryMs: 20 },
    )
  })

  test('what was sent before the process could note it is sent again, and settled once', async () => {
    const ids = await rig.pay(5)
    const first: Uint8Array[] = []
    const dying = {
      ...client,
      // Sent, and the process ends before its transaction: the queue hands the messages out again.
      send: async (...args: Parameters<typeof client.send>) => {
        await client.send(...args)
        first.push(...args[1])
        return { kind: 'unknown', reason: 'killed' } as const
      },
    }
    await running(async () => {
      while (first.length < 5) await Bun.sleep(5)
    }, dying)
    expect((await rig.statuses())['QUEUED']).toBe(5)
    await running(() => rig.until('SENT', 5), client)
    expect(settledBy(ids)).toHaveLength(5)
  })

  test('what was signed before a change of certificate goes out again with the same bytes', async () => {
    const ids = await rig.pay(5)
    const sendings: string[][] = [[], []]
    const noting = (run: number, isAnswered: boolean) => ({
      ...client,
      send: async (...args: Parameters<typeof client.send>) => {
        sendings[run]?.push(...args[1].map((bytes) => Buffer.from(bytes).toString()))
        const outcome = await client.send(...args)
        return isAnswered ? outcome : ({ kind: 'unknown', reason: 'killed' } as const)
      },
    })
    const before = signingWith(issueCertificate('before'))
    const until = async () => {
      while ((sendings[0] ?? []).length < 5) await Bun.sleep(5)
    }
    await running(until, noting(0, false), { signing: before })
    const after = signingWith(issueCertificate('after'))
    await running(() => rig.until('SENT', 5), noting(1, true), { signing: after })
    const [first, second] = sendings.map((all) => new Set(all))
    expect(first?.size).toBe(5)
    expect(second).toEqual(first)
    expect(settledBy(ids)).toHaveLength(5)
  })
})

describe('queued messages without a queue entry', () => {
  const settings = {
    requestsMax: 4,
    channelFailover: true,
    settlementLimitSeconds: 0,
    scheduledLimitSeconds: 2_760,
    syncTimeoutSeconds: 5,
  }

  test('are put on the queue again, signed as they would have been, and sent once', async () => {
    const ids = await rig.pay(3)
    await sql`delete from broker_queue where topic = 'spi.outbound'`
    const signing = signingWith(issueCertificate('signer'))
    await running(() => rig.until('SENT', 3), client, {
      settings,
      signing,
      requeueEveryMs: 20,
      watchTimes: { everyMs: 60_000 },
    })
    expect(settledBy(ids)).toHaveLength(3)
    const rows = await sent()
    expect(rows).toHaveLength(3)
    for (const { bytes } of rows) expect(Buffer.from(bytes).toString()).toContain('SignatureValue')
  })

  /** One search; what it counted and warned of. */
  const search = async (queuedLongMs = 0) => {
    const counts: number[] = []
    const warned: unknown[] = []
    await createRequeue({
      sql,
      broker: rig.broker,
      group: 'spi-outbound',
      room: async () => 10,
      queuedLongMs,
      onRequeued: (messages) => counts.push(messages),
      logger: { ...quietLogger, warn: (fields: unknown) => warned.push(fields) },
    })()
    const { depth } = await rig.broker.backlog('spi.outbound', 'spi-outbound')
    return { counts, warned, depth }
  }
  const idOf = async (paid: string | undefined): Promise<string | undefined> => {
    const [row] = await sql<{ id: string }[]>`
      select id from spi_messages where end_to_end_id = ${paid ?? ''}`
    return row?.id
  }
  const emptyQueue = () => sql`delete from broker_queue where topic = 'spi.outbound'`

  test('what was set aside comes back, and is neither counted nor warned of as lost', async () => {
    const [lost] = await rig.pay(1)
    await rig.pay(2)
    await emptyQueue()
    await sql`update spi_messages set requeue_after = now() where end_to_end_id <> ${lost ?? ''}`
    const warned = [{ messages: 1, ids: [await idOf(lost)] }]
    expect(await search()).toEqual({ counts: [1], warned, depth: 3 })
    // Their entries are there now.
    expect(await search(60_000)).toEqual({ counts: [], warned: [], depth: 3 })
    await running(() => rig.until('SENT', 3), client)
  })

  test('what was set aside comes back at its time, however long an entry before it stands', async () => {
    await rig.pay(1)
    await sql`update broker_queue set published_at = now() - interval '1 hour' where id > 0`
    const [aside] = await rig.pay(1)
    await sql`delete from broker_queue where headers ->> 'message-id' = ${(await idOf(aside)) ?? ''}`
    await sql`update spi_messages set requeue_after = now() where end_to_end_id = ${aside ?? ''}`
    expect(await search()).toEqual({ counts: [], warned: [], depth: 2 })
    await running(() => rig.until('SENT', 2), client)
  })

  test('what was put on the queue again, or called out of its line, is lost when that entry is', async () => {
    const [again, called, standing] = await rig.pay(3)
    await emptyQueue()
    await sql`update spi_messages set requeued_at = now() - interval '1 hour'
      where end_to_end_id in ${sql([again ?? '', called ?? ''])}`
    await sql`update spi_messages set waits_for = 'secondary' where end_to_end_id = ${called ?? ''}`
    await sql`update spi_messages set requeued_at = now() + interval '1 minute'
      where end_to_end_id = ${standing ?? ''}`
    const found = await search()
    const ids = [await idOf(again), await idOf(called)].map((id) => ({ messages: 1, ids: [id] }))
    expect(found).toEqual({ counts: [1, 1], warned: ids, depth: 2 })
    await running(() => rig.until('SENT', 2), client)
  })

  /** A version without lines runs beside this one: it writes `requeue_after` alone, also when it has written an entry. */
  const ofFormer = [
    ['set aside', '-1 s', null, null],
    ['put on the queue again', '300 s', null, null],
    ['put on the queue again a while ago, and not taken since', '-1 s', null, null],
    ['put on the queue again, though it stands in a line', '300 s', 'secondary', null],
    ['called out of its line, and set aside', '300 s', 'secondary', '-1 hour'],
    ['called out of its line, and put on the queue again', '300 s', 'secondary', '-1 hour'],
  ] as const
  const hasEntry = (what: string): boolean => what.startsWith('put') || what.endsWith('again')

  test('what a version without lines has written is sent once', async () => {
    const ids = await rig.pay(ofFormer.length, { channel: 'SECONDARY' })
    for (const [index, [what, after, line, called]] of ofFormer.entries()) {
      const id = await idOf(ids[index])
      await sql`
        update spi_messages set requeue_after = now() + ${after}::interval, waits_for = ${line},
          requeued_at = now() + ${called}::interval
        where id = ${id ?? ''}`
      if (hasEntry(what)) continue
      await sql`delete from broker_queue where headers ->> 'message-id' = ${id ?? ''}`
    }
    const before = bank.statistics().received['pacs.008'] ?? 0
    await running(
      async () => {
        await rig.until('SENT', ids.length)
        while ((await rig.broker.backlog('spi.outbound', 'spi-outbound')).depth > 0) {
          await Bun.sleep(10)
        }
      },
      client,
      {
        settings: { ...settings, settlementLimitSeconds: 1 },
        requeueEveryMs: 20,
        watchTimes: { everyMs: 60_000 },
      },
    )
    expect(settledBy(ids)).toHaveLength(ids.length)
    expect((bank.statistics().received['pacs.008'] ?? 0) - before).toBe(ids.length)
  })

  test('what still waits in the queue is left alone', async () => {
    const away = rawServer(() => 'cut')
    away.stop()
    const unreachable = interfaceClient({ PRIMARY: away.url }, {}, ispb)
    await rig.pay(2)
    const before = await rig.broker.backlog('spi.outbound', 'spi-outbound')
    await running(() => Bun.sleep(300), unreachable, { settings, requeueEveryMs: 20 })
    expect((await rig.broker.backlog('spi.outbound', 'spi-outbound')).depth).toBe(before.depth)
    await running(() => rig.until('SENT', 2), client)
  })
})
