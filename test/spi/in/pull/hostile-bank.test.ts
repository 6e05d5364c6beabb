import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { encodeMultipart, multipartContentType } from '#codecs/multipart'
import { type OutgoingMessage, PublishRefusedError, topics } from '#src/platform/broker/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createPull, inboundHeaders, pullTimes } from '#src/spi/in/pull/index.ts'
import { readRetryAfterMaxMs } from '../../../../src/spi/link/streams.ts'
import { quietLogger } from '../../../support/database.ts'
import { until } from '../../../support/until.ts'
import { interfaceClient, ispb } from '../../link/support.ts'

/*
 * A bank that answers wrongly, each wrong way in a loop while messages wait: afterwards the channel is read within five
 * seconds, and every message is published, or its bytes are in dlq.
 */

const recoveryMs = 5_000
const wrongReads = 6

type Held = { readonly resourceId: string; readonly xml: string }
type Answer = {
  status?: number
  headers: Record<string, string>
  body: Uint8Array | string
  /** Half of the body comes, and then nothing. */
  isHalf?: boolean
}
type Wrong = (answer: Answer, held: readonly Held[]) => Answer | 'silent'

const boundary = 'pi message boundary'
const textOf = ({ body }: Answer): string => Buffer.from(body).toString('latin1')
const changed =
  (change: (text: string) => string): Wrong =>
  (answer) => ({ ...answer, body: Buffer.from(change(textOf(answer)), 'latin1') })
const instead =
  (status: number, headers: Record<string, string> = {}): Wrong =>
  () => ({ status, headers, body: '' })
const withHeaders =
  (headers: Record<string, string | undefined>): Wrong =>
  (answer) => ({
    ...answer,
    headers: Object.fromEntries(
      Object.entries({ ...answer.headers, ...headers }).filter(([, value]) => value !== undefined),
    ) as Record<string, string>,
  })

const faults: Readonly<Record<string, Wrong>> = {
  'lines that end by LF': changed((text) => text.replaceAll('\r\n', '\n')),
  'no boundary named': withHeaders({ 'content-type': 'multipart/mixed' }),
  'another boundary named': withHeaders({ 'content-type': multipartContentType('other') }),
  'no Content-Type': withHeaders({ 'content-type': undefined }),
  'a header line that is none': changed((text) => text.replaceAll('PI-Res', ': none\r\nPI-Res')),
  'a closing delimiter that is missing': changed((text) => text.replace(/\r\n--[^-]*--\r\n$/, '')),
  'a body that ends in the middle of a message': changed((text) => text.slice(0, -40)),
  'no delimiter': changed((text) => text.replaceAll(boundary, 'x')),
  'a hundred and one parts': (answer) => {
    const noise = Array.from({ length: 101 }, () => ({
      headers: {},
      body: Buffer.from('<noise/>'),
    }))
    const body = textOf(answer).replace(
      new RegExp(`--${boundary}--\\r\\n$`),
      Buffer.from(encodeMultipart(noise, boundary)).toString('latin1'),
    )
    return { ...answer, body: Buffer.from(body, 'latin1') }
  },
  'an empty message': changed((text) => text.replace(/<m>.*?<\/m>/, '')),
  'not compressed as it says': withHeaders({ 'content-encoding': 'gzip' }),
  'a bomb': (answer) => ({
    ...answer,
    headers: { ...answer.headers, 'content-encoding': 'gzip' },
    body: gzipSync(Buffer.concat([Buffer.from(textOf(answer), 'latin1'), Buffer.alloc(48 << 20)]), {
      level: 1,
    }),
  }),
  'no PI-Pull-Next': withHeaders({ 'pi-pull-next': undefined }),
  'PI-Pull-Next of another host': withHeaders({ 'pi-pull-next': 'https://evil.example/x' }),
  'a page of HTML': () => ({ status: 502, headers: {}, body: '<html>' }),
  'a document of 4 MiB that is none, beside the others': (answer) => {
    const noise = { headers: { 'PI-ResourceId': 'noise' }, body: Buffer.alloc(4 << 20, '<a ') }
    const [more = ''] = textOf({ ...answer, body: encodeMultipart([noise], boundary) }).split(
      `--${boundary}--`,
    )
    const end = `--${boundary}--\r\n`
    return { ...answer, body: Buffer.from(textOf(answer).replace(end, more + end), 'latin1') }
  },
  'half a body, and then nothing': (answer) => ({ ...answer, isHalf: true }),
  'a message twice in one answer': changed((text) => {
    const [part = ''] = text.split(/(?<=\r\n)(?=--)/)
    return `${part}${text}`
  }),
  '401': instead(401),
  '403': instead(403),
  '410': instead(410),
  '503': instead(503),
  'no answer': () => 'silent',
}

