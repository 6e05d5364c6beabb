import { expect, test } from 'bun:test'
import { encodeMultipart, multipartContentType } from '#codecs/multipart'
import { type OutgoingMessage, PublishRefusedError } from '#src/platform/broker/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createPull, inboundHeaders } from '#src/spi/in/pull/index.ts'
import { quietLogger } from '../../../support/database.ts'
import { until } from '../../../support/until.ts'
import { interfaceClient, ispb } from '../../link/support.ts'

/*
 * A bank that answers every read at once, well formed, and with nothing new: it must not make us ask as fast as we can,
 * nor store the same without end; and what is new comes through soon.
 */

const watchedMs = 500
/** Thousands, if nobody waits. */
const requestsMax = 40

const part = (resourceId: string, text: string) => ({
  headers: { 'PI-ResourceId': resourceId },
  body: Buffer.from(text),
})
const batch = (...parts: readonly ReturnType<typeof part>[]) => ({
  body: Buffer.from(encodeMultipart(parts, 'b')),
  headers: { 'content-type': multipartContentType('b') },
})
type Answer = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

const same = batch(part('r1', '<Envelope><m>1</m></Envelope>'))
const other = batch(part('r2', '<Envelope><m>2</m></Envelope>'))
const nothing: Answer = { status: 204 }

/** By its name, the answer to a request, by its number and whether it opens a stream; and when what is new is there. */
const restless: readonly (readonly [
  name: string,
  answer: (request: number, opens: boolean) => Answer,
  withinMs: number,
])[] = [
  ['that there is nothing', () => nothing, 1_500],
  ['with the same batch', () => same, 6_000],
  ['with two batches in turn', (request) => (request % 2 === 0 ? same : other), 6_000],
  ['with the same document, without parts', () => ({ body: Buffer.from('<a/>') }), 6_000],
  ['with no bytes', () => ({ body: Buffer.alloc(0) }), 8_000],
  ['that each stream is gone', (_, opens) => (opens ? nothing : { status: 410 }), 6_000],
]

test.concurrent.each(restless)('a bank that answers at once %s', async (_, answer, withinMs) => {
  let requests = 0
  let news: Answer | undefined
  const bank = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url, method }) => {
      if (method === 'DELETE') return new Response('')
      const given = news ?? answer(++requests, url.endsWith('/start'))
      news = undefined
      const { status = 200, headers = {}, body } = given
      const next = { 'pi-pull-next': `/api/v1/out/${ispb}/stream/1/${requests}` }
      return new Response(body ? new Uint8Array(body) : null, {
        status,
        headers: { ...next, ...headers },
      })
    },
  })
  const published: OutgoingMessage[] = []
  const warnings: unknown[] = []
  const pull = createPull({
    client: interfaceClient({ PRIMARY: bank.url.origin }, { timeoutSeconds: 5 }),
    broker: {
      publish: async (messages) => {
        if (messages.some(({ value }) => value.length === 0)) throw new PublishRefusedError('empty')
        published.push(...messages)
      },
    },
    settings: { streams: 1 },
    logger: { ...quietLogger, error: () => {}, warn: (fields) => warnings.push(fields) },
    metrics: createMetrics({ version: 'test', withProcess: false }),
  })
  await pull.start?.()
  await Bun.sleep(watchedMs)
  expect(requests).toBeLessThan(requestsMax)
  expect(published.length).toBeLessThan(requestsMax)
  news = batch(part('new', '<Envelope><m>new</m></Envelope>'))
  const startMs = performance.now()
  await until(() => published.some(({ headers }) => headers?.[inboundHeaders.resourceId] === 'new'))
  expect(performance.now() - startMs).toBeLessThan(withinMs)
  await pull.stop?.()
  await bank.stop(true)
})
