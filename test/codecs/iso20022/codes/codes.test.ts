import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  codeLists,
  codesOf,
  knownVersions,
  type MessageType,
  ourCatalogue,
  schemaText,
} from '#codecs/iso20022'

/** The codes that a schema admits behind a place in its text. */
const admitted = (type: MessageType, version: string, place: string): readonly string[] => {
  const text = schemaText(type, version) ?? ''
  const from = text.indexOf(place)
  if (from === -1) throw new Error(`${type} ${version} has no ${place}`)
  const block = text.slice(from, text.indexOf('</xs:simpleType>', from))
  return [...block.matchAll(/enumeration value="([^"]+)"/g)].map(([, code = '']) => code).sort()
}

const lists = [
  ['status_reason', 'pacs.002', 'name="StatusReason"'],
  ['mandate_cancellation_reason', 'pain.011', 'name="Rsn"'],
  ['mandate_refusal', 'pain.012', 'name="RefusalReason"'],
  ['charge_refusal', 'pain.014', 'name="RefusalReason"'],
  ['receipt_refusal', 'camt.025', 'name="Rsn"'],
  ['cancellation_refusal', 'camt.029', 'name="RefusalReason"'],
  ['cancellation_reason', 'camt.055', 'name="Rsn"'],
  ['party_status_reason', 'reda.016', 'name="Rsn"'],
] as const

describe('the codes of a list are those of the schema, in every version', () => {
  for (const [name, type, place] of lists) {
    test(`${name}, ${type}`, () => {
      for (const version of knownVersions(type)) {
        const codes = codesOf(codeLists[name], version).map(({ code }) => code)
        expect([version, codes.sort()]).toEqual([version, [...admitted(type, version, place)]])
      }
    })
  }

  test('local_instrument and purpose, pacs.008', () => {
    const codes = (name: 'local_instrument' | 'purpose', version: string) =>
      codesOf(codeLists[name], version).map(({ code }) => code)
    const inSchema = (place: string) => [...admitted('pacs.008', '1.13', place)]
    expect(codes('local_instrument', '1.13').sort()).toEqual(inSchema('name="PaymentInstrument"'))
    expect(codes('purpose', '1.13').sort()).toEqual(inSchema('name="Purpose"'))
    expect(codes('local_instrument', '1.15')).toContain('APES')
    expect(codes('purpose', '1.15')).toContain('IPRT')
  })
})

describe('the codes of a list are all that an element of its message may hold', () => {
  test.each([
    ['return_reason', 'pacs.004', 'Cd'],
    ['return_reason', 'camt.054', 'Cd'],
    ['priority', 'pacs.008', 'InstrPrty'],
    ['priority', 'pacs.004', 'SttlmPrty'],
    ['service_level', 'pacs.008', 'Prtry'],
    ['withdrawal_agent', 'pacs.008', 'Prtry'],
    ['adjustment_reason', 'pacs.008', 'Rsn'],
    ['account_type', 'pacs.008', 'Cd'],
    ['purpose', 'pacs.008', 'Cd'],
    ['local_instrument', 'pacs.008', 'Prtry'],
    ['transaction_status', 'pacs.002', 'TxSts'],
    ['mandate_status', 'pain.012', 'MndtSts'],
    ['charge_status', 'pain.014', 'TxSts'],
    ['charge_purpose', 'pain.013', 'Prtry'],
    ['cancellation_status', 'camt.029', 'PmtInfCxlSts'],
    ['receipt_status', 'camt.025', 'Cd'],
    ['party_status', 'reda.016', 'Sts'],
    ['entry_status', 'camt.054', 'Cd'],
  ] as const)('%s: %s, %s', (name, type, element) => {
    for (const version of knownVersions(type)) {
      const schema = ourCatalogue.schemaOf(type, version)
      const found = (schema?.elements ?? [])
        .filter((one) => one.name === element)
        .map((one) => schema?.types[one.type]?.simple?.limits.enumeration?.toSorted())
      const codes = codesOf(codeLists[name], version).map(({ code }) => code)
      expect(found).toContainEqual(codes.toSorted())
    }
  })

  test('cancellation_processing: camt.055 and camt.029', () => {
    const admittedBy = (type: 'camt.055' | 'camt.029', version: string) => {
      const schema = ourCatalogue.schemaOf(type, version)
      const element = schema?.elements.find(({ name }) => name === 'CxlPrcgTp')
      return schema?.types[element?.type ?? -1]?.simple?.limits.enumeration ?? []
    }
    expect([...admittedBy('camt.029', '1.2'), ...admittedBy('camt.055', '1.1')].sort()).toEqual(
      [...codeLists.cancellation_processing.keys()].sort(),
    )
  })
})

