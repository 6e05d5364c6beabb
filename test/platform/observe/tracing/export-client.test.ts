import { afterEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createExportClient, ExportError } from '#src/platform/observe/tracing/export-client.ts'
import { freePort } from '../../../support/free-port.ts'
import { issueCertificate } from '../../../support/pki.ts'
import { root } from '../../../support/program.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { until } from '../../../support/until.ts'

const message = Bun.gzipSync(new Uint8Array([1, 2, 3]))

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

type Answer = (stream: http2.ServerHttp2Stream, body: Buffer) => void

/** A server of HTTP/2 that collects a request and answers as it is told. */
const serve = async (answer: Answer, port = freePort()) => {
  const server = http2.createServer()
  const sessions = new Set<http2.ServerHttp2Session>()
  server.on('session', (session) => sessions.add(session))
  server.on('stream', (stream) => {
    const chunks: Buffer[] = []
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => answer(stream, Buffer.concat(chunks)))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = (): Promise<void> => {
    for (const session of sessions) session.destroy()
    return new Promise((resolve) => server.close(() => resolve()))
  }
  closing.push(stop)
  return { url: `http://127.0.0.1:${port}`, port, sessions, stop }
}

const withStatus =
  (code: number): Answer =>
  (stream) => {
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    )
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(code) }))
    stream.end(Buffer.alloc(5))
  }

const clientOf = (url: string, timeoutMs?: number) => {
  const client = createExportClient(url, { timeoutMs })
  closing.push(client.close)
  return client
}

const reasonOf = async (sent: Promise<void>): Promise<string> => {
  const error = await sent.then(
    () => undefined,
    (caught: unknown) => caught,
  )
  if (!(error instanceof ExportError)) throw new Error(`no ExportError: ${error}`)
  return error.reason
}

test('a message goes out framed, marked as compressed', async () => {
  const bodies: Buffer[] = []
  const { url } = await serve((stream, body) => {
    bodies.push(body)
    withStatus(0)(stream, body)
  })
  const client = clientOf(url)
  await client.send(message)
  await client.send(message)
  const [body = Buffer.alloc(0)] = bodies
  expect(bodies).toHaveLength(2)
  expect(body[0]).toBe(1)
  expect(body.readUInt32BE(1)).toBe(message.length)
  expect(Bun.gunzipSync(Uint8Array.from(body.subarray(5)))).toEqual(new Uint8Array([1, 2, 3]))
})

describe('spans are lost, and it is said why,', () => {
  test('when the collector refuses them', async () => {
    const { url } = await serve(withStatus(14))
    expect(await reasonOf(clientOf(url).send(message))).toBe('gRPC 14')
  })

  test('when it refuses them before it reads', async () => {
    const { url } = await serve((stream) =>
      stream.respond({ ':status': 200, 'grpc-status': '8' }, { endStream: true }),
    )
    expect(await reasonOf(clientOf(url).send(message))).toBe('gRPC 8')
  })

  test('when something else answers', async () => {
    const { url } = await serve((stream) => stream.respond({ ':status': 502 }, { endStream: true }))
    expect(await reasonOf(clientOf(url).send(message))).toBe('HTTP 502')
  })

  test('when the answer has no status', async () => {
    const { url } = await serve((stream) => stream.respond({ ':status': 200 }, { endStream: true }))
    expect(await reasonOf(clientOf(url).send(message))).toBe('no status')
  })

  test('when nobody listens', async () => {
    expect(await reasonOf(clientOf('http://127.0.0.1:1').send(message))).toBe('ECONNREFUSED')
  })

  test('when the other side speaks no HTTP/2, or ends the connection', async () => {
    const other = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data: (socket) => {
          socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
        },
      },
    })
    closing.push(() => other.stop(true))
    expect(await reasonOf(clientOf(`http://127.0.0.1:${other.port}`).send(message))).toBeString()
  })

  test('when the collector cannot be trusted', async () => {
    const { cert, key } = issueCertificate('localhost', { hosts: ['localhost', '127.0.0.1'] })
    const server = http2.createSecureServer({ cert, key })
    server.on('sessionError', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const { port } = server.address() as AddressInfo
    const reason = await reasonOf(clientOf(`https://localhost:${port}`).send(message))
    expect(reason).toMatch(/CERT|SELF_SIGNED|UNABLE/)
  })

  test('when the authorities to trust it by cannot be read', async () => {
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    const client = createExportClient('https://127.0.0.1:1', { ca: () => broken })
    closing.push(client.close)
    expect(await reasonOf(client.send(message))).toBe('Invalid CA')
  })

  test('when no answer comes in time', async () => {
    const { url } = await serve(() => {})
    const before = performance.now()
    expect(await reasonOf(clientOf(url, 200).send(message))).toBe('no answer in time')
    expect(performance.now() - before).toBeLessThan(4_500)
  })
})

