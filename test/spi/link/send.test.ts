import { afterAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { boundaryOf, decodeMultipart } from '#codecs/multipart'
import { createFileMaterial } from '#src/platform/security/index.ts'
import { createCentralBank } from '../../../src/simulators/central-bank/index.ts'
import { createHold } from '../../../src/spi/link/hold.ts'
import { resourceIdCharactersMax } from '../../../src/spi/link/resource-id.ts'
import { sendMessages } from '../../../src/spi/link/send.ts'
import { payment } from '../../support/participant.ts'
import { issueCertificate } from '../../support/pki.ts'
import {
  callUnderChanges,
  rotatingMaterial,
  rotationOf,
  startPeer,
} from '../../support/rotation.ts'
import {
  answer,
  interfaceClient,
  ispb,
  type RawAnswer,
  type RawRequest,
  rawServer,
} from './support.ts'

const one = new TextEncoder().encode('<a>1</a>')
const two = new TextEncoder().encode('<a>2</a>')
const accepted = (ids: string): RawAnswer => answer(201, { 'PI-ResourceId': ids })

const against = async (
  reply: (count: number) => RawAnswer,
  messages: readonly Uint8Array[] = [one],
  more: Parameters<typeof interfaceClient>[1] = {},
) => {
  const server = rawServer((_, count) => reply(count))
  const client = interfaceClient({ PRIMARY: server.url, SECONDARY: server.url }, more)
  const outcome = await client.send('PRIMARY', messages)
  server.stop()
  return { outcome, requests: server.requests }
}

const typeOf = (request: RawRequest | undefined): string =>
  /^Content-Type: (.*)$/m.exec(request?.lines.join('\n') ?? '')?.[1] ?? ''

const partsOf = (request: RawRequest | undefined) =>
  decodeMultipart(gunzipSync(request?.body ?? ''), boundaryOf(typeOf(request)))

describe('on the wire', () => {
  test('one message, multipart too: only headers the interface knows, Host without port, gzip over the body', async () => {
    const { outcome, requests } = await against(() => accepted('id-1'))
    expect(outcome).toEqual({ kind: 'accepted', resourceIds: ['id-1'] })
    const [request] = requests
    const type = typeOf(request)
    expect([...(request?.lines ?? [])].sort()).toEqual(
      [
        `POST /api/v1/in/${ispb}/msgs HTTP/1.1`,
        'Accept: */*',
        'Accept-Encoding: gzip',
        'Connection: keep-alive',
        'Content-Encoding: gzip',
        `Content-Length: ${request?.body.length}`,
        `Content-Type: ${type}`,
        'Host: 127.0.0.1',
        'User-Agent: Trilho',
      ].sort(),
    )
    expect(type).toStartWith('multipart/mixed; boundary=')
    expect(partsOf(request).map(({ body }) => Buffer.from(body))).toEqual([Buffer.from(one)])
  })

  test('several: one multipart body, its parts in order', async () => {
    const { outcome, requests } = await against(() => accepted('a, b'), [one, two])
    expect(outcome).toEqual({ kind: 'accepted', resourceIds: ['a', 'b'] })
    const parts = partsOf(requests[0])
    expect(parts.map(({ body }) => Buffer.from(body).toString())).toEqual(['<a>1</a>', '<a>2</a>'])
    expect(parts[0]?.headers.get('content-type')).toBe('application/xml; charset=utf-8')
  })

  test('1 to 10 messages', async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `id-${index}`)
    const ten = Array.from({ length: 10 }, () => one)
    const { outcome } = await against(() => accepted(ids.join(',')), ten)
    expect(outcome).toEqual({ kind: 'accepted', resourceIds: ids })
    expect(against(() => 'cut', [...ten, one])).rejects.toThrow(RangeError)
    expect(against(() => 'cut', [])).rejects.toThrow(RangeError)
  })
})

