import { afterEach, describe, expect, test } from 'bun:test'
import { createLogger } from '#src/platform/observe/index.ts'
import { createHttpVault, type HttpVaultOptions } from '../../../src/cards/vault/http-vault.ts'
import {
  CardTokenNotFoundError,
  createVault,
  VaultUnavailableError,
} from '../../../src/cards/vault/index.ts'
import {
  createTestVault,
  testTokens,
  testVaultKey,
} from '../../../src/simulators/card-network/index.ts'
import { quietLogger } from '../../support/database.ts'
import { freePort } from '../../support/free-port.ts'
import { issueCertificate } from '../../support/pki.ts'
import {
  callUnderChanges,
  rotatingMaterial,
  rotationOf,
  startPeer,
} from '../../support/rotation.ts'
import { until } from '../../support/until.ts'

const authority = issueCertificate('authority', { authority: true })
const stranger = issueCertificate('stranger', { authority: true })
const serverPair = issueCertificate('vault', { issuer: authority, hosts: ['127.0.0.1'] })
const clientPair = issueCertificate('gateway', { issuer: authority })

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const serve = (
  handle: (request: Request) => Response | Promise<Response>,
  tls?: Bun.TLSOptions & { ca?: string },
): string => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: handle,
    ...(tls === undefined ? {} : { tls }),
  })
  closing.push(() => server.stop(true))
  return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${server.port}`
}

const timeoutMs = 20_000

const vaultAt = (url: string, change: Partial<HttpVaultOptions> = {}) =>
  createHttpVault({ url, token: 'key', timeoutMs, ...change })

const answering = (body: string | Uint8Array<ArrayBuffer>, status = 200) =>
  vaultAt(serve(() => new Response(body, { status })))

const failureOf = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  )

const faultOf = async (call: Promise<unknown>): Promise<unknown> => {
  const error = await failureOf(call)
  return error instanceof VaultUnavailableError ? error.fault : error
}

describe('against the test vault', () => {
  const start = (key = testVaultKey) => {
    const simulated = createTestVault({ key: testVaultKey })
    closing.push(simulated.stop)
    return vaultAt(simulated.url, { token: key })
  }

  test('a token becomes the digits of its card, in a buffer of the caller', async () => {
    const vault = start()
    const expected = testTokens.get('tok_visa_approved')
    const { pan, expiry } = await vault.resolve('tok_visa_approved')
    expect(expiry).toBe('4912')
    expect([...pan]).toEqual([...(expected ?? [])])
    pan.fill(0)
    expect([...(await vault.resolve('tok_visa_approved')).pan]).toEqual([...(expected ?? [])])
  })

  test('an unknown token is not found, whatever it holds', async () => {
    const vault = start()
    for (const token of ['tok_none', '', '"}{', 'ü\n\u2028']) {
      expect(await failureOf(vault.resolve(token))).toBeInstanceOf(CardTokenNotFoundError)
    }
  })

  test('a wrong key is refused, and the error names neither key nor token', async () => {
    const error = await failureOf(start('wrong-key').resolve('tok_visa_approved'))
    expect(error).toBeInstanceOf(VaultUnavailableError)
    expect(String(error)).toBe('VaultUnavailableError: the card vault refused the call (HTTP 401)')
  })
})

describe('answers', () => {
  test.each([12, 19])('%d digits are a card number', async (length) => {
    const { pan } = await answering('1'.repeat(length)).resolve('tok')
    expect(pan).toHaveLength(length)
  })

  test.each([
    ['nothing', ''],
    ['too short', '1'.repeat(11)],
    ['too long', '1'.repeat(20)],
    ['as long as is read', '1'.repeat(32)],
    ['longer than is read', '1'.repeat(33)],
    ['much longer than is read', '4'.repeat(1_000_000)],
    ['a letter', '400000000000000a'],
    ['blanks', '4000 0000 0000 00'],
    ['digits of another script', '\u0664\u0664\u0664\u0664\u0664\u0664\u0664'],
    ['JSON', '{"pan":"4000000000"}'],
  ])('no card number: %s', async (_, body) => {
    expect(await faultOf(answering(body).resolve('tok'))).toBe('malformed')
  })

  test.each([204, 301, 400, 401, 403, 429, 500, 503])('HTTP %d is no answer', async (status) => {
    const vault = vaultAt(
      serve(() => new Response(null, { status, headers: { location: '/elsewhere' } })),
    )
    expect(await faultOf(vault.resolve('tok'))).toBe('refused')
  })

  test('a card number in pieces is put together', async () => {
    const vault = vaultAt(
      serve(
        () =>
          new Response(
            new ReadableStream({
              start: async (controller) => {
                for (const piece of ['40000', '0000', '0000002']) {
                  controller.enqueue(new TextEncoder().encode(piece))
                  await Bun.sleep(5)
                }
                controller.close()
              },
            }),
          ),
      ),
    )
    expect(new TextDecoder().decode((await vault.resolve('tok')).pan)).toBe('4000000000000002')
  })

  test('a body without end is cut off', async () => {
    const { promise: cancelled, resolve } = Promise.withResolvers<true>()
    const vault = vaultAt(
      serve(
        () =>
          new Response(
            new ReadableStream({
              pull: (controller) => controller.enqueue(new Uint8Array(16).fill(0x34)),
              cancel: () => resolve(true),
            }),
          ),
      ),
    )
    expect(await faultOf(vault.resolve('tok'))).toBe('malformed')
    expect(await cancelled).toBe(true)
  })

  /** Over a bare socket: an HTTP library would not say such things. */
  const saying = (head: string, chunk: string): string => {
    const server = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data: (socket) => {
          socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`)
          // As much as anybody reads.
          while (socket.write(chunk) === chunk.length);
        },
        drain: (socket) => {
          while (socket.write(chunk) === chunk.length);
        },
      },
    })
    closing.push(async () => server.stop(true))
    return `http://127.0.0.1:${server.port}`
  }

  test.each([
    ['says to be short', 'Content-Length: 16\r\nTransfer-Encoding: chunked'],
    ['says nothing of its length', 'Transfer-Encoding: chunked'],
    ['has a length that is none', 'Content-Length: 1e1'],
    ['has a length below zero', 'Content-Length: -16'],
  ])('a body without end that %s is cut off', async (_, head) => {
    const startedMs = performance.now()
    const vault = vaultAt(saying(head, `4\r\n4444\r\n`.repeat(1_000)))
    expect(await faultOf(vault.resolve('tok'))).toBeOneOf(['malformed', 'unreachable'])
    expect(performance.now() - startedMs).toBeLessThan(timeoutMs / 2)
  })

  test('a short body that unpacks to a long one is no card number', async () => {
    const packed = Bun.deflateSync(new Uint8Array(10_000).fill(0x34))
    expect(packed.length).toBeLessThan(33)
    const headers = { 'content-encoding': 'deflate' }
    const vault = vaultAt(serve(() => new Response(packed, { headers })))
    expect(await faultOf(vault.resolve('tok'))).toBeOneOf(['malformed', 'unreachable'])
  })
})

