/** Reports and refunds: written and read again, and the official examples of 1.8.0 where both versions are alike. */
import { expect, test } from 'bun:test'
import {
  type DirectoryRefund,
  type InfractionReport,
  infractionElement,
  type RefundAnalysis,
  readInfractionReport,
  readPage,
  readRefund,
  readRefundAnalysis,
  refundAnalysisElements,
  refundElement,
  writeElement,
} from '#codecs/dict'
import { createXmlScanner } from '#codecs/xml'
import { hasSharedData, readSharedData } from '../../support/shared-data.ts'

const scanner = createXmlScanner()

const report: InfractionReport = {
  transactionId: 'E9999901012341234123412345678900',
  reason: 'REFUND_REQUEST',
  situation: 'SCAM',
  details: 'Boleto <falso> & caro',
  id: crypto.randomUUID(),
  contact: { email: 'abc@pix.br', phone: '+5561988887777' },
  status: 'CLOSED',
  reporter: '99999010',
  counterparty: '9999901A',
  createdMs: 1_000,
  modifiedMs: 2_001,
  result: 'AGREED',
  analysis: 'Bloqueado',
  fraudType: 'MULE_ACCOUNT',
  fraudMarkerId: crypto.randomUUID(),
}
const refund: DirectoryRefund = {
  transactionId: 'E9999901012341234123412345678900',
  reason: 'FRAUD',
  amountCents: 999_999_999_999_999n,
  details: undefined,
  id: crypto.randomUUID(),
  status: 'CLOSED',
  requesting: '99999010',
  contested: '99999011',
  createdMs: 1,
  modifiedMs: 2,
  recoveryId: crypto.randomUUID(),
  result: 'PARTIALLY_ACCEPTED',
  analysis: 'Parte',
  rejectionReason: undefined,
  effectiveCents: 5n,
  returnId: 'D9999901012341234123412345678900',
}

test('a report is read whoever may be asked about it', () => {
  const email = `${'a'.repeat(64)}@${'b'.repeat(60)}.example.com`
  const contact = { email, phone: '+5561988887777' }
  const document = scanner.scan(writeElement(infractionElement({ ...report, contact })))
  expect(readInfractionReport(document, document.root).contact).toEqual(contact)
})

test('a report and a refund are read as they were written', () => {
  const one = scanner.scan(writeElement(infractionElement(report)))
  expect(readInfractionReport(one, one.root)).toEqual(report)
  const other = scanner.scan(writeElement(refundElement(refund)))
  expect(readRefund(other, other.root)).toEqual(refund)
  const analysis: RefundAnalysis = {
    result: 'REJECTED',
    analysis: 'x',
    rejectionReason: 'NO_BALANCE',
    returnId: undefined,
    effectiveCents: undefined,
  }
  const closed = scanner.scan(writeElement(['R', refundAnalysisElements(analysis)]))
  expect(readRefundAnalysis(closed, closed.root)).toEqual(analysis)
})

test.each([
  ['1', 100n],
  ['0.1', 10n],
  ['12.34', 1_234n],
  ['9999999999999.99', 999_999_999_999_999n],
])('an amount of %s is exact', (text, cents) => {
  const xml = Buffer.from(writeElement(refundElement(refund))).toString()
  const document = scanner.scan(
    Buffer.from(xml.replace('9999999999999.99</RefundAmount>', `${text}</RefundAmount>`)),
  )
  expect(readRefund(document, document.root).amountCents).toBe(cents)
})

test('text of people ends with a whole character', () => {
  const details = `${'a'.repeat(1_999)}😀`
  const one = scanner.scan(writeElement(infractionElement({ ...report, details })))
  expect(readInfractionReport(one, one.root).details).toBe('a'.repeat(1_999))
})

test.each(['-1.00', '1.234', '1e3', '1,00', '', '99999999999999.00'])(
  'an amount of %s is none',
  (text) => {
    const xml = Buffer.from(writeElement(refundElement(refund))).toString()
    const document = scanner.scan(
      Buffer.from(xml.replace('9999999999999.99</RefundAmount>', `${text}</RefundAmount>`)),
    )
    expect(() => readRefund(document, document.root)).toThrow()
  },
)

test('an item that cannot be read stops no other', () => {
  const item = Buffer.from(writeElement(refundElement(refund))).toString()
  const xml = `<L><HasMoreElements>true</HasMoreElements><NextCursor>abc</NextCursor><Refunds>${item}<Refund/>${item.replace('CLOSED', 'NEVER')}${item}</Refunds></L>`
  const page = readPage(
    scanner.scan(Buffer.from(xml)),
    { list: 'Refunds', item: 'Refund' },
    readRefund,
  )
  expect(page).toEqual({
    items: [refund, refund],
    unreadable: ['', refund.id],
    hasMore: true,
    cursor: 'abc',
  })
})

test.skipIf(!hasSharedData)('the official examples of refunds are read', () => {
  const list = scanner.scan(readSharedData('dict/examples/refunds/ListRefundsResponse.xml'))
  const { items, unreadable, hasMore } = readPage(
    list,
    { list: 'Refunds', item: 'Refund' },
    readRefund,
  )
  expect([unreadable, hasMore]).toEqual([[], true])
  expect(items).toMatchObject([
    {
      amountCents: 20_000n,
      status: 'CLOSED',
      result: 'TOTALLY_ACCEPTED',
      analysis: 'Valor totalemente extornado.',
      returnId: 'D9999901012341234123412345678900',
    },
  ])
  const closing = scanner.scan(readSharedData('dict/examples/refunds/CloseRefundRequest.xml'))
  expect(readRefundAnalysis(closing, closing.root)).toMatchObject({
    result: 'TOTALLY_ACCEPTED',
    returnId: 'D9999901012341234123412345678900',
  })
})

/** The names of the elements of a document, as they stand in it. */
const namesIn = (bytes: Uint8Array): readonly string[] =>
  [...new TextDecoder().decode(bytes).matchAll(/<(\w+)>/g)].map(([, name = '']) => name)

test('elements stand in the order of the schemas, which is another for a request than for what became of it', () => {
  const contact = 'ContactInformation Email Phone'
  const asked = 'InfractionReport TransactionId Reason SituationType ReportDetails'
  const { transactionId, reason, situation, details, contact: who } = report
  const request = { transactionId, reason, situation, details, contact: who }
  const standing = 'Id Status ReporterParticipant CounterpartyParticipant FraudMarkerId FraudType'
  const ends = 'CreationTime LastModified AnalysisResult AnalysisDetails'
  expect(namesIn(writeElement(infractionElement(request)))).toEqual(
    `${asked} ${contact}`.split(' '),
  )
  expect(namesIn(writeElement(infractionElement(report)))).toEqual(
    `${asked} ${standing} ${contact} ${ends}`.split(' '),
  )
  const whole = { ...refund, details: 'x', rejectionReason: 'OTHER' }
  const judged = 'EffectiveRefundedAmount AnalysisResult AnalysisDetails RefundRejectionReason'
  const names = [
    'Refund TransactionId RefundReason RefundAmount RefundDetails Id FundsRecoveryId Status',
    'ContestedParticipant RequestingParticipant',
    `${judged} RefundTransactionId CreationTime LastModified`,
  ]
  expect(namesIn(writeElement(refundElement(whole)))).toEqual(names.join(' ').split(' '))
})
