import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSettings } from '#src/platform/config/index.ts'
import { createTransform, schemaSettings } from '#src/spi/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { pacs008 } from '../../../support/messages.ts'
import { appWith, envelope, json, signature, xsd } from './support.ts'

let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'schemas-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe.each([true, false])('POST /v1/validate, learning: %p', (learning) => {
  const { validate, schemas } = appWith(undefined, learning)

  test('a message like one before it is known to be so where that is learned, and nowhere else', () => {
    const shapes = ['1', '2', '3', '4'].map((amount) => {
      const message = pacs008({ signature }).replace('>1000.50<', `>${amount}000.50<`)
      return schemas.scanner.scan(new TextEncoder().encode(message)).shape
    })
    expect(shapes.at(-1) !== undefined).toBe(learning)
  })

  test('refuses a member that it does not know', async () => {
    const response = await validate(pacs008({ signature }), { mesage: '' })
    expect(response.status).toBe(400)
    expect((await json(response)).errors).toMatchObject([{ rule: 'unknown' }])
  })

  test('has the same verdicts in whatever order', async () => {
    const right = pacs008({ signature })
    const wrong = right.replace('12345678909', '1')
    const verdicts: boolean[] = []
    for (const message of [right, right, wrong, right, wrong, wrong, right]) {
      verdicts.push((await json(await validate(message))).valid)
    }
    expect(verdicts).toEqual([true, true, false, true, false, false, true])
  })

  test('says type, version, revision and that a message is valid', async () => {
    const response = await validate(pacs008({ signature }))
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      type: 'pacs.008',
      version: '1.13',
      schema_version: '1.13',
      revision: '5.10.1',
      valid: true,
      violations: [],
      truncated: false,
    })
  })

  test('lists violations by place and shape', async () => {
    const response = await validate(pacs008({ signature }).replace('12345678909', '1'))
    expect(await response.json()).toMatchObject({
      valid: false,
      violations: [
        {
          path: '/Envelope/Document/FIToFICstmrCdtTrf/CdtTrfTxInf/Dbtr/Id/PrvtId/Othr/Id',
          line: 1,
          rule: 'pattern',
          got: '1 character, 9',
          expected: '[0-9]{11}|[0-9A-Z]{12}[0-9]{2}',
        },
      ],
    })
  })

  test('judges a version without a schema by the nearest one, and names that', async () => {
    const newer = pacs008({ signature, version: '1.99' })
    const judged = await (await validate(newer)).json()
    expect(judged).toMatchObject({ version: '1.99', schema_version: '1.16', valid: true })
    const older = await (await validate(envelope('0.1', ''))).json()
    expect(older).toMatchObject({ version: '0.1', schema_version: '1.3', valid: false })
    const other = envelope('1.3', '').replace('pibr.001', 'pacs.009')
    expect((await validate(other)).status).toBe(422)
  })

  test.each([
    ['<a', 400],
    ['<a/>', 422],
  ])('%s has no verdict', async (xml, status) => {
    expect((await validate(xml)).status).toBe(status)
  })
})

test.each([
  [{}, true],
  [{ SPI_SCHEMA_LEARNING: 'true' }, true],
  [{ SPI_SCHEMA_LEARNING: 'false' }, false],
])('%p is read as learning: %p', (env, learning) => {
  expect(loadSettings({ schemas: schemaSettings }, env).values.schemas.learning).toBe(learning)
})

test('GET /v1/schemas and GET /v1/codes', async () => {
  const { get } = appWith(undefined)
  const { schemas, revision } = await get('/v1/schemas')
  expect(revision).toBe('5.11.1')
  expect(schemas.length).toBe(27)
  expect(schemas[0].revisions['5.11.1']).toEqual({ version: '1.14', certainty: 'inferred' })
  const { codes } = await get('/v1/codes')
  expect(codes.status_reason.find(({ code }: { code: string }) => code === 'AC03')).toMatchObject({
    raised_by: ['R'],
    certainty: 'official',
    since: null,
    until: null,
  })
  expect(codes.mandate_refusal.find(({ code }: { code: string }) => code === 'SA01')).toEqual({
    code: 'SA01',
    meaning: null,
    certainty: 'unknown',
    remedy: expect.objectContaining({ pt: expect.stringContaining('catálogo') }),
    raised_by: ['R', 'P'],
    since: null,
    until: null,
  })
})

