import { describe, expect, test } from 'bun:test'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createTransform } from '#src/spi/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { pacs008 } from '../../../support/messages.ts'

const { record, key } = testKey('spi:transform')
const metrics = createMetrics({ version: '0', withProcess: false })
const app = testApp(createTransform({ metrics }).routes ?? [], { keys: [record] })

type Answer = {
  readonly code?: string
  readonly detail?: string
  readonly errors?: readonly { readonly pointer: string; readonly rule: string }[]
  readonly result?: object
}

const post = async (path: string, body: unknown): Promise<{ status: number; body: Answer }> => {
  const response = await app.call('POST', path, { key, body })
  return { status: response.status, body: (await response.json()) as Answer }
}

const postXml = async (
  path: string,
  body = pacs008(),
): Promise<{ status: number; body: Answer }> => {
  const headers = { 'Content-Type': 'application/xml; charset=utf-8' }
  const response = await app.call('POST', path, { key, headers, body })
  return { status: response.status, body: (await response.json()) as Answer }
}

const formats = { source_format: 'pacs.008', target_format: 'pix_payment' }
const whole = { ...formats, message: pacs008() }

describe('a JSON request', () => {
  test.each([
    ['a list', [], '', 'type'],
    ['no message', formats, '/message', 'required'],
    ['a message that is no text', { ...formats, message: 1 }, '/message', 'type'],
    ['no source format', { ...whole, source_format: undefined }, '/source_format', 'required'],
    ['a target format that is no text', { ...whole, target_format: 7 }, '/target_format', 'type'],
    ['a member nobody knows', { ...whole, mesage: '' }, '/mesage', 'unknown'],
    ['options that are no object', { ...whole, options: [] }, '/options', 'type'],
    ['an option nobody knows', { ...whole, options: { 'a/~': 1 } }, '/options/a~1~0', 'unknown'],
    ['an option that is no flag', { ...whole, options: { enrich: 1 } }, '/options/enrich', 'type'],
  ])('with %s is refused with the place and the rule', async (_, body, pointer, rule) => {
    const answer = await post('/v1/transform', body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer, rule }))
  })

  test('every fault is listed, and counted in the sentence', async () => {
    const { body } = await post('/v1/transform', { options: { enrich: 'yes' }, more: 1 })
    expect(body.errors).toHaveLength(5)
    expect(body.detail).toEndWith('(and 4 more)')
  })

  test('may leave the formats to a path that names them, but not contradict it', async () => {
    expect(await post('/v1/transform/pacs008', { message: pacs008() })).toMatchObject({
      status: 200,
    })
    const answer = await post('/v1/transform/pacs008', { ...whole, source_format: 'pacs.002' })
    expect(answer.body.errors).toMatchObject([{ pointer: '/source_format', rule: 'const' }])
  })
})

describe('an XML body', () => {
  test('takes its options from the query', async () => {
    const { body } = await postXml('/v1/transform/pacs008?enrich=true&validate=false')
    expect(body.result).toHaveProperty('pix_key', 'chave@exemplo.com.br')
    expect((await postXml('/v1/transform')).body.result).not.toHaveProperty('pix_key')
  })

  test.each([
    ['/v1/transform?enrich=yes', 'enrich', 'type'],
    ['/v1/transform?validate=1&enrich=true', 'validate', 'type'],
    ['/v1/transform/pacs008?target_format=json', 'target_format', 'const'],
  ])('%s is refused', async (path, pointer, rule) => {
    const { status, body } = await postXml(path)
    expect(status).toBe(400)
    expect(body.errors).toMatchObject([{ pointer, rule }])
  })

  test('becomes another form where the query asks for one', async () => {
    const { body } = await postXml(
      '/v1/transform?source_format=pacs.008&target_format=json',
      pacs008({ signature: '' }),
    )
    expect(body.result).toHaveProperty('Envelope')
  })

  test('of another type than the path names is refused', async () => {
    const answer = await postXml('/v1/transform/pacs002')
    expect(answer).toMatchObject({ status: 422, body: { code: 'message_rejected' } })
  })
})
