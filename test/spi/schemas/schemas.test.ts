import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'
import { createLogger } from '#src/platform/telemetry/index.ts'
import { createSchemas, createTransform } from '#src/spi/index.ts'
import {
  archiveBytesMax,
  loadSchemas,
  schemaBytesMax,
  schemaFilesMax,
} from '../../../src/spi/schemas/load.ts'
import { testApp, testKey } from '../../support/app.ts'
import { pacs008, shapedSignature } from '../../support/messages.ts'

const signature = shapedSignature.replaceAll('q=', 'A=')
const logger = createLogger({ level: 'error', sink: { write: () => {} } })

// biome-ignore lint/suspicious/noExplicitAny: an answer's members are what the tests look at
const json = async (response: Response): Promise<any> => await response.json()

let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'schemas-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A schema of our own for a version that no catalogue has. */
const xsd = (version: string, type = 'xs:date'): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="https://www.bcb.gov.br/pi/pibr.001/${version}" elementFormDefault="qualified"><xs:element name="Envelope" type="${type}"/></xs:schema>`

const envelope = (version: string, text: string): string =>
  `<Envelope xmlns="https://www.bcb.gov.br/pi/pibr.001/${version}">${text}</Envelope>`

const appWith = (folder: string | undefined) => {
  const { record, key } = testKey('spi:transform')
  const schemas = createSchemas({ settings: { folder, revision: '5.11.1' }, logger })
  const app = testApp(schemas.routes ?? [], { keys: [record] })
  const validate = async (xml: string): Promise<Response> =>
    await app.call('POST', '/v1/validate', { key, body: { message: xml } })
  const get = async (path: string) => json(await app.call('GET', path, { key }))
  return { validate, get, schemas }
}

/** The smallest archive: local headers, data, directory. */
const zipOf = (files: Readonly<Record<string, string>>, stored = false): Uint8Array => {
  const locals: Buffer[] = []
  const directoryEntries: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const data = stored ? Buffer.from(text) : deflateRawSync(text)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(stored ? 0 : 8, 4)
    common.writeUInt32LE(crc32(text), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(Buffer.byteLength(text), 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), data])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    const made = Buffer.from([20, 0])
    directoryEntries.push(
      Buffer.concat([Buffer.from('PK\x01\x02'), made, common, tail, Buffer.from(name)]),
    )
    locals.push(local)
    offset += local.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(locals.length, 8)
  end.writeUInt16LE(locals.length, 10)
  end.writeUInt32LE(Buffer.concat(directoryEntries).length, 12)
  end.writeUInt32LE(offset, 16)
  return new Uint8Array(Buffer.concat([...locals, ...directoryEntries, end]))
}

describe('POST /v1/validate', () => {
  const { validate } = appWith(undefined)

  test('says type, version, revision and that a message is valid', async () => {
    const response = await validate(pacs008({ signature }))
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      type: 'pacs.008',
      version: '1.13',
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

  test.each([
    ['<a', 400],
    ['<a/>', 422],
    [envelope('7.7', ''), 422],
  ])('%s has no verdict', async (xml, status) => {
    expect((await validate(xml)).status).toBe(status)
  })
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
  expect(codes.mandate_refusal.find(({ code }: { code: string }) => code === 'AP07')).toEqual({
    code: 'AP07',
    meaning: null,
    certainty: 'unknown',
    raised_by: [],
    since: null,
    until: null,
  })
})

describe('SPI_SCHEMA_DIR', () => {
  const files = {
    'catalogue/pibr.001.spi.9.9.xsd': xsd('9.9'),
    'broken.xsd': xsd('9.8', 'Missing'),
    'other.xsd': xsd('9.9').replace('https://www.bcb.gov.br', 'urn'),
    'readme.txt': 'no schema',
  }

  const expectLoaded = async (path: string) => {
    const { get, validate } = appWith(path)
    const { loaded } = await get('/v1/schemas')
    expect(loaded.map(({ outcome }: { outcome: string }) => outcome).sort()).toEqual([
      'failed',
      'loaded',
      'skipped',
    ])
    expect(await (await validate(envelope('9.9', '2026-03-02'))).json()).toMatchObject({
      version: '9.9',
      revision: null,
      valid: true,
    })
    expect(await (await validate(envelope('9.9', 'x'))).json()).toMatchObject({ valid: false })
    expect(await (await validate(pacs008({ signature }))).json()).toMatchObject({ valid: true })
  }

  test('is a folder with subfolders', async () => {
    const folder = join(directory, 'folder')
    mkdirSync(join(folder, 'catalogue'), { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    await expectLoaded(folder)
  })

  test.each([true, false])('is a zip archive, stored: %p', async (stored) => {
    const path = join(directory, 'spi.zip')
    writeFileSync(path, zipOf(files, stored))
    await expectLoaded(path)
  })

  test('tells at the start what was found, and what is not among it', () => {
    const folder = join(directory, 'report')
    mkdirSync(join(folder, 'catalogue'), { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const sent = xsd('1.5').replaceAll('/pi/pibr.001/', '/pi/pacs.004/')
    writeFileSync(join(folder, 'sent.xsd'), sent)
    writeFileSync(join(folder, 'twice.xsd'), sent)
    const lines: string[] = []
    const sink = { write: (line: string) => void lines.push(line) }
    createSchemas({
      settings: { folder, revision: '5.11.1' },
      logger: createLogger({ level: 'info', sink }),
    })
    const told = lines
      .join('')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(told).toMatchObject([
      {
        msg: 'schema file was not loaded',
        file: 'broken.xsd',
        reason: expect.stringContaining('there is no type'),
      },
      { msg: 'schema file was left out', file: 'other.xsd' },
      {
        msg: 'schema file was left out',
        file: 'twice.xsd',
        reason: 'pacs.004 1.5 is loaded from sent.xsd',
      },
      {
        msg: 'schemas loaded',
        files: 5,
        loaded: ['pibr.001 9.9', 'pacs.004 1.5'],
        revision: '5.11.1',
      },
    ])
    const builtIn: readonly string[] = told[3].built_in
    expect(builtIn.length).toBe(26)
    expect(builtIn).toContain('pacs.008 1.14')
    expect(builtIn).not.toContain('pacs.004 1.5')
  })

  test('may hold files of one name in several folders; each includes its neighbour', async () => {
    const main = (version: string) =>
      xsd(version, 'T').replace(
        '<xs:element',
        '<xs:include schemaLocation="types.xsd"/><xs:element',
      )
    const types = (base: string) =>
      `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:simpleType name="T"><xs:restriction base="${base}"/></xs:simpleType></xs:schema>`
    const nested = {
      'one/types.xsd': types('xs:date'),
      'one/main.xsd': main('9.1').replace(
        'type="T"',
        'xmlns:p="https://www.bcb.gov.br/pi/pibr.001/9.1" type="p:T"',
      ),
      'two/types.xsd': types('xs:int'),
      'two/main.xsd': main('9.2').replace(
        'type="T"',
        'xmlns:p="https://www.bcb.gov.br/pi/pibr.001/9.2" type="p:T"',
      ),
      '__MACOSX/one/._main.xsd': 'what an archiver adds',
    }
    const path = join(directory, 'nested.zip')
    writeFileSync(path, zipOf(nested))
    const { get, validate } = appWith(path)
    const { loaded } = await get('/v1/schemas')
    expect(loaded.map(({ file, outcome }: Record<string, string>) => `${file} ${outcome}`)).toEqual(
      [
        'one/main.xsd loaded',
        'one/types.xsd skipped',
        'two/main.xsd loaded',
        'two/types.xsd skipped',
      ],
    )
    const judge = async (version: string, text: string) =>
      (await json(await validate(envelope(version, text)))).valid
    expect(await judge('9.1', '2026-03-02')).toBe(true)
    expect(await judge('9.1', '7')).toBe(false)
    expect(await judge('9.2', '7')).toBe(true)
    expect(await judge('9.2', '2026-03-02')).toBe(false)
  })

  test('that is damaged or too large is said to be', async () => {
    const path = join(directory, 'damaged.zip')
    const bytes = zipOf({ 'a.xsd': xsd('9.9') }, true)
    bytes[60] = (bytes[60] ?? 0) ^ 1
    writeFileSync(path, bytes)
    const { loaded } = await appWith(path).get('/v1/schemas')
    expect(loaded).toMatchObject([{ outcome: 'failed', reason: 'the entry is damaged' }])
    const large = join(directory, 'large')
    mkdirSync(large)
    const padded = (size: number) => xsd('9.9').padEnd(size, ' ')
    writeFileSync(join(large, 'a.xsd'), padded(schemaBytesMax))
    writeFileSync(join(large, 'b.xsd'), padded(schemaBytesMax + 1).replace('9.9', '9.8'))
    const outcomes = (await appWith(large).get('/v1/schemas')).loaded
    expect(outcomes).toMatchObject([
      { file: 'a.xsd', outcome: 'loaded' },
      {
        file: 'b.xsd',
        outcome: 'failed',
        reason: expect.stringContaining('has over 4194304 bytes'),
      },
    ])
    const archive = join(directory, 'archive.zip')
    const end = zipOf({ 'a.xsd': xsd('9.9') })
    writeFileSync(archive, '')
    truncateSync(archive, archiveBytesMax + 1)
    expect(() => appWith(archive)).toThrow('has over 67108864 bytes')
    truncateSync(archive, archiveBytesMax)
    expect(() => appWith(archive)).toThrow('no zip archive')
    writeFileSync(archive, end)
    expect((await appWith(archive).get('/v1/schemas')).loaded.length).toBe(1)
  })

  test('holds 500 files at most', () => {
    const path = join(directory, 'many.zip')
    const many = (count: number) =>
      zipOf(Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}.xsd`, ''])))
    writeFileSync(path, many(schemaFilesMax))
    expect(loadSchemas(path).report.length).toBe(schemaFilesMax)
    writeFileSync(path, many(schemaFilesMax + 1))
    expect(() => appWith(path)).toThrow('holds more than 500 .xsd files')
  })

  test('that holds no schema, or is no archive, ends the start', () => {
    const path = join(directory, 'not.zip')
    writeFileSync(path, 'PK')
    expect(() => appWith(path)).toThrow('no zip archive')
    writeFileSync(path, zipOf({ 'readme.txt': '' }))
    expect(() => appWith(path)).toThrow('no .xsd file')
    expect(() => appWith(join(directory, 'absent'))).toThrow('SPI_SCHEMA_DIR: ENOENT')
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
  const { schemas } = appWith(folder)
  const { record, key } = testKey('spi:transform')
  const { metrics } = testApp([])
  const { routes = [] } = createTransform({ metrics, catalogue: schemas.catalogue })
  const app = testApp(routes, { keys: [record] })
  const body = { message: pacs008({ signature }), options: { validate: true } }
  const refused = await app.call('POST', '/v1/transform/pacs008', { key, body })
  expect(refused.status).toBe(422)
  expect((await json(refused)).errors).toMatchObject([{ rule: 'element-content' }])
})
