import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { isMessageType, namespaceOf } from '#codecs/iso20022'
import { factsIn, recurringTypes } from '../../../src/spi/recurring/facts.ts'
import { documentsOfFacets } from '../../support/facet-documents.ts'
import { readFacetTable } from '../../support/facets.ts'
import { hasSharedData, sharedDataPath, skipReason } from '../../support/shared-data.ts'

/*
 * Mandates and charges as the tables of facets have them, which others made from the official schemas: each document
 * that these admit tells of one, and moves it.
 */

const tables = (hasSharedData ? readdirSync(sharedDataPath('spi/facets')) : [])
  .map((file) => file.replace(/\.tsv$/, ''))
  .filter((name) => recurringTypes.includes(name.split('-')[0] ?? ''))
  .sort()

const party = (tag: string) =>
  `<${tag}><FIId><FinInstnId><Othr><Id>00038166</Id></Othr></FinInstnId></FIId></${tag}>`

describe.if(hasSharedData)(`mandates and charges of the tables of facets${skipReason}`, () => {
  test('there is a table for every type', () => {
    const types = new Set(tables.map((name) => name.split('-')[0]))
    expect([...types].sort()).toEqual([...recurringTypes].sort() as never)
  })

  test.each(tables)('%s: every right document is a step of a timeline', (name) => {
    const [type = '', version = ''] = name.split('-')
    if (!isMessageType(type)) throw new Error(`${type} is not in the catalogue`)
    const header = `<AppHdr>${party('Fr')}${party('To')}<BizMsgIdr>M${'0'.repeat(31)}</BizMsgIdr><MsgDefIdr>${type}.spi.${version}</MsgDefIdr><CreDt>2026-03-02T14:05:09.123Z</CreDt><Sgntr></Sgntr></AppHdr>`
    const wrong: string[] = []
    let right = 0
    for (const { made, fault, xml } of documentsOfFacets(readFacetTable(name), new Set())) {
      if (fault !== undefined) continue
      right++
      const facts = factsIn(
        type,
        Buffer.from(
          `<Envelope xmlns="${namespaceOf({ type, version })}">${header}${xml}</Envelope>`,
        ),
      )
      const isTold =
        facts.length > 0 &&
        facts.every(({ key, event, terms, kind, speaker }) => {
          const isTerms = type === 'pain.009' || type === 'pain.013' ? terms !== null : true
          return (
            key !== '' &&
            event !== null &&
            isTerms &&
            type.startsWith('camt') === (speaker !== undefined && speaker.length === 8) &&
            (kind === 'mandate') === /^pain\.0(09|11|12)$/.test(type)
          )
        })
      if (!isTold) wrong.push(`${made}: ${JSON.stringify(facts).slice(0, 200)}`)
    }
    expect(wrong).toEqual([])
    expect(right).toBeGreaterThan(1)
  })
})
