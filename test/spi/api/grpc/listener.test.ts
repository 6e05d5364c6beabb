import { afterAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import { connect as connectPlain, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { credentials, status } from '@grpc/grpc-js'
import { loadSettings } from '#src/platform/config/index.ts'
import { metadataBytesMax } from '#src/spi/api/grpc/calls.ts'
import { burstCallsMax, concurrentStreamsMax } from '#src/spi/api/grpc/index.ts'
import { grpcProblems, grpcSettings } from '#src/spi/index.ts'
import { pacs008 } from '../../../support/messages.ts'
import { type IssuedPair, issueCertificate } from '../../../support/pki.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { until } from '../../../support/until.ts'
import {
  decodeResponse,
  encodeRequest,
  failure,
  type Rig,
  rawClient,
  service,
  startRig,
  withKey,
} from './support.ts'

const request = encodeRequest({ message: Buffer.from(pacs008()) })
const authority = issueCertificate('authority', { authority: true })
const stranger = issueCertificate('stranger', { authority: true })
const hosts = ['localhost', '127.0.0.1']
const issue = (issuer: IssuedPair): IssuedPair => issueCertificate('localhost', { issuer, hosts })

const directory = temporaryDirectory()
const paths = {
  GRPC_TLS_CERT_PATH: join(directory, 'cert.pem'),
  GRPC_TLS_KEY_PATH: join(directory, 'key.pem'),
}
const install = ({ cert, key }: IssuedPair): void => {
  writeFileSync(paths.GRPC_TLS_CERT_PATH, cert)
  writeFileSync(paths.GRPC_TLS_KEY_PATH, key)
}
const clientCa = join(directory, 'client-ca.pem')
writeFileSync(clientCa, authority.cert)

const pem = (text: string): Buffer => Buffer.from(text)

const transform = async (
  rig: Rig,
  channel = credentials.createInsecure(),
  deadlineMs = 30_000,
): Promise<string> => {
  const client = rawClient(rig.target, channel)
  try {
    const path = `${service}/Transform`
    const { bytes } = await client.unary(path, request, withKey(rig.key), deadlineMs)
    return decodeResponse(bytes).status
  } finally {
    client.close()
  }
}

/** The serial number of the certificate that a new connection is shown. */
const servedSerial = async (port: number, client?: IssuedPair): Promise<string> => {
  const socket = connectTls({
    port,
    host: 'localhost',
    ca: authority.cert,
    ALPNProtocols: ['h2'],
    ...client,
  })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return BigInt(`0x${serialNumber}`).toString()
}

const waitForSerial = async (port: number, serial: string, client?: IssuedPair): Promise<void> => {
  const deadline = performance.now() + 40_000
  while ((await servedSerial(port, client)) !== serial) {
    if (performance.now() > deadline) throw new Error('the old certificate is still served')
    await Bun.sleep(50)
  }
}

describe('TLS', () => {
  test('serves clients that trust the authority, and no plaintext', async () => {
    install(issue(authority))
    const rig = await startRig({ env: paths })
    expect(rig.grpc.url?.()).toStartWith('https://127.0.0.1:')
    expect(await transform(rig, credentials.createSsl(pem(authority.cert)))).toBe('SUCCESS')
    const untrusted = transform(rig, credentials.createSsl(pem(stranger.cert)))
    expect((await failure(untrusted)).code).toBe(status.UNAVAILABLE)
    const plain = await failure(transform(rig, credentials.createInsecure(), 3_000))
    expect([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]).toContain(plain.code)
    await rig.stop()
  })

  test('a changed certificate is served to new connections', async () => {
    const first = issue(authority)
    install(first)
    const rig = await startRig({ env: paths })
    expect(await servedSerial(rig.port)).toBe(first.serial)
    const second = issue(authority)
    install(second)
    await waitForSerial(rig.port, second.serial)
    expect(await transform(rig, credentials.createSsl(pem(authority.cert)))).toBe('SUCCESS')
    await rig.stop()
  }, 60_000)

  test('a certificate that changes under load loses no call, on old connections and new ones', async () => {
    install(issue(authority))
    const rig = await startRig({ env: paths })
    const trust = credentials.createSsl(pem(authority.cert))
    const kept = rawClient(rig.target, trust)
    const path = `${service}/Transform`
    const onKept = () => kept.unary(path, request, withKey(rig.key))
    const onNew = () => transform(rig, trust)
    let isRunning = true
    const answered = [0, 0, 0, 0]
    const caller = async (call: () => Promise<unknown>, index: number): Promise<void> => {
      for (; isRunning; answered[index] = (answered[index] ?? 0) + 1) await call()
    }
    // A call that is lost rejects, and with it the test.
    const callers = [onKept, onKept, onNew, onNew].map(caller)
    for (let turn = 0; turn < 2; turn++) {
      const next = issue(authority)
      install(next)
      await waitForSerial(rig.port, next.serial)
    }
    await until(() => answered.every((count) => count > 10))
    isRunning = false
    await Promise.all(callers)
    kept.close()
    await rig.stop()
  }, 60_000)

  test('with client authorities, a client without their certificate is refused', async () => {
    install(issue(authority))
    const rig = await startRig({ env: { ...paths, GRPC_TLS_CLIENT_CA_PATH: clientCa } })
    const as = (pair: IssuedPair) =>
      credentials.createSsl(pem(authority.cert), pem(pair.key), pem(pair.cert))
    const client = issueCertificate('client', { issuer: authority })
    expect(await transform(rig, as(client))).toBe('SUCCESS')
    const none = transform(rig, credentials.createSsl(pem(authority.cert)))
    expect((await failure(none)).code).toBe(status.UNAVAILABLE)
    const theirs = issueCertificate('client', { issuer: stranger })
    expect((await failure(transform(rig, as(theirs)))).code).toBe(status.UNAVAILABLE)
    const renewed = issue(authority)
    install(renewed)
    await waitForSerial(rig.port, renewed.serial, client)
    expect(await transform(rig, as(client))).toBe('SUCCESS')
    expect((await failure(transform(rig, as(theirs)))).code).toBe(status.UNAVAILABLE)
    await rig.stop()
  }, 60_000)

  test('a client that begins no handshake is cut off', async () => {
    install(issue(authority))
    const handshakeMs = 1_000
    const rig = await startRig({ env: paths, handshakeMs })
    const begun = performance.now()
    const silent = [0, 1].map(() => connectPlain(rig.port, '127.0.0.1').resume())
    await Promise.all(silent.map((socket) => once(socket, 'close')))
    expect(performance.now() - begun).toBeGreaterThan(handshakeMs - 50)
    expect(await transform(rig, credentials.createSsl(pem(authority.cert)))).toBe('SUCCESS')
    await rig.stop()
  })

  const pair = issue(authority)
  const other = issue(authority)
  const problems: readonly (readonly [string, Record<string, string>, string])[] = [
    ['a lone certificate', { GRPC_TLS_CERT_BASE64: btoa(pair.cert) }, 'GRPC_TLS_CERT_PATH'],
    ['a lone key', { GRPC_TLS_KEY_BASE64: btoa(pair.key) }, 'GRPC_TLS_KEY_PATH'],
    [
      'a key of another certificate',
      { GRPC_TLS_CERT_BASE64: btoa(pair.cert), GRPC_TLS_KEY_BASE64: btoa(other.key) },
      'GRPC_TLS_CERT_PATH',
    ],
    [
      'client authorities without TLS',
      { GRPC_TLS_CLIENT_CA_BASE64: btoa(pair.cert) },
      'GRPC_TLS_CLIENT_CA_PATH',
    ],
    ['plaintext for others', { GRPC_ADDR: '10.0.0.1:9090' }, 'GRPC_ADDR'],
  ]
  for (const [what, env, name] of problems) {
    test(`${what} is a problem of the settings`, () => {
      const { values } = loadSettings({ grpc: grpcSettings }, env)
      expect(grpcProblems(values.grpc).map((problem) => problem.name)).toEqual([name])
    })
  }

  test('TLS, a loopback address, a port alone and leave given are none', () => {
    const tls = { GRPC_TLS_CERT_BASE64: btoa(pair.cert), GRPC_TLS_KEY_BASE64: btoa(pair.key) }
    for (const env of [
      {},
      { GRPC_ADDR: '[::1]:9090' },
      { GRPC_ADDR: '127.0.0.1:9090' },
      { GRPC_ADDR: '0.0.0.0:9090', GRPC_PLAINTEXT_ALLOWED: 'true' },
      { GRPC_ADDR: '0.0.0.0:9090', ...tls },
    ]) {
      const { values } = loadSettings({ grpc: grpcSettings }, env)
      expect(grpcProblems(values.grpc)).toEqual([])
    }
  })
})

describe('hostile clients', async () => {
  const rig = await startRig()
  afterAll(rig.stop)

  /** What of the answer comes before the server ends the connection. */
  const send = async (bytes: Uint8Array): Promise<void> => {
    const socket = connectPlain(rig.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.resume()
    socket.write(bytes)
    await once(socket, 'close')
  }

  const grpcType = Buffer.from('application/grpc')
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const frame = (type: number, flags: number, stream: number, payload: Uint8Array): Buffer => {
    const head = Buffer.alloc(9)
    head.writeUIntBE(payload.length, 0, 3)
    head[3] = type
    head[4] = flags
    head.writeUInt32BE(stream, 5)
    return Buffer.concat([head, payload])
  }
  const settings = frame(4, 0, 0, new Uint8Array())
  const malformed: readonly (readonly [string, Buffer])[] = [
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
    [
      'a frame over the limit',
      Buffer.concat([preface, settings, frame(0, 0, 1, Buffer.alloc(40_000))]),
    ],
    [
      'data for a stream that is not open',
      Buffer.concat([preface, settings, frame(0, 0, 0, Buffer.alloc(4))]),
    ],
    [
      'headers that are no HPACK',
      Buffer.concat([preface, settings, frame(1, 4, 1, Buffer.alloc(40, 0xff))]),
    ],
    ['settings of seven bytes', Buffer.concat([preface, frame(4, 0, 0, Buffer.alloc(7))])],
  ]
  for (const [what, bytes] of malformed) {
    test(`${what} ends the connection and nothing else`, async () => {
      await send(bytes)
      expect(await transform(rig)).toBe('SUCCESS')
    })
  }

  test('a message of an impossible length is refused, the connection goes on', async () => {
    const session = http2.connect(`http://127.0.0.1:${rig.port}`)
    const post = async (body: Buffer): Promise<string> => {
      const stream = session.request({
        ':method': 'POST',
        ':path': `${service}/Transform`,
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization: `Bearer ${rig.key}`,
      })
      let code = ''
      stream.on('response', (headers) => {
        code = String(headers['grpc-status'] ?? code)
      })
      stream.on('trailers', (trailers) => {
        code = String(trailers['grpc-status'] ?? code)
      })
      stream.on('error', () => {})
      stream.resume()
      stream.end(body)
      await once(stream, 'close')
      return code
    }
    expect(await post(Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1, 2]))).toBe(
      String(status.RESOURCE_EXHAUSTED),
    )
    const zipped = Buffer.from([1, 0, 0, 0, 4, 1, 2, 3, 4])
    expect(await post(zipped)).not.toBe('0')
    const whole = Buffer.concat([
      Buffer.from([0, 0, 0, request.length >> 8, request.length & 255]),
      request,
    ])
    expect(await post(whole)).toBe('0')
    session.close()
  })

  test('metadata at the limit is taken, past it refused', async () => {
    const client = rawClient(rig.target)
    const call = (size: number) =>
      client.unary(
        `${service}/Transform`,
        request,
        withKey(rig.key, { 'x-long': 'a'.repeat(size) }),
      )
    await call(metadataBytesMax - 1_000)
    const error = await failure(call(metadataBytesMax))
    expect(error.code).toBe(status.RESOURCE_EXHAUSTED)
    const huge = await failure(call(200_000))
    expect(huge.code).not.toBe(status.OK)
    client.close()
    expect(await transform(rig)).toBe('SUCCESS')
  })

  test('clients that come and go leave no place taken', async () => {
    for (let count = 0; count < 20; count++) expect(await transform(rig)).toBe('SUCCESS')
  })

  /** Opens a connection, and begins so many calls of an unknown method with one write. */
  const flood = async (callsCount: number): Promise<Socket> => {
    // POST http /, and literally :authority and content-type.
    const head = Buffer.from([0x83, 0x86, 0x84, 0x01, 1, 0x78, 0x0f, 0x10, grpcType.length])
    const block = Buffer.concat([head, grpcType])
    const calls = Array.from({ length: callsCount }, (_, index) =>
      frame(1, 5, 2 * index + 1, block),
    )
    const socket = connectPlain(rig.port, '127.0.0.1')
    await once(socket.on('error', () => {}).resume(), 'connect')
    rig.lines.length = 0
    socket.write(Buffer.concat([preface, settings, ...calls]))
    return socket
  }
  const unimplemented = (): number =>
    rig.lines.filter((line) => line.includes('UNIMPLEMENTED')).length

  test('calls that come at once over one connection are all answered up to a bound', async () => {
    const socket = await flood(burstCallsMax)
    await until(() => unimplemented() === burstCallsMax)
    expect(socket.destroyed).toBe(false)
    socket.destroy()
  })

  test('a connection with thousands of them ends, and the calls of another do not wait for it', async () => {
    const session = http2.connect(`http://127.0.0.1:${rig.port}`)
    await once(session, 'remoteSettings')
    const socket = await flood(10 * burstCallsMax)
    const call = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': grpcType.toString(),
    })
    call.end(Buffer.alloc(5))
    await once(call.resume(), 'close')
    expect(unimplemented()).toBeLessThan(3 * burstCallsMax)
    if (!socket.destroyed) await once(socket, 'close')
    const { text } = await rig.metrics.render()
    expect(text).toContain('trilho_grpc_connections_closed_total{reason="flooding"} 1')
    session.destroy()
  })

  test('a connection may not open more streams than it is told', async () => {
    const session = http2.connect(`http://127.0.0.1:${rig.port}`)
    const [told] = await once(session, 'remoteSettings')
    expect(told.maxConcurrentStreams).toBe(concurrentStreamsMax)
    session.destroy()
  })
})
