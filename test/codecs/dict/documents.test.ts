import { describe, expect, test } from 'bun:test'
import { CodecError } from '#codecs/bytes'
import {
  type EntryRequest,
  entryElement,
  type KeptEntry,
  problemElement,
  readEntryRequest,
  readKeptEntry,
  readProblem,
  writeElement,
} from '#codecs/dict'
import { createXmlScanner } from '#codecs/xml'
import { hasSharedData, readSharedData, skipReason } from '../../support/shared-data.ts'

const scanner = createXmlScanner()
const encode = (xml: string): Uint8Array => new TextEncoder().encode(xml)
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const codeOf = (xml: string): string => {
  try {
    const document = scanner.scan(encode(xml))
    readKeptEntry(document, document.root)
    return 'none'
  } catch (error) {
    if (error instanceof CodecError) return error.code
    throw error
  }
}

const kept: KeptEntry = {
  key: '11122233300',
  keyType: 'CPF',
  account: {
    participant: '12345678',
    branch: '0001',
    accountNumber: '0007654321',
    accountType: 'CACC',
  },
  openedAt: '2010-01-10T03:00:00Z',
  owner: { taxIdNumber: '11122233300', name: 'João Silva' },
  createdAt: '2019-11-18T03:00:00Z',
  ownedSince: '2019-11-18T03:00:00Z',
  claimedSince: '2019-11-19T03:00:00Z',
}

const answer = (entry: KeptEntry): string =>
  decode(writeElement(['GetEntryResponse', [entryElement(entry)]]))

describe.skipIf(!hasSharedData)(`the official examples${skipReason}`, () => {
  /** Without declaration, the empty signature, and the layout between tags. */
  const example = (name: string): string =>
    decode(readSharedData(`dict/examples/${name}.xml`))
      .replace(/^<\?xml[^>]*>/, '')
      .replace('<Signature></Signature>', '')
      .replace(/>\s+</g, '><')
      .trim()

  test('an entry is read', () => {
    const document = scanner.scan(readSharedData('dict/examples/entries/GetEntryResponse.xml'))
    expect(readKeptEntry(document, document.root)).toEqual(kept)
  })

  test('a request is written byte for byte', () => {
    const { owner, account, openedAt } = kept
    const entry: EntryRequest = {
      key: '+5561988880000',
      keyType: 'PHONE',
      owner,
      account,
      openedAt,
    }
    const request = writeElement([
      'CreateEntryRequest',
      [
        entryElement(entry),
        ['Reason', 'USER_REQUESTED'],
        ['RequestId', 'a946d533-7f22-42a5-9a9b-e87cd55c0f4d'],
      ],
    ])
    expect(decode(request)).toBe(example('entries/CreateEntryRequest'))
    const document = scanner.scan(request)
    expect(readEntryRequest(document, document.root)).toEqual(entry)
  })
})

describe('an entry', () => {
  test('comes back as it was, with all that XML would take for itself', () => {
    const odd: KeptEntry = {
      ...kept,
      key: '12abc34501de35'.toUpperCase(),
      keyType: 'CNPJ',
      owner: { taxIdNumber: '12ABC34501DE35', name: 'Irmãos & <Cia>', tradeName: 'A>B' },
      account: { participant: 'ABCD1234', accountNumber: '1', accountType: 'TRAN' },
      claimedSince: undefined,
    }
    const document = scanner.scan(encode(answer(odd)))
    const read = readKeptEntry(document, document.root)
    expect(read).toEqual({ ...odd, account: { ...odd.account, branch: undefined } })
  })

  test.each([
    ['no entry', '<GetEntryResponse></GetEntryResponse>'],
    [
      'two',
      `<R>${answer(kept)
        .replace(/<\/?GetEntryResponse>/g, '')
        .repeat(2)}</R>`,
    ],
    ['no key', answer(kept).replace(/<Key>.*<\/Key>/, '')],
    ['two keys', answer(kept).replace('<KeyType>', '<Key>1</Key><KeyType>')],
    ['another type', answer(kept).replace('>CPF<', '>PASSPORT<')],
    ['a company with a CPF', answer(kept).replace('NATURAL_PERSON', 'LEGAL_PERSON')],
    ['an account with a dash', answer(kept).replace('0007654321', '765-4')],
    ['a name of 151', answer(kept).replace('João Silva', 'x'.repeat(151))],
    ['a line in a name', answer(kept).replace('João Silva', 'João&#10;Silva')],
    ['no moment', answer(kept).replace('2019-11-18T03:00:00Z', 'yesterday')],
  ])('with %s is refused', (_, xml) => {
    expect(codeOf(xml)).toBe('dict_document')
  })

  test.each([
    '2026-02-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T25:00:00Z',
    '0000-01-01T00:00:00Z',
    '2026-01-01T00:00:00+16:00',
  ])('of %s is refused, as the database would', (at) => {
    expect(codeOf(answer(kept).replaceAll('2019-11-18T03:00:00Z', at))).toBe('dict_document')
    expect(codeOf(answer(kept).replaceAll('2010-01-10T03:00:00Z', at))).toBe('dict_document')
  })

  // What DICT API 2.12.1 takes: whoever cannot read it cannot pay.
  test.each([
    ['a name of 150', 'João Silva', 'x'.repeat(150)],
    ['an account in lower case', '0007654321', '765x'],
    ['an ISPB in lower case', '12345678', '99999a04'],
  ])('takes %s', (_, before, after) => {
    expect(codeOf(answer(kept).replace(before, after))).toBe('none')
  })

  test('names an institution in capital letters, whatever the directory writes', () => {
    const document = scanner.scan(encode(answer(kept).replace('12345678', '99999a04')))
    expect(readKeptEntry(document, document.root).account.participant).toBe('99999A04')
  })

  test('with half a character is not written', () => {
    const owner = { ...kept.owner, name: '\ud800' }
    expect(() => answer({ ...kept, owner })).toThrow('well-formed')
  })
})

describe('a problem', () => {
  test('tells its code and status, and nothing that could be personal', () => {
    const bytes = writeElement(
      problemElement('https://dict.pi.rsfn.net.br/api/v2', {
        code: 'EntryInvalid',
        title: 'x',
        status: 400,
        detail: 'key 11122233300',
      }),
    )
    expect(readProblem(scanner.scan(bytes))).toEqual({ code: 'EntryInvalid', status: 400 })
  })

  test.each([
    '<html></html>',
    '<problem></problem>',
    '<problem><type>x</type><status>abc</status></problem>',
  ])('of another form tells nothing: %s', (xml) => {
    expect(readProblem(scanner.scan(encode(xml)))).toEqual({ code: '', status: undefined })
  })
})