describe('time', () => {
  test('a vault that does not answer in time', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>()
    const vault = vaultAt(
      serve(() => promise),
      { timeoutMs: 50 },
    )
    expect(await faultOf(vault.resolve('tok'))).toBe('timed_out')
    resolve(new Response('4000000000000002'))
  })

  test('a body that does not end in time', async () => {
    const vault = vaultAt(
      serve(
        () =>
          new Response(
            new ReadableStream({
              start: (controller) => controller.enqueue(new TextEncoder().encode('4000')),
            }),
          ),
      ),
      { timeoutMs: 100 },
    )
    expect(await faultOf(vault.resolve('tok'))).toBe('timed_out')
  })

  test('nobody there', async () => {
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    const { port } = server
    await server.stop(true)
    expect(await faultOf(vaultAt(`http://127.0.0.1:${port}`).resolve('tok'))).toBe('unreachable')
  })
})

describe('circuit', () => {
  test('failures in a row open it; one call tries again; success closes it', async () => {
    let status = 500
    let calls = 0
    const url = serve(() => {
      calls++
      return new Response('4000000000000002', { status })
    })
    const vault = vaultAt(url, { circuitFailuresMax: 3, circuitOpenMs: 2_000 })
    const faults = async (count: number) => {
      const found: unknown[] = []
      for (let call = 0; call < count; call++) found.push(await faultOf(vault.resolve('tok')))
      return found
    }
    expect(await faults(5)).toEqual([
      'refused',
      'refused',
      'refused',
      'circuit_open',
      'circuit_open',
    ])
    expect(calls).toBe(3)
    status = 200
    const deadline = performance.now() + 40_000
    while ((await faultOf(vault.resolve('tok'))) !== undefined && performance.now() < deadline) {
      await Bun.sleep(10)
    }
    expect(await faults(3)).toEqual([undefined, undefined, undefined])
  })

  test.each([400, 413, 422])(
    'tokens that the vault does not take do not open it: HTTP %d',
    async (status) => {
      const url = serve(async (request) =>
        (await request.text()).includes('odd')
          ? new Response('', { status })
          : new Response('4000000000000002'),
      )
      const vault = vaultAt(url, { circuitFailuresMax: 1 })
      for (let call = 0; call < 3; call++)
        expect(await faultOf(vault.resolve('odd'))).toBe('refused')
      expect((await vault.resolve('tok')).pan).toHaveLength(16)
    },
  )

  test.each([401, 403, 408, 429])('what every call would get opens it: HTTP %d', async (status) => {
    const vault = vaultAt(
      serve(() => new Response('', { status })),
      { circuitFailuresMax: 1 },
    )
    expect(await faultOf(vault.resolve('tok'))).toBe('refused')
    expect(await faultOf(vault.resolve('tok'))).toBe('circuit_open')
  })

  test('unknown tokens do not open it', async () => {
    const vault = vaultAt(
      serve(() => new Response('', { status: 404 })),
      { circuitFailuresMax: 1 },
    )
    for (let call = 0; call < 3; call++) {
      expect(await failureOf(vault.resolve('tok'))).toBeInstanceOf(CardTokenNotFoundError)
    }
  })
})

