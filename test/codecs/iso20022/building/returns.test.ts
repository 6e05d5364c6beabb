import { describe, expect, test } from 'bun:test'
import {
  buildableVersions,
  identifyMessage,
  isPaymentMessageType,
  messageVocabulary,
  type PaymentReturn,
  readMessage,
  returnsMax,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { built, context, original, problemsOf } from './support.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const single = { original_end_to_end_id: original, amount: 100, return_reason: 'MD06' }
const second = original.replace('E1', 'E2')

/** The message as it is read again. */
const readOf = (params: unknown, version: string) => {
  const document = scanner.scan(built('PACS004', params, version).bytes)
  const identity = identifyMessage(document)
  if (identity === undefined || !isPaymentMessageType(identity.type)) throw new Error('no pacs.004')
  const reading = readMessage(document, { ...identity, type: identity.type })
  if (!reading.ok || reading.message.type !== 'pacs.004') throw new Error('is not read')
  return reading.message
}

const expected: Omit<PaymentReturn, 'returnId'> = {
  originalEndToEndId: original,
  amount: { cents: 100n, currency: 'BRL' },
  settlementPriority: 'HIGH',
  chargeBearer: 'SLEV',
  reason: { code: 'MD06', additionalInformation: null },
  remittanceUnstructured: null,
  debtorAgentIspb: context.ispb,
  creditorAgentIspb: original.slice(1, 9),
}
const made = expect.stringMatching(/^D12345678202603312359[0-9a-zA-Z]{11}$/)

describe('PACS004 of several returns', () => {
  const other = {
    original_end_to_end_id: second,
    amount: 5,
    return_reason: 'BE08',
    return_id: original.replace('E', 'D'),
    priority: 'NORM',
    additional_information: 'twice',
    remittance_information: 'sorry',
    returning_ispb: '11111111',
    receiving_ispb: '22222222',
  }

  test.each(buildableVersions('PACS004'))(
    '%s is one for each, in order, and their number',
    (version) => {
      const { groupHeader, transactions } = readOf(
        { transactions: [single, other, single] },
        version,
      )
      expect(groupHeader.numberOfTransactions).toBe('3')
      expect(transactions).toEqual([
        { returnId: made, ...expected },
        {
          returnId: other.return_id,
          originalEndToEndId: second,
          amount: { cents: 5n, currency: 'BRL' },
          settlementPriority: 'NORM',
          chargeBearer: 'SLEV',
          reason: { code: 'BE08', additionalInformation: 'twice' },
          remittanceUnstructured: 'sorry',
          debtorAgentIspb: '11111111',
          creditorAgentIspb: '22222222',
        },
        { returnId: made, ...expected },
      ])
      expect(transactions[0]?.returnId).not.toBe(transactions[2]?.returnId as string)
    },
  )

  test('tells which payments it returns', () => {
    const { endToEndIds } = built('PACS004', { transactions: [single, other] })
    expect(endToEndIds).toEqual([original, second])
    expect(built('PACS004', single).endToEndIds).toEqual([original])
  })

  test('is with the names of a single return what it always was', () => {
    const { groupHeader, transactions } = readOf(single, '1.5')
    expect(groupHeader.numberOfTransactions).toBe('1')
    expect(transactions).toEqual([{ returnId: made, ...expected }])
  })

  test('has ten at most', () => {
    const judge = (count: number) =>
      problemsOf('PACS004', { transactions: Array.from({ length: count }, () => single) })
    expect(returnsMax).toBe(10)
    expect(judge(1)).toEqual([])
    expect(judge(10)).toEqual([])
    for (const count of [0, 11]) expect(judge(count)).toEqual(['/transactions count'])
    expect(problemsOf('PACS004', { transactions: single })).toEqual(['/transactions type'])
    expect(problemsOf('PACS004', { ...single, transactions: null })).toEqual([])
  })

  test('names the return that is wrong', () => {
    const returnOf = 'D1234567820260302140500000000001'
    const transactions = [
      single,
      { ...single, amount: 0, return_reason: 'AC03', surprise: 1 },
      { original_end_to_end_id: returnOf, return_id: original },
      {},
    ]
    expect(problemsOf('PACS004', { transactions })).toEqual([
      '/transactions/1/amount minimum',
      '/transactions/1/return_reason format',
      '/transactions/1/surprise unknown',
      '/transactions/2/original_end_to_end_id format',
      '/transactions/2/return_id format',
      '/transactions/2/amount required',
      '/transactions/2/return_reason required',
      '/transactions/3/original_end_to_end_id required',
      '/transactions/3/amount required',
      '/transactions/3/return_reason required',
    ])
  })

  test('has an id for each return, and no single one beside the list', () => {
    const named = { ...single, return_id: other.return_id }
    expect(problemsOf('PACS004', { transactions: [named, single, other] })).toEqual([
      '/transactions/2/return_id unique',
    ])
    expect(problemsOf('PACS004', { ...single, transactions: [single] })).toEqual([
      '/original_end_to_end_id unknown',
      '/amount unknown',
      '/return_reason unknown',
    ])
  })
})
