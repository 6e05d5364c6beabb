import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import {
  ApiError,
  httpErrors,
  type Route,
  readJson,
  readText,
  withMissingSettings,
} from '#src/platform/http/index.ts'
import { testApp, testKey } from '../../support/app.ts'

const document = {
  operation: 'x',
  summary: 'x',
  responses: { 200: { description: 'x' } },
} as const

const itemBody = z.strictObject({ amount: z.int().positive(), name: z.string().max(3) })

const routes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/items/{id}',
    scope: 'messages:read',
    document,
    handle: (c) => c.json({ id: c.req.param('id'), key: c.env.principal?.name }),
  },
  {
    method: 'POST',
    path: '/v1/items',
    scope: 'spi:send',
    accepts: ['application/json'],
    bodyBytesMax: 64,
    document,
    handle: async (c) => c.json(await readJson(c, itemBody)),
  },
  {
    method: 'POST',
    path: '/v1/cards',
    scope: 'public',
    errorStyle: 'envelope',
    document: { ...document, body: { 'application/json': itemBody } },
    handle: async (c) => c.json(await readJson(c, itemBody)),
  },
  {
    method: 'POST',
    path: '/v1/void',
    scope: 'public',
    accepts: ['application/json'],
    document,
    handle: async (c) => c.text(await readText(c)),
  },
  {
    method: 'GET',
    path: '/v1/stored',
    scope: 'public',
    document,
    handle: () => {
      throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' })
    },
  },
  {
    method: 'GET',
    path: '/v1/unstorable/{state}',
    scope: 'public',
    document,
    handle: (c) => {
      throw Object.assign(new Error('invalid input: "secret"'), { code: c.req.param('state') })
    },
  },
  {
    method: 'GET',
    path: '/v1/broken',
    scope: 'public',
    document,
    handle: () => {
      throw new Error('secret inner reason')
    },
  },
  {
    method: 'GET',
    path: '/v1/gone',
    scope: 'public',
    document,
    handle: () => {
      throw new ApiError(httpErrors.conflict, 'It is gone.', { details: { state: 'VOID' } })
    },
  },
]

const reader = testKey('messages:read')
const sender = testKey('spi:*')
const harness = () => testApp(routes, { keys: [reader.record, sender.record] })

describe('access', () => {
  test('no key, a wrong key and a key of another form give 401 with the specified body', async () => {
    const { call } = harness()
    const headers = [
      undefined,
      'Bearer ',
      'Bearer nonsense',
      `Bearer ${testKey('*').key}`,
      `Basic ${reader.key}`,
      reader.key,
    ]
    for (const authorization of headers) {
      const response = await call('GET', '/v1/items/7', {
        headers: authorization === undefined ? {} : { Authorization: authorization },
      })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(await response.json()).toEqual({
        error: { code: 'UNAUTHORIZED', message: expect.any(String) },
      })
    }
  })

  test('a key without the scope gives 403 with the specified body', async () => {
    const response = await harness().call('GET', '/v1/items/7', { key: sender.key })
    expect(response.status).toBe(403)
    expect(await response.json()).toEqual({
      error: { code: 'FORBIDDEN', message: 'The API key lacks the scope messages:read.' },
    })
  })

  test('a key with the scope reaches the handler, which knows who calls', async () => {
    const response = await harness().call('GET', '/v1/items/7', { key: reader.key })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ id: '7', key: 'test' })
  })

  test('keys that cannot be looked up are 503, not the caller\u2019s fault', async () => {
    const { app } = testApp(routes, { failingKeys: true })
    const request = new Request('http://localhost/v1/items/7', {
      headers: { Authorization: `Bearer ${reader.key}` },
    })
    const response = await app.fetch(request)
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ code: 'unavailable', retryable: true })
  })

  test('a missing setting is told only to callers with access', async () => {
    const { call } = testApp(withMissingSettings(routes, ['ISPB']), { keys: [reader.record] })
    expect((await call('GET', '/v1/items/7')).status).toBe(401)
    const response = await call('GET', '/v1/items/7', { key: reader.key })
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      code: 'not_configured',
      settings: ['ISPB'],
      detail: 'GET /v1/items/{id} needs the setting ISPB.',
    })
  })
})

