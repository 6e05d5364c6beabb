import { afterAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import {
  allowListOf,
  checkUrl,
  isAllowEntry,
  resolveTarget,
  TargetError,
} from '../../src/platform/http/outside/target.ts'
import { createSender } from '../../src/webhooks/sender.ts'

const nothing = allowListOf([])

const reasonOf = async (run: () => unknown): Promise<string> => {
  try {
    await run()
    return 'allowed'
  } catch (error) {
    if (error instanceof TargetError) return error.reason
    throw error
  }
}

describe('without an allow-list', () => {
  test.each([
    'https://0.0.0.0/',
    'https://10.1.2.3/',
    'https://100.64.0.1/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.0.0.1/',
    'https://192.168.1.1/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::]/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[fc00::1]/',
    'https://[fd12:3456::1]/',
    'https://[fe80::1]/',
    'https://[ff02::1]/',
    'https://168.63.129.16/',
    'https://[3fff::1]/',
    'https://[5f00::1]/',
    'https://[2001:1::1]/',
    'https://[100:0:0:1::1]/',
    'https://[::ffff:0:127.0.0.1]/',
    'https://[64:ff9b:1::1]/',
    'https://[4000::1]/',
    'https://localhost/',
    'https://localhost./',
    'https://LOCALHOST/',
    'https://pix.localhost/',
  ])('%s leads to a private address', async (url) => {
    expect(await reasonOf(() => checkUrl(url, nothing))).toBe('address')
    expect(await reasonOf(() => resolveTarget(url, nothing))).toBe('address')
  })

  test.each([
    ['http://example.com/', 'scheme'],
    ['http://8.8.8.8/', 'scheme'],
    ['ftp://example.com/', 'scheme'],
    ['https://example.com:8443/', 'port'],
    ['https://8.8.8.8:22/', 'port'],
    ['https://user:pass@example.com/', 'url'],
    ['https://example.com/#part', 'url'],
    ['example.com', 'url'],
    ['', 'url'],
  ])('%s is refused: %s', async (url, reason) => {
    expect(await reasonOf(() => checkUrl(url, nothing))).toBe(reason)
  })

  test('a name that does not resolve is refused, never let through unchecked', async () => {
    expect(await reasonOf(() => resolveTarget('https://nowhere.invalid/', nothing))).toBe('dns')
  })

  test('a name server that does not answer in time is none', async () => {
    const silent = () => new Promise<never>(() => {})
    expect(await reasonOf(() => resolveTarget('https://a.example/', nothing, silent, 5))).toBe(
      'dns',
    )
  })

  test('every address of a name is kept, in order, up to four; one that is private spoils all', async () => {
    const answer = (...addresses: string[]) =>
      resolveTarget('https://a.example/x', nothing, async () =>
        addresses.map((address) => ({ address })),
      )
    const public5 = ['8.8.8.8', '2606:4700::1', '1.1.1.1', '9.9.9.9', '8.8.4.4']
    expect((await answer(...public5)).urls).toEqual([
      'https://8.8.8.8/x',
      'https://[2606:4700::1]/x',
      'https://1.1.1.1/x',
      'https://9.9.9.9/x',
    ])
    expect(await reasonOf(() => answer(...public5, '10.0.0.1'))).toBe('address')
  })

  test('every private range is denied in the form of IPv6, too, of names as of addresses', async () => {
    const ranges = [
      ...['0.0.0.1', '10.0.0.1', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1'],
      ...['192.0.0.1', '192.0.2.1', '192.168.0.1', '198.18.0.1', '192.88.99.1', '198.51.100.1'],
      ...['203.0.113.1', '224.0.0.1', '255.255.255.255', '168.63.129.16'],
    ]
    for (const plain of ranges) {
      const { hostname } = new URL(`http://[::ffff:${plain}]`)
      for (const address of [plain, `::ffff:${plain}`, hostname.slice(1, -1)]) {
        const named = async () => [{ address }]
        const resolved = () => resolveTarget('https://a.example/', nothing, named)
        expect([address, await reasonOf(resolved)]).toEqual([address, 'address'])
      }
      const written = () => resolveTarget(`https://[::ffff:${plain}]/`, nothing)
      expect([plain, await reasonOf(written)]).toEqual([plain, 'address'])
    }
  })

  test('the neighbours of the denied ranges are public', async () => {
    for (const address of ['9.255.255.255', '11.0.0.0', '100.128.0.0', '172.32.0.0', '8.8.8.8']) {
      expect(await reasonOf(() => resolveTarget(`https://${address}/x?y=1`, nothing))).toBe(
        'allowed',
      )
    }
    expect(await resolveTarget('https://8.8.8.8/x?y=1', nothing)).toEqual({
      urls: ['https://8.8.8.8/x?y=1'],
      host: '8.8.8.8',
      serverName: undefined,
    })
  })

  test('no text that is an address of this machine in any writing gets through', async () => {
    const writings = fc.oneof(
      fc.integer({ min: 0, max: 0xffffff }).map((low) => String(0x7f000000 + low)),
      fc.integer({ min: 0, max: 0xffffff }).map((low) => `0x${(0x7f000000 + low).toString(16)}`),
      fc.integer({ min: 0, max: 0xffff }).map((low) => `127.1.${low}`),
      fc.integer({ min: 0, max: 255 }).map((low) => `[::ffff:127.0.0.${low}]`),
    )
    await fc.assert(
      fc.asyncProperty(writings, async (host) => {
        expect(await reasonOf(() => resolveTarget(`https://${host}/`, nothing))).toBe('address')
      }),
    )
  })
})

describe('with an allow-list', () => {
  test('a network opens its addresses, over http and any port, and no others', async () => {
    const allowed = allowListOf(['127.0.0.0/8', 'fd00::/8'])
    expect(await reasonOf(() => resolveTarget('http://127.0.0.1:8080/', allowed))).toBe('allowed')
    expect(await reasonOf(() => resolveTarget('http://[fd00::1]:1/', allowed))).toBe('allowed')
    expect(await reasonOf(() => resolveTarget('http://10.0.0.1:8080/', allowed))).toBe('address')
    expect(await reasonOf(() => resolveTarget('http://8.8.8.8/', allowed))).toBe('scheme')
  })

  test('a network or address of IPv4 in the form of IPv6 opens those of IPv4, in whatever form', async () => {
    const allowed = allowListOf(['::ffff:10.0.0.0/104', '::ffff:127.0.0.1', '192.168.0.0/16'])
    for (const host of ['10.1.2.3', '[::ffff:10.1.2.3]', '127.0.0.1', '[::ffff:192.168.0.1]']) {
      expect(await reasonOf(() => resolveTarget(`http://${host}:8080/`, allowed))).toBe('allowed')
    }
    for (const host of ['11.0.0.1', '[::ffff:11.0.0.1]']) {
      expect(await reasonOf(() => resolveTarget(`http://${host}/`, allowed))).not.toBe('allowed')
    }
    for (const host of ['127.0.0.2', '[::ffff:127.0.0.2]', '[::1]', '[::ffff:8.8.8.8]']) {
      expect(await reasonOf(() => resolveTarget(`http://${host}/`, allowed))).toBe('address')
    }
  })

  test('a host name opens what it resolves to, by that name only', async () => {
    const allowed = allowListOf(['localhost'])
    const target = await resolveTarget('http://localhost:8080/hook', allowed)
    expect(target.host).toBe('localhost:8080')
    expect(target.urls[0]).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\]):8080\/hook$/)
    expect(await reasonOf(() => resolveTarget('http://127.0.0.1:8080/', allowed))).toBe('address')
  })

  test('entries are checked', () => {
    for (const entry of [
      '10.0.0.0/8',
      '10.1.2.3',
      'fd00::/8',
      'hooks.internal',
      '::ffff:10.0.0.0/104',
    ]) {
      expect(isAllowEntry(entry)).toBe(true)
    }
    for (const entry of [
      '10.0.0.0/33',
      'a/8',
      '10.0.0.0/8/8',
      '-x',
      'a b',
      '',
      '::ffff:10.0.0.0/8',
    ]) {
      expect(isAllowEntry(entry)).toBe(false)
    }
  })
})

