import { afterAll, describe, expect, test } from 'bun:test'
import { Metadata, status } from '@grpc/grpc-js'
import { httpErrors } from '#src/platform/http/index.ts'
import { messageBytesMax } from '#src/spi/api/grpc/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { pacs008, shapedSignature } from '../../../support/messages.ts'
import { until } from '../../../support/until.ts'
import {
  decodeResponse,
  encodeRequest,
  failure,
  jsonOf,
  listType,
  type Request,
  type Response,
  rawClient,
  service,
  startRig,
  withKey,
} from './support.ts'

const rig = await startRig()
const client = rawClient(rig.target)

afterAll(async () => {
  client.close()
  await rig.stop()
})

const xml = Buffer.from(pacs008())
/** By its schema too. */
const valid = Buffer.from(pacs008({ signature: shapedSignature.replaceAll('q=', 'A=') }))
const payment: Request = {
  source_format: 'pacs.008',
  target_format: 'pix_payment',
  message: xml,
}

const call = (method: string, bytes: Buffer, metadata = withKey(rig.key), deadlineMs?: number) =>
  client.unary(`${service}/${method}`, bytes, metadata, deadlineMs)

const transform = async (request: Request): Promise<Response> =>
  decodeResponse((await call('Transform', encodeRequest(request))).bytes)

/** What HTTP answers to the same request. */
const overHttp = async (request: Request): Promise<string> => {
  const { key, record } = testKey('spi:transform')
  const app = testApp(rig.transform.routes ?? [], { keys: [record] })
  const body = { ...request, message: Buffer.from(request.message ?? []).toString() }
  const answer = await app.call('POST', '/v1/transform', { key, body })
  return await answer.text()
}

describe('Transform', () => {
  test('gives the result of HTTP', async () => {
    const options = [{}, { enrich: true }, { validate: true }, { validate: true, enrich: true }]
    for (const chosen of options) {
      const request = { ...payment, message: valid, options: chosen }
      const response = await transform(request)
      expect(response.status).toBe('SUCCESS')
      expect(response.transformationId).toStartWith('trf_')
      const result = Buffer.from(response.result).toString()
      expect(await overHttp(request)).toContain(`"result":${result},"created_at"`)
    }
  })

  test('takes both formats from the message when none is named', async () => {
    const response = await transform({ message: xml })
    expect(response.status).toBe('SUCCESS')
    expect(jsonOf(response)).toMatchObject({ currency: 'BRL' })
  })

  test('refuses strings that nobody can store, and is not at fault', async () => {
    const unstorable = Buffer.from('<a>\0</a>')
    expect((await transform({ ...payment, message: unstorable })).status).toBe('PARSE_ERROR')
    for (const format of ['pacs.008\0', '\0', 'x'.repeat(1_000_000)]) {
      const response = await transform({ ...payment, source_format: format })
      expect(response.status).toBe('UNSUPPORTED_FORMAT')
    }
  })

  const outcomes: readonly (readonly [Response['status'], Request, code: string])[] = [
    ['PARSE_ERROR', { ...payment, message: xml.subarray(0, 100) }, 'bad_request'],
    ['PARSE_ERROR', { ...payment, message: Buffer.alloc(0) }, 'bad_request'],
    ['UNSUPPORTED_FORMAT', { ...payment, target_format: 'cobol' }, 'value_refused'],
    ['VALIDATION_ERROR', { source_format: 'pacs.002', message: xml }, 'message_rejected'],
    [
      'VALIDATION_ERROR',
      {
        ...payment,
        message: Buffer.from(pacs008().replace('SLEV', 'NONE')),
        options: { validate: true },
      },
      'schema_violation',
    ],
  ]
  for (const [expected, request, code] of outcomes) {
    test(`answers ${expected} (${code}) with the problem HTTP would show`, async () => {
      const response = await transform(request)
      expect(response).toMatchObject({ status: expected, transformationId: '' })
      const problem = jsonOf(response)
      expect(problem).toMatchObject({ code })
      expect(problem['request_id']).toBeString()
      if (request.target_format !== undefined) {
        const { request_id: _id, ...theirs } = JSON.parse(await overHttp(request))
        expect(problem).toMatchObject(theirs)
      }
    })
  }

  test('counts a message that breaks its schema, and cannot be json here, as refused', async () => {
    const counted = async (): Promise<number> => {
      const { text } = await rig.metrics.render()
      const series = 'spigw_transformations_total{source_type="pacs.008",target_format="json"'
      expect(text).not.toContain(`${series},status="success"}`)
      const [, count = '0'] = text.split(`${series},status="validation_error"} `)
      return Number.parseInt(count, 10)
    }
    const before = await counted()
    const message = Buffer.from(pacs008().replace('SLEV', 'NONE'))
    const response = await transform({ ...payment, target_format: 'json', message })
    expect(response).toMatchObject({ status: 'VALIDATION_ERROR', transformationId: '' })
    expect(jsonOf(response)).toMatchObject({ code: 'schema_violation' })
    expect(await counted()).toBe(before + 1)
  })

  test('refuses bytes that are no request with INVALID_ARGUMENT', async () => {
    const error = await failure(call('Transform', Buffer.from([0x0a, 0xff])))
    expect(error.code).toBe(status.INVALID_ARGUMENT)
    expect(error.details).toBe('The request ends within a number.')
  })

  test('takes a message at the limit and refuses one past it', async () => {
    const sized = (size: number): Buffer => {
      const around = encodeRequest({ ...payment, message: Buffer.alloc(size) }).length - size
      return encodeRequest({ ...payment, message: Buffer.alloc(size - around, ' ') })
    }
    const largest = await call('Transform', sized(messageBytesMax))
    expect(decodeResponse(largest.bytes).status).toBe('PARSE_ERROR')
    const error = await failure(call('Transform', sized(messageBytesMax + 1)))
    expect(error.code).toBe(status.RESOURCE_EXHAUSTED)
  })
})

