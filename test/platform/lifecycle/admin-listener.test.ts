import { expect, test } from 'bun:test'
import { get as httpGet } from 'node:http'
import { get as httpsGet } from 'node:https'
import { connect } from 'node:net'
import { createGateway, type Feature } from '#src/platform/lifecycle/index.ts'
import { createLogger, createMetrics } from '#src/platform/observe/index.ts'
import {
  createAuthenticator,
  createFileMaterial,
  type KeyMaterial,
} from '#src/platform/security/index.ts'
import { issueCertificate } from '../../support/pki.ts'

const logger = createLogger({ level: 'error', sink: { write: () => {} } })
const loopback = '127.0.0.1'
const own = ['/health', '/ready', '/metrics', '/openapi.json', '/docs', '/docs/page.client.js', '/']

const document = { operation: 'x', summary: 'x', responses: {} } as const
const featureAt = (path: string, more: Partial<Feature> = {}): Feature => ({
  name: path.slice(1),
  routes: [{ method: 'GET', path, scope: 'public', document, handle: () => new Response('paid') }],
  ...more,
})
const cards = featureAt('/cards', { listener: 'cards' })

const stopTimeoutMs = 20_000

const gatewayOf = (
  features: readonly Feature[],
  more: {
    readonly admin?: { host: string; port: number }
    readonly cardsHost?: string
    readonly tls?: KeyMaterial
    readonly adminTls?: boolean
  } = {},
) =>
  createGateway({
    version: '9.9.9',
    features,
    authenticator: createAuthenticator({ sources: [] }),
    logger,
    cardsLogger: logger,
    metrics: createMetrics({ version: '9.9.9', withProcess: false }),
    metricsEnabled: true,
    http: { host: loopback, port: 0 },
    cards: { host: more.cardsHost ?? loopback, port: 0 },
    admin: more.admin ?? { host: loopback, port: 0 },
    tls: more.tls,
    adminTls: more.adminTls,
    stopTimeoutMs,
    drainMs: 0,
    stallMs: 60_000,
  })

const adminOf = ({ adminUrl }: { readonly adminUrl: string | undefined }): string => {
  if (adminUrl === undefined) throw new Error('no admin listener')
  return adminUrl
}

const statusOf = async (url: string): Promise<number> =>
  (await fetch(url, { redirect: 'manual' })).status

test.each([loopback, '127.0.0.2'])(
  'what operators need is on the admin listener alone, payments on theirs (cards on %s)',
  async (cardsHost) => {
    const gateway = gatewayOf([featureAt('/pix'), cards], { cardsHost })
    const urls = await gateway.start()
    const admin = adminOf(urls)
    for (const path of own) {
      expect([path, await statusOf(admin + path)]).toEqual([path, path === '/' ? 302 : 200])
      for (const url of [urls.httpUrl, urls.cardsUrl]) {
        expect([path, await statusOf(url + path)]).toEqual([path, 404])
      }
    }
    expect(await statusOf(`${urls.httpUrl}/pix`)).toBe(200)
    expect(await statusOf(`${urls.cardsUrl}/cards`)).toBe(200)
    for (const path of ['/pix', '/cards', '/v1/ops/log-level']) {
      expect([path, await statusOf(admin + path)]).toEqual([path, 404])
    }
    const { paths } = (await (await fetch(`${admin}/openapi.json`)).json()) as { paths: object }
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/pix', '/cards', '/ready']))
    expect(await gateway.stop()).toBe(true)
  },
)

test('with TLS payments ask for a client certificate; the admin listener is plain, or asks nobody', async () => {
  const authority = issueCertificate('authority', { authority: true })
  const { cert, key } = issueCertificate('server', { issuer: authority, hosts: [loopback] })
  const pem = (text: string) => ({ text, path: undefined })
  const files = { certificate: pem(cert), key: pem(key), ca: pem(authority.cert) }
  const secure = { tls: { ca: authority.cert } }
  for (const adminTls of [false, true]) {
    const gateway = gatewayOf([featureAt('/pix')], { tls: createFileMaterial(files), adminTls })
    const urls = await gateway.start()
    await expect(fetch(`${urls.httpUrl}/pix`, secure)).rejects.toThrow()
    const client = issueCertificate('client', { issuer: authority })
    const asClient = { tls: { ca: authority.cert, cert: client.cert, key: client.key } }
    expect((await fetch(`${urls.httpUrl}/pix`, asClient)).status).toBe(200)
    const admin = adminOf(urls)
    expect(admin.split(':')[0]).toBe(adminTls ? 'https' : 'http')
    expect((await fetch(`${admin}/ready`, secure)).status).toBe(200)
    await gateway.stop()
  }
})

/** By a client of Node's, which shows no certificate unless it is given one. */
const answerOf = async (url: string, tls: object): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = url.startsWith('https:') ? httpsGet(url, { ...tls, agent: false }) : httpGet(url)
  request.on('response', (response) => resolve(response.resume().statusCode ?? 0))
  request.on('error', reject)
  return promise
}