/** Delivers what waits, in batches, and repeats a batch until the read behind it comes. */
const hostileBank = (wrong: Wrong, wrongTimes = wrongReads) => {
  const waiting: Held[] = []
  let batch: readonly Held[] = []
  let token = 0
  let wrongLeft = wrongTimes
  const state = { wrongMs: 0 }
  const server = Bun.serve({
    port: 0,
    idleTimeout: 30,
    fetch: async (request): Promise<Response> => {
      const { pathname } = new URL(request.url)
      if (request.method === 'DELETE') return new Response(null, { status: 200 })
      const asked = pathname.endsWith('/start') ? -1 : Number(pathname.split('/').at(-1))
      if (asked === token) {
        for (const held of batch) waiting.splice(waiting.indexOf(held), 1)
        batch = []
      }
      if (batch.length === 0 && waiting.length > 0) {
        batch = waiting.slice(0, 3)
        token++
      }
      const next = { 'pi-pull-next': `/api/v1/out/${ispb}/stream/${token}` }
      if (batch.length === 0) {
        await Bun.sleep(20)
        return new Response(null, { status: 204, headers: next })
      }
      const parts = batch.map(({ resourceId, xml }) => ({
        headers: { 'PI-ResourceId': resourceId },
        body: Buffer.from(xml),
      }))
      const right: Answer = {
        headers: { ...next, 'content-type': multipartContentType(boundary) },
        body: encodeMultipart(parts, boundary),
      }
      const isWrong = wrongLeft > 0
      if (isWrong) {
        wrongLeft--
        state.wrongMs = performance.now()
      }
      const answer = isWrong ? wrong(right, batch) : right
      if (answer === 'silent') {
        await Bun.sleep(300)
        return new Response(null, { status: 503 })
      }
      const { status = 200, headers, body, isHalf = false } = answer
      const bytes = Buffer.from(body)
      return new Response(isHalf ? halfOf(bytes) : bytes, { status, headers })
    },
    error: () => new Response(null, { status: 500 }),
  })
  return { url: `http://127.0.0.1:${server.port}`, waiting, state, stop: () => server.stop(true) }
}

/** Sends half of the bytes, and nothing more. */
const halfOf = (bytes: Uint8Array): ReadableStream =>
  new ReadableStream({
    start: (controller) => controller.enqueue(bytes.subarray(0, bytes.length / 2)),
  })

const letterBytesShown = 4_096

const plainOf = ({ value, headers }: OutgoingMessage): string => {
  const isCompressed = headers?.[inboundHeaders.encoding] === 'zstd'
  const plain = isCompressed ? Bun.zstdDecompressSync(value) : value
  return Buffer.from(plain.subarray(0, letterBytesShown)).toString('latin1')
}

/** Reads all of `messages` messages from a bank that answers wrongly so often, and nothing of them is lost. */
const survives = async (wrong: Wrong, messages: number, wrongTimes?: number): Promise<void> => {
  const bank = hostileBank(wrong, wrongTimes)
  const all = Array.from({ length: messages }, (_, i) => ({
    resourceId: `r${i}`,
    xml: `<Envelope><m>${i}</m></Envelope>`,
  }))
  bank.waiting.push(...all)
  const read = new Set<string | undefined>()
  const letters: string[] = []
  const pull = createPull({
    client: interfaceClient({ PRIMARY: bank.url }, { timeoutSeconds: 0.2 }),
    broker: {
      publish: async (messages) => {
        if (messages.some(({ value }) => value.length === 0)) throw new PublishRefusedError('empty')
        for (const message of messages) {
          const id = message.headers?.[inboundHeaders.resourceId]
          if (message.topic !== topics.deadLetters || id !== undefined) read.add(id)
          if (message.topic === topics.deadLetters) letters.push(plainOf(message))
        }
      },
    },
    settings: { streams: 1 },
    times: { retry: { ...pullTimes.retry, backoffFirstMs: 20, backoffMaxMs: 100 } },
    logger: { ...quietLogger, error: () => {}, warn: () => {} },
    metrics: createMetrics({ version: 'test', withProcess: false }),
  })
  await pull.start?.()
  const isKept = ({ resourceId }: Held): boolean =>
    read.has(resourceId) || letters.some((letter) => letter.includes(`: ${resourceId}\r\n`))
  await until(() => bank.waiting.length === 0 && all.every(isKept), 30_000)
  expect(performance.now() - bank.state.wrongMs).toBeLessThan(recoveryMs)
  await pull.stop?.()
  bank.stop()
}

describe.concurrent('a bank that answers wrongly in a loop', () => {
  test.each(Object.entries(faults))(
    '%s: nothing is lost, and the channel goes on',
    async (_, wrong) => survives(wrong, 12),
  )
})

test('every wrong answer in turn, amid right ones: nothing is lost, and the channel goes on', async () => {
  const all = Object.values(faults)
  let turn = 0
  const inTurn: Wrong = (answer, held) => {
    const place = turn++
    const wrong = all[Math.floor(place / 2)]
    return place % 2 === 0 || wrong === undefined ? answer : wrong(answer, held)
  }
  await survives(inTurn, 6 * all.length, 2 * all.length)
  expect(turn).toBe(2 * all.length)
})

test('the longest wait between two reads, and the longest that we grant, are shorter than that', () => {
  expect(pullTimes.retry.backoffMaxMs).toBeLessThan(recoveryMs)
  expect(readRetryAfterMaxMs).toBeLessThan(recoveryMs)
})