describe('outcomes', () => {
  test('4xx: refused at once, with the problem', async () => {
    const body =
      '<problem xmlns="urn:ietf:rfc:7807"><type>https://x/forbidden</type><title>T</title><detail>D</detail></problem>'
    const { outcome, requests } = await against(() =>
      answer(403, { 'Content-Type': 'application/problem+xml' }, body),
    )
    expect(outcome).toEqual({
      kind: 'refused',
      status: 403,
      problem: { type: 'https://x/forbidden', title: 'T', detail: 'D' },
    })
    expect(requests).toHaveLength(1)
  })

  test('a problem is read out of gzip, and out of no other compression', async () => {
    const body = '<problem><type>https://x/forbidden</type></problem>'
    const zipped = (coding: string, bytes: Buffer) =>
      answer(400, { 'Content-Encoding': coding }, bytes)
    const gzip = await against(() => zipped('gzip', gzipSync(body)))
    expect(gzip.outcome).toMatchObject({ kind: 'refused', status: 400 })
    const brotli = await against(() => zipped('br', brotliCompressSync(body)))
    expect(brotli.outcome).toMatchObject({ kind: 'unknown' })
  })

  test('an unreadable problem leaves the status', async () => {
    const headers = { 'Content-Type': 'application/problem+xml' }
    const { outcome } = await against(() => answer(400, headers, '<problem><type>'))
    expect(outcome).toEqual({
      kind: 'refused',
      status: 400,
      problem: { type: '', title: '', detail: '' },
    })
  })

  test.each([
    ['nothing', {}, ''],
    ['a page', { 'Content-Type': 'text/html' }, '<html><body>Not Found</body></html>'],
    ['a problem of something else', { 'Content-Type': 'application/problem+json' }, '{"type":"x"}'],
  ])('4xx with %s is of somebody in between: unknown', async (_, headers, body) => {
    for (const status of [400, 404, 413]) {
      const { outcome, requests } = await against(() => answer(status, headers, body))
      const reason = `status ${status} without a problem of the interface`
      expect(outcome).toEqual({ kind: 'unknown', reason })
      expect(requests.length).toBeGreaterThan(1)
    }
    expect((await against(() => answer(403, headers, body))).outcome.kind).toBe('refused')
  })

  test('429 and 408: nothing was stored', async () => {
    const { outcome } = await against(() => answer(429, { 'Retry-After': '7' }))
    expect(outcome).toMatchObject({ kind: 'unreachable', retryAfterMs: 7_000, isDown: false })
    const late = await against(() => answer(408))
    expect(late.outcome).toMatchObject({ kind: 'unreachable', isDown: true })
    expect(late.requests).toHaveLength(1)
  })

  test('Retry-After is honoured by the whole channel, and by no other', async () => {
    const server = rawServer((_, count) =>
      count === 1 ? answer(429, { 'Retry-After': '7' }) : accepted('id'),
    )
    const client = interfaceClient({ PRIMARY: server.url, SECONDARY: server.url })
    expect(await client.send('PRIMARY', [one])).toMatchObject({ isDown: false })
    const held = await client.send('PRIMARY', [one])
    expect(held).toMatchObject({ kind: 'unreachable', isDown: false })
    if (held.kind === 'unreachable') {
      expect(held.retryAfterMs).toBeGreaterThan(1_000)
      expect(held.retryAfterMs).toBeLessThanOrEqual(7_000)
    }
    expect(server.requests).toHaveLength(1)
    expect(await client.send('SECONDARY', [one])).toMatchObject({ kind: 'accepted' })
    server.stop()
  })

  test('429 without a Retry-After that can be read is one of a second, and none is of more than a minute', async () => {
    const asked = async (headers: Readonly<Record<string, string>>) =>
      (await against(() => answer(429, headers))).outcome
    for (const headers of [{}, { 'Retry-After': '' }, { 'Retry-After': 'Wed, 21 Oct 2026' }]) {
      expect(await asked(headers)).toMatchObject({ retryAfterMs: 1_000 })
    }
    expect(await asked({ 'Retry-After': '60' })).toMatchObject({ retryAfterMs: 60_000 })
    expect(await asked({ 'Retry-After': '61' })).toMatchObject({ retryAfterMs: 60_000 })
    const server = rawServer((_, count) => (count === 1 ? answer(429) : accepted('id')))
    const client = interfaceClient({ PRIMARY: server.url })
    const startMs = performance.now()
    await client.send('PRIMARY', [one])
    expect(await client.send('PRIMARY', [one])).toMatchObject({ kind: 'accepted' })
    expect(performance.now() - startMs).toBeGreaterThan(900)
    server.stop()
  })

  test('what is no answer of the interface leaves a doubt: 200, 204, 302', async () => {
    for (const status of [200, 204, 302, 399]) {
      const { outcome } = await against(() => answer(status, { Location: '/' }))
      expect(outcome).toEqual({ kind: 'unknown', reason: `status ${status}` })
    }
  })

  test('201 with a PI-ResourceId for each: fewer, more, or one that cannot be kept leave a doubt', async () => {
    const longest = 'x'.repeat(resourceIdCharactersMax)
    const both = [one, two]
    expect((await against(() => accepted(`${longest}, r2`), both)).outcome).toEqual({
      kind: 'accepted',
      resourceIds: [longest, 'r2'],
    })
    for (const ids of [`${longest}x,r2`, 'r1', 'r1,', 'r1,r2,r3', '']) {
      const { outcome } = await against(() => accepted(ids), both, { attemptsMax: 1 })
      expect(outcome).toMatchObject({ kind: 'unknown' })
    }
  })

  test('a repetition takes tokens as the first attempt does, and is not made without', async () => {
    const server = rawServer(() => answer(503))
    const sendWith = async (tokens: number) => {
      let left = tokens
      const pacing = { take: async () => (left-- > 0 ? 0 : 60_000) }
      const url = `${server.url}/api/v1/in/${ispb}/msgs`
      const repeats: string[] = []
      const onRepeat = (attempt: number, reason: string) => repeats.push(`${attempt} ${reason}`)
      const settings = {
        onRepeat,
        isGzip: false,
        timeoutMs: 20_000,
        attemptsMax: 3,
        hold: createHold(),
      }
      const before = server.requests.length
      const outcome = await sendMessages(
        { url, channel: 'PRIMARY', tls: undefined, pacing, ...settings },
        [one],
        undefined,
      )
      return { kind: outcome.kind, requests: server.requests.length - before, repeats }
    }
    const told = ['1 status 503', '2 status 503']
    expect(await sendWith(3)).toEqual({ kind: 'unknown', requests: 3, repeats: told })
    expect(await sendWith(2)).toEqual({ kind: 'unknown', requests: 2, repeats: told })
    expect(await sendWith(0)).toEqual({ kind: 'unreachable', requests: 0, repeats: [] })
    server.stop()
  })

  test('who comes again waits for no bucket, and what is paid asks for none', async () => {
    const asked: number[] = []
    const pacing = {
      take: async (_: unknown, messages: readonly Uint8Array[]) => {
        asked.push(messages.length)
        return messages.length === 0 ? 0 : 500
      },
    }
    const settings = { isGzip: false, timeoutMs: 1_000, attemptsMax: 1, hold: createHold() }
    const server = rawServer(() => accepted('a,b'))
    const url = `${server.url}/api/v1/in/${ispb}/msgs`
    const about = { url, channel: 'SECONDARY', tls: undefined, pacing, ...settings } as const
    const sendThem = (isPaid: boolean) =>
      sendMessages({ ...about, comesAgain: true, isPaid }, [one, two], undefined)
    const turnedAway = { kind: 'unreachable', retryAfterMs: 500, isDown: false }
    expect(await sendThem(false)).toMatchObject(turnedAway)
    expect(await sendThem(true)).toMatchObject({ kind: 'accepted' })
    expect(asked).toEqual([2, 0])
    settings.hold.hold(7_000)
    expect(await sendThem(true)).toMatchObject({ kind: 'unreachable', isDown: false })
    expect(server.requests).toHaveLength(1)
    server.stop()
  })

  test('a repetition of who comes again waits for no bucket: it holds up others in its request', async () => {
    const waits = [0, 1_500]
    const settings = { isGzip: false, timeoutMs: 1_000, attemptsMax: 2, hold: createHold() }
    const pacing = { take: async () => waits.shift() ?? 0 }
    const server = rawServer(() => answer(503))
    const url = `${server.url}/api/v1/in/${ispb}/msgs`
    const about = { url, channel: 'SECONDARY', tls: undefined, pacing, ...settings } as const
    const sendThem = () => sendMessages({ ...about, comesAgain: true }, [one, two], undefined)
    expect(await sendThem()).toEqual({ kind: 'unknown', reason: 'status 503' })
    expect(server.requests).toHaveLength(1)
    server.stop()
  })

  test('a line, and who pays before it sends, is told of what the channel asks to wait for', async () => {
    const server = rawServer(() => answer(429, { 'Retry-After': '7' }))
    const client = interfaceClient({ SECONDARY: server.url })
    expect([
      await client.room('SECONDARY', 'secondary'),
      await client.admit('SECONDARY', 'secondary', [1, 1]),
    ]).toEqual([Number.POSITIVE_INFINITY, 2])
    expect(await client.pay('SECONDARY', [one], true)).toBeUndefined()
    await client.send('SECONDARY', [one])
    expect(await client.pay('SECONDARY', [one], true)).toMatchObject({
      kind: 'unreachable',
      isDown: false,
    })
    expect([
      await client.room('SECONDARY', 'secondary'),
      await client.admit('SECONDARY', 'secondary', [1, 1]),
    ]).toEqual([0, 0])
    server.stop()
  })

  test('no listener: unreachable', async () => {
    const server = rawServer(() => 'cut')
    server.stop()
    const outcome = await interfaceClient({ PRIMARY: server.url }).send('PRIMARY', [one])
    expect(outcome).toMatchObject({ kind: 'unreachable', isDown: true })
  })

  test('5xx, a cut connection, no answer: the same bytes again, then unknown', async () => {
    const wrongCount = answer(201, { 'PI-ResourceId': 'a,b' })
    for (const bad of [answer(503), 'cut', wrongCount] as const) {
      const { outcome, requests } = await against(() => bad)
      expect(outcome.kind).toBe('unknown')
      expect(requests).toHaveLength(3)
      expect(new Set(requests.map(({ body }) => body.toString('hex'))).size).toBe(1)
    }
    const silent = await against(() => 'silent', [one], { timeoutSeconds: 0.7, attemptsMax: 2 })
    expect(silent.outcome).toEqual({ kind: 'unknown', reason: 'no answer in time', isLate: true })
    expect(silent.requests).toHaveLength(2)
  })

  test('after an attempt without an answer in time the caller may end the repetitions; other trouble is not its to judge', async () => {
    const server = rawServer((_, count) => (count === 1 ? answer(503, {}, '') : 'silent'))
    const client = interfaceClient({ PRIMARY: server.url }, { timeoutSeconds: 0.7, attemptsMax: 5 })
    let late = 0
    const onLate = (): boolean => {
      late++
      return late < 2
    }
    const outcome = await client.send('PRIMARY', [one], { onLate })
    server.stop()
    expect(outcome).toEqual({ kind: 'unknown', reason: 'no answer in time', isLate: true })
    expect([late, server.requests.length]).toEqual([2, 3])
  })

  test('an answer after trouble is the outcome; trouble after a doubt stays a doubt', async () => {
    const recovered = await against((count) => (count < 3 ? 'cut' : accepted('id')))
    expect(recovered.outcome).toEqual({ kind: 'accepted', resourceIds: ['id'] })
    const doubtful = await against((count) => (count === 1 ? answer(500) : answer(429)))
    expect(doubtful.outcome.kind).toBe('unknown')
  })
})

