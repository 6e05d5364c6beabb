import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '#src/platform/observe/index.ts'
import { createSchemas } from '#src/spi/index.ts'
import {
  archiveBytesMax,
  loadSchemas,
  schemaBytesMax,
  schemaFilesMax,
} from '../../../../src/spi/api/schemas/load.ts'
import { pacs008 } from '../../../support/messages.ts'
import {
  hasSharedData,
  readSharedData,
  sharedDataPath,
  skipReason,
} from '../../../support/shared-data.ts'
import { zipOf } from '../../../support/zip.ts'
import { appWith, envelope, json, signature, xsd } from './support.ts'

let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'schemas-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

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

  test('may hold the schema of signatures with its document type declaration', async () => {
    const folder = join(directory, 'signatures')
    mkdirSync(folder)
    const dsig = 'http://www.w3.org/2000/09/xmldsig#'
    const own = `<?xml version="1.0"?>
<!DOCTYPE schema PUBLIC "-//W3C//DTD XMLSchema 200102//EN" "http://www.w3.org/2001/XMLSchema.dtd"
 [ <!ATTLIST schema xmlns:ds CDATA #FIXED "${dsig}">
   <!-- ]> -->
   <!ENTITY dsig '${dsig}'>
   <!ENTITY % p ''>
 ]>
<schema xmlns="http://www.w3.org/2001/XMLSchema" xmlns:ds="&dsig;" targetNamespace="&dsig;" version="0.1" elementFormDefault="qualified">
  <element name="Signature" type="ds:SignatureType"/>
  <complexType name="SignatureType"><sequence><element ref="ds:KeyName"/></sequence></complexType>
  <element name="KeyName" type="string"/>
</schema>`
    writeFileSync(join(folder, 'xmldsig-core-schema.xsd'), own)
    const message = xsd('9.9').replace(
      /(<xs:schema[^>]*>)/,
      `$1<xs:import namespace="${dsig}" schemaLocation="xmldsig-core-schema.xsd"/>`,
    )
    writeFileSync(join(folder, 'pibr.001.xsd'), message)
    const { report } = loadSchemas(folder)
    expect(report.map(({ file, outcome, reason }) => [file, outcome, reason])).toEqual([
      ['pibr.001.xsd', 'loaded', undefined],
      [
        'xmldsig-core-schema.xsd',
        'skipped',
        'its target namespace is no message version of the SPI',
      ],
    ])
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
      settings: { folder, revision: '5.11.1', learning: true },
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

  test('may be an archive that was written on Windows', () => {
    const path = join(directory, 'windows.zip')
    writeFileSync(path, zipOf({ 'spi\\one\\a.xsd': xsd('9.9'), 'spi\\two\\a.xsd': xsd('9.8') }))
    expect(loadSchemas(path).report.map(({ file, outcome }) => [file, outcome])).toEqual([
      ['spi/one/a.xsd', 'loaded'],
      ['spi/two/a.xsd', 'loaded'],
    ])
  })

  test.if(hasSharedData)(
    `takes the official files, as a folder and as an archive${skipReason}`,
    async () => {
      const names = [
        'pacs008/pacs.008.spi.1.13',
        'pacs002/pacs.002.spi.1.14',
        'pacs004/pacs.004.spi.1.5',
      ]
      const decoder = new TextDecoder()
      const texts = Object.fromEntries(
        names.map((name) => [`${name}.xsd`, decoder.decode(readSharedData(`spi/${name}.xsd`))]),
      )
      const archive = join(directory, 'official.zip')
      writeFileSync(archive, zipOf(texts))
      for (const path of [archive, sharedDataPath('spi')]) {
        const { report } = loadSchemas(path)
        expect(report.map(({ type, version }) => `${type} ${version}`).sort()).toEqual([
          'pacs.002 1.14',
          'pacs.004 1.5',
          'pacs.008 1.13',
        ])
        const { validate } = appWith(path)
        const sample = decoder.decode(readSharedData('spi/pacs008/pacs.008_END_1_msg.xml'))
        const { violations } = await json(await validate(sample))
        expect(violations.map(({ path: place }: { path: string }) => place)).toEqual([
          '/Envelope/AppHdr/Sgntr',
        ])
        const signed = sample.replace('<Sgntr/>', () => `<Sgntr>${signature}</Sgntr>`)
        expect(await json(await validate(signed))).toMatchObject({ valid: true, version: '1.13' })
        const wrong = signed.replace(/<MmbId>[^<]*</, '<MmbId>1<')
        expect((await json(await validate(wrong))).violations).toMatchObject([{ rule: 'pattern' }])
      }
    },
  )

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