test('options.validate of a transformation refuses with every violation', async () => {
  const { record, key } = testKey('spi:transform')
  const { metrics } = testApp([])
  const { routes = [] } = createTransform({ metrics })
  const app = testApp(routes, { keys: [record] })
  const message = pacs008({ signature }).replaceAll('CACC', 'CURR')
  const send = async (validate: boolean) =>
    await app.call('POST', '/v1/transform/pacs008', {
      key,
      body: { message, options: { validate } },
    })
  expect((await send(false)).status).toBe(200)
  const refused = await send(true)
  expect(refused.status).toBe(422)
  const { code, errors } = await json(refused)
  expect(code).toBe('schema_violation')
  expect(errors.map(({ rule }: { rule: string }) => rule)).toEqual(['enumeration', 'enumeration'])
})

test('options.validate says where it lists only the first of many violations', async () => {
  const { record, key } = testKey('spi:transform')
  const { metrics } = testApp([])
  const { routes = [] } = createTransform({ metrics })
  const app = testApp(routes, { keys: [record] })
  const refusal = async (transactions: number) => {
    const message = pacs008({ signature, transactions }).replaceAll('>SLEV<', '>DEBT<')
    const body = { message, options: { validate: true } }
    return await json(await app.call('POST', '/v1/transform/pacs008', { key, body }))
  }
  const few = await refusal(99)
  expect(few.detail).toBe('The message breaks its schema at 99 place(s).')
  expect(few.errors.length).toBe(99)
  const many = await refusal(101)
  expect(many.detail).toBe(
    'The message breaks its schema at many places; the first 100 are listed.',
  )
  expect(many.errors.length).toBe(100)
})

test('options.validate is refused where there is no schema to validate by', async () => {
  const { record, key } = testKey('spi:transform')
  const { metrics } = testApp([])
  const { routes = [] } = createTransform({ metrics })
  const app = testApp(routes, { keys: [record] })
  const message = pacs008({ signature, version: '7.77' })
  const send = async (validate: boolean) =>
    await app.call('POST', '/v1/transform/pacs008', {
      key,
      body: { message, options: { validate } },
    })
  expect((await send(false)).status).toBe(200)
  const refused = await send(true)
  expect(refused.status).toBe(422)
  expect(await json(refused)).toMatchObject({
    code: 'message_rejected',
    detail: 'There is no schema for pacs.008 7.77.',
  })
})

test('options.validate asks the schemas of SPI_SCHEMA_DIR', async () => {
  const folder = join(directory, 'strict')
  mkdirSync(folder)
  writeFileSync(
    join(folder, 'pacs.008.xsd'),
    xsd('1.13').replaceAll('/pi/pibr.001/', '/pi/pacs.008/'),
  )
  writeFileSync(join(folder, 'new.xsd'), xsd('9.9'))
  const { schemas, get } = appWith(folder)
  const listed = await get('/v1/schemas')
  const versionsOf = (name: string) =>
    listed.schemas.find(({ type }: { type: string }) => type === name).versions
  expect(versionsOf('pibr.001')).toEqual(['1.3', '9.9'])
  expect(versionsOf('pacs.008').filter((version: string) => version === '1.13')).toHaveLength(1)
  expect([...schemas.learnedVersions].sort()).toEqual(['pacs.008 1.13', 'pibr.001 9.9'])
  const { record, key } = testKey('spi:transform')
  const { metrics } = testApp([])
  const { routes = [] } = createTransform({ metrics, catalogue: schemas.catalogue })
  const app = testApp(routes, { keys: [record] })
  const body = { message: pacs008({ signature }), options: { validate: true } }
  const refused = await app.call('POST', '/v1/transform/pacs008', { key, body })
  expect(refused.status).toBe(422)
  expect((await json(refused)).errors).toMatchObject([{ rule: 'element-content' }])
})