describe('with the simulated central bank', () => {
  const authority = issueCertificate('Authority', { authority: true })
  const server = issueCertificate('icom', { issuer: authority, hosts: ['127.0.0.1'] })
  const ours = issueCertificate('participant', { issuer: authority })
  const pem = (text: string) => ({ text, path: undefined })
  const started = createCentralBank({
    longPollMs: 100,
    hostWithoutPort: true,
    tls: { cert: server.cert, key: server.key, clientCa: authority.cert },
  })
  afterAll(async () => (await started).stop())

  const material = (pair: { cert: string; key: string } | undefined, ca = authority.cert) =>
    createFileMaterial({
      certificate: pair && pem(pair.cert),
      key: pair && pem(pair.key),
      ca: pem(ca),
    })

  test('mutual TLS: payments on both channels, five in a request', async () => {
    const bank = await started
    const client = interfaceClient(
      { PRIMARY: bank.url, SECONDARY: bank.secondaryUrl },
      { tls: material(ours) },
    )
    for (const channel of ['PRIMARY', 'SECONDARY'] as const) {
      const payments = Array.from({ length: 5 }, () => payment(ispb, '99999A04', 100))
      const outcome = await client.send(channel, payments)
      expect(outcome).toMatchObject({ kind: 'accepted' })
      if (outcome.kind === 'accepted') expect(new Set(outcome.resourceIds).size).toBe(5)
    }
    const catalogue = Buffer.from(await client.catalogue('out')).toString()
    expect(catalogue).toContain('<Message>pacs.008.spi.')
  })

  test('without our certificate, or to a server of another authority, nothing is sent', async () => {
    const bank = await started
    const before = { ...bank.statistics().received }
    const send = (tls: ReturnType<typeof material>) =>
      interfaceClient({ PRIMARY: bank.url }, { tls }).send('PRIMARY', [
        payment(ispb, '99999A04', 100),
      ])
    expect((await send(material(undefined))).kind).not.toBe('accepted')
    const other = issueCertificate('Other', { authority: true })
    expect(await send(material(ours, other.cert))).toMatchObject({ kind: 'unreachable' })
    expect(bank.statistics().received).toEqual(before)
  })

  test('certificates change under load: no message is lost, new requests show the new one', async () => {
    const ca = authority.cert
    const first = { pair: issueCertificate('first', { issuer: authority }), ca }
    const rotating = await rotatingMaterial(first)
    const peer = await startPeer(server, ca, () => ({
      status: 201,
      body: '\n',
      headers: { 'PI-ResourceId': 'id' },
    }))
    const tls = rotating.material
    const client = interfaceClient({ PRIMARY: peer.url }, { tls, attemptsMax: 1 })
    const send = async (): Promise<void> => {
      const outcome = await client.send('PRIMARY', [one])
      expect(outcome).toEqual({ kind: 'accepted', resourceIds: ['id'] })
    }
    await callUnderChanges(peer.shown, send, rotationOf(rotating, peer, authority))
    peer.stop()
  }, 60_000)
})
