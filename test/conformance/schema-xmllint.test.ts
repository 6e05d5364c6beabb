import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CodecError } from '#codecs/bytes'
import {
  compileForSpi,
  createMessageScanner,
  messageVocabulary,
  ourCatalogue,
  parseSchema,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import { schemaTexts } from '../../codecs/iso20022/catalogue/catalogue.ts'
import { shapedSignature } from '../support/messages.ts'
import { createRandom, mutate } from '../support/mutations.ts'
import { seed } from '../support/seed.ts'
import {
  hasSharedData,
  readSharedData,
  sharedDataPath,
  skipReason,
} from '../support/shared-data.ts'

/*
 * Our verdicts against libxml2's, on the official schemas: the official samples, then samples changed as a
 * program with a bug would change them. TRILHO_LONG=1 makes many more changes.
 */

const isLong = process.env['TRILHO_LONG'] === '1'
const mutations = isLong ? 20_000 : 5000
/** One of so many is judged: commit after commit each has its turn. */
const judgedEvery = isLong ? 1 : 3
const filesPerRun = 250

const xmllint = Bun.which('xmllint')
const xmllintReason = xmllint === null ? ' [skipped: xmllint is not installed]' : ''
const reason = `${skipReason}${xmllintReason}`

const official = [
  { type: 'pacs.008', version: '1.13', folder: 'pacs008' },
  { type: 'pacs.002', version: '1.14', folder: 'pacs002' },
  { type: 'pacs.004', version: '1.5', folder: 'pacs004' },
] as const

/** Its digests as base64 demands them: the last character of one has no bits to spare. */
const signature = shapedSignature.replaceAll('q=', 'A=')

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const learning = createMessageScanner(nativeText)
const decoder = new TextDecoder()
const encoder = new TextEncoder()

let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'schema-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const readSpi = (folder: string, file: string): string =>
  decoder.decode(readSharedData(`spi/${folder}/${file}`))

const samplesOf = (folder: string): string[] =>
  readdirSync(sharedDataPath(`spi/${folder}`)).filter((name) => name.endsWith('.xml'))

/** A change may move a prefix out of its scope; such a document is no matter of a schema. */
const wellFormed = (make: () => string): string => {
  for (;;) {
    const text = make()
    try {
      scanner.scan(encoder.encode(text))
      return text
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
    }
  }
}

/** First violation of each document by libxml2: its line, or 0 for a valid document. */
const firstLines = async (schema: string, documents: readonly string[]): Promise<number[]> => {
  const lines: number[] = []
  for (let from = 0; from < documents.length; from += filesPerRun) {
    const names = documents.slice(from, from + filesPerRun).map((text, index) => {
      const name = join(directory, `${index}.xml`)
      writeFileSync(name, text)
      return name
    })
    const run = Bun.spawn([xmllint ?? '', '--noout', '--schema', schema, ...names], {
      stderr: 'pipe',
      stdout: 'ignore',
    })
    const report = await new Response(run.stderr).text()
    await run.exited
    lines.push(...names.map((name) => firstLine(report, name)))
  }
  return lines
}

const firstLine = (report: string, name: string): number => {
  const found = report.indexOf(`${name}:`)
  const valid = report.includes(`${name} validates\n`)
  if (valid === (found !== -1)) throw new Error(`no verdict on ${name}`)
  return valid ? 0 : Number(report.slice(found + name.length + 1).split(':', 1)[0])
}

/** The official schema with a schema for signatures: its wildcard for them is strict. */
const withSignatures = (namespace: string, schema: string): string => {
  const path = join(directory, 'with-signatures.xsd')
  const signatures = join(directory, 'xmldsig.xsd')
  writeFileSync(signatures, schemaTexts.get('xmldsig.xsd') ?? '')
  writeFileSync(
    path,
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="${namespace}"><xs:include schemaLocation="${schema}"/><xs:import namespace="http://www.w3.org/2000/09/xmldsig#" schemaLocation="${signatures}"/></xs:schema>`,
  )
  return path
}

describe.if(hasSharedData && xmllint !== null)(`the official schemas${reason}`, () => {
  for (const { type, version, folder } of official) {
    const file = `${type}.spi.${version}.xsd`
    const officialSchema = () =>
      compileForSpi(
        parseSchema(file, (name) =>
          name === file ? readSharedData(`spi/${folder}/${file}`) : undefined,
        ),
      )
    const ourSchema = () => {
      const schema = ourCatalogue.schemaOf(type, version)
      if (schema === undefined) throw new Error(`no schema for ${type} ${version}`)
      return schema
    }

    test(`${type}: the empty Sgntr is the one violation of every sample`, async () => {
      const names = samplesOf(folder)
      const path = sharedDataPath(`spi/${folder}/${file}`)
      const lines = await firstLines(
        path,
        names.map((name) => readSpi(folder, name)),
      )
      for (const schema of [officialSchema(), ourSchema()]) {
        const found = names.map((name) =>
          validateDocument(schema, scanner.scan(readSharedData(`spi/${folder}/${name}`))),
        )
        expect(found.map(({ violations }) => violations[0]?.line)).toEqual(lines)
        expect(found.flatMap(({ violations }) => violations.map((v) => v.path))).toEqual(
          names.map(() => '/Envelope/AppHdr/Sgntr'),
        )
      }
    })

    test(`${type}: same verdict and first line on one in ${judgedEvery} of ${mutations} changed documents (seed ${seed})`, async () => {
      const namespace = `https://www.bcb.gov.br/pi/${type}/${version}`
      const path = withSignatures(namespace, sharedDataPath(`spi/${folder}/${file}`))
      const random = createRandom(20_022 + Number(folder.slice(-1)))
      const samples = samplesOf(folder).map((name) =>
        scanner.scan(
          encoder.encode(readSpi(folder, name).replace('<Sgntr/>', `<Sgntr>${signature}</Sgntr>`)),
        ),
      )
      const changed = Array.from({ length: mutations }, () => {
        const once = wellFormed(() => mutate(random.pick(samples), random))
        if (random.next(4)) return once
        const first = scanner.scan(encoder.encode(once))
        return wellFormed(() => mutate(first, random))
      })
      const documents = changed.filter((_, index) => (index + seed) % judgedEvery === 0)
      const lines = await firstLines(path, documents)
      const differing: string[] = []
      for (const schema of [officialSchema(), ourSchema()]) {
        for (const [index, text] of documents.entries()) {
          const bytes = encoder.encode(text)
          const verdict = validateDocument(schema, scanner.scan(bytes))
          expect(learning.validate(schema, learning.scan(bytes))).toEqual(verdict)
          const line = verdict.violations[0]?.line ?? 0
          if (line === lines[index]) continue
          differing.push(
            `${line} for ${lines[index]}: ${JSON.stringify(verdict.violations.slice(0, 2))}`,
          )
        }
      }
      expect(differing).toEqual([])
      expect(lines.filter((line) => line > 0).length).toBeGreaterThan(documents.length / 2)
      expect(lines).toContain(0)
    }, 600_000)
  }
})
