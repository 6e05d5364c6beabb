import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import http2 from 'node:http2'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { credentials, status } from '@grpc/grpc-js'
import { pacs008 } from '../../../support/messages.ts'
import { issueCertificate } from '../../../support/pki.ts'
import { until } from '../../../support/until.ts'
import {
  encodeRequest,
  failure,
  type RawClient,
  type Rig,
  rawClient,
  service,
  startRig,
  withKey,
} from './support.ts'

const request = encodeRequest({ message: Buffer.from(pacs008()) })

const frameHeadBytes = 9
const ping = 6
const acknowledged = 1
const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  // Settings without any.
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
])

test('a connection whose other end does not answer pings is closed, one that does stays', async () => {
  const times = { keepaliveMs: 200, keepaliveTimeoutMs: 1_500 }
  const rig = await startRig({ times })
  const polite = http2.connect(`http://127.0.0.1:${rig.port}`)
  let asked = 0
  polite.on('ping', () => asked++)
  await once(polite, 'connect')
  const silent = connect(rig.port, '127.0.0.1')
  const types: number[] = []
  silent.on('data', (bytes: Buffer) => {
    for (let at = 0; at + frameHeadBytes <= bytes.length; ) {
      if (((bytes[at + 4] ?? 0) & acknowledged) === 0) types.push(bytes[at + 3] ?? -1)
      at += frameHeadBytes + bytes.readUIntBE(at, 3)
    }
  })
  const begun = performance.now()
  silent.write(preface)
  await once(silent, 'close')
  expect(performance.now() - begun).toBeGreaterThan(
    times.keepaliveMs + times.keepaliveTimeoutMs - 50,
  )
  expect(types).toContain(ping)
  while (asked < 3) await once(polite, 'ping')
  expect(polite.closed).toBe(false)
  polite.destroy()
  await rig.stop()
})

test('a connection without calls is told to go and closed; one with a call stays', async () => {
  const idleMs = 250
  const rig = await startRig({ times: { idleMs } })
  const client = rawClient(rig.target)
  const call = client.stream(`${service}/TransformStream`, withKey(rig.key))
  const status = Promise.withResolvers<number>()
  call.on('status', ({ code }) => status.resolve(code))
  call.on('error', () => {})
  call.write(request)
  await once(call, 'data')
  const idle = http2.connect(`http://127.0.0.1:${rig.port}`)
  const begun = performance.now()
  const [[code]] = await Promise.all([once(idle, 'goaway'), once(idle, 'close')])
  expect(code).toBe(http2.constants.NGHTTP2_NO_ERROR)
  expect(performance.now() - begun).toBeGreaterThan(idleMs - 50)
  call.write(request)
  await once(call, 'data')
  call.end()
  expect(await status.promise).toBe(0)
  client.close()
  await rig.stop()
})

const listPath = `${service}/ListTransformations`

const frame = (type: number, flags: number, payload: Uint8Array): Buffer => {
  const head = Buffer.alloc(frameHeadBytes)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head[8] = 1
  return Buffer.concat([head, payload])
}

/** A call as its bytes, for a client that does nothing by itself. */
const bytesOfCall = (key: string): Buffer => {
  const fields = {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': listPath,
    ':authority': 'localhost',
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${key}`,
  }
  const block = Object.entries(fields).flatMap(([name, value]) => [
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])
  return Buffer.concat([
    preface,
    frame(1, 4, Buffer.concat(block)),
    frame(0, 1, Buffer.from([0, 0, 0, 0, 0])),
  ])
}

const authority = issueCertificate('authority', { authority: true })
const pair = issueCertificate('localhost', { issuer: authority, hosts: ['localhost', '127.0.0.1'] })

const list = (client: RawClient, key: string) =>
  client.unary(listPath, Buffer.alloc(0), withKey(key), 10_000)

/** The code of a call over a connection of its own. */
const newcomer = async (rig: Rig, trust = credentials.createInsecure()): Promise<number> => {
  const client = rawClient(rig.target, trust)
  try {
    await list(client, rig.key)
    return status.OK
  } catch (error) {
    return (error as { readonly code: number }).code
  } finally {
    client.close()
  }
}

describe.each([
  ['plain', {}],
  ['TLS', { GRPC_TLS_CERT_BASE64: btoa(pair.cert), GRPC_TLS_KEY_BASE64: btoa(pair.key) }],
])('%s', (kind, env) => {
  const isSecure = kind === 'TLS'
  const trust = isSecure
    ? credentials.createSsl(Buffer.from(authority.cert))
    : credentials.createInsecure()

  test('a connection that we have closed is over, though its other end never closes its half', async () => {
    const times = { idleMs: 250, halfClosedMs: 300 }
    const rig = await startRig({ env, connectionsMax: 1, times })
    const raw = connect({ port: rig.port, host: '127.0.0.1', allowHalfOpen: true })
    const open: Socket = isSecure
      ? connectTls({
          socket: raw,
          ca: authority.cert,
          servername: 'localhost',
          ALPNProtocols: ['h2'],
        })
      : raw
    open.resume()
    await once(open, isSecure ? 'secureConnect' : 'connect')
    open.write(bytesOfCall(rig.key))
    await until(() => rig.lines.some((line) => line.includes('"code":"OK"')))
    await until(async () => (await newcomer(rig, trust)) === status.OK)
    raw.destroy()
    await rig.stop()
  })

  test('where all places are taken, the oldest connection without a key makes room', async () => {
    const rig = await startRig({ env, connectionsMax: 3 })
    const clients: RawClient[] = []
    const connected = (): RawClient => {
      const client = rawClient(rig.target, trust)
      clients.push(client)
      return client
    }
    /** Its status is for who waits for it. */
    const watch = async () => {
      const call = connected().stream('/grpc.health.v1.Health/Watch')
      const seen: { code?: number } = {}
      call.on('status', ({ code }) => Object.assign(seen, { code }))
      call.on('error', () => {})
      call.end(Buffer.alloc(0))
      await once(call, 'data')
      return seen
    }
    const call = (client: RawClient) => list(client, rig.key)
    const first = connected()
    await call(first)
    const watches = [await watch(), await watch()]
    const second = connected()
    await call(second)
    await until(() => watches[0]?.code !== undefined)
    await until(() => rig.lines.some((line) => /Health\/Watch.*CANCELLED/.test(line)))
    expect(watches[1]).toEqual({})
    const third = connected()
    await call(third)
    await until(() => watches[1]?.code !== undefined)
    // Who has a key is not driven out, be it by another who has one.
    expect((await failure(call(connected()))).code).toBe(status.UNAVAILABLE)
    await Promise.all([first, second, third].map(call))
    const { text } = await rig.metrics.render()
    expect(text).toContain('trilho_grpc_connections_closed_total{reason="evicted"} 2')
    expect(text).toMatch(/trilho_grpc_connections_closed_total\{reason="refused"\} [1-9]/)
    const told = rig.lines.filter((line) => line.includes('no place for another connection'))
    expect(told).toHaveLength(1)
    expect(told[0]).toContain('all 3 places are taken')
    second.close()
    await until(() => newcomer(rig, trust).then((code) => code === status.OK))
    for (const client of clients) client.close()
    await rig.stop()
  })
})
