import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  createMessageScanner,
  createSchemaValidator,
  ourCatalogue,
  validateDocument,
} from '#codecs/iso20022'
import { nativeText } from '#src/platform/runtime/index.ts'
import { pacs008, shapedSignature, utf8 } from '../../../support/messages.ts'

const validate = createSchemaValidator()

const schema = ourCatalogue.schemaOf('pacs.008', '1.13')
if (schema === undefined) throw new Error('no schema')

type Values = {
  readonly endToEndId: string
  readonly amount: string
  readonly currency: string
  readonly name: string
  readonly account: string
  readonly accepted: string
  readonly purpose: string
  readonly digest: string
  readonly key: string
}

const good: Values = {
  endToEndId: 'E1234567820260302140500000000000',
  amount: '1000.50',
  currency: 'BRL',
  name: 'Conceição &amp; Irmãos',
  account: '500100',
  accepted: '2026-03-02T14:05:00.000Z',
  purpose: 'IPAY',
  digest: `${'q'.repeat(42)}A=`,
  key: 'key',
}

/** Others that are right: with these each value is seen to vary. */
const others: readonly Values[] = [
  {
    endToEndId: 'E1234567820260302140500000000001',
    amount: '7.00',
    currency: 'BRL',
    name: 'Ana',
    account: '1',
    accepted: '2026-12-28T23:59:59.999Z',
    purpose: 'OTHR',
    digest: `${'r'.repeat(42)}A=`,
    key: 'another',
  },
  { ...good, endToEndId: 'E1234567820260302140500000000002', key: 'third' },
]

const signature = shapedSignature.replace(`${'q'.repeat(43)}=`, '@digest')
const template = pacs008({ signature: signature.replaceAll('q=', 'A=') })

const messageOf = (values: Values): Uint8Array =>
  utf8(
    template
      .replace('E1234567820260302140500000000000', values.endToEndId)
      .replace('"BRL"', () => `"${values.currency}"`)
      .replace('1000.50', values.amount)
      .replace('Conceição &amp; Irmãos', () => values.name)
      .replace('500100', values.account)
      .replace('2026-03-02T14:05:00.000Z', values.accepted)
      .replace('IPAY', values.purpose)
      .replace('@digest', values.digest)
      .replace('Id="key"', `Id="${values.key}"`),
  )

const learned = () => {
  const scanner = createMessageScanner(nativeText)
  for (const values of [good, ...others, good, ...others]) {
    expect(validate(schema, scanner.scan(messageOf(values))).valid).toBe(true)
  }
  return scanner
}

const freshVerdict = (bytes: Uint8Array) =>
  validateDocument(schema, createMessageScanner(nativeText).scan(bytes))

const wrong: readonly (readonly [keyof Values, string])[] = [
  ['endToEndId', 'E123456782026030214050000000000'],
  ['endToEndId', 'X1234567820260302140500000000000'],
  ['amount', '1000.505'],
  ['amount', '-1.00'],
  ['amount', 'x'],
  ['currency', 'USD'],
  ['name', 'a'.repeat(141)],
  ['account', '12a'],
  ['accepted', '2026-02-30T14:05:00.000Z'],
  ['accepted', 'yesterday'],
  ['purpose', 'NONE'],
  ['digest', 'qqq'],
  ['key', '1key'],
]

describe('a message of a shape of which others were right', () => {
  test.each(wrong)('is judged by its own %s: %j', (name, value) => {
    const scanner = learned()
    const bytes = messageOf({ ...good, [name]: value })
    const verdict = validate(schema, scanner.scan(bytes))
    expect(verdict.valid).toBe(false)
    expect(verdict).toEqual(freshVerdict(bytes))
    expect(validate(schema, scanner.scan(messageOf(good))).valid).toBe(true)
  })

  test('is one whose shape is known: texts and the name of the key are its own', () => {
    const { shape } = learned().scan(messageOf({ ...good, key: '1key' }))
    expect(shape?.variableTexts.length).toBeGreaterThanOrEqual(6)
    expect(shape?.variableAttributes.length).toBe(1)
  })

  test('has the verdict of one that is read alone, whatever came before', () => {
    const text = fc.oneof(
      fc.constantFrom(...wrong.map(([, value]) => value), ...Object.values(good)),
      fc.stringMatching(/^[A-Za-z0-9.:-]{1,40}$/),
    )
    const change = fc.tuple(fc.constantFrom(...(Object.keys(good) as (keyof Values)[])), text)
    let known = 0
    fc.assert(
      fc.property(fc.array(change, { minLength: 5, maxLength: 30 }), (changes) => {
        const scanner = learned()
        for (const [name, value] of changes) {
          const bytes = messageOf({ ...good, [name]: value })
          const document = scanner.scan(bytes)
          if (document.shape !== undefined) known++
          expect(validate(schema, document)).toEqual(freshVerdict(bytes))
        }
      }),
      { numRuns: 40 },
    )
    expect(known).toBeGreaterThan(100)
  })
})