describe('TLS', () => {
  const pem = (text: string) => ({ text, path: undefined })
  const settings = {
    token: undefined,
    timeoutMs: 20_000,
    certificate: pem(clientPair.cert),
    key: pem(clientPair.key),
    ca: pem(authority.cert),
  }
  const serveTls = (isMutual: boolean) =>
    serve(
      (request) => new Response(request.headers.has('authorization') ? 'key' : '4000000000000002'),
      {
        cert: serverPair.cert,
        key: serverPair.key,
        ...(isMutual ? { ca: authority.cert, requestCert: true, rejectUnauthorized: true } : {}),
      },
    )

  test('a client certificate takes the place of the bearer token', async () => {
    const vault = createVault({ ...settings, url: serveTls(true) }, quietLogger)
    expect((await vault?.resolve('tok'))?.pan).toHaveLength(16)
  })

  test('without the certificate the vault closes', async () => {
    const vault = createVault(
      { ...settings, url: serveTls(true), certificate: undefined, key: undefined },
      quietLogger,
    )
    expect(await faultOf(vault?.resolve('tok') ?? Promise.resolve())).toBe('unreachable')
  })

  test('a vault of another authority is not asked', async () => {
    const vault = createVault(
      { ...settings, url: serveTls(false), ca: pem(stranger.cert) },
      quietLogger,
    )
    expect(await faultOf(vault?.resolve('tok') ?? Promise.resolve())).toBe('unreachable')
  })

  test('certificates change under load: no call fails, new ones show the new certificate', async () => {
    const first = { pair: issueCertificate('first', { issuer: authority }), ca: authority.cert }
    const rotating = await rotatingMaterial(first)
    const body = '4000000000000002'
    const peer = await startPeer(serverPair, authority.cert, () => ({ status: 200, body }))
    const vault = vaultAt(peer.url, { tls: rotating.material.current })
    const resolve = async (): Promise<void> => {
      expect(new TextDecoder().decode((await vault.resolve('tok')).pan)).toBe(body)
    }
    await callUnderChanges(peer.shown, resolve, rotationOf(rotating, peer, authority))
    peer.stop()
  }, 60_000)
})

const nothing = {
  token: undefined,
  certificate: undefined,
  key: undefined,
  ca: undefined,
  timeoutMs: 1,
}

test('without a URL there is no vault', () => {
  expect(createVault({ ...nothing, url: undefined }, quietLogger)).toBeUndefined()
})

test.each([
  ['http://vault.example', 1],
  ['http://10.0.0.1:8080', 1],
  ['https://vault.example', 0],
  ['http://127.0.0.1:8080', 0],
  ['http://localhost', 0],
  ['http://[::1]:8080', 0],
])('%s is warned of %p times at start', async (url, times) => {
  const lines: string[] = []
  const logger = createLogger({ level: 'warn', sink: { write: (line) => void lines.push(line) } })
  const vault = createVault({ ...nothing, url }, logger)
  expect(lines).toEqual([])
  vault?.start()
  await vault?.stop()
  expect(lines.filter((line) => line.includes('CARDGW_VAULT_URL'))).toHaveLength(times)
})

test('a vault that is away is told before anybody asks it', async () => {
  const free = freePort()
  const url = `http://127.0.0.1:${free}`
  const open = () => createVault({ ...nothing, url }, quietLogger)
  const vault = open()
  expect(vault?.health()).toMatchObject({ status: 'ok' })
  vault?.start()
  await until(() => vault?.health().status === 'down')
  expect(vault?.health()).toMatchObject({ ready: true, detail: { vault: 'away' } })
  await vault?.stop()
  let lookedAt = 0
  const socket = { data: () => {}, open: () => void lookedAt++ }
  const there = Bun.listen({ hostname: '127.0.0.1', port: free, socket })
  const again = open()
  again?.start()
  await until(() => lookedAt > 0)
  expect(again?.health().status).toBe('ok')
  await again?.stop()
  there.stop(true)
})

test('a vault whose certificate no authority of ours has issued is told before anybody asks it', async () => {
  const url = serve(() => new Response(), serverPair)
  const open = (ca: string) =>
    createVault({ ...nothing, url, ca: { text: ca, path: undefined } }, quietLogger)
  const [foreign, own] = [open(stranger.cert), open(authority.cert)]
  foreign?.start()
  own?.start()
  await until(() => foreign?.health().status === 'down')
  expect(own?.health()).toMatchObject({ status: 'ok' })
  await Promise.all([foreign?.stop(), own?.stop()])
})
