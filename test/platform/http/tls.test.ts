import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { listen, type Route } from '#src/platform/http/index.ts'
import { createFileMaterial, listenerTlsProblems } from '#src/platform/security/index.ts'
import { testApp } from '../../support/app.ts'
import { issueCertificate } from '../../support/pki.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const directory = temporaryDirectory()
const hosts = ['localhost', '127.0.0.1']
const authority = issueCertificate('authority', { authority: true })
const stranger = issueCertificate('stranger', { authority: true })
const server = issueCertificate('server', { issuer: authority, hosts })
const renewed = issueCertificate('renewed', { issuer: authority, hosts })
const client = issueCertificate('client', { issuer: authority })
const wrongClient = issueCertificate('client', { issuer: stranger })

const held = Promise.withResolvers<void>()
const document = { operation: 'x', summary: 'x', responses: {} } as const
let reached = 0
const routes: readonly Route[] = [
  {
    method: 'GET',
    path: '/now',
    scope: 'public',
    document,
    handle: (c) => {
      reached++
      return c.json({ url: c.req.url })
    },
  },
  {
    method: 'GET',
    path: '/later',
    scope: 'public',
    document,
    handle: async (c) => {
      reached++
      await held.promise
      return c.json({})
    },
  },
]

const file = (name: string, content: string) => {
  const path = join(directory, name)
  writeFileSync(path, content)
  return { path, text: content }
}

let listeners = 0
const start = (asksClients: boolean) => {
  const number = listeners++
  const files = {
    certificate: file(`cert-${number}.pem`, server.cert),
    key: file(`key-${number}.pem`, server.key),
    ca: asksClients ? file(`ca-${number}.pem`, authority.cert) : undefined,
  }
  const material = createFileMaterial(files)
  const listener = listen(testApp(routes).app, {
    address: { host: '127.0.0.1', port: 0 },
    setting: 'HTTP_ADDR',
    tls: { material, asksClients },
  })
  afterAll(() => listener.stop(true))
  return { ...listener, files, material }
}

type Pair = { readonly cert: string; readonly key: string }

const open = (port: number, own?: Pair): TLSSocket =>
  connect({ host: '127.0.0.1', port, ca: authority.cert, servername: 'localhost', ...own })

/** Asks on a connection, and gives the status; undefined when the connection ends without an answer. */
const ask = (socket: TLSSocket, path = '/now'): Promise<number | undefined> =>
  new Promise((resolve) => {
    let answer = ''
    const take = (data: Buffer): void => {
      answer += data.toString()
      if (!answer.includes('\r\n\r\n')) return
      socket.off('data', take)
      resolve(Number(answer.split(' ')[1]))
    }
    socket.on('data', take)
    socket.once('error', () => resolve(undefined))
    socket.once('close', () => resolve(undefined))
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  })

const askOnce = async (port: number, own?: Pair): Promise<number | undefined> => {
  const socket = open(port, own)
  const status = await ask(socket)
  socket.destroy()
  return status
}

const servedBy = async (port: number, own?: Pair): Promise<string> => {
  const socket = open(port, own)
  await ask(socket)
  const { raw } = socket.getPeerCertificate(true)
  socket.destroy()
  return new X509Certificate(raw).subject.split('CN=')[1] ?? ''
}

