import { inferred, weak } from '../../catalogue/revisions.ts'
import { codeLists } from '../../codes/lists.ts'
import { jsonMembers } from '../../projecting/json.ts'
import { wholeProjection, withTransactions } from '../../projecting/projection.ts'
import { code, type Field, many, messageReader, text, texts } from '../../shape.ts'
import { type MessageDefinition, noFacts } from '../definition.ts'
import { groupHeader } from '../parts.ts'
import { builder } from './build.ts'
import schema114 from './pacs.002.1.14.xsd' with { type: 'text' }
import schema116 from './pacs.002.1.16.xsd' with { type: 'text' }
import schema117 from './pacs.002.1.17.xsd' with { type: 'text' }
import base from './pacs.002.xsd' with { type: 'text' }

const rejected = 'RJCT'
const accepted = ['ACSP', 'ACSC', 'ACCC']

const readerOf = (status: Field<string>) =>
  messageReader('pacs.002', 'FIToFIPmtStsRpt', {
    groupHeader,
    transactions: many('TxInfAndSts+', {
      /** EndToEndId of the pacs.008, or RtrId of the pacs.004, that this answers. */
      originalInstructionId: text('OrgnlInstrId'),
      originalEndToEndId: text('OrgnlEndToEndId'),
      status,
      reasons: many('StsRsnInf*', {
        code: text('Rsn?/Cd'),
        additionalInformation: texts('AddtlInf*'),
      }),
      /** When the SPI settled: only in reports the SPI itself writes. */
      settlementDateTime: text('FctvIntrBkSttlmDt?/DtTm'),
      settlementDate: text('OrgnlTxRef?/IntrBkSttlmDt'),
    }),
  })

/** Reads a scanned pacs.002; problems are left in `reader`. */
const read = readerOf(text('TxSts'))

/** The view says whether it is accepted, which no other status tells. */
const readForView = readerOf(code('TxSts', [...accepted, rejected]))

export type Pacs002 = ReturnType<typeof read>

/** One `TxInfAndSts`. */
type PaymentStatus = Pacs002['transactions'][number]

const status = (transaction: PaymentStatus): object => ({
  original_end_to_end_id: transaction.originalEndToEndId,
  original_instruction_id: transaction.originalInstructionId,
  status: transaction.status,
  accepted: accepted.includes(transaction.status),
  reasons: transaction.reasons.map(({ code, additionalInformation }) => ({
    code,
    meaning: code === null ? null : (codeLists.status_reason.get(code)?.meaning?.en ?? null),
    additional_information: additionalInformation,
  })),
  settlement_date_time: transaction.settlementDateTime,
  settlement_date: transaction.settlementDate,
})

const messageFields = ({ groupHeader, header }: Pacs002): object => ({
  message_id: groupHeader.messageId,
  creation_date_time: groupHeader.creationDateTime,
  source_ispb: header.fromIspb,
  destination_ispb: header.toIspb,
})

/** `pix_status`: the outcome of a payment or of a return. */
const pixStatus = (message: Pacs002, enrich: boolean): string =>
  withTransactions(
    message.transactions.map((transaction) =>
      jsonMembers(
        enrich ? { ...status(transaction), ...messageFields(message) } : status(transaction),
      ),
    ),
  )

/** pacs.002, FIToFIPaymentStatusReport: the outcome of payments or returns. */
export const pacs002 = {
  type: 'pacs.002',
  revisions: {
    '5.08.1': weak('1.12'),
    '5.09.2': weak('1.13'),
    '5.10.1': inferred('1.14'),
    '5.11.1': inferred('1.15'),
  },
  versions: {
    '1.12': 'pacs.002.1.14.xsd',
    '1.13': 'pacs.002.1.14.xsd',
    '1.14': 'pacs.002.1.14.xsd',
    '1.15': 'pacs.002.1.14.xsd',
    '1.16': 'pacs.002.1.16.xsd',
    '1.17': 'pacs.002.1.17.xsd',
  },
  schemas: {
    'pacs.002.xsd': base,
    'pacs.002.1.14.xsd': schema114,
    'pacs.002.1.16.xsd': schema116,
    'pacs.002.1.17.xsd': schema117,
  },
  read,
  builder,
  projection: wholeProjection('pix_status', readForView, pixStatus),
  facts: {
    ...noFacts,
    transaction: 'TxInfAndSts',
    checks: [
      'some_transaction',
      'end_to_end_id',
      'original_instruction_id',
      { accepted, refused: rejected, reasons: codeLists.status_reason },
    ],
    answers: {
      about: 'payment_or_return',
      to: ['pacs.008', 'pacs.002'],
      toReturn: ['pacs.004', 'pacs.002'],
    },
  },
  exchange: { role: 'status', tokens: 0.2, answeredWith: 'pacs.002' },
} as const satisfies MessageDefinition
