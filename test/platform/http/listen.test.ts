import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectSecurely } from 'node:tls'
import { callerMsMax, listen, type Route, readBytes } from '#src/platform/http/index.ts'
import { lookEveryMs, patienceMs } from '#src/platform/http/limits/callers.ts'
import { createFileMaterial } from '#src/platform/security/index.ts'
import { testApp } from '../../support/app.ts'
import { issueCertificate } from '../../support/pki.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { timedRooms } from '../../support/timed-rooms.ts'
import { until } from '../../support/until.ts'

const document = {
  operation: 'x',
  summary: 'x',
  responses: { 200: { description: 'x' } },
} as const
const routes: readonly Route[] = [
  {
    method: 'GET',
    path: '/ready',
    scope: 'public',
    document,
    handle: (c) => c.json({ status: 'ready' }),
  },
  {
    method: 'GET',
    path: '/named/{id}',
    scope: 'public',
    document,
    handle: (c) => c.json({ id: c.req.param('id') }),
  },
  {
    method: 'POST',
    path: '/taken',
    scope: 'public',
    document,
    bodyBytesMax: 1000,
    handle: async (c) => {
      begun++
      return c.json({ bytes: (await readBytes(c)).length })
    },
  },
]
let begun = 0
let ended = 0
const slowly: Route = {
  method: 'POST',
  path: '/slow',
  scope: 'public',
  document,
  bodyBytesMax: 1000,
  handle: async (c) => {
    begun++
    await Bun.sleep(50)
    ended++
    return c.json({})
  },
}
const { app, lines, metrics } = testApp([...routes, slowly])
const address = { host: '127.0.0.1', port: 0 }
const listener = listen(app, { address, setting: 'HTTP_ADDR' })
const server = issueCertificate('server', { hosts: ['127.0.0.1'] })
const pem = (name: 'cert' | 'key') => {
  const path = join(temporaryDirectory(), name)
  writeFileSync(path, server[name])
  return { path, text: server[name] }
}
const material = createFileMaterial({ certificate: pem('cert'), key: pem('key'), ca: undefined })
const secured = listen(app, {
  address,
  setting: 'HTTP_ADDR',
  tls: { material, asksClients: false },
})
afterAll(() => Promise.all([listener.stop(true), secured.stop(true)]))

const securely = { host: '127.0.0.1', port: secured.port, ca: server.cert }
const ways = [
  ['in clear', () => connect(listener.port, '127.0.0.1')],
  ['over TLS', () => connectSecurely(securely)],
] as const

/** Writes these bytes on a connection of its own, and gives what comes back until the answer is whole. */
const exchangeOver = async (open: () => Socket, text: string): Promise<string> => {
  const { promise, resolve } = Promise.withResolvers<string>()
  let answer = ''
  const socket = open()
  socket.write(text)
  socket.on('data', (data) => {
    answer += data.toString()
    if (answer.includes('\r\n\r\n')) resolve(answer)
  })
  socket.on('close', () => resolve(answer))
  const whole = await promise
  socket.destroy()
  return whole
}

const statusOf = (answer: string): number => Number(answer.split(' ')[1])

