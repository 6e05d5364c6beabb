import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { listen, type Route, readBytes } from '#src/platform/http/index.ts'
import { testApp } from '../support/app.ts'

/*
 * Requests that two readers take for two different things: what stands before us may have passed on as one request
 * what we would take for two. Each is refused and its connection closed, or taken for one request and no more.
 */

const seen: string[] = []
const document = { operation: 'x', summary: 'x', responses: {} } as const
const route = (method: 'GET' | 'POST', path: string): Route => ({
  method,
  path,
  scope: 'public',
  document,
  handle: async (c) => {
    const bytes = method === 'POST' ? await readBytes(c) : new Uint8Array()
    seen.push(`${c.req.raw.method} ${path} ${bytes.length}`)
    return c.json({})
  },
})
const { app } = testApp([
  route('POST', '/front'),
  route('GET', '/front'),
  route('GET', '/smuggled'),
  route('GET', '/last'),
])
const listener = listen(app, { address: { host: '127.0.0.1', port: 0 }, setting: 'HTTP_ADDR' })
afterAll(() => listener.stop(true))
afterEach(() => {
  seen.length = 0
})

const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
const last = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
const post = (headers: string, body = ''): string =>
  `POST /front HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}`
const chunked = (body: string): string => post('Transfer-Encoding: chunked', body)

/** Writes on a connection of its own; all that comes back until it is closed. */
const exchange = (text: string): Promise<string> => {
  const { promise, resolve } = Promise.withResolvers<string>()
  let answer = ''
  const socket = connect(listener.port, '127.0.0.1', () =>
    socket.write(Buffer.from(text, 'latin1')),
  )
  socket.on('data', (data) => {
    answer += data.toString('latin1')
  })
  socket.on('error', () => {})
  socket.on('close', () => resolve(answer))
  return promise
}

const statusesOf = (answer: string): readonly number[] =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

const whole = smuggled.length

const refused: Readonly<Record<string, string>> = {
  'a length and chunks': post(
    `Content-Length: ${5 + whole}\r\nTransfer-Encoding: chunked`,
    `0\r\n\r\n${smuggled}`,
  ),
  'chunks and a length': post(
    `Transfer-Encoding: chunked\r\nContent-Length: ${5 + whole}`,
    `0\r\n\r\n${smuggled}`,
  ),
  'two lengths': post(`Content-Length: 0\r\nContent-Length: ${whole}`, smuggled),
  'a list of lengths': post(`Content-Length: 0, ${whole}`, smuggled),
  ...Object.fromEntries(
    ['+0', '-1', '0x0', '0x', '', '1e1', '0.0', '99999999999999999999'].map((length) => [
      `the length "${length}"`,
      post(`Content-Length: ${length}`, smuggled),
    ]),
  ),
  'a blank before the colon': post(`Content-Length : ${whole}`, smuggled),
  ...Object.fromEntries(
    [
      ...['xchunked', 'chunked, identity', 'gzip, chunked', 'identity', '\x0bchunked'],
      ...['chunked\r\nTransfer-Encoding: identity'],
    ].map((coding) => [
      `the coding ${JSON.stringify(coding)}`,
      post(`Transfer-Encoding: ${coding}`, `0\r\n\r\n${smuggled}`),
    ]),
  ),
  'a coding after a blank': post('Transfer-Encoding : chunked', `0\r\n\r\n${smuggled}`),
  'chunks in HTTP/1.0': `POST /front HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  ...Object.fromEntries(
    ['-1\r\n\r\n', '0x0\r\n\r\n', '10000000000000000\r\n\r\n', '0\n\n', '2;\nxx\r\n0\r\n\r\n'].map(
      (chunk) => [`the chunk ${JSON.stringify(chunk)}`, chunked(chunk + smuggled)],
    ),
  ),
  'a chunk longer than it says': chunked(`1\r\naXX0\r\n\r\n${smuggled}`),
  'a folded header': post(`X: y\r\n Content-Length: ${whole}`, smuggled),
  'a bare LF between headers': `POST /front HTTP/1.1\r\nHost: a\nContent-Length: ${whole}\r\n\r\n${smuggled}`,
  'a bare CR in a header': post(`X: y\rContent-Length: ${whole}`, smuggled),
  'a NUL in a header': post('X: y\0z'),
  'a blank in the name of a header': post('X Y: z'),
  'a header without a colon': post('XY'),
  'no Host': 'GET /front HTTP/1.1\r\n\r\n',
  'two blanks': 'GET  /front HTTP/1.1\r\nHost: a\r\n\r\n',
  'another version': 'GET /front HTTP/1.2\r\nHost: a\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
}

describe('what may be read in two ways', () => {
  test.each(Object.entries(refused))(
    '%s is refused, and the connection closed',
    async (_, text) => {
      const statuses = statusesOf(await exchange(text))
      expect(statuses).toHaveLength(1)
      expect([400, 505]).toContain(statuses[0] ?? 0)
      expect(seen).toEqual([])
    },
  )

  test.each([
    [
      'the same length twice',
      post(`Content-Length: ${whole}\r\nContent-Length: ${whole}`, smuggled),
      `POST /front ${whole}`,
    ],
    [
      'a body of GET',
      `GET /front HTTP/1.1\r\nHost: a\r\nContent-Length: ${whole}\r\n\r\n${smuggled}`,
      'GET /front 0',
    ],
    [
      'a body of HEAD',
      `HEAD /front HTTP/1.1\r\nHost: a\r\nContent-Length: ${whole}\r\n\r\n${smuggled}`,
      'HEAD /front 0',
    ],
    ['an extension of a chunk', chunked(`2;name="a"\r\nab\r\n0\r\n\r\n`), 'POST /front 2'],
    ['a whole URL', 'GET http://other.example/front HTTP/1.1\r\nHost: a\r\n\r\n', 'GET /front 0'],
  ])('%s is one request, and what follows is the next', async (_, text, wanted) => {
    const statuses = statusesOf(await exchange(text + last))
    expect(seen).toEqual([wanted, 'GET /last 0'])
    expect(statuses).toEqual([200, 200])
  })
})