describe('an attempt', () => {
  const seen: (string | null)[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      seen.push(request.headers.get('host'))
      return new Response('hello')
    },
  })
  afterAll(() => server.stop(true))
  const attempt = {
    eventId: 'evt_1',
    attempt: 1,
    body: '{}',
    keys: [generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' })],
  }

  test('connects to the address checked, with the name in Host', async () => {
    const send = createSender({
      allowed: allowListOf(['localhost']),
      timeoutMs: 2000,
      version: 't',
    })
    const result = await send({ ...attempt, url: `http://localhost:${server.port}/hook` })
    expect(result).toMatchObject({
      statusCode: 200,
      answer: 'hello',
      outcome: { kind: 'delivered' },
    })
    expect(seen.at(-1)).toBe(`localhost:${server.port}`)
  })

  test('goes on to the next address where nobody listens', async () => {
    const send = createSender({
      allowed: allowListOf(['127.0.0.0/8']),
      timeoutMs: 2000,
      version: 't',
      lookUp: async () => [{ address: '127.0.0.2' }, { address: '127.0.0.1' }],
    })
    const result = await send({ ...attempt, url: `http://two.example:${server.port}/hook` })
    expect(result.statusCode).toBe(200)
  })

  test('is made again to another address than one that never answers', async () => {
    const frozen = Bun.serve({
      port: server.port!,
      hostname: '127.0.0.2',
      fetch: () => new Promise<Response>(() => {}),
    })
    const send = createSender({
      allowed: allowListOf(['127.0.0.0/8']),
      timeoutMs: 100,
      version: 't',
      lookUp: async () => [{ address: '127.0.0.2' }, { address: '127.0.0.1' }],
    })
    const url = `http://two.example:${server.port}/hook`
    const outcomes: string[] = []
    for (const number of [1, 2, 3, 4]) {
      const { outcome } = await send({ ...attempt, attempt: number, url })
      outcomes.push(outcome.kind)
    }
    expect(outcomes).toEqual(['failed', 'delivered', 'failed', 'delivered'])
    await frozen.stop(true)
  })

  test('is delivered by its status, whatever becomes of the body of the answer', async () => {
    let closed = 0
    const slow = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) =>
        new Response(
          new ReadableStream({
            start: (controller) => {
              controller.enqueue('begun')
              if (url.endsWith('/broken')) setTimeout(() => controller.error(new Error('x')), 5)
            },
            cancel: () => void closed++,
          }),
        ),
    })
    const send = createSender({
      allowed: allowListOf(['127.0.0.1']),
      timeoutMs: 2000,
      version: 't',
      answerWaitMs: 20,
    })
    for (const path of ['slow', 'broken']) {
      const result = await send({ ...attempt, url: `http://127.0.0.1:${slow.port}/${path}` })
      expect(result).toMatchObject({ statusCode: 200, outcome: { kind: 'delivered' } })
    }
    expect(closed).toBe(1)
    await slow.stop(true)
  })

  test('to a private address reaches nobody', async () => {
    const before = seen.length
    const send = createSender({ allowed: nothing, timeoutMs: 2000, version: 't' })
    for (const url of [`https://127.0.0.1:${server.port}/`, `http://127.0.0.1:${server.port}/`]) {
      expect(await send({ ...attempt, url })).toMatchObject({
        statusCode: undefined,
        errorClass: 'target_address',
        outcome: { kind: 'failed' },
      })
    }
    expect(seen.length).toBe(before)
  })
})