test('headers of the installation go with every message, and change none of its own', async () => {
  const seen: http2.IncomingHttpHeaders[] = []
  const { url, sessions } = await serve(withStatus(0))
  const headers = { 'x-api-key': 'k1', 'content-type': 'text/plain' }
  const client = createExportClient(url, { headers })
  closing.push(client.close)
  await client.send(message)
  for (const session of sessions) {
    session.on('stream', (_stream, received) => seen.push(received))
  }
  await client.send(message)
  expect(seen).toMatchObject([{ 'x-api-key': 'k1', 'content-type': 'application/grpc' }])
})

test('over TLS to a collector of an authority of its own', async () => {
  const authority = issueCertificate('authority', { authority: true })
  const { cert, key } = issueCertificate('localhost', { issuer: authority, hosts: ['localhost'] })
  const server = http2.createSecureServer({ cert, key })
  server.on('sessionError', () => {})
  server.on('stream', (stream) => {
    stream.resume()
    stream.on('end', () => withStatus(0)(stream, Buffer.alloc(0)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const client = createExportClient(`https://localhost:${port}`, { ca: () => authority.cert })
  closing.push(client.close)
  await client.send(message)
  const { cert: ca } = issueCertificate('other', { authority: true })
  const other = createExportClient(`https://localhost:${port}`, { ca: () => ca })
  closing.push(other.close)
  expect(await reasonOf(other.send(message))).toMatch(/CERT|SELF_SIGNED|UNABLE/)
})

test('over TLS to a collector that can be trusted', async () => {
  const authority = issueCertificate('authority', { authority: true })
  const { cert, key } = issueCertificate('localhost', { issuer: authority, hosts: ['localhost'] })
  const server = http2.createSecureServer({ cert, key })
  server.on('stream', (stream) => {
    stream.resume()
    stream.on('end', () => withStatus(0)(stream, Buffer.alloc(0)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const ca = join(temporaryDirectory(), 'ca.pem')
  writeFileSync(ca, authority.cert)
  const { port } = server.address() as AddressInfo
  const script = `
    import { createExportClient } from '#src/platform/observe/tracing/export-client.ts'
    const client = createExportClient('https://localhost:${port}')
    await client.send(Bun.gzipSync(new Uint8Array(9)))
    client.close()
    console.log('taken')`
  // Authorities of one's own come from the environment of a process.
  const child = Bun.spawn([process.execPath, '-e', script], {
    cwd: root,
    env: { ...process.env, NODE_EXTRA_CA_CERTS: ca },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  expect([out.trim(), err]).toEqual(['taken', ''])
})

test('a collector that went away is found again', async () => {
  const first = await serve(withStatus(0))
  const client = clientOf(first.url)
  await client.send(message)
  await first.stop()
  expect(await reasonOf(client.send(message))).toBeString()
  await serve(withStatus(0), first.port)
  await client.send(message)
})

test('a connection on which no answer came in time is not used again', async () => {
  let connections = 0
  const silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => {
        connections++
      },
      data: () => {},
    },
  })
  closing.push(() => silent.stop(true))
  const client = clientOf(`http://127.0.0.1:${silent.port}`, 100)
  for (let at = 1; at <= 3; at++) {
    expect(await reasonOf(client.send(message))).toBe('no answer in time')
    await until(() => connections === at)
  }
})

test('a collector that says it goes is not asked again on the same connection', async () => {
  const server = await serve(withStatus(0))
  const client = clientOf(server.url)
  await client.send(message)
  const [first] = server.sessions
  first?.goaway(0)
  await until(() => first?.destroyed === true)
  await client.send(message)
  expect(server.sessions.size).toBe(2)
})
