import { afterEach, describe, expect, test } from 'bun:test'
import type { Socket } from 'bun'
import fc from 'fast-check'
import {
  AnswerError,
  AnswerReader,
  answerBytesMax,
} from '../../../src/cards/vault/answer-reader.ts'
import { CallTimeoutError, createVaultCalls } from '../../../src/cards/vault/calls.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** What a reader makes of pieces: status, body and whether the connection is kept; undefined: not whole. */
const readAll = (pieces: readonly Uint8Array[], hasEnded = false) => {
  const reader = new AnswerReader()
  for (const piece of pieces) {
    const answer = reader.take(new Uint8Array(piece))
    if (answer !== undefined) return told(reader, answer)
  }
  const answer = hasEnded ? reader.end() : undefined
  return answer && told(reader, answer)
}

const told = (
  { bytes }: AnswerReader,
  { status, start, end, isKept, expiry, cryptogram }: NonNullable<ReturnType<AnswerReader['take']>>,
) => ({ status, body: bytes.toString('latin1', start, end), isKept, expiry, cryptogram })

const cutAt = (text: string, places: readonly number[]): readonly Uint8Array[] => {
  const bytes = bytesOf(text)
  const ends = [...places.map((place) => place % bytes.length), bytes.length].sort((a, b) => a - b)
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end))
}

const nothing = { expiry: undefined, cryptogram: undefined }

