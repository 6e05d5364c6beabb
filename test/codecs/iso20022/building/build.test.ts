import { describe, expect, test } from 'bun:test'
import {
  type BuildableMessage,
  buildableMessages,
  buildableVersions,
  buildMessage,
  messageVocabulary,
  ourCatalogue,
  revisions,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { exclusiveC14n } from '#codecs/xmldsig'
import { shapedSignature } from '../../../support/messages.ts'
import { built, context, examples, original, problemsOf, transfer } from './support.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const signature = shapedSignature.replaceAll('q=', 'A=')
const decoder = new TextDecoder()

const expectRight = (name: BuildableMessage, params: unknown, version: string): void => {
  const message = built(name, params, version)
  const signed =
    decoder.decode(message.bytes.subarray(0, message.signatureAt)) +
    signature +
    decoder.decode(message.bytes.subarray(message.signatureAt))
  const schema = ourCatalogue.schemaOf(message.type, version)
  if (schema === undefined) throw new Error('no schema')
  const document = scanner.scan(new TextEncoder().encode(signed))
  expect(validateDocument(schema, document).violations).toEqual([])
  const slice = ({ from, to }: { from: number; to: number }) =>
    decoder.decode(message.bytes.subarray(from, to))
  expect(slice(message.appHdr)).toMatch(/^<AppHdr>.*<Sgntr><\/Sgntr><\/AppHdr>$/)
  expect(slice(message.document)).toMatch(/^<Document>.*<\/Document>$/)
  const whole = scanner.scan(message.bytes)
  expect(decoder.decode(exclusiveC14n(whole, whole.root))).toBe(slice(envelopeOf(message)))
}

/** What of a message is no XML declaration. */
const envelopeOf = ({ bytes }: { readonly bytes: Uint8Array }) => ({
  from: '<?xml version="1.0" encoding="UTF-8"?>'.length,
  to: bytes.length,
})

describe('every message', () => {
  for (const name of buildableMessages) {
    test(`${name} is valid and canonical in every version, and its slices are its parts`, () => {
      for (const version of buildableVersions(name)) expectRight(name, examples[name], version)
    })
  }

  test('is so with everything that may be said', () => {
    const { proxy: _, ...account } = transfer.creditor
    const creditor = { ...account, branch: '1', document: '98765432000198' }
    const debtor = { ...transfer.debtor, name: '“É” <&> 😀 \u007f', document: '12345678000195' }
    const tax = { reference: 'NF1', cbs_amount: 0, ibs_amount: 1 }
    const withdrawal = { agent_type: 'AGFSS', agent_ispb: '87654321', cash_amount: 1 }
    const troco = { purpose: 'GSCB', withdrawal: { ...withdrawal, purchase_amount: 12_344 } }
    const saque = { purpose: 'OTHR', withdrawal: { ...withdrawal, cash_amount: 12_345 } }
    for (const more of [{}, { remittance_information: null }, troco, saque]) {
      const transaction = {
        ...transfer,
        debtor,
        creditor,
        initiator_document: '1'.repeat(14),
        ...more,
      }
      const message = (one: object) => ({ local_instrument: 'MANU', transactions: [one, one] })
      for (const version of ['1.11', '1.14']) expectRight('PACS008', message(transaction), version)
      expectRight('PACS008', message({ ...transaction, tax }), '1.15')
      const instruction_id = original
      expectRight('PACS008', message({ ...transaction, tax, instruction_id }), '1.16')
    }
    const [charge] = (examples.PAIN013 as { readonly charges: readonly object[] }).charges
    const taxes = { reference: 'NF1', ...{ cbs_amount: 1, ibs_amount: 2, corrected_cbs_amount: 0 } }
    const charged = { ...charge, debtor: { ispb: '87654321', document: '98765432000198' } }
    expectRight('PAIN013', { charges: [{ ...charged, tax: taxes }, charged] }, '2.2')
    const reasons = [{ reason: 'AC03', additional_information: ['a', '<b>'] }, { reason: 'BE01' }]
    const refusal = { original_end_to_end_id: original, status: 'RJCT', reasons }
    const acceptance = { original_end_to_end_id: original.replace('E1', 'E2'), status: 'ACSP' }
    for (const version of buildableVersions('PACS002')) {
      expectRight('PACS002', { transactions: [refusal, acceptance] }, version)
    }
  })

  test('is sent in the version of the revision', () => {
    for (const revision of revisions) {
      const build = buildMessage('PACS002', examples.PACS002, { ...context, revision })
      expect(build.ok && build.message.namespace).toEndWith(
        { '5.08.1': '1.12', '5.09.2': '1.13', '5.10.1': '1.14', '5.11.1': '1.15' }[revision],
      )
    }
    expect(() => problemsOf('PACS002', {}, '9.9')).toThrow(RangeError)
  })

  test('refuses what it does not know, in every object', () => {
    const pointersOf = (value: unknown, pointer: string): readonly string[] =>
      typeof value !== 'object' || value === null
        ? []
        : [
            ...(Array.isArray(value) ? [] : [pointer]),
            ...Object.entries(value).flatMap(([key, one]) => pointersOf(one, `${pointer}/${key}`)),
          ]
    for (const name of buildableMessages) {
      for (const pointer of pointersOf(examples[name], '')) {
        const params: unknown = JSON.parse(JSON.stringify(examples[name]))
        let at = params as Record<string, unknown>
        for (const key of pointer.split('/').slice(1)) at = at[key] as Record<string, unknown>
        at['surprise'] = null
        expect(problemsOf(name, params)).toEqual([`${pointer}/surprise unknown`])
      }
    }
  })

  test('has identifiers of its own, from the ISPB and the minute in UTC', () => {
    const [one, two] = [built('PACS008', examples.PACS008), built('PACS008', examples.PACS008)]
    expect(one.businessMessageId).toMatch(/^M12345678[0-9a-zA-Z]{23}$/)
    expect(one.businessMessageId).not.toBe(two.businessMessageId)
    expect(new Set([...one.endToEndIds, ...two.endToEndIds]).size).toBe(4)
    for (const id of one.endToEndIds) expect(id).toMatch(/^E12345678202603312359[0-9a-zA-Z]{11}$/)
    expect(one.creationDateTime).toBe('2026-03-31T23:59:58.007Z')
  })
})

describe('refusals name the field and the rule', () => {
  const one = (changes: object, more: object = {}) => ({
    local_instrument: 'DICT',
    transactions: [{ ...transfer, ...changes }],
    ...more,
  })
  const creditor = (changes: object) => ({ creditor: { ...transfer.creditor, ...changes } })
  const none = { creditor: { ...transfer.creditor, proxy: undefined } }
  const at = '/transactions/0'

  test.each([
    [{}, ['/local_instrument required', '/transactions required']],
    [null, [' type', '/local_instrument required', '/transactions required']],
    [one({ amount: 0 }), [`${at}/amount minimum`]],
    [one({ amount: 1.5 }), [`${at}/amount type`]],
    [one({ amount: '100' }), [`${at}/amount type`]],
    [one({ surprise: 1 }), [`${at}/surprise unknown`]],
    [one(none), [`${at}/creditor/proxy required`]],
    [one({ transaction_id: 'abc' }), [`${at}/transaction_id forbidden`]],
    [one({}, { local_instrument: 'MANU' }), [`${at}/creditor/proxy forbidden`]],
    [one({}, { local_instrument: 'QRDN' }), [`${at}/transaction_id required`]],
    [
      one({ transaction_id: 'a'.repeat(25) }, { local_instrument: 'QRDN' }),
      [`${at}/transaction_id format`],
    ],
    [one({ transaction_id: 'a'.repeat(26) }, { local_instrument: 'QRDN' }), []],
    [one({ transaction_id: 'a'.repeat(25) }, { local_instrument: 'QRES' }), []],
    [
      one({ transaction_id: 'a' }, { local_instrument: 'INIC' }),
      [`${at}/initiator_document required`],
    ],
    [
      one(
        { ...none, purpose: 'OTHR', transaction_id: 'a'.repeat(26) },
        { local_instrument: 'AUTO' },
      ),
      [`${at}/purpose consistency`, `${at}/withdrawal required`],
    ],
    [one({ purpose: 'REFU' }), [`${at}/purpose consistency`]],
    [one(creditor({ account_type: 'SLRY' })), [`${at}/creditor/account_type format`]],
    [one(creditor({ document: '123' })), [`${at}/creditor/document format`]],
    [
      one({ acceptance_date_time: '2026-02-30T00:00:00.000Z' }),
      [`${at}/acceptance_date_time format`],
    ],
    [one({ remittance_information: 'x'.repeat(141) }), [`${at}/remittance_information format`]],
    [one({ remittance_information: '\ud800' }), [`${at}/remittance_information format`]],
    [one({ remittance_information: '😀'.repeat(140) }), []],
  ])('%j', (params, expected) => {
    expect(problemsOf('PACS008', params)).toEqual(expected)
  })

  test('of answers: a refusal has a reason that a participant may give, an acceptance none', () => {
    const answer = (changes: object) =>
      problemsOf('PACS002', { original_end_to_end_id: original, ...changes })
    expect(answer({ status: 'RJCT' })).toEqual(['/reason required'])
    expect(answer({ status: 'ACSP', reason: 'AC03' })).toEqual(['/reason forbidden'])
    expect(answer({ status: 'RJCT', reason: 'AB03' })).toEqual(['/reason format'])
    expect(answer({ status: 'ACSC' })).toEqual(['/status format'])
    expect(problemsOf('CAMT029', { ...examples.CAMT029, status: 'RJCR' })).toEqual([
      '/reason required',
    ])
    expect(problemsOf('PAIN014', { ...examples.PAIN014, status: 'ACSP' })).toEqual([
      '/reason forbidden',
    ])
    expect(problemsOf('CAMT055', { ...examples.CAMT055, reason: 'CCLD' })).toEqual([
      '/reason consistency',
    ])
  })
})