describe('a listener with a certificate', () => {
  test('serves HTTPS, and answers nothing in clear', async () => {
    const { port, url } = start(false)
    expect(url).toBe(`https://127.0.0.1:${port}`)
    expect(await askOnce(port)).toBe(200)
    const before = reached
    const clear = await new Promise<string>((resolve) => {
      let answer = ''
      const socket = connectPlain(port, '127.0.0.1', () =>
        socket.write('GET /now HTTP/1.1\r\nHost: localhost\r\n\r\n'),
      )
      socket.on('data', (data) => {
        answer += data.toString('latin1')
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(answer))
    })
    expect(clear).not.toContain('HTTP/1.1 200')
    expect(reached).toBe(before)
  })

  test('lets nobody in without a client certificate of its authorities, where it has some', async () => {
    const { port } = start(true)
    expect(await askOnce(port, client)).toBe(200)
    const before = reached
    expect(await askOnce(port)).toBeUndefined()
    expect(await askOnce(port, wrongClient)).toBeUndefined()
    // A certificate that its own holder made, under the same name.
    expect(await askOnce(port, issueCertificate('client'))).toBeUndefined()
    expect(reached).toBe(before)
  })

  test('serves a new one to new connections, while those that are open end as they began', async () => {
    const { port, files, material } = start(true)
    const idle = open(port, client)
    expect(await ask(idle)).toBe(200)
    const busy = open(port, client)
    const before = reached
    const running = ask(busy, '/later')
    while (reached === before) await Bun.sleep(1)
    writeFileSync(files.certificate.path, renewed.cert)
    writeFileSync(files.key.path, renewed.key)
    expect(await material.reload()).toBe(true)
    expect(await servedBy(port, client)).toBe('renewed')
    held.resolve()
    expect(await running).toBe(200)
    expect(await askOnce(port, wrongClient)).toBeUndefined()
    idle.destroy()
    busy.destroy()
  })

  test('takes up one after another, also where its port was taken for a moment', async () => {
    const { port, files, material } = start(false)
    const take = (pair: Pair): Promise<boolean> => {
      writeFileSync(files.certificate.path, pair.cert)
      writeFileSync(files.key.path, pair.key)
      return material.reload()
    }
    const { serve } = Bun
    const taken = spyOn(Bun, 'serve').mockImplementation(((options: { readonly port?: number }) => {
      if (options.port !== port) return serve(options as never)
      taken.mockRestore()
      throw new Error('EADDRINUSE')
    }) as never)
    expect(await take(renewed)).toBe(true)
    while ((await servedBy(port).catch(() => '')) !== 'renewed') await Bun.sleep(5)
    expect(await take(server)).toBe(true)
    expect(await servedBy(port)).toBe('server')
  })

  test('takes up other authorities of clients, and keeps what it has where the new files are none', async () => {
    const { port, files, material } = start(true)
    writeFileSync(files.certificate.path, 'none')
    await expect(material.reload()).rejects.toThrow('cannot be read')
    expect(await servedBy(port, client)).toBe('server')
    writeFileSync(files.certificate.path, server.cert)
    writeFileSync(files.ca?.path ?? '', stranger.cert)
    expect(await material.reload()).toBe(true)
    expect(await askOnce(port, client)).toBeUndefined()
    expect(await askOnce(port, wrongClient)).toBe(200)
  })
})

const hasTools = Bun.which('curl') !== null && Bun.which('openssl') !== null

test.skipIf(!hasTools)('curl and openssl agree', async () => {
  const { port } = start(true)
  const path = (name: string, content: string) => file(name, content).path
  const ca = path('curl-ca.pem', authority.cert)
  const of = (name: string, { cert, key }: Pair) => [
    '--cert',
    path(`${name}.pem`, cert),
    '--key',
    path(`${name}.key`, key),
  ]
  const curl = async (...args: readonly string[]): Promise<string> => {
    const url = `https://localhost:${port}/now`
    const child = Bun.spawn(
      [
        'curl',
        '-s',
        '--noproxy',
        '*',
        '--cacert',
        ca,
        '-w',
        '%{http_code}',
        '-o',
        '/dev/null',
        ...args,
        url,
      ],
      { stdout: 'pipe' },
    )
    return new Response(child.stdout).text()
  }
  expect(await curl(...of('right', client))).toBe('200')
  expect(await curl()).toBe('000')
  expect(await curl(...of('wrong', wrongClient))).toBe('000')
  const old = Bun.spawn(['openssl', 's_client', '-tls1_1', '-connect', `127.0.0.1:${port}`], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  expect(await new Response(old.stdout).text()).toContain('Cipher is (NONE)')
})

describe('settings that do not fit together', () => {
  const pem = (text: string) => ({ text, path: undefined })
  const none = { certificate: undefined, key: undefined, clientCa: undefined }
  test.each([
    ['a lone certificate', { ...none, certificate: pem(server.cert) }, 'TRILHO_TLS_CERT_PATH'],
    ['a lone key', { ...none, key: pem(server.key) }, 'TRILHO_TLS_KEY_PATH'],
    ['authorities alone', { ...none, clientCa: pem(server.cert) }, 'TRILHO_TLS_CLIENT_CA_PATH'],
    [
      'the key of another',
      { ...none, certificate: pem(server.cert), key: pem(client.key) },
      'TRILHO_TLS_CERT_PATH',
    ],
  ])('%s', (_, tls, name) => {
    expect(listenerTlsProblems('TRILHO_TLS', tls).map((one) => one.name)).toEqual([name])
  })
})