describe('an answer', () => {
  const answers = {
    'of a length': [
      'HTTP/1.1 200 OK\r\nContent-Length: 16\r\ncard-expiry: 4912\r\n\r\n4000000000000002',
      { status: 200, body: '4000000000000002', isKept: true, ...nothing, expiry: '4912' },
    ],
    'in pieces, with a trailer': [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\n4000\r\nC\r\n000000000002\r\n0\r\nx: y\r\n\r\n',
      { status: 200, body: '4000000000000002', isKept: true, ...nothing },
    ],
    'in pieces': [
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nConnection: close\r\n\r\n10\r\n4000000000000002\r\n0\r\n\r\n',
      { status: 200, body: '4000000000000002', isKept: false, ...nothing },
    ],
    'after one that does not count': [
      'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
      { status: 404, body: '', isKept: true, ...nothing },
    ],
    'without a body': [
      'HTTP/1.1 204 No Content\r\ncard-cryptogram: AAEC\r\n\r\n',
      { status: 204, body: '', isKept: true, expiry: undefined, cryptogram: 'AAEC' },
    ],
    'of an older server': [
      'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n40',
      { status: 200, body: '40', isKept: false, ...nothing },
    ],
  } as const

  test.each(Object.entries(answers))('%s may come cut anywhere', (_, [text, expected]) => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 8 }), (places) => {
        expect(readAll(cutAt(text, places))).toEqual(expected)
      }),
    )
  })

  test('is whole no byte sooner, and what comes behind it ends the connection', () => {
    for (const [text, { status, body }] of Object.values(answers)) {
      expect(readAll([bytesOf(text.slice(0, -1))])).toBeUndefined()
      expect(readAll([bytesOf(`${text}H`)])).toMatchObject({ status, body, isKept: false })
    }
  })

  test('without a length lasts until the end', () => {
    const pieces = cutAt('HTTP/1.1 200 OK\r\n\r\n4000000000000002', [3, 21, 30])
    expect(readAll(pieces)).toBeUndefined()
    expect(readAll(pieces, true)).toMatchObject({ body: '4000000000000002', isKept: false })
    expect(
      readAll([bytesOf('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n40')], true),
    ).toBeUndefined()
  })

  test.each([
    'HTTP/2 200\r\n\r\n',
    'ICY 200 OK\r\n\r\n',
    'HTTP/1.1 20 OK\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    'HTTP/1.1 200 OK\r\nno field\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n4',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n4\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n40\r\n0\r\n\r\n',
  ])('%j is none', (text) => {
    expect(() => readAll([bytesOf(text)])).toThrow(AnswerError)
  })

  test('of as many bytes as are read is whole, and one byte more is cut off', () => {
    const head = (length: number) => `HTTP/1.1 500 Bad\r\nContent-Length: ${length}\r\n\r\n`
    const most = answerBytesMax - head(10_000).length
    expect(readAll([bytesOf(head(most) + 'x'.repeat(most))])).toMatchObject({ isKept: true })
    expect(readAll([bytesOf(head(most + 1) + 'x'.repeat(most + 1))])).toMatchObject({
      status: 500,
      isKept: false,
    })
    expect(() => readAll([bytesOf(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(answerBytesMax)}`)])).toThrow(
      AnswerError,
    )
  })

  test('is in no buffer after it was read', () => {
    const reader = new AnswerReader()
    const piece = bytesOf(answers['of a length'][0])
    reader.take(piece)
    reader.clear()
    expect([...piece, ...reader.bytes].every((byte) => byte === 0)).toBe(true)
  })
})

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

type Seen = { connections: number; requests: string[] }

/** A server that answers each request as it is told to, and may close afterwards. */
const serve = (answer: (socket: Socket<undefined>, seen: Seen) => void) => {
  const seen: Seen = { connections: 0, requests: [] }
  const server = Bun.listen<undefined>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => void seen.connections++,
      data: (socket, bytes) => {
        seen.requests.push(new TextDecoder().decode(bytes))
        answer(socket, seen)
      },
    },
  })
  closing.push(() => server.stop(true))
  return { seen, url: `http://127.0.0.1:${server.port}/vault` }
}

const callsTo = (url: string, timeoutMs = 5_000) => {
  const calls = createVaultCalls({ url, headers: { accept: 'x/y' }, tls: undefined, timeoutMs })
  closing.push(calls.close)
  return () =>
    calls.post('/resolve', '{"token":"ü"}', ({ start, end }, bytes) =>
      bytes.toString('latin1', start, end),
    )
}

const ok = (text: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`

describe('calls', () => {
  test('are written once each, one after the other over a connection that is kept', async () => {
    const { seen, url } = serve((socket) => void socket.write(ok('42')))
    const call = callsTo(url)
    for (let count = 0; count < 3; count++) expect(await call()).toBe('42')
    expect(seen.connections).toBe(1)
    const { host } = new URL(url)
    const request = `POST /vault/resolve HTTP/1.1\r\nhost: ${host}\r\naccept: x/y\r\ncontent-length: 14\r\n\r\n{"token":"ü"}`
    expect(seen.requests).toEqual([request, request, request])
  })

  test('at one time have a connection each, up to 128, and the others wait for them', async () => {
    const open: Socket<undefined>[] = []
    const { seen, url } = serve((socket) => void open.push(socket))
    const call = callsTo(url)
    const answers = Array.from({ length: 200 }, () => call())
    while (open.length < 128) await Bun.sleep(5)
    await Bun.sleep(20)
    expect([open.length, seen.connections]).toEqual([128, 128])
    for (let done = 0; done < 200; ) {
      const socket = open.shift()
      if (socket === undefined) await Bun.sleep(1)
      else socket.write(ok(String(done++ % 10)))
    }
    expect(await Promise.all(answers)).toHaveLength(200)
    expect(seen.connections).toBe(128)
  })

  test('go over another connection where the kept one was closed meanwhile, and only then', async () => {
    const { seen, url } = serve((socket, { requests }) => {
      // The second request meets a connection that is about to end.
      if (requests.length === 2) socket.end()
      else socket.write(ok('42'))
    })
    const call = callsTo(url)
    expect([await call(), await call()]).toEqual(['42', '42'])
    expect([seen.connections, seen.requests.length]).toEqual([2, 3])
    const never = serve((socket) => void socket.end())
    expect(callsTo(never.url)()).rejects.toThrow('closed')
    const half = serve((socket, { requests }) => {
      if (requests.length > 1) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n4')
      else socket.write(ok('42'))
    })
    const again = callsTo(half.url)
    await again()
    await expect(again()).rejects.toThrow('closed')
    expect(half.seen.requests).toHaveLength(2)
  })

  test('end in time, also while they wait for a connection, and leave none in doubt', async () => {
    const { url } = serve(() => undefined)
    const call = callsTo(url, 100)
    const ends = await Promise.allSettled(Array.from({ length: 200 }, () => call()))
    for (const end of ends) expect(end).toMatchObject({ reason: expect.any(CallTimeoutError) })
    // What comes too late for its call is no answer to the next one.
    const late = serve((socket, { requests }) => {
      const text = String(requests.length)
      setTimeout(() => socket.write(ok(text)), requests.length === 1 ? 1_300 : 0)
    })
    const next = callsTo(late.url, 1_000)
    await expect(next()).rejects.toThrow(CallTimeoutError)
    await Bun.sleep(400)
    expect([await next(), late.seen.connections]).toEqual(['2', 2])
  })

  test('that wait are taken up as connections end, past those whose time is over', async () => {
    const open: Socket<undefined>[] = []
    let isAnswering = true
    const { seen, url } = serve((socket) => {
      if (isAnswering) socket.write(ok('42'))
      else open.push(socket)
    })
    const call = callsTo(url, 3_000)
    const many = () => Array.from({ length: 128 }, () => call())
    await Promise.all(many())
    isAnswering = false
    const first = Promise.allSettled(many())
    while (open.length < 128) await Bun.sleep(5)
    await Bun.sleep(1_500)
    const second = Promise.allSettled(many())
    // The kept connections end: their calls wait behind the others, and their time is over there.
    for (const socket of open.splice(0)) socket.end()
    while (open.length < 128) await Bun.sleep(5)
    await first
    const waiting = call()
    isAnswering = true
    for (const socket of open) socket.end()
    expect(await waiting).toBe('42')
    await second
    expect(seen.requests).toHaveLength(3 * 128 + 1)
  })

  test('wait up to 10,000, and no more do', async () => {
    const { url } = serve(() => undefined)
    const calls = createVaultCalls({ url, headers: {}, tls: undefined, timeoutMs: 60_000 })
    const ends = Array.from({ length: 128 + 10_000 }, () => calls.post('', '{}', () => 0))
    const settled = Promise.allSettled(ends)
    await expect(calls.post('', '{}', () => 0)).rejects.toThrow('too many')
    calls.close()
    for (const end of await settled) expect(String(end.status)).toBe('rejected')
  })

  test('have headers that cannot end before their time', () => {
    const headers = { authorization: 'Bearer a\r\nx: y' }
    const options = { url: 'http://127.0.0.1:1', tls: undefined, timeoutMs: 1 }
    expect(() => createVaultCalls({ ...options, headers })).toThrow()
  })
})

test('a vault behind a proxy is asked through it', async () => {
  const asked: string[] = []
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => {
      asked.push(url)
      return new Response('4000000000000002', { headers: { 'card-expiry': '4912' } })
    },
  })
  closing.push(() => void proxy.stop(true))
  const program = `
    import { createHttpVault } from '${import.meta.dir}/../../../src/cards/vault/http-vault.ts'
    const vault = createHttpVault({ url: 'http://vault.example', token: 'key', timeoutMs: 5000 })
    const { pan, expiry } = await vault.resolve('tok')
    console.log(new TextDecoder().decode(pan), expiry)`
  const child = Bun.spawn([process.execPath, '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { http_proxy: proxy.url.origin },
  })
  expect(await new Response(child.stdout).text()).toBe('4000000000000002 4912\n')
  expect(asked).toEqual(['http://vault.example/resolve'])
})