describe.each(ways)('%s, who asks', (_, open) => {
  const exchange = (text: string) => exchangeOver(open, text)

  test('without a name for us, by HTTP/1.0, as load balancers check, is answered', async () => {
    expect(statusOf(await exchange('GET /ready HTTP/1.0\r\n\r\n'))).toBe(200)
    expect(await exchange('GET /named/a%20b?x=1 HTTP/1.0\r\n\r\n')).toContain('{"id":"a b"}')
    expect(statusOf(await exchange('GET /ready HTTP/1.1\r\nHost: \r\n\r\n'))).toBe(200)
  })

  test.each(['Host: a\r\nHost: b', 'Host: a/b?c', 'Host: a b', 'Host: a, b', 'Host: a@b'])(
    '%s is refused',
    async (host) => {
      expect(statusOf(await exchange(`GET /ready HTTP/1.1\r\n${host}\r\n\r\n`))).toBe(400)
    },
  )

  test.each(['gateway.example:8080', '[::1]:8080', '127.0.0.1', 'a_b'])(
    '%s is a host',
    async (host) => {
      expect(statusOf(await exchange(`GET /ready HTTP/1.1\r\nHost: ${host}\r\n\r\n`))).toBe(200)
    },
  )

  test.each(['/ready', '/named/a', '/named/a%20b'])(
    'HEAD %s has the headers of GET',
    async (path) => {
      const answer = await exchange(`HEAD ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
      const length = (await (await fetch(listener.url + path)).text()).length
      expect(answer.toLowerCase()).toContain(`\r\ncontent-length: ${length}\r\n`)
      expect(answer.toLowerCase()).toContain('\r\ncontent-type: application/json')
      expect(answer).toEndWith('\r\n\r\n')
    },
  )

  /*
   * The runtime's server ends such a connection; docs/limits.md tells of it (Requests on one connection). Where this
   * fails, a newer runtime answers them: that section goes then.
   */
  test('the next thing before the last is answered loses the connection; the last is done all the same', async () => {
    begun = 0
    ended = 0
    const post = 'POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'
    expect(await exchange(post + post)).toBe('')
    await until(() => ended > 0)
    expect([begun, ended]).toEqual([1, 1])
    expect(statusOf(await exchange(post))).toBe(200)
  })

  test('has no part of the name in the path', async () => {
    expect(statusOf(await exchange('GET /a HTTP/1.1\r\nHost: named\r\n\r\n'))).toBe(404)
  })
})

test.each(['Content-Length: 100\r\n\r\nabc', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'])(
  'an upload that its sender broke off is no failure of ours (%#)',
  async (rest) => {
    lines.length = 0
    begun = 0
    const socket = connect(listener.port, '127.0.0.1')
    socket.write(`POST /taken HTTP/1.1\r\nHost: a\r\n${rest}`)
    await until(() => begun > 0)
    socket.destroy()
    await until(() => lines.length > 0)
    expect(lines.join('')).not.toContain('"level":"error"')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ status: 499 })
    const { text } = await metrics.render()
    expect(text).not.toContain('status="500"')
  },
)

test.each(['Content-Length: 100\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n'])(
  'bodies that do not come hold no room that another needs, and none for ever (%#)',
  async (rest) => {
    const { rooms, pass } = timedRooms('spi', 2)
    const bounded = testApp(routes, { roomsFor: () => rooms })
    const own = listen(bounded.app, { address, setting: 'HTTP_ADDR' })
    const ask = async () => (await fetch(`${own.url}/taken`, { method: 'POST', body: 'x' })).status
    const slow = () =>
      exchangeOver(
        () => connect(own.port, '127.0.0.1'),
        `POST /taken HTTP/1.1\r\nHost: a\r\n${rest}`,
      )
    const first = slow()
    const full = async () => (await ask()) === 503
    const second = Bun.sleep(20).then(slow)
    await until(full)
    await Bun.sleep(lookEveryMs + 100)
    pass(patienceMs - 1)
    expect(await full()).toBe(true)
    pass(1 + lookEveryMs)
    expect(await ask()).toBe(200)
    const cut = await first
    expect([statusOf(cut), cut]).toEqual([408, expect.stringContaining('body_timeout')])
    expect(cut.toLowerCase()).toContain('connection: close')
    expect(await ask()).toBe(200)
    pass(callerMsMax + lookEveryMs)
    expect(statusOf(await second)).toBe(408)
    expect(bounded.lines.join('')).not.toContain('"level":"error"')
    await own.stop(true)
  },
)

test('who sends no whole head of a request loses the connection soon, be it byte by byte', async () => {
  const lossMs = async (open: () => Socket, text: string, drip: string): Promise<number> => {
    const begunMs = performance.now()
    const { promise, resolve } = Promise.withResolvers<void>()
    const socket = open()
    socket.on('error', () => {})
    socket.on('close', () => resolve())
    socket.resume()
    socket.write(text)
    const dripping = setInterval(() => socket.write(drip), 200)
    await promise
    clearInterval(dripping)
    return performance.now() - begunMs
  }
  const lost = ways.flatMap(([, open]) => [
    lossMs(open, '', ''),
    lossMs(open, 'GET /ready HTTP/1.1\r\nHost: a\r\nX-Long: ', 'a'),
  ])
  // Over TLS also who does not even begin the handshake.
  lost.push(lossMs(() => connect(secured.port, '127.0.0.1'), '', ''))
  for (const ms of await Promise.all(lost)) expect(ms).toBeLessThan(40_000)
}, 60_000)
