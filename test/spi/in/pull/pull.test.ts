import { describe, expect, test } from 'bun:test'
import {
  deadLetterHeaders,
  type OutgoingMessage,
  PublishRefusedError,
  valueBytesMax,
} from '#src/platform/broker/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createPull, inboundHeaders, inboundXmlOf, type PullTimes } from '#src/spi/in/pull/index.ts'
import { repeatsMax } from '../../../../src/spi/in/pull/stream.ts'
import {
  InterfaceError,
  StreamGoneError,
  TooManyStreamsError,
  UncutAnswerError,
} from '../../../../src/spi/link/errors.ts'
import { quietLogger } from '../../../support/database.ts'
import { endToEndId, pacs002, pacs008, utf8 } from '../../../support/messages.ts'
import { until } from '../../../support/until.ts'
import { scriptedInterface } from './interface.ts'

const silent = { ...quietLogger, error: () => {}, warn: () => {} }
const retry = { attemptsMax: 1, backoffFirstMs: 1, backoffMaxMs: 5 }

const pullFrom = (times: Partial<PullTimes> = {}, takesRequests = true) => {
  const script = scriptedInterface()
  const published: OutgoingMessage[] = []
  const errors: unknown[] = []
  const broker = {
    isAway: false,
    attempts: 0,
    /** What happens to a publication instead of its being taken. */
    fault: (_messages: readonly OutgoingMessage[]): Error | undefined => undefined,
    publish: async (messages: readonly OutgoingMessage[]) => {
      broker.attempts++
      if (broker.isAway) throw new Error('away')
      if (messages.some(({ value }) => value.length > valueBytesMax || value.length === 0)) {
        throw new PublishRefusedError('refused')
      }
      const fault = broker.fault(messages)
      if (fault !== undefined) throw fault
      published.push(...messages)
      script.calls.push(`published ${messages.length}`)
    },
  }
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const feature = createPull({
    client: script.client,
    broker,
    settings: { streams: 1 },
    takesRequests,
    logger: { ...silent, error: (fields, text) => errors.push({ fields, text }) },
    metrics,
    times: { retry, drainMs: 200, ...times },
  })
  return { ...script, broker, published, errors, feature, metrics }
}

const message = (resourceId: string, xml = pacs008()) => ({ resourceId, xml: utf8(xml) })

