import { afterAll, describe, expect, test } from 'bun:test'
import { loadSettings } from '#src/platform/config/index.ts'
import {
  createOutsideReader,
  type LookUp,
  OutsideError,
  outsideSettings,
} from '#src/platform/http/index.ts'
import { issueCertificate } from '../../../support/pki.ts'

const authority = issueCertificate('AC Teste', { authority: true })
const pair = issueCertificate('site', { issuer: authority, hosts: ['pix.example.com'] })

let hits = 0
const text = (body: string) =>
  new Response(body, { headers: { 'Content-Type': 'Text/Plain; a=b' } })
const megabyte = new Uint8Array(1024 * 1024)

/** Sends its parts one at a time, and never ends. */
const endless = (part: Uint8Array, everyMs: number) => {
  let timer: ReturnType<typeof setInterval> | undefined
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      timer = setInterval(() => controller.enqueue(part), everyMs)
    },
    cancel: () => clearInterval(timer),
  })
}

const pages: Readonly<Record<string, () => Response>> = {
  '/whole': () => text('whole'),
  '/gone': () => new Response('gone', { status: 410 }),
  '/redirect': () => new Response(null, { status: 302, headers: { Location: '/whole' } }),
  '/huge': () => new Response(new Uint8Array(16 * 1024 * 1024)),
  '/huge-unknown': () => new Response(endless(megabyte, 1)),
  '/slow': () => new Response(endless(new Uint8Array(1), 20)),
  '/compressed': () =>
    new Response(Bun.gzipSync(megabyte), { headers: { 'Content-Encoding': 'gzip' } }),
}
const answer = (request: Request): Response => {
  hits++
  return pages[new URL(request.url).pathname]?.() ?? new Response(null, { status: 404 })
}
const plain = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 30, fetch: answer })
const secure = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: answer,
  tls: { cert: pair.cert, key: pair.key },
})
afterAll(async () => {
  await Promise.all([plain.stop(true), secure.stop(true)])
})

const here: LookUp = async () => [{ address: '127.0.0.1' }]

const readerOf = (env: Readonly<Record<string, string>>, lookUp = here) => {
  const { values, problems } = loadSettings({ outside: outsideSettings }, env)
  expect(problems).toEqual([])
  const read = createOutsideReader(values.outside, 'test', lookUp)
  return async (url: string, bytesMax = 64) => {
    try {
      const { status, mediaType, body } = await read(url, { accept: 'text/plain', bytesMax })
      return [status, mediaType, new TextDecoder().decode(body)]
    } catch (error) {
      if (error instanceof OutsideError) return error.reason
      throw error
    }
  }
}

const local = { TRILHO_FETCH_ALLOWED_TARGETS: '127.0.0.1', TRILHO_FETCH_TIMEOUT: '1' }
const plainUrl = (path: string) => `http://127.0.0.1:${plain.port}${path}`

describe('a document from outside', () => {
  test('is read whole, with its status and media type', async () => {
    const read = readerOf(local)
    expect(await read(plainUrl('/whole'))).toEqual([200, 'text/plain', 'whole'])
    expect(await read(plainUrl('/gone'))).toEqual([410, 'text/plain', 'gone'])
    expect(await read(plainUrl('/whole'), 5)).toEqual([200, 'text/plain', 'whole'])
    expect(await read(plainUrl('/whole'), 4)).toBe('too_large')
  })

  test('no redirect, no large body, no compression, no slow body', async () => {
    const read = readerOf(local)
    expect(await read(plainUrl('/redirect'))).toBe('redirect')
    expect(await read(plainUrl('/huge'))).toBe('too_large')
    expect(await read(plainUrl('/huge-unknown'), 1024)).toBe('too_large')
    expect(await read(plainUrl('/compressed'))).toBe('encoding')
    expect(await read(plainUrl('/slow'), 1024 * 1024)).toBe('timeout')
    expect(await read('http://127.0.0.1:1/')).toBe('connection')
  })

  test('no private address, and none is connected to, whatever a name says', async () => {
    const read = readerOf({})
    const before = hits
    for (const url of [
      plainUrl('/whole'),
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://10.0.0.1/',
    ]) {
      expect(await read(url)).toBe('target_address')
    }
    expect(await read('https://pix.example.com/whole')).toBe('target_address')
    expect(await read('http://93.184.216.34/')).toBe('target_scheme')
    expect(await read('https://93.184.216.34:8443/')).toBe('target_port')
    expect(await read('https://user:secret@pix.example.com/')).toBe('target_url')
    expect(hits).toBe(before)
  })

  test('TLS checks the name with the authorities of the setting', async () => {
    const url = `https://pix.example.com:${secure.port}/whole`
    expect(await readerOf(local)(url)).toBe('connection')
    const ca = { ...local, TRILHO_FETCH_CA_BASE64: btoa(authority.cert) }
    expect(await readerOf(ca)(url)).toEqual([200, 'text/plain', 'whole'])
    expect(await readerOf(ca)(`https://other.example.com:${secure.port}/whole`)).toBe('connection')
  })

  test('is asked for at the first address each time: there is no second try for another', async () => {
    const frozen = Bun.serve({
      port: plain.port!,
      hostname: '127.0.0.2',
      fetch: () => new Promise<Response>(() => {}),
    })
    const read = readerOf({ ...local, TRILHO_FETCH_ALLOWED_TARGETS: '127.0.0.0/8' }, async () => [
      { address: '127.0.0.1' },
      { address: '127.0.0.2' },
    ])
    const url = `http://two.example:${plain.port}/whole`
    const answers = await Promise.all(Array.from({ length: 20 }, () => read(url)))
    expect(answers).toEqual(answers.map(() => [200, 'text/plain', 'whole']))
    await frozen.stop(true)
  })
})