test('ListTransformations lists what HTTP lists', async () => {
  const { bytes } = await call('ListTransformations', Buffer.alloc(0))
  const { transformations } = listType.toObject(listType.decode(bytes)) as {
    readonly transformations: readonly { sourceFormat: string; targetFormat: string }[]
  }
  const { key, record } = testKey('spi:transform')
  const app = testApp(rig.transform.routes ?? [], { keys: [record] })
  const listed = await (await app.call('GET', '/v1/transformations', { key })).json()
  expect({
    transformations: transformations.map(({ sourceFormat, targetFormat }) => ({
      source_format: sourceFormat,
      target_format: targetFormat,
    })),
  }).toEqual(listed as never)
  const error = await failure(call('ListTransformations', Buffer.from([0x07])))
  expect(error.code).toBe(status.INVALID_ARGUMENT)
})

describe('keys', () => {
  const cases: readonly (readonly [what: string, metadata: Metadata])[] = [
    ['no key', new Metadata()],
    ['a key that is none', withKey('trl_test_a_b')],
    ['a key with another end', withKey(`${rig.key.slice(0, -8)}AAAAAAAA`)],
  ]
  for (const [what, metadata] of cases) {
    test(`${what}: UNAUTHENTICATED`, async () => {
      const error = await failure(call('Transform', encodeRequest(payment), metadata))
      expect(error.code).toBe(status.UNAUTHENTICATED)
      expect(error.details).toContain('authorization: Bearer')
    })
  }

  for (const method of ['Transform', 'ListTransformations']) {
    test(`${method} with a key of another scope: PERMISSION_DENIED`, async () => {
      const error = await failure(call(method, encodeRequest(payment), withKey(rig.weakKey)))
      expect(error.code).toBe(status.PERMISSION_DENIED)
      expect(error.details).toBe('The API key lacks the scope spi:transform.')
    })
  }

  test('the place of the keys is away: UNAVAILABLE', async () => {
    const other = await startRig({ failingKeys: true })
    const theirs = rawClient(other.target)
    const calling = theirs.unary(`${service}/Transform`, encodeRequest(payment), withKey(other.key))
    expect((await failure(calling)).code).toBe(status.UNAVAILABLE)
    theirs.close()
    await other.stop()
  })
})

test('an unknown method is UNIMPLEMENTED for anybody, counted and logged without its name', async () => {
  for (const path of [`${service}/Nothing`, '/spigw.v2.Other/Call', '/x', '/']) {
    for (const metadata of [withKey(rig.key, { 'x-request-id': 'nothing-1' }), new Metadata()]) {
      rig.lines.length = 0
      const error = await failure(client.unary(path, Buffer.alloc(0), metadata))
      expect(error.code).toBe(status.UNIMPLEMENTED)
      await until(() => rig.lines.length > 0)
      const [line = ''] = rig.lines
      expect(JSON.parse(line)).toMatchObject({
        path: 'unmatched',
        status: 12,
        code: 'UNIMPLEMENTED',
      })
    }
  }
  const stream = client.stream(`${service}/Nothing`, withKey(rig.key))
  const ended = Promise.withResolvers<number>()
  stream.on('status', ({ code }) => ended.resolve(code))
  stream.on('error', () => {})
  expect(await ended.promise).toBe(status.UNIMPLEMENTED)
  const nine = 'trilho_grpc_requests_total{method="unmatched",code="UNIMPLEMENTED"} 9'
  await until(async () => (await rig.metrics.render()).text.includes(nine))
  const { text } = await rig.metrics.render()
  expect(text).not.toContain('Nothing')
})

