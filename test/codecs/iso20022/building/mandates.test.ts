import { describe, expect, test } from 'bun:test'
import {
  buildMandateMessage,
  type MandateMessage,
  messageVocabulary,
  ourCatalogue,
  readMessage,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { exclusiveC14n } from '#codecs/xmldsig'
import { shapedSignature } from '../../../support/messages.ts'
import { context } from './support.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const signature = shapedSignature.replaceAll('q=', 'A=')
const decoder = new TextDecoder()
const [mandateId, day] = ['RN123456782026030100000000001', '2026-03-01T12:00:00.000Z']
const idOf = (letters: string) => `${letters}123456782026030100000000001`

const bare = {
  mandate_id: mandateId,
  frequency: 'MNTH',
  first_collection_date: '2026-04-01',
  creditor: { name: 'Água & Luz', document: '12345678000195' },
  debtor: { document: '12345678909', account_num: '500100', ispb: '87654321' },
  contract_number: 'C-1',
}
const full = {
  ...bare,
  final_collection_date: '2027-04-01',
  tracking: 'true',
  amount: 4_990,
  creditor: { ...bare.creditor, ispb: '12345678' },
  debtor: { ...bare.debtor, branch: '0001' },
  ultimate_debtor: { name: 'Fulana', document: '98765432100' },
  contract_description: 'Conta de luz',
}
const ofMandate = (terms: object, { amount: _, ...rest }: Record<string, unknown> = {}) => ({
  'pain.009': {
    mandates: [{ ...terms, ...rest, request_id: idOf('SC'), created_at: day, expires_at: day }],
  },
  'pain.011': {
    ...terms,
    cancellation_id: idOf('IC'),
    requester_document: '12345678000195',
    reason: 'SLCR',
    created_at: day,
  },
  'pain.012': { ...terms, report_id: idOf('IS'), status: 'CFDB' },
})
const examples: Readonly<Record<MandateMessage, readonly object[]>> = {
  'pain.009': [
    ofMandate(bare)['pain.009'],
    ofMandate(full)['pain.009'],
    ofMandate(bare, { minimum_amount: 1_000 })['pain.009'],
  ],
  'pain.011': [ofMandate(bare)['pain.011'], ofMandate(full)['pain.011']],
  'pain.012': [
    ofMandate(bare)['pain.012'],
    {
      ...ofMandate(full)['pain.012'],
      created_at: day,
      updated_at: day,
      reference: idOf('SC'),
      debtor_town: '3106200',
    },
    { ...ofMandate(bare)['pain.012'], status: undefined, reason: 'AP13' },
  ],
}
const types = Object.keys(examples) as MandateMessage[]
const versionsOf = { 'pain.009': ['1.1'], 'pain.011': ['1.3'], 'pain.012': ['1.3', '1.4'] }

const built = (type: MandateMessage, params: unknown, version: string) => {
  const build = buildMandateMessage(type, params, { ...context, version })
  if (!build.ok) throw new Error(JSON.stringify(build.problems))
  return build.message
}
const problemsOf = (type: MandateMessage, params: unknown) => {
  const build = buildMandateMessage(type, params, context)
  return build.ok ? [] : build.problems.map(({ pointer, rule }) => `${pointer} ${rule}`)
}

describe('messages about mandates', () => {
  for (const type of types) {
    test(`${type} is valid and canonical in every version`, () => {
      for (const version of versionsOf[type]) {
        for (const params of examples[type]) {
          const { bytes, signatureAt } = built(type, params, version)
          const signed =
            decoder.decode(bytes.subarray(0, signatureAt)) +
            signature +
            decoder.decode(bytes.subarray(signatureAt))
          const schema = ourCatalogue.schemaOf(type, version)
          if (schema === undefined) throw new Error('no schema')
          const document = scanner.scan(new TextEncoder().encode(signed))
          expect(validateDocument(schema, document).violations).toEqual([])
          const whole = scanner.scan(bytes)
          const declaration = '<?xml version="1.0" encoding="UTF-8"?>'.length
          expect(decoder.decode(exclusiveC14n(whole, whole.root))).toBe(
            decoder.decode(bytes.subarray(declaration)),
          )
        }
      }
    })
  }

  test('say what they were given', () => {
    const read = (type: MandateMessage, at: number, version: string) => {
      const { bytes } = built(type, examples[type][at], version)
      const reading = readMessage(scanner.scan(bytes), { type, version })
      if (!reading.ok) throw new Error('not read')
      return reading.message
    }
    const terms = {
      mandateId,
      frequency: 'MNTH',
      firstCollectionDate: '2026-04-01',
      finalCollectionDate: '2027-04-01',
      tracking: true,
      collectionAmount: { cents: 4990n },
      creditor: { name: 'Água & Luz' },
      creditorAgentIspb: '12345678',
      debtorDocument: '12345678909',
      debtorAccount: { id: '500100', branch: '0001' },
      debtorAgentIspb: '87654321',
      ultimateDebtor: { name: 'Fulana' },
      contractNumber: 'C-1',
      contractDescription: 'Conta de luz',
    }
    expect(read('pain.009', 1, '1.1')).toMatchObject({
      mandates: [{ ...terms, mandateRequestId: idOf('SC') }],
    })
    expect(read('pain.009', 2, '1.1')).toMatchObject({
      mandates: [{ adjustment: { rule: true, amount: { cents: 1000n } }, collectionAmount: null }],
    })
    expect(read('pain.011', 1, '1.3')).toMatchObject({
      mandateHeader: { instructingAgentIspb: '12345678' },
      cancellations: [{ reason: 'SLCR', mandate: { ...terms, mandateRequestId: idOf('IC') } }],
    })
    expect(read('pain.012', 1, '1.4')).toMatchObject({
      answers: [
        {
          accepted: true,
          status: 'CFDB',
          reason: null,
          mandate: { ...terms, mandateReference: idOf('SC'), debtorTown: '3106200' },
        },
      ],
    })
    expect(read('pain.012', 2, '1.3')).toMatchObject({
      answers: [{ accepted: false, status: null, reason: 'AP13' }],
    })
  })

  test('are refused by place and rule', () => {
    expect(problemsOf('pain.009', {})).toEqual(['/mandates required'])
    expect(problemsOf('pain.009', { mandates: [] })).toEqual(['/mandates count'])
    const [wrong] = ofMandate({ ...bare, frequency: 'DAIL', surprise: 1 })['pain.009'].mandates
    const late = { ...wrong, expires_at: 'soon', debtor: { ...bare.debtor, ispb: '1' } }
    expect(problemsOf('pain.009', { mandates: [late] })).toEqual([
      ...['/mandates/0/expires_at format', '/mandates/0/frequency format'],
      ...['/mandates/0/debtor/ispb format', '/mandates/0/surprise unknown'],
    ])
    const { reason: _, ...ending } = ofMandate(bare)['pain.011']
    expect(problemsOf('pain.011', { ...ending, reason: 'AP13' })).toEqual(['/reason format'])
    const report = ofMandate(bare)['pain.012']
    expect(problemsOf('pain.012', { ...report, reason: 'AP13' })).toEqual(['/reason forbidden'])
    expect(problemsOf('pain.012', { ...report, status: 'ACSP' })).toEqual(['/status format'])
    expect(problemsOf('pain.012', { ...report, reference: mandateId })).toEqual([
      '/reference format',
    ])
  })
})
