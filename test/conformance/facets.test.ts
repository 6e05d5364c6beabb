import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import {
  createMessageScanner,
  isMessageType,
  knownVersions,
  type MessageType,
  messageTypes,
  messageVocabulary,
  namespaceOf,
  ourCatalogue,
  schemaText,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import { schemaTexts } from '../../codecs/iso20022/catalogue/catalogue.ts'
import { documentsOfFacets } from '../support/facet-documents.ts'
import { facetDifferences, facetsOf, readFacetTable } from '../support/facets.ts'
import { shapedSignature } from '../support/messages.ts'
import { hasSharedData, sharedDataPath, skipReason } from '../support/shared-data.ts'

/*
 * Our schemas against tables that others made from the official ones, element by element; and our verdicts on documents
 * made from those tables alone.
 */

/** Where our schema says something else, and the source that makes us; each has to be so, and no other. */
const explained: Readonly<Record<string, readonly string[]>> = {}

/** Choices with several options; the tables do not mark them apart from those with one. */
const choices: ReadonlySet<string> = new Set(['PtyModReq/Mod/ReqdMod'])

const encoder = new TextEncoder()

const tables = (hasSharedData ? readdirSync(sharedDataPath('spi/facets')) : [])
  .filter((file) => /^[a-z]{4}\.\d{3}-.*\.tsv$/.test(file))
  .map((file) => file.slice(0, -'.tsv'.length))
  .sort()
  .map((name) => {
    const [type = '', version = ''] = name.split('-')
    if (!isMessageType(type)) throw new Error(`${type} is not in the catalogue`)
    return { name, type, version }
  })

const ourFacets = (type: MessageType, version: string) =>
  facetsOf('message.xsd', (file) => {
    const text = file === 'message.xsd' ? schemaText(type, version) : schemaTexts.get(file)
    return text === undefined ? undefined : encoder.encode(text)
  })

describe.if(hasSharedData)(`our schemas and the tables of facets${skipReason}`, () => {
  test('there is a table for every type', () => {
    expect([...new Set(tables.map(({ type }) => type))].sort()).toEqual([...messageTypes].sort())
    for (const { type, version } of tables) expect(knownVersions(type)).toContain(version)
  })

  test.each(tables)('$name says the same of every element', ({ name, type, version }) => {
    const { header, document } = ourFacets(type, version)
    expect(facetDifferences(readFacetTable('head.001'), header)).toEqual([])
    expect(facetDifferences(readFacetTable(name), document)).toEqual(explained[name] ?? [])
  })

  const [full, learning] = [
    createXmlScanner({ vocabulary: messageVocabulary }),
    createMessageScanner(nativeText),
  ]

  test.each(tables)('$name: right documents and one fault each', ({ name, type, version }) => {
    const schema = ourCatalogue.schemaOf(type, version)
    if (schema === undefined) throw new Error('no schema')
    const party = (tag: string) =>
      `<${tag}><FIId><FinInstnId><Othr><Id>00038166</Id></Othr></FinInstnId></FIId></${tag}>`
    const signature = shapedSignature.replaceAll('q=', 'A=')
    const header = `<AppHdr>${party('Fr')}${party('To')}<BizMsgIdr>M${'0'.repeat(31)}</BizMsgIdr><MsgDefIdr>${type}.spi.${version}</MsgDefIdr><CreDt>2026-03-02T14:05:09.123Z</CreDt><Sgntr>${signature}</Sgntr></AppHdr>`
    const wrong: string[] = []
    const documents = documentsOfFacets(readFacetTable(name), choices)
    for (const { made, fault, xml } of documents) {
      const bytes = encoder.encode(
        `<Envelope xmlns="${namespaceOf({ type, version })}">${header}${xml}</Envelope>`,
      )
      const verdict = validateDocument(schema, full.scan(bytes))
      const quick = learning.validate(schema, learning.scan(bytes))
      if (!Bun.deepEquals(quick, verdict)) wrong.push(`${made}: two verdicts`)
      const [violation] = verdict.violations
      const path = violation?.path.replaceAll(/\[\d+\]/g, '').replace('/Envelope/Document/', '')
      if (fault === undefined ? verdict.valid : path?.startsWith(fault)) continue
      wrong.push(`${made}: ${path} ${violation?.rule}`)
    }
    expect(wrong).toEqual([])
    expect(documents.filter(({ fault }) => fault !== undefined).length).toBeGreaterThan(8)
  })
})