describe('request bodies', () => {
  const send = (body: unknown, headers: Record<string, string> = {}) =>
    harness().call('POST', '/v1/items', { key: sender.key, body, headers })

  test('every broken rule is listed with its JSON Pointer', async () => {
    const response = await send({ amount: 0, name: 'long', 'a/b': 1 })
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const problem = (await response.json()) as { errors: { pointer: string }[] }
    expect(problem).toMatchObject({
      type: '/v1/errors/validation_failed',
      code: 'validation_failed',
      status: 400,
      retryable: false,
      request_id: response.headers.get('x-request-id'),
    })
    expect(problem.errors.map(({ pointer }) => pointer)).toEqual(['/amount', '/name', '/a~1b'])
  })

  test('what is not JSON is a bad request that does not quote the input', async () => {
    const response = await send('{"amount": 4111111111111111')
    expect(response.status).toBe(400)
    const text = await response.text()
    expect(text).toContain('"code":"bad_request"')
    expect(text).not.toContain('411111111')
  })

  test('bytes that are not UTF-8 are refused', async () => {
    const { app } = harness()
    const request = new Request('http://localhost/v1/void', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: new Uint8Array([0x22, 0xff, 0x22]),
    })
    expect(await (await app.fetch(request)).json()).toMatchObject({
      detail: 'The body is not UTF-8.',
    })
  })

  test('the limit is taken, one byte more is 413', async () => {
    const exact = JSON.stringify({ amount: 1, name: 'abc' }).padEnd(64)
    const headers = { 'Content-Length': '64' }
    expect((await send(exact, headers)).status).toBe(200)
    const over = await send(`${exact} `, { 'Content-Length': '65' })
    expect(over.status).toBe(413)
    expect(await over.json()).toMatchObject({
      code: 'body_too_large',
      detail: 'The body is over 64 bytes.',
    })
  })

  test('where only JSON is taken and no limit is named, it is 64 KiB', async () => {
    const exact = JSON.stringify({ amount: 1, name: 'abc' }).padEnd(65_536)
    const post = (body: string) => harness().call('POST', '/v1/cards', { body })
    expect((await post(exact)).status).toBe(200)
    expect((await post(`${exact} `)).status).toBe(413)
  })

  test('members that nobody knows are told, but not all of very many', async () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`member${i}`, i]))
    const answer = await harness().call('POST', '/v1/cards', {
      body: { amount: 1, name: 'abc', ...many },
    })
    expect(answer.status).toBe(400)
    const text = await answer.text()
    expect(text).toContain('/member0: ')
    expect(text).toContain('(and 9 more)')
    expect(text.length).toBeLessThan(2_000)
  })

  test('a body without a declared length is cut at the limit', async () => {
    const { app } = harness()
    const chunked = (chunks: readonly string[]) =>
      app.fetch(
        new Request('http://localhost/v1/items', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${sender.key}` },
          body: new ReadableStream({
            start: (controller) => {
              for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
              controller.close()
            },
          }),
        }),
      )
    const body = JSON.stringify({ amount: 1, name: 'abc' })
    expect((await chunked([body, ' '.repeat(64 - body.length)])).status).toBe(200)
    expect((await chunked([body, ' '.repeat(65 - body.length)])).status).toBe(413)
  })

  test('a route takes what its document shows, and 64 KiB of JSON alone', async () => {
    const { call } = harness()
    const status = async (bytes: number, type: string) => {
      const body = JSON.stringify({ name: 'x' }).padEnd(bytes)
      const headers = { 'Content-Type': type, 'Content-Length': String(bytes) }
      return (await call('POST', '/v1/cards', { body, headers })).status
    }
    expect(await status(65_536, 'application/json')).not.toBeOneOf([413, 415])
    expect(await status(65_537, 'application/json')).toBe(413)
    expect(await status(20, 'text/plain')).toBe(415)
  })

  test('another Content-Type is 415, parameters do not matter', async () => {
    const body = { amount: 1, name: 'abc' }
    expect((await send(body, { 'Content-Type': 'text/plain' })).status).toBe(415)
    expect((await send(body, { 'Content-Type': 'application/json; charset=utf-8' })).status).toBe(
      200,
    )
    expect((await send(body, { 'Content-Type': 'APPLICATION/JSON' })).status).toBe(200)
  })

  test('JSON is UTF-8, and comes as it is: what says otherwise is 415', async () => {
    const body = { amount: 1, name: 'abc' }
    const statusOf = async (headers: Record<string, string>) => (await send(body, headers)).status
    for (const charset of ['utf-8', '"UTF-8"', 'Utf8', 'us-ascii']) {
      const type = `application/json; x=y; charset=${charset}`
      expect([charset, await statusOf({ 'Content-Type': type })]).toEqual([charset, 200])
    }
    for (const charset of ['utf-16', 'iso-8859-1', '"utf-16le"', '']) {
      const type = `application/json;CHARSET=${charset}`
      expect([charset, await statusOf({ 'Content-Type': type })]).toEqual([charset, 415])
    }
    expect(await statusOf({ 'Content-Encoding': 'Identity' })).toBe(200)
    for (const encoding of ['br', 'zstd', 'deflate', 'gzip', 'gzip, gzip', 'identity, br']) {
      const answer = await send(body, { 'Content-Encoding': encoding })
      // RFC 9110 section 15.5.16
      expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity'])
    }
  })
})

describe('errors', () => {
  test('another method is 405 with Allow, an unknown path 404', async () => {
    const { call } = harness()
    const wrong = await call('DELETE', '/v1/items/7')
    expect(wrong.status).toBe(405)
    expect(wrong.headers.get('allow')).toBe('GET, HEAD')
    expect(await wrong.json()).toMatchObject({ code: 'method_not_allowed' })
    const unknown = await call('GET', '/v1/nothing')
    expect(unknown.status).toBe(404)
    expect(await unknown.json()).toMatchObject({ code: 'not_found' })
  })

  test('a path that is written out is never one with a parameter', async () => {
    const list = { ...routes[1]!, path: '/v1/items/find' }
    const { call } = testApp([...routes, list], { keys: [reader.record] })
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const response = await call(method, '/v1/items/find', { key: reader.key })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  test('the envelope style names one field; access errors of that style stay the same', async () => {
    const { call } = harness()
    const invalid = await call('POST', '/v1/cards', { body: { amount: 0, name: 'abc' } })
    expect(invalid.status).toBe(400)
    expect(invalid.headers.get('content-type')).toBe('application/json')
    expect(await invalid.json()).toEqual({
      error: {
        code: 'VALIDATION_FAILED',
        message: expect.stringContaining('/amount'),
        details: { field: 'amount', value: null },
      },
    })
    const method = await call('GET', '/v1/cards')
    expect(await method.json()).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED' } })
    const unread = await call('POST', '/v1/cards', { body: '{"amount":' })
    expect(await unread.json()).toMatchObject({
      error: { code: 'BAD_REQUEST', details: { field: null, value: null } },
    })
  })

  test('a path that is not there looks as what begins alike', async () => {
    const { call } = harness()
    for (const path of ['/v1/cards/', '/v1/cards/c_1/voided']) {
      const missing = await call('POST', path, { body: {} })
      expect([missing.status, await missing.json()]).toEqual([
        404,
        {
          error: {
            code: 'NOT_FOUND',
            message: 'No such path.',
            details: { field: null, value: null },
          },
        },
      ])
    }
    for (const path of ['/v1/cardsx', '/v1', '/']) {
      expect(await (await call('GET', path)).json()).toMatchObject({ code: 'not_found' })
    }
  })

  test('a database that is away is a 503 that may be repeated, and says nothing of where it is', async () => {
    const { call, lines } = harness()
    const response = await call('GET', '/v1/stored')
    expect(response.status).toBe(503)
    expect(response.headers.get('Retry-After')).toBe('1')
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ code: 'database_unavailable', retryable: true })
    expect(text).not.toContain('10.0.0.1')
    expect(lines.find((line) => line.includes('request failed'))).toContain('ECONNREFUSED')
  })

  test('an unexpected exception is a 500 that says nothing of the cause, which is logged', async () => {
    const { call, lines } = harness()
    const response = await call('GET', '/v1/broken')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret inner reason')
    const logged = lines.find((line) => line.includes('request failed')) ?? ''
    expect(logged).toContain('secret inner reason')
    expect(logged).toContain(response.headers.get('x-request-id') ?? 'absent')
  })

  test('details become members of the problem', async () => {
    const response = await harness().call('GET', '/v1/gone')
    expect(response.status).toBe(409)
    expect(await response.json()).toMatchObject({ detail: 'It is gone.', state: 'VOID' })
  })
})

describe('every response', () => {
  test('carries security headers and the request id', async () => {
    const response = await harness().call('GET', '/v1/nothing')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{16}_[0-9a-z]+$/)
  })

  test('returns a valid X-Request-Id and replaces any other', async () => {
    const { call } = harness()
    const idFor = async (id: string) =>
      (await call('GET', '/v1/gone', { headers: { 'X-Request-Id': id } })).headers.get(
        'x-request-id',
      )
    expect(await idFor('Order-7_a.b')).toBe('Order-7_a.b')
    expect(await idFor('x'.repeat(128))).toBe('x'.repeat(128))
    expect(await idFor('x'.repeat(129))).toStartWith('req_')
    expect(await idFor('with blank')).toStartWith('req_')
    expect(await idFor('"quoted"')).toStartWith('req_')
    expect(await idFor('order-4111111111111111')).toStartWith('req_')
    const uuid = crypto.randomUUID()
    expect(await idFor(uuid)).toBe(uuid)
  })

  test('is logged in one line and counted under the pattern of its route', async () => {
    const { call, lines, metrics } = harness()
    await call('GET', '/v1/items/7', { key: reader.key })
    await call('GET', '/v1/items/8', { key: reader.key })
    await call('GET', '/v1/items/8')
    await call('GET', '/somewhere/else')
    expect(lines).toHaveLength(4)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      msg: 'request',
      method: 'GET',
      path: '/v1/items/{id}',
      status: 200,
      key_id: reader.record.id,
    })
    const { text } = await metrics.render()
    const series = (name: string, path: string, status: number) =>
      `${name}{method="GET",path="${path}",status="${status}"}`
    expect(text).toContain(`${series('http_requests_total', '/v1/items/{id}', 200)} 2\n`)
    expect(text).toContain(`${series('http_requests_total', '/v1/items/{id}', 401)} 1\n`)
    expect(text).toContain(`${series('http_requests_total', 'unmatched', 404)} 1\n`)
    expect(text).toContain(
      `${series('http_request_duration_seconds_count', '/v1/items/{id}', 200)} 2\n`,
    )
    expect(text).toContain('# TYPE http_request_duration_seconds histogram')
    expect(text).toContain('# TYPE http_requests_total counter')
  })

  test('escapes in a path are resolved', async () => {
    const response = await harness().call('GET', '/v1/items/a%20%C3%A9?x=%41', { key: reader.key })
    expect(await response.json()).toMatchObject({ id: 'a é' })
  })
})

describe('text that no field may hold', () => {
  const send = (body: string) => harness().call('POST', '/v1/items', { key: sender.key, body })

  test.each([
    ['{"name":"a\\u0000"}', '/name', 'text'],
    ['{"name":"\\ud800"}', '/name', 'text'],
    ['{"a/b":[{},"\\udc00"]}', '/a~1b/1', 'text'],
    ['{"a":{"\\u0000":1}}', '/a', 'text'],
    [`${'['.repeat(30)}1${']'.repeat(30)}`, '', 'type'],
  ])('%s is refused with place and rule', async (body, pointer, rule) => {
    const response = await send(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ errors: [{ pointer, rule }] })
  })

  test('nesting without end is refused, and a whole pair of surrogates is text', async () => {
    const { call } = testApp([{ ...routes[1]!, bodyBytesMax: 1_000_000 }], {
      keys: [sender.record],
    })
    const post = (body: string) => call('POST', '/v1/items', { key: sender.key, body })
    const deep = await post('['.repeat(19_000) + ']'.repeat(19_000))
    expect(deep.status).toBe(400)
    expect(((await deep.json()) as { errors: object[] }).errors[0]).toMatchObject({ rule: 'depth' })
    expect((await post('{"amount":1,"name":"\\ud83d\\ude00"}')).status).toBe(200)
  })

  test.each([
    ['/v1/items/a%00b', 'id'],
    ['/v1/items/a%ED%A0%80b', 'id'],
    ['/v1/items/a%0ab', 'id'],
    ['/v1/items/a?state=%zz', 'state'],
    ['/v1/items/a?x=1&state=b%00', 'state'],
  ])('%s is refused with the name of the parameter', async (path, pointer) => {
    const response = await harness().call('GET', path, { key: reader.key })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ errors: [{ pointer }] })
  })

  test.each(['22001', '22003', '22007', '22008', '22021', '22P02', '22P05'])(
    'what the database refuses by %s is the request’s fault, and its words stay inside',
    async (state) => {
      const { call, lines } = harness()
      const response = await call('GET', `/v1/unstorable/${state}`)
      expect(response.status).toBe(400)
      const text = await response.text()
      expect(text).not.toContain('secret')
      expect(JSON.parse(text)).toMatchObject({ retryable: false, errors: [{ rule: state }] })
      expect(lines.join('')).toContain('request failed')
    },
  )

  test('what the database refuses for another reason is not', async () => {
    expect((await harness().call('GET', '/v1/unstorable/22012')).status).toBe(500)
  })
})