describe('pulling', () => {
  test('publishes a batch before the request that confirms it, and asks again at once after 204', async () => {
    const { feature, answer, calls, published } = pullFrom()
    answer([message('a'), message('b')], [], [message('c')])
    await feature.start?.()
    await until(() => published.length === 3 && calls.at(-1) === 'next 1')
    answer([])
    await until(() => calls.length === 8)
    const drained = feature.drain?.()
    answer([message('d')])
    await drained
    expect(calls).toEqual([
      'open 1',
      'next 1',
      'published 2',
      'next 1',
      'next 1',
      'published 1',
      'next 1',
      'next 1',
      'published 1',
      'close 1',
    ])
    const [first] = published
    expect(first?.topic).toBe('spi.inbound.primary')
    expect(first?.value).toEqual(utf8(pacs008()))
    expect(first?.headers).toEqual({
      [inboundHeaders.resourceId]: 'a',
      [inboundHeaders.channel]: 'PRIMARY',
      [inboundHeaders.receivedAt]: expect.stringMatching(/^\d{4}-.*Z$/),
    })
  })

  test('gives a payment and its answer the same key, and every message one', async () => {
    const { feature, answer, published } = pullFrom()
    const answered = pacs002(
      `<TxInfAndSts><OrgnlInstrId>${endToEndId(0)}</OrgnlInstrId><OrgnlEndToEndId>${endToEndId(0)}</OrgnlEndToEndId><TxSts>ACSC</TxSts></TxInfAndSts>`,
    )
    answer([
      message('payment'),
      message('answer', answered),
      message('other', '<E><BizMsgIdr>M1</BizMsgIdr></E>'),
      message('hostile', `<EndToEndId>${'x'.repeat(500)}`),
      message('spaced', '<a:EndToEndId> E1 </a:EndToEndId>'),
    ])
    await feature.start?.()
    await until(() => published.length === 5)
    expect(published.map(({ key }) => key)).toEqual([
      endToEndId(0),
      endToEndId(0),
      'M1',
      'hostile',
      'E1',
    ])
    answer([])
    await feature.stop?.()
  })

  test('never confirms what could not be published, and tries until it is', async () => {
    const { feature, answer, calls, broker, published } = pullFrom()
    broker.isAway = true
    answer([message('a')])
    await feature.start?.()
    await until(() => broker.attempts >= 3)
    expect(calls).toEqual(['open 1', 'next 1'])
    broker.isAway = false
    await until(() => published.length === 1 && calls.at(-1) === 'next 1')
    expect(calls).toEqual(['open 1', 'next 1', 'published 1', 'next 1'])
    answer([])
    await feature.stop?.()
  })

  test('a drain with the broker away confirms nothing', async () => {
    const { feature, answer, calls, broker } = pullFrom({ drainMs: 20 })
    broker.isAway = true
    answer([message('a')])
    await feature.start?.()
    await until(() => broker.attempts >= 1)
    await feature.drain?.()
    expect(calls).toEqual(['open 1', 'next 1'])
  })

  test('a drain waits for the running request, and gives it up after its time', async () => {
    const { feature, calls } = pullFrom({ drainMs: 30 })
    await feature.start?.()
    await until(() => calls.at(-1) === 'next 1')
    const startMs = performance.now()
    await feature.drain?.()
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(25)
    expect(calls).toEqual(['open 1', 'next 1'])
  })

  test('a broker that fails each batch once and then takes it is told of once', async () => {
    const { feature, answer, broker, published, errors } = pullFrom()
    let tries = 0
    broker.fault = () => (tries++ % 2 === 0 ? new Error('away') : undefined)
    answer([message('a')], [message('b')], [message('c')])
    await feature.start?.()
    await until(() => published.length === 3)
    expect([tries, errors.length]).toEqual([6, 1])
    answer([])
    await feature.stop?.()
  })

  test('what opened a stream while the process drained is published before it is confirmed', async () => {
    const { feature, answer, calls, openAfter } = pullFrom()
    const gate = Promise.withResolvers<void>()
    openAfter(gate.promise)
    answer([message('a')])
    await feature.start?.()
    await until(() => calls.at(-1) === 'open 1')
    const drained = feature.drain?.()
    gate.resolve()
    await drained
    expect(calls).toEqual(['open 1', 'next 1', 'published 1', 'close 1'])
  })

  test('a batch that could not even be read through is not confirmed', async () => {
    const { feature, answer, calls } = pullFrom()
    const broken = { resourceId: 'a', xml: undefined as unknown as Uint8Array }
    answer([broken])
    await feature.start?.()
    await until(() => calls.includes('open 2'))
    expect(calls).not.toContain('close 1')
    answer([])
    await feature.stop?.()
  })

  test('makes a read that failed again on its stream, a few times; then opens another', async () => {
    const { feature, answer, calls, metrics } = pullFrom()
    const failures = (count: number) => Array.from({ length: count }, () => new Error('reset'))
    const reads = (stream: number, count: number) => Array(count).fill(`next ${stream}`)
    answer(...failures(repeatsMax), [], ...failures(repeatsMax + 1))
    await feature.start?.()
    await until(() => calls.at(-1) === 'next 2')
    expect(calls).toEqual([
      'open 1',
      ...reads(1, 2 * repeatsMax + 2),
      'close 1',
      'open 2',
      'next 2',
    ])
    const { text } = await metrics.render()
    const failed = `spigw_pull_failures_total{channel="PRIMARY",kind="failed"} ${2 * repeatsMax + 1}`
    expect(text).toContain(failed)
    expect(text).toContain('spigw_pull_streams{channel="PRIMARY"} 1')
    answer([])
    await feature.stop?.()
  })

  test('opens another stream at once after 410 and after a refusal; one that is gone is not closed', async () => {
    const { feature, answer, calls, metrics } = pullFrom()
    answer(new StreamGoneError(), new InterfaceError('no', { status: 403 }))
    await feature.start?.()
    await until(() => calls.at(-1) === 'next 3')
    expect(calls).toEqual(['open 1', 'next 1', 'open 2', 'next 2', 'close 2', 'open 3', 'next 3'])
    const { text } = await metrics.render()
    expect(text).toContain('spigw_pull_failures_total{channel="PRIMARY",kind="gone"} 1')
    expect(text).toContain('spigw_pull_failures_total{channel="PRIMARY",kind="refused"} 1')
    answer([])
    await feature.stop?.()
  })

  test('waits on its stream as long as 429 asks, however often', async () => {
    const { feature, answer, calls } = pullFrom()
    const count = repeatsMax + 2
    answer(...Array.from({ length: count }, () => new TooManyStreamsError(20)))
    const startMs = performance.now()
    await feature.start?.()
    await until(() => calls.length === 2 + count)
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(count * 15)
    expect(new Set(calls)).toEqual(new Set(['open 1', 'next 1']))
    answer([])
    await feature.stop?.()
  })

  test('what the broker does not take of a batch goes to dlq, and stops nothing', async () => {
    const { feature, answer, calls, published, metrics } = pullFrom()
    const random = new Uint8Array(valueBytesMax + 7)
    for (let at = 0; at < random.length; at += 65_536) {
      crypto.getRandomValues(random.subarray(at, at + 65_536))
    }
    answer([
      message('a'),
      message('empty', ''),
      { resourceId: 'random', xml: random },
      message('c'),
    ])
    await feature.start?.()
    await until(() => published.length === 4 && calls.at(-1) === 'next 1')
    const told = published.map(({ topic, headers, value }) => [
      topic,
      headers?.[inboundHeaders.resourceId],
      headers?.[deadLetterHeaders.errorCode],
      value.length,
    ])
    const length = utf8(pacs008()).length
    expect(told).toEqual([
      ['spi.inbound.primary', 'a', undefined, length],
      ['spi.inbound.primary', 'c', undefined, length],
      ['dlq', 'empty', 'message_not_published', 1],
      ['dlq', 'random', 'message_not_published', valueBytesMax],
    ])
    expect((await metrics.render()).text).toContain(
      'spigw_pull_dead_letters_total{channel="PRIMARY"} 2',
    )
    answer([])
    await feature.stop?.()
  })

  const isOver =
    (limits: Readonly<Record<string, number>>) => (messages: readonly OutgoingMessage[]) =>
      messages.some(({ topic, value }) => value.length > (limits[topic] ?? valueBytesMax))
        ? new PublishRefusedError('over max.message.bytes')
        : undefined
  const inbound = 'spi.inbound.primary'

  test.each([
    ['after it was away', (attempt: number) => attempt < 5],
    ['and is away in between', (attempt: number) => attempt % 4 > 1],
  ])('a message that the broker refuses %s goes to dlq all the same', async (_, isAway) => {
    const { feature, answer, calls, broker, published } = pullFrom()
    const over = isOver({ [inbound]: 50_000 })
    broker.fault = (messages) => (isAway(broker.attempts) ? new Error('away') : over(messages))
    answer([message('large', 'x'.repeat(60_000))])
    await feature.start?.()
    await until(() => calls.at(-1) === 'next 1' && calls.length === 4)
    expect(published.map(({ topic }) => topic)).toEqual(['dlq'])
    answer([])
    await feature.stop?.()
  })

  test('only what was refused goes to dlq, not what the broker was away for', async () => {
    const { feature, answer, calls, broker, published } = pullFrom()
    const over = isOver({ [inbound]: 50_000 })
    let isAway = true
    // Alone, each of the sound ones finds the broker away for long.
    broker.fault = (messages) => {
      const sound = messages.length === 1 && messages[0]?.topic === inbound
      return over(messages) ?? (isAway && sound ? new Error('away') : undefined)
    }
    answer([message('a'), message('large', 'x'.repeat(60_000)), message('c')])
    await feature.start?.()
    await until(() => broker.attempts > 20)
    expect(published).toEqual([])
    isAway = false
    await until(() => calls.at(-1) === 'next 1' && calls.includes('published 1'))
    const told = published.map(({ topic, headers }) => [
      topic,
      headers?.[inboundHeaders.resourceId],
    ])
    expect(told.toSorted()).toEqual([
      ['dlq', 'large'],
      [inbound, 'a'],
      [inbound, 'c'],
    ])
    answer([])
    await feature.stop?.()
  })

  test('a letter is compressed, or cut, to what dlq takes', async () => {
    const { feature, answer, calls, broker, published } = pullFrom()
    broker.fault = isOver({ [inbound]: 50_000, dlq: 20_000 })
    const random = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('hex')
    const blank = ' '.repeat(valueBytesMax + 1)
    answer([message('random', random), message('blank', `<a>${blank}${random}</a>`)])
    await feature.start?.()
    await until(() => calls.at(-1) === 'next 1' && published.length === 2)
    for (const [place, whole] of [random, `<a>${blank}${random}</a>`].entries()) {
      const { topic, value = utf8(''), headers = {} } = published[place] ?? {}
      expect([topic, headers[deadLetterHeaders.cutFrom]]).toEqual(['dlq', String(whole.length)])
      // It is no message of the inbound topic any more: nobody decompresses it.
      expect(headers).not.toHaveProperty(inboundHeaders.encoding)
      expect(whole.startsWith(Buffer.from(value).toString())).toBe(true)
    }
    broker.fault = isOver({ [inbound]: 50_000, dlq: 600_000 })
    const large = `<a>${' '.repeat(700_000)}</a>`
    answer([message('large', large)])
    await until(() => published.length === 3)
    const { value = utf8(''), headers = {} } = published[2] ?? {}
    expect(headers[deadLetterHeaders.cutFrom]).toBeUndefined()
    expect(Buffer.from(inboundXmlOf({ value, headers })).toString()).toBe(large)
    answer([])
    await feature.stop?.()
  })

  test('what dlq does not take either is in the log, and the others go on', async () => {
    const { feature, answer, calls, broker, published, errors } = pullFrom()
    broker.fault = isOver({ [inbound]: 50_000, dlq: -1 })
    answer([message('large', 'x'.repeat(60_000)), message('b')], [message('c')])
    await feature.start?.()
    await until(() => published.length === 2 && calls.at(-1) === 'next 1')
    expect(published.map(({ headers }) => headers?.[inboundHeaders.resourceId])).toEqual(['b', 'c'])
    expect(errors).toContainEqual({
      fields: expect.objectContaining({ channel: 'PRIMARY', resource_ids: ['large'] }),
      text: 'dlq does not take this letter either: it is given up',
    })
    answer([])
    await feature.stop?.()
  })

  test('an answer that stays unreadable is one letter; what was cut out of it goes on, and the pull too', async () => {
    const { feature, answer, calls, published } = pullFrom()
    const unreadable = (body: string, isRepeatable = true) =>
      new UncutAnswerError(
        'multipart_truncated',
        { status: 200, headers: new Headers({ 'X-Name': 'value' }), body: utf8(body) },
        { messages: [message('cut out')], digest: body, isRepeatable, nextUrl: '/2' },
      )
    // Another answer begins the count anew.
    answer(unreadable('one'), ...Array.from({ length: repeatsMax + 1 }, () => unreadable('other')))
    await feature.start?.()
    await until(() => published.length === 2 && calls.at(-1) === 'next 1')
    expect(calls).toEqual([
      'open 1',
      ...Array(repeatsMax + 2).fill('next 1'),
      'took /2',
      'published 2',
      'next 1',
    ])
    const [letter, cutOut] = published
    expect(letter).toMatchObject({ topic: 'dlq', key: 'other', value: utf8('other') })
    expect(letter?.headers).toMatchObject({
      'answer-status': '200',
      'answer-headers': '[["x-name","value"]]',
      [deadLetterHeaders.errorCode]: 'answer_unreadable:multipart_truncated',
      [deadLetterHeaders.attempt]: String(repeatsMax + 2),
    })
    expect(cutOut?.topic).toBe('spi.inbound.primary')
    // The answer that opened the stream cannot be asked for again.
    answer(unreadable('first', false))
    await until(() => published.length === 4)
    expect(published[2]?.value).toEqual(utf8('first'))
    answer([])
    await feature.stop?.()
  })

  test('a message without PI-ResourceId goes on without; one the broker would not take goes compressed', async () => {
    const { feature, answer, published } = pullFrom()
    const largest = new Uint8Array(valueBytesMax).fill(0x20)
    const larger = new Uint8Array(valueBytesMax + 1).fill(0x20)
    answer([
      { resourceId: undefined, xml: utf8('<a/>') },
      { resourceId: 'largest', xml: largest },
      { resourceId: 'larger', xml: larger },
    ])
    await feature.start?.()
    await until(() => published.length === 3)
    const [without, plain, compressed] = published
    expect(without?.headers).not.toHaveProperty(inboundHeaders.resourceId)
    expect(without?.key).toBeUndefined()
    expect(plain?.value).toBe(largest)
    expect(compressed?.value.length).toBeLessThan(1_000)
    expect(compressed?.headers?.[inboundHeaders.encoding]).toBe('zstd')
    for (const [sent, xml] of [
      [plain, largest],
      [compressed, larger],
    ] as const) {
      const { value = utf8(''), headers = {} } = sent ?? {}
      expect(Buffer.compare(inboundXmlOf({ value, headers }), xml)).toBe(0)
    }
    answer([])
    await feature.stop?.()
  })

  test('an answer that is unreadable in another way each time is given up as well', async () => {
    const { feature, answer, published } = pullFrom()
    const answers = Array.from(
      { length: 2 * repeatsMax + 1 },
      (_, i) =>
        new UncutAnswerError(
          'multipart_truncated',
          { status: 200, headers: new Headers(), body: utf8(String(i)) },
          { messages: [], digest: String(i), isRepeatable: true, nextUrl: '/2' },
        ),
    )
    answer(...answers)
    await feature.start?.()
    await until(() => published.length === 1)
    expect(published[0]?.key).toBe(String(2 * repeatsMax))
    answer([])
    await feature.stop?.()
  })

  test('waits as long as 429 asks before it opens another stream', async () => {
    const { feature, answer, calls, failOpening } = pullFrom()
    failOpening(new TooManyStreamsError(60))
    const startMs = performance.now()
    await feature.start?.()
    await until(() => calls.length === 1)
    failOpening(undefined)
    await until(() => calls.at(-1) === 'next 2')
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(55)
    answer([])
    await feature.stop?.()
  })

  test.each([
    ['takes requests too', true],
    ['only pulls', false],
  ])(
    'a channel that answers nothing for its time is down, and up again with an answer; a process that %s',
    async (_, takesRequests) => {
      const { feature, answer, calls } = pullFrom({ silentMs: 1_500 }, takesRequests)
      const health = async () => feature.health?.()
      await feature.start?.()
      await until(() => calls.at(-1) === 'next 1')
      expect(await health()).toMatchObject({ status: 'ok', ready: true })
      expect((await health())?.reason).toBeUndefined()
      await until(async () => (await health())?.status === 'down')
      expect(await health()).toMatchObject({
        ready: takesRequests,
        reason: 'no read of PRIMARY has succeeded for long',
      })
      answer([])
      await until(() => calls.length === 3)
      expect(await health()).toMatchObject({
        status: 'ok',
        ready: true,
        detail: { primary: { up: true, open_streams: 1, silent_seconds: 0 } },
      })
      answer([])
      await feature.stop?.()
    },
  )
})