test('the request id of the caller comes back, another one is replaced', async () => {
  const given = await call(
    'Transform',
    encodeRequest(payment),
    withKey(rig.key, { 'x-request-id': 'abc-1' }),
  )
  expect(given.headers?.get('x-request-id')).toEqual(['abc-1'])
  const made = await call(
    'Transform',
    encodeRequest(payment),
    withKey(rig.key, { 'x-request-id': 'a b' }),
  )
  expect(String(made.headers?.get('x-request-id')[0])).toStartWith('req_')
  const error = await failure(
    call('Transform', encodeRequest(payment), withKey(rig.weakKey, { 'x-request-id': 'abc-2' })),
  )
  expect(error.metadata.get('x-request-id')).toEqual(['abc-2'])
})

test('every call is counted, timed and logged, without its key', async () => {
  rig.lines.length = 0
  await call('Transform', encodeRequest(payment), withKey(rig.key, { 'x-request-id': 'seen-1' }))
  await failure(call('Transform', encodeRequest(payment), new Metadata()))
  await until(() => rig.lines.length >= 2)
  const [first, second] = rig.lines.map((line) => JSON.parse(line))
  expect(first).toMatchObject({
    level: 'info',
    request_id: 'seen-1',
    method: 'GRPC',
    path: `${service}/Transform`,
    status: 0,
    code: 'OK',
    msg: 'request',
  })
  expect(first.key_id).toBe(rig.key.split('_')[2])
  expect(second).toMatchObject({ status: 16, code: 'UNAUTHENTICATED' })
  expect(rig.lines.join('')).not.toContain(rig.key)
  const { text } = await rig.metrics.render()
  const name = 'spigw.v1.TransformationService/Transform'
  expect(text).toMatch(new RegExp(`trilho_grpc_requests_total{method="${name}",code="OK"} \\d+`))
  expect(text).toContain(`trilho_grpc_requests_total{method="${name}",code="RESOURCE_EXHAUSTED"} 1`)
  expect(text).toContain(`trilho_grpc_request_duration_seconds_count{method="${name}"}`)
  expect(text).toContain(
    'spigw_transformations_total{source_type="pacs.008",target_format="pix_payment",status="success"}',
  )
})

test('people are answered in the language that the metadata prefers, as over HTTP', async () => {
  const said = async (language: string) => {
    const more = { 'accept-language': language }
    const fails = async (key: string, bytes: Buffer, method = 'Transform') =>
      (await failure(call(method, bytes, withKey(key, more)))).details
    const { bytes } = await call(
      'Transform',
      encodeRequest({ ...payment, message: xml.subarray(0, 100) }),
      withKey(rig.key, more),
    )
    return {
      unknown: await fails('nobody', encodeRequest(payment)),
      weak: await fails(rig.weakKey, encodeRequest(payment)),
      broken: await fails(rig.key, Buffer.from([0x0a, 0xff])),
      method: await fails(rig.key, Buffer.alloc(0), 'Nothing'),
      // What the library itself refuses.
      large: (await fails(rig.key, Buffer.alloc(messageBytesMax + 1))).split(' (')[0],
      problem: jsonOf(decodeResponse(bytes))['title'],
    }
  }
  expect(await said('en;q=0.5, pt-BR')).toEqual({
    unknown: 'É preciso uma chave de API válida: envie authorization: Bearer <chave>.',
    weak: 'A chave de API não tem o escopo spi:transform.',
    broken: 'A requisição termina dentro de um número.',
    method: 'Não existe esse método.',
    large: 'A mensagem recebida passa do limite de bytes',
    problem: httpErrors.bad_request.pt.title,
  })
  const english = await said('en, pt;q=0.5')
  expect(english).toMatchObject({ method: 'There is no such method.', problem: 'Bad request' })
  expect(await said('pt'.repeat(200))).toEqual(english)
})