test('what makes payments for its user is nowhere without the certificate that payments ask for', async () => {
  const authority = issueCertificate('authority', { authority: true })
  const { cert, key } = issueCertificate('server', { issuer: authority, hosts: [loopback] })
  const client = issueCertificate('client', { issuer: authority })
  const pem = (text: string) => ({ text, path: undefined })
  const pages = featureAt('/console', { listener: 'admin' })
  const [nobody, somebody] = [{ ca: authority.cert }, { ca: authority.cert, ...client }]
  const cases = [
    { ca: pem(authority.cert), adminTls: false, at: 'http' },
    { ca: pem(authority.cert), adminTls: true, at: 'http' },
    { ca: undefined, adminTls: false, at: 'admin' },
    { ca: undefined, adminTls: true, at: 'admin' },
  ] as const
  for (const { ca, adminTls, at } of cases) {
    const files = { certificate: pem(cert), key: pem(key), ca }
    const tls = createFileMaterial(files)
    const gateway = gatewayOf([pages, cards], { tls, adminTls, cardsHost: '127.0.0.2' })
    const urls = await gateway.start()
    const admin = adminOf(urls)
    for (const path of ['/ready', '/metrics', '/docs']) {
      expect([path, await answerOf(admin + path, nobody)]).toEqual([path, 200])
    }
    expect(await answerOf(`${admin}/console`, nobody)).toBe(at === 'admin' ? 200 : 404)
    expect(await answerOf(`${urls.httpUrl}/console`, somebody)).toBe(at === 'http' ? 200 : 404)
    const others = { ...somebody, rejectUnauthorized: false }
    expect(await answerOf(`${urls.cardsUrl}/console`, others)).toBe(404)
    if (ca !== undefined) {
      await expect(answerOf(`${urls.httpUrl}/console`, nobody)).rejects.toThrow()
    }
    await gateway.stop()
  }
})

test('the type of a problem leads to its entry on the listener that told it', async () => {
  const gateway = gatewayOf([featureAt('/pix')])
  const urls = await gateway.start()
  for (const url of [urls.httpUrl, adminOf(urls)]) {
    const { type } = (await (await fetch(`${url}/nowhere`)).json()) as { type: string }
    expect(await (await fetch(url + type)).json()).toMatchObject({ status: 404 })
  }
  await gateway.stop()
})

test('a load balancer that speaks HTTP/1.0 and names no host is told of readiness', async () => {
  const gateway = gatewayOf([])
  const { port } = new URL(adminOf(await gateway.start()))
  const { promise, resolve } = Promise.withResolvers<string>()
  let answer = ''
  const socket = connect(Number(port), loopback, () => socket.write('GET /ready HTTP/1.0\r\n\r\n'))
  socket.on('data', (data) => {
    answer += data.toString()
  })
  socket.on('close', () => resolve(answer))
  expect(await promise).toMatch(/^HTTP\/1\.[01] 200 .*\{"status":"ready"\}$/s)
  await gateway.stop()
})

test('tells that it is not ready until everything has ended, long after payments are refused', async () => {
  const reached = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const slow = featureAt('/pix', {
    stop: async () => {
      reached.resolve()
      await finish.promise
    },
  })
  const gateway = gatewayOf([slow])
  const urls = await gateway.start()
  const admin = adminOf(urls)
  expect(await statusOf(`${admin}/ready`)).toBe(200)
  const stopped = gateway.stop()
  await reached.promise
  await expect(fetch(`${urls.httpUrl}/pix`)).rejects.toThrow()
  const ready = await fetch(`${admin}/ready`)
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { status: 'not_ready', reason: 'draining' },
  ])
  expect(await statusOf(`${admin}/metrics`)).toBe(200)
  finish.resolve()
  expect(await stopped).toBe(true)
  await expect(fetch(`${admin}/ready`)).rejects.toThrow()
})

test('a collector that keeps its connection open holds no stop up', async () => {
  const gateway = gatewayOf([])
  const { port } = new URL(adminOf(await gateway.start()))
  const answered = Promise.withResolvers<void>()
  const socket = connect(Number(port), loopback, () =>
    socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'),
  )
  socket.on('data', () => answered.resolve())
  await answered.promise
  const startedMs = performance.now()
  expect(await gateway.stop()).toBe(true)
  // What holds a stop up is cut off after more than half of its time.
  expect(performance.now() - startedMs).toBeLessThan(stopTimeoutMs / 2)
  socket.destroy()
})

test('a port in use is told by the name of its setting, and nothing stays open', async () => {
  const taken = Bun.listen({ hostname: loopback, port: 0, socket: { data: () => {} } })
  let hasStopped = false
  const feature = featureAt('/pix', {
    stop: () => {
      hasStopped = true
    },
  })
  const gateway = gatewayOf([feature], { admin: { host: loopback, port: taken.port } })
  const failed = await gateway.start().catch((error: unknown) => error)
  await gateway.stop()
  taken.stop(true)
  expect(failed).toMatchObject({
    message: `TRILHO_ADMIN_ADDR: cannot listen on 127.0.0.1, port ${taken.port}: it is in use`,
    code: 'EADDRINUSE',
  })
  expect(hasStopped).toBe(true)
})