test('an entry has a meaning in both languages, or says that it is unknown', () => {
  for (const list of Object.values(codeLists)) {
    expect(list.size).toBeGreaterThan(0)
    for (const [key, { code, meaning, certainty }] of list) {
      expect(key).toBe(code)
      expect([code, meaning === undefined]).toEqual([code, certainty === 'unknown'])
      if (meaning !== undefined)
        expect(Math.min(meaning.en.length, meaning.pt.length)).toBeGreaterThan(2)
    }
  }
})

test('every row of the table is one code of a list that has a name', async () => {
  const path = join(import.meta.dir, '../../../../codecs/iso20022/codes/codes.tsv')
  const [head, ...rows] = (await Bun.file(path).text()).trimEnd().split('\n')
  const form =
    /^([a-z_]+\t[A-Z0-9]+)\tR?P?S?\t(?:official|reported|inferred|unknown)(?:\t[^\t]*){0,6}$/
  const names = rows.map((row) => form.exec(row)?.[1] ?? `no row: ${row}`)
  const codes = Object.entries(codeLists).flatMap(([name, list]) =>
    [...list.keys()].map((code) => `${name}\t${code}`),
  )
  expect(names.toSorted()).toEqual(codes.toSorted())
  expect(head?.split('\t').length).toBe(10)
})

/** Lists that say why something was refused, given back or cancelled. */
const reasonLists = [...lists.map(([name]) => name), 'return_reason'] as const

/** No source that we could read has the meaning of these. */
const unread: readonly string[] = [
  ...['mandate_refusal SA01', 'cancellation_refusal PRJL'],
  ...'CAI4 CP10 CTT9 DI11 DIR1 EXP5 IND2 IND3 IND4 IND5 ITC6 PCH8 RP13'
    .split(' ')
    .map((code) => `party_status_reason ${code}`),
]

test('every reason has a meaning and advice in both languages', () => {
  const without: string[] = []
  for (const name of reasonLists) {
    for (const { code, meaning, remedy } of codeLists[name].values()) {
      if (meaning === undefined) without.push(`${name} ${code}`)
      const texts = [remedy?.en ?? '', remedy?.pt ?? '']
      expect([name, code, texts.every((text) => /^[A-Z].{15,120}\.$/.test(text))]).toEqual([
        name,
        code,
        true,
      ])
      expect(texts[0]).not.toBe(texts[1])
    }
  }
  expect(without.sort()).toEqual(unread.toSorted())
  // A code may mean the same in another message, and ask for something else of whoever reads it there.
  const [here, there] = [codeLists.charge_refusal.get('AC06'), codeLists.status_reason.get('AC06')]
  expect(here?.remedy).not.toEqual(there?.remedy)
})

test('two codes of a list do not mean the same', () => {
  for (const list of Object.values(codeLists)) {
    const meanings = [...list.values()].flatMap(({ meaning }) => meaning?.pt ?? [])
    expect(new Set(meanings).size).toBe(meanings.length)
  }
})

/** As the API Pix 2.9.0 of the central bank uses them in its examples. */
test('the reasons of the end of an authorisation are those of the API Pix', () => {
  const list = codeLists.mandate_cancellation_reason
  expect(list.get('SLCR')?.meaning?.pt).toBe('Solicitada pelo usuário recebedor')
  expect(list.get('SLDB')?.meaning?.pt).toBe('Solicitada pelo usuário pagador')
  expect(codeLists.mandate_refusal.get('AP13')?.raisedBy).toEqual(['P'])
})

test('what is concluded from another message is said to be', () => {
  const meaning = codeLists.status_reason.get('FF08')?.meaning
  expect(codeLists.status_reason.get('FF08')?.certainty).toBe('official')
  for (const name of ['receipt_refusal', 'cancellation_refusal'] as const) {
    expect(codeLists[name].get('FF08')).toMatchObject({ meaning, certainty: 'inferred' } as object)
  }
  expect(codeLists.status_reason.get('INDT')).toMatchObject({
    certainty: 'reported',
    since: '1.16',
  })
  expect(codeLists.charge_refusal.get('AM23')).toMatchObject({
    certainty: 'inferred',
    until: '2.3',
  })
})

test('who may give a code', () => {
  const raisers = (name: keyof typeof codeLists, code: string) =>
    codeLists[name].get(code)?.raisedBy
  expect(raisers('cancellation_reason', 'FAIL')).toEqual(['P'])
  expect(raisers('cancellation_reason', 'SLBD')).toEqual(['R', 'P'])
  expect(raisers('receipt_refusal', 'AG01')).toEqual(['S'])
  expect(raisers('status_reason', 'ED05')).toEqual(['R', 'S'])
  expect(raisers('charge_refusal', 'AC06')).toEqual(['P'])
})
