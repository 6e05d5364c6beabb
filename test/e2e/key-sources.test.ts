import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { decodeRsfnHeader } from '#codecs/rsfn'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { transfer } from '../support/participant.ts'
import { type IssuedPair, issueCertificate } from '../support/pki.ts'
import { anyVariant, startProgram } from '../support/program.ts'
import { startPeer } from '../support/rotation.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const ispb = '12345678'
const bankIspb = '00038166'
const dayMs = 86_400_000
const waitMs = 40_000

const authority = issueCertificate('SERASA Autoridade Certificadora v5', { authority: true })
const issue = (name: string, days: number): IssuedPair =>
  issueCertificate(name, {
    issuer: authority,
    hosts: ['127.0.0.1'],
    notAfter: new Date(Date.now() + days * dayMs + dayMs / 2),
  })

/** Whose certificate a listener shows to a new connection; none while it is being exchanged. */
const shownAt = (port: number, alpn: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, ca: authority.cert, ALPNProtocols: [alpn] }
    const socket = connect(options, () => {
      resolve(String(socket.getPeerCertificate().subject?.CN))
      socket.destroy()
    })
    socket.once('error', () => resolve(undefined))
  })

/** Every certificate of a running program is replaced, and it takes each of them without a restart. */
test('each use of a certificate takes the next one while the program runs, and tells of it', async () => {
  const sent: string[] = []
  const peer = await startPeer(issue('bank', 400), authority.cert, (path, body) => {
    if (path === '/hook') return { status: 200, body: '' }
    if (!path.endsWith('/msgs')) {
      const headers = { 'PI-Pull-Next': path }
      return { status: 204, headers, body: '' }
    }
    sent.push(body)
    return { status: 201, headers: { 'PI-ResourceId': `R${sent.length}` }, body: '' }
  })
  const [folder, files] = [temporaryDirectory(), temporaryDirectory()]
  const install = async (name: string, { cert, key }: IssuedPair): Promise<void> => {
    await Bun.write(join(folder, name, 'tls.key'), key)
    await Bun.write(join(folder, name, 'tls.crt'), cert)
  }
  const file = (name: string): string => join(files, name)
  const place = async (name: string, { cert, key }: IssuedPair): Promise<void> => {
    await Bun.write(file(`${name}.key`), key)
    await Bun.write(file(`${name}.crt`), cert)
  }
  const stored = ['PIC', 'PIA', 'SPB', 'MES', 'QRC'] as const
  const placed = ['http', 'grpc', 'webhooks'] as const
  /** The next certificates: of the store the version, of files those that hold so many days. */
  const rotate = async (version: number, days: number) => {
    const pair = issue(`version ${version}`, days)
    for (const type of stored) await install(`${ispb}.${type}.${version}`, pair)
    for (const name of placed) await place(name, pair)
    return { name: `version ${version}`, serial: BigInt(pair.serial), version, days }
  }
  const first = await rotate(1, 100)
  for (const type of ['SPB', 'MES']) await install(`${bankIspb}.${type}.1`, issue('their', 400))
  const database = await createTestDatabase()
  const { file: keys, key } = await apiKeyFile(
    ...(['spi:send', 'rsfn:use', 'jose:use', 'webhooks:manage'] as const),
  )
  const [httpPort, grpcPort] = [freePort(), freePort()]
  const gateway = startProgram(anyVariant, ['serve'], {
    env: {
      HTTP_ADDR: `127.0.0.1:${httpPort}`,
      GRPC_ADDR: `127.0.0.1:${grpcPort}`,
      CARDGW_PORT: '0',
      DATABASE_DSN: database.dsn,
      API_KEYS_FILE: keys,
      ISPB: ispb,
      SPI_PRIMARY_URL: peer.url,
      SPI_PRIMARY_GZIP: 'false',
      SPI_SIGN_ENABLED: 'true',
      CERT_SOURCE: 'store',
      SPI_SIGN_CERT_SOURCE: 'store',
      RSFN_KEY_SOURCE: 'store',
      TRILHO_CERTS_DIR: folder,
      CA_BASE64: Buffer.from(authority.cert).toString('base64'),
      TRILHO_TLS_CERT_PATH: file('http.crt'),
      TRILHO_TLS_KEY_PATH: file('http.key'),
      GRPC_TLS_CERT_PATH: file('grpc.crt'),
      GRPC_TLS_KEY_PATH: file('grpc.key'),
      WEBHOOK_CERT_PATH: file('webhooks.crt'),
      WEBHOOK_KEY_PATH: file('webhooks.key'),
      WEBHOOK_CA_BASE64: Buffer.from(authority.cert).toString('base64'),
      WEBHOOK_ALLOWED_TARGETS: '127.0.0.1',
      SPI_ROLES: 'INBOUND_PULL,OUTBOUND_SEND',
    },
  })
  const ended = gateway.end()
  const call = (path: string, body?: object): Promise<Response> =>
    fetch(`https://127.0.0.1:${httpPort}${path}`, {
      tls: { ca: authority.cert },
      ...(body === undefined
        ? {}
        : {
            method: 'POST',
            headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
            body: JSON.stringify(body),
          }),
    })
  // biome-ignore lint/suspicious/noExplicitAny: an answer's members are what the test looks at
  const json = async (path: string, body?: object): Promise<any> => {
    const response = await call(path, body)
    const text = await response.text()
    expect([path, response.ok, response.ok ? '' : text]).toEqual([path, true, ''])
    return JSON.parse(text)
  }
  const uses = async ({ name, serial, version, days }: typeof first, hook: string) => {
    await until(async () => (await shownAt(httpPort, 'http/1.1')) === name, waitMs, 'REST')
    await until(async () => (await shownAt(grpcPort, 'h2')) === name, waitMs, 'gRPC')
    await until(() => peer.shown.includes(name), waitMs, 'PIC')
    const params = { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] }
    const signer = `<ds:X509SerialNumber>${serial}</ds:X509SerialNumber>`
    await until(
      async () => {
        const before = sent.length
        await json('/v1/spi/send', { message_type: 'PACS008', params })
        await until(() => sent.length > before, waitMs)
        return sent.at(-1)?.includes(signer) === true
      },
      waitMs,
      'PIA',
    )
    for (const type of ['SPB', 'MES']) {
      const { message } = await json('/v1/rsfn/seal', { content: '<DOC/>', type })
      const { senderSerial } = decodeRsfnHeader(Buffer.from(message, 'base64'))
      expect([type, BigInt(`0x${senderSerial}`)]).toEqual([type, serial])
    }
    const kid = `${ispb}.QRC.${version}`
    // The list of keys is read again after some seconds.
    const isThere = async () => (await call('/v1/jose/sign', { kid, payload: 'x' })).ok
    await until(isThere, waitMs, 'JOSE')
    const { jws } = await json('/v1/jose/sign', { kid, payload: 'x' })
    expect(await json('/v1/jose/verify', { jws })).toMatchObject({ valid: true, kid })
    const { keys: published } = await json('/.well-known/jwks.json')
    expect(published.map((one: { readonly kid: string }) => one.kid)).toContain(kid)
    const hooked = () => peer.shownTo('/hook').includes(name)
    await until(async () => (await call(`/v1/webhooks/${hook}/test`, {})).ok && hooked(), waitMs)
    const metrics = await (await call('/metrics')).text()
    for (const type of stored) {
      const labels = `ispb="${ispb}",type="${type}",version="${version}",source="store"`
      expect(metrics).toContain(`trilho_certificates_in_use{${labels}} 1`)
    }
    for (const type of placed) {
      const labels = `ispb="",type="${type}",version="files"`
      expect(metrics).toContain(`spigw_cert_days_until_expiry{${labels}} ${days}`)
    }
  }
  try {
    await gateway.line((text) => text.includes('"msg":"listening"'))
    const { id } = await json('/v1/webhooks', { url: `${peer.url}/hook`, events: ['pix.*'] })
    await uses(first, id)
    await uses(await rotate(2, 300), id)
    gateway.signal('SIGTERM')
    expect((await ended).code).toBe(0)
  } finally {
    gateway.signal('SIGKILL')
    await ended
    peer.stop()
    await database.close()
  }
}, 120_000)
