import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { textArray } from '#src/platform/database/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createPull } from '#src/spi/in/pull/index.ts'
import { createCentralBank } from '../../../../src/simulators/central-bank/index.ts'
import { markedMax, marksMax } from '../../../../src/spi/out/stage/watch.ts'
import { createTestDatabase, quietLogger } from '../../../support/database.ts'
import { endToEndId } from '../../../support/messages.ts'
import { transfer } from '../../../support/participant.ts'
import { subscribe } from '../../../support/webhooks.ts'
import { workerOn } from '../../in/worker/support.ts'
import { answer, interfaceClient, rawServer } from '../../link/support.ts'
import { accepting, ispb, rigOn, runningOn } from './support.ts'

const database = await createTestDatabase(10)
const rig = await rigOn(database)
const { sql } = database
await subscribe(sql, ['message.status'])

afterEach(async () => {
  await sql`truncate spi_messages, spi_sendings, spi_transactions, spi_history, webhook_events cascade`
})
afterAll(async () => {
  await rig.broker.stop()
  await database.close()
})

const running = runningOn(rig)

describe('unanswered payments', () => {
  /** Whatever is due at once is late at once. */
  const settings = {
    requestsMax: 4,
    channelFailover: true,
    settlementLimitSeconds: 0,
    scheduledLimitSeconds: 2_760,
    syncTimeoutSeconds: 5,
  }
  const watchTimes = { everyMs: 20, reaskFirstMs: 50, reaskMaxMs: 100 }

  /** Stores what is sent, and never answers it. */
  const taken = ({ body }: { readonly body: Uint8Array }) => {
    const text = Buffer.from(Bun.gunzipSync(new Uint8Array(body))).toString()
    const count = text.split('<AppHdr>').length - 1
    return answer(201, {
      'PI-ResourceId': Array.from({ length: count }, Bun.randomUUIDv7).join(','),
    })
  }

  test('become UNKNOWN, are asked for again, and end with an explicit answer', async () => {
    const silent = rawServer(taken)
    const unanswering = interfaceClient({ PRIMARY: silent.url }, {}, ispb)
    await rig.pay(2)
    await running(() => rig.until('SENT', 2), unanswering)
    await running(
      async () => {
        await rig.until('UNKNOWN', 2)
        // Twice more at least, with growing pauses.
        while (silent.requests.length < 5) await Bun.sleep(10)
      },
      unanswering,
      { settings, watchTimes },
    )
    silent.stop()
    const [bytes, ...others] = new Set(
      silent.requests.flatMap(({ body }) => {
        const text = Buffer.from(Bun.gunzipSync(new Uint8Array(body))).toString()
        return [...text.matchAll(/<Envelope[\s\S]*?<\/Envelope>/g)].map(([one]) => one)
      }),
    )
    expect(bytes).toBeDefined()
    expect(others).toHaveLength(1)

    const answering = await createCentralBank({ longPollMs: 50 })
    const reached = interfaceClient({ PRIMARY: answering.url }, {}, ispb)
    const worker = await workerOn(database)
    const pull = createPull({
      client: reached,
      broker: worker.broker,
      settings: { streams: 1 },
      logger: quietLogger,
      metrics: createMetrics({ version: 'test', withProcess: false }),
    })
    await worker.feature.start?.()
    await pull.start?.()
    await running(() => rig.until('ACCEPTED', 2), reached, { settings, watchTimes })
    await pull.drain?.()
    await worker.stop()
    await answering.stop()
  }, 60_000)

  test('what a channel asks to wait with is asked for when it takes it, not as if it had been', async () => {
    const silent = rawServer(taken)
    const unanswering = interfaceClient({ PRIMARY: silent.url }, {}, ispb)
    await rig.pay(1)
    await running(() => rig.until('SENT', 1), unanswering)
    let turnedAway = 0
    const busy = {
      ...unanswering,
      send: async (...args: Parameters<typeof unanswering.send>) => {
        if (turnedAway === 3) return unanswering.send(...args)
        turnedAway++
        const reason = 'too many requests'
        return { kind: 'unreachable', reason, retryAfterMs: 20, isDown: false } as const
      },
    }
    await running(
      async () => {
        while (silent.requests.length < 2) await Bun.sleep(10)
      },
      busy,
      { settings, watchTimes: { everyMs: 20, reaskFirstMs: 60_000, reaskMaxMs: 60_000 } },
    )
    silent.stop()
    expect(turnedAway).toBe(3)
  }, 60_000)

  test('a scheduled payment has a limit of its own', async () => {
    const silent = rawServer(taken)
    const unanswering = interfaceClient({ PRIMARY: silent.url, SECONDARY: silent.url }, {}, ispb)
    const scheduled = { local_instrument: 'MANU', service_level: 'PAGAGD' }
    const [later = ''] = await rig.pay(1, {
      message_type: 'PACS008',
      // On the channel of priority payments: it is the payment that says when it settles.
      channel: 'PRIMARY',
      params: { ...scheduled, transactions: [transfer(ispb, accepting, 100)] },
    })
    const [soon = ''] = await rig.pay(1)
    const statusOf = async (endToEndId: string) => {
      const [row] = await sql<{ status: string }[]>`
        select status from spi_messages where end_to_end_id = ${endToEndId}`
      return row?.status
    }
    await running(
      async () => {
        await rig.until('UNKNOWN', 1)
        await rig.until('SENT', 1)
        // Sent again and again, the other is still left alone.
        while (silent.requests.length < 5) await Bun.sleep(10)
        expect([await statusOf(soon), await statusOf(later)]).toEqual(['UNKNOWN', 'SENT'])
      },
      unanswering,
      { settings, watchTimes },
    )
    await running(() => rig.until('UNKNOWN', 2), unanswering, {
      settings: { ...settings, scheduledLimitSeconds: 0 },
      watchTimes,
    })
    expect(await statusOf(later)).toBe('UNKNOWN')
    silent.stop()
  })

  type Entry = {
    readonly status: string
    readonly detail: string | null
    readonly repetition: number | null
  }
  const historyOf = async (): Promise<readonly Entry[]> => [
    ...(await sql<Entry[]>`
      select h.status, h.detail, h.repetition
      from spi_history h join spi_messages m on m.id = h.message_id and m.direction = 'OUTBOUND'
      order by h.position`),
  ]

  test('their history has the first repetition and the latest, with its number', async () => {
    const silent = rawServer(taken)
    const unanswering = interfaceClient({ PRIMARY: silent.url }, {}, ispb)
    await rig.pay(1)
    await running(
      async () => {
        while ((await historyOf()).every(({ repetition }) => (repetition ?? 0) < 4)) {
          await Bun.sleep(10)
        }
      },
      unanswering,
      { settings, watchTimes },
    )
    // Another process counts on.
    const [latest] = (await historyOf()).slice(-1)
    await running(
      async () => {
        while ((await historyOf()).at(-1)?.repetition === latest?.repetition) await Bun.sleep(10)
      },
      unanswering,
      { settings, watchTimes },
    )
    silent.stop()
    const rows = await historyOf()
    const again = { status: 'UNKNOWN', detail: 'sent again: taken by PRIMARY' }
    expect(rows).toEqual([
      { status: 'QUEUED', detail: null, repetition: null },
      { status: 'SENT', detail: 'PRIMARY', repetition: null },
      { status: 'UNKNOWN', detail: 'no answer in time', repetition: null },
      { ...again, repetition: 1 },
      { ...again, repetition: silent.requests.length - 1 },
    ])
  })

  test('a sending that the queue repeats is in the history too', async () => {
    let requests = 0
    const server = rawServer(() => {
      requests++
      return requests < 5
        ? answer(503, {}, '')
        : answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() })
    })
    await rig.pay(1)
    await running(
      () => rig.until('SENT', 1),
      interfaceClient({ PRIMARY: server.url }, { attemptsMax: 1 }, ispb),
    )
    server.stop()
    const status = 'QUEUED'
    expect(await historyOf()).toEqual([
      { status, detail: null, repetition: null },
      { status, detail: 'sent again: no clear answer', repetition: 1 },
      { status, detail: 'sent again: taken by PRIMARY', repetition: 4 },
      { status: 'SENT', detail: 'PRIMARY', repetition: null },
    ])
  })

  test('however many are UNKNOWN at once, those of which nobody looked for long among them', async () => {
    // More than one round marks, all but one of them older than a later round would look for.
    const count = marksMax * markedMax + 2
    await sql`
      insert into spi_messages (id, type, direction, status, channel, biz_msg_idr, resource_id,
        transaction_count, signature, xml)
      select id, 'pacs.008', 'OUTBOUND', 'SENT', 'PRIMARY', id, id, 1, 'NOT_CHECKED',
        ${Bun.zstdCompressSync('<AppHdr>')}
      from unnest(${textArray(
        Array.from({ length: count }, (_, index) =>
          Bun.randomUUIDv7('hex', Date.now() - (index === 0 ? 0.5 : 29) * 86_400_000),
        ),
      )}::text::uuid[]) as made(id)`
    await sql`
      insert into spi_history (message_id, position, status)
      select id, 0, status from spi_messages`
    const silent = rawServer(taken)
    const unanswering = interfaceClient({ PRIMARY: silent.url }, {}, ispb)
    const times = { everyMs: 20, reaskFirstMs: 60_000 }
    await running(() => rig.until('UNKNOWN', count), unanswering, { watchTimes: times })
    silent.stop()
    const [row] = await sql`select count(*)::int as count from webhook_events`
    expect(row).toEqual({ count })
  })

  /** Makes the one message look as if it had been made so long ago. */
  const age = async (ms: number): Promise<void> => {
    const id = Bun.randomUUIDv7('hex', Date.now() - ms)
    await sql.begin(async (tx) => {
      await tx`update spi_history set message_id = ${id}`
      await tx`update spi_transactions set message_id = ${id}`
      await tx`update spi_messages set id = ${id}`
    })
  }

  test('what waited for days until it was sent is watched from then on', async () => {
    await rig.pay(1)
    await age(30 * 3_600_000)
    // What is queued tells whose it is.
    await sql`truncate broker_queue`
    const silent = rawServer(taken)
    const unanswering = interfaceClient({ PRIMARY: silent.url }, {}, ispb)
    await running(
      async () => {
        await rig.until('SENT', 1)
        await Bun.sleep(500)
        expect(await rig.statuses()).toEqual({ SENT: 1 })
      },
      unanswering,
      { settings: { ...settings, settlementLimitSeconds: 60 }, watchTimes, requeueEveryMs: 20 },
    )
    await running(
      async () => {
        await rig.until('UNKNOWN', 1)
        while (silent.requests.length < 3) await Bun.sleep(10)
      },
      unanswering,
      { settings, watchTimes },
    )
    // A day after it was sent the central bank would not know it again.
    await sql`update spi_messages set sent_at = sent_at - interval '25 hours'`
    const before = silent.requests.length
    await running(() => Bun.sleep(500), unanswering, { settings, watchTimes })
    expect(silent.requests).toHaveLength(before)
    silent.stop()
  }, 60_000)

  test.each([20, 30])(
    'what was in doubt for %d hours until it was sent is not SENT for ever',
    async (hours) => {
      await rig.pay(1)
      await age(hours * 3_600_000)
      await sql`truncate broker_queue`
      await sql`insert into spi_sendings (message_id, xml) select id, xml from spi_messages`
      await sql`update spi_messages set in_doubt_since = now() - make_interval(hours => ${hours})`
      const silent = rawServer(taken)
      const unanswering = interfaceClient({ PRIMARY: silent.url }, {}, ispb)
      const sentHoursAgo = async (): Promise<number | undefined> => {
        const [row] = await sql<{ hours: number }[]>`
        select round(extract(epoch from now() - sent_at) / 3600)::int as hours
        from spi_messages where status = 'UNKNOWN' and sent_at is not null`
        return row?.hours
      }
      await running(
        async () => {
          while ((await sentHoursAgo()) === undefined) await Bun.sleep(10)
        },
        unanswering,
        { settings, watchTimes: { everyMs: 20, reaskFirstMs: 60_000 }, requeueEveryMs: 20 },
      )
      silent.stop()
      // A day later the central bank would not know it again: it was sent for the first time.
      expect(await sentHoursAgo()).toBe(hours < 24 ? hours : 0)
    },
  )

  const inDoubt = {
    settings: {
      requestsMax: 4,
      channelFailover: true,
      settlementLimitSeconds: 0,
      scheduledLimitSeconds: 2_760,
      syncTimeoutSeconds: 5,
    },
  }
  const textOf = ({ body }: { readonly body: Uint8Array }): string | undefined =>
    Buffer.from(Bun.gunzipSync(new Uint8Array(body)))
      .toString()
      .match(/<Envelope[\s\S]*<\/Envelope>/)?.[0]

  test('a sending in doubt past the limit is UNKNOWN, and SENT once the same bytes are taken', async () => {
    let isAway = true
    const server = rawServer(() =>
      isAway ? answer(503, {}, '') : answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() }),
    )
    const doubtful = interfaceClient({ PRIMARY: server.url }, { attemptsMax: 1 }, ispb)
    // No payment, so nothing but the interface's 201 ever answers it.
    await rig.pay(1, {
      message_type: 'PACS002',
      params: { original_end_to_end_id: endToEndId(7), status: 'ACSP' },
    })
    await running(
      async () => {
        await rig.until('UNKNOWN', 1)
        isAway = false
        await rig.until('SENT', 1)
      },
      doubtful,
      { ...inDoubt, watchTimes },
    )
    server.stop()
    expect(new Set(server.requests.map(textOf)).size).toBe(1)
    const rows = await historyOf()
    expect(rows.filter(({ repetition }) => repetition === null)).toEqual([
      { status: 'QUEUED', detail: null, repetition: null },
      { status: 'UNKNOWN', detail: 'not known to be sent', repetition: null },
      { status: 'SENT', detail: 'PRIMARY', repetition: null },
    ])
  })

  test('what nothing answers is never overdue, and keeps when it was sent long after it was made', async () => {
    await rig.pay(1, {
      message_type: 'PACS002',
      params: { original_end_to_end_id: endToEndId(7), status: 'ACSP' },
    })
    await age(30 * 3_600_000)
    await sql`truncate broker_queue`
    const server = rawServer(taken)
    const client = interfaceClient({ PRIMARY: server.url }, {}, ispb)
    await running(
      async () => {
        await rig.until('SENT', 1)
        await Bun.sleep(300)
      },
      client,
      { settings, watchTimes, requeueEveryMs: 20 },
    )
    server.stop()
    expect(await rig.statuses()).toEqual({ SENT: 1 })
    const [row] = await sql<{ isLate: boolean }[]>`
      select sent_at > now() - interval '1 minute' as "isLate" from spi_messages`
    expect(row).toEqual({ isLate: true })
  })

  test('a payment first known to be sent after its limit stays UNKNOWN until it is answered, and so do its events', async () => {
    const bank = await createCentralBank({ longPollMs: 50 })
    const urls = { PRIMARY: bank.url, SECONDARY: bank.secondaryUrl }
    const inner = interfaceClient(urls, { attemptsMax: 1 }, ispb)
    let sends = 0
    const reached = {
      ...inner,
      send: async (...args: Parameters<typeof inner.send>) => {
        // What follows the first sending comes after the limit, however slow the machine is.
        if (sends++ > 0) await rig.until('UNKNOWN', 1)
        return inner.send(...args)
      },
    }
    bank.setFaults([{ kind: 'error_after_storing', operation: 'send', times: 2 }])
    await rig.pay(1)
    const isKnown = async () =>
      (await historyOf()).some(({ detail }) => detail?.startsWith('known to be sent') === true)
    const isAsked = async () => (await historyOf()).some(({ repetition }) => (repetition ?? 0) >= 4)
    await running(
      async () => {
        while (!(await isKnown()) || !(await isAsked())) await Bun.sleep(10)
      },
      reached,
      { settings, watchTimes },
    )
    const worker = await workerOn(database)
    const pull = createPull({
      client: reached,
      broker: worker.broker,
      settings: { streams: 1 },
      logger: quietLogger,
      metrics: createMetrics({ version: 'test', withProcess: false }),
    })
    await worker.feature.start?.()
    await pull.start?.()
    await rig.until('ACCEPTED', 1)
    await pull.drain?.()
    await worker.stop()
    await bank.stop()
    const statuses = (await historyOf()).filter(({ repetition }) => repetition === null)
    expect(statuses.map(({ status }) => status)).toEqual([
      'QUEUED',
      'UNKNOWN',
      'UNKNOWN',
      'ACCEPTED',
    ])
    const events = await sql<{ status: string }[]>`
      select data::jsonb ->> 'status' as status from webhook_events
      where type = 'message.status' order by sequence`
    expect(events.map(({ status }) => status)).toEqual(['UNKNOWN', 'ACCEPTED'])
  })

  test('what the queue sends while the watch gives up waiting is no second UNKNOWN either', async () => {
    const held = Promise.withResolvers<void>()
    const server = rawServer(() => answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() }))
    const inner = interfaceClient({ PRIMARY: server.url }, {}, ispb)
    let sends = 0
    const slow = {
      ...inner,
      send: async (...args: Parameters<typeof inner.send>) => {
        sends++
        // The second send is that of the queue; what the watch sends has no answer.
        if (sends !== 2) return { kind: 'unknown', reason: 'status 503' } as const
        await held.promise
        return inner.send(...args)
      },
    }
    await rig.pay(1)
    await running(
      async () => {
        await rig.until('UNKNOWN', 1)
        held.resolve()
        while (!(await historyOf()).some(({ detail }) => detail === 'known to be sent: PRIMARY')) {
          await Bun.sleep(10)
        }
      },
      slow,
      { settings, watchTimes: { everyMs: 200, reaskFirstMs: 60_000, reaskMaxMs: 60_000 } },
    )
    server.stop()
    expect((await historyOf()).some(({ status }) => status === 'SENT')).toBe(false)
    expect(await rig.statuses()).toEqual({ UNKNOWN: 1 })
  })

  test('what is refused after an attempt without answer is UNKNOWN, not FAILED', async () => {
    let requests = 0
    const server = rawServer(() => {
      requests++
      return requests === 1
        ? 'cut'
        : answer(400, {}, '<problem><type>https://x/error/charset</type></problem>')
    })
    const doubtful = interfaceClient({ PRIMARY: server.url }, { attemptsMax: 1 }, ispb)
    await rig.pay(1)
    await running(() => rig.until('UNKNOWN', 1), doubtful)
    server.stop()
    const rows = await sql`select detail from spi_history where status = 'UNKNOWN'`
    expect([...rows]).toEqual([{ detail: '400 charset' }])
  })
})
