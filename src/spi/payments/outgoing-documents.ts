import { z } from 'zod'
import { ispbForm, taxIdForm } from '#codecs/taxpayer'
import { type RouteContract, text } from '#src/platform/http/index.ts'
import { messageErrors } from '../messages/index.ts'
import { paymentErrors } from './errors.ts'

/** R$ 90 071 992 547 409.91: beyond it a number of JSON is not exact. */
const centsMax = Number.MAX_SAFE_INTEGER
const qrCodeCharsMax = 4_096
const keyCharsMax = 77
const remittanceCharsMax = 140
const nameCharsMax = 140

const taxId = z.string().regex(taxIdForm, 'must be a CPF or CNPJ without punctuation')
const accountParts = {
  branch: z
    .string()
    .regex(/^\d{1,4}$/)
    .optional()
    .meta({ example: '0001' }),
  account_num: z
    .string()
    .regex(/^[0-9A-Z]{1,20}$/)
    .meta({ example: '500100' }),
  account_type: z.enum(['CACC', 'SVGS', 'TRAN']).meta({ example: 'CACC' }),
}

const payBody = z
  .strictObject({
    key: text(keyCharsMax).optional().meta({ description: 'Pix key of who is paid.' }),
    qr_code: text(qrCodeCharsMax, { isMultiline: true }).optional().meta({
      description: 'Text of a static or dynamic code (copy and paste).',
    }),
    account: z
      .strictObject({
        ispb: z.string().regex(ispbForm),
        document: taxId,
        ...accountParts,
      })
      .optional()
      .meta({ description: 'Account of who is paid, without a key.' }),
    end_to_end_id: z
      .string()
      .regex(/^E[0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/, 'must be an EndToEndId')
      .optional()
      .meta({
        description:
          'With key: of the lookup that the payer has confirmed. The key must still be the same owner’s.',
      }),
    amount: z.int().min(1).max(centsMax).optional().meta({
      description: 'In cents. Needed unless the code says one; then it must be the same.',
      example: 1_050,
    }),
    debtor: z
      .strictObject({
        name: text(nameCharsMax).meta({ example: 'Maria Souza' }),
        document: taxId.meta({ example: '12345678909' }),
        ...accountParts,
      })
      .meta({ description: 'The client of this institution who pays.' }),
    creditor_document: taxId.optional().meta({
      description: 'CPF or CNPJ that the payer expects: nothing is paid to anybody else.',
    }),
    remittance_information: text(remittanceCharsMax).optional().meta({
      description: 'To the one who is paid (RmtInf).',
    }),
  })
  .meta({ id: 'OutgoingPaymentRequest' })

export type PayBody = z.output<typeof payBody>

const outgoing = z
  .object({
    end_to_end_id: z.string(),
    status: z.literal('pending'),
    amount: z.string().meta({ description: 'Reais with two decimals.', example: '10.50' }),
    method: z.enum(['key', 'static_code', 'dynamic_code', 'account']),
    creditor: z.object({
      ispb: z.string(),
      name: z.string().nullable().meta({ description: 'Of the directory; null without a key.' }),
      tax_id: z.string().meta({
        description: 'As a payer may be shown it: the six middle digits of a CPF, a CNPJ whole.',
      }),
    }),
    transaction_id: z.string().nullable().meta({ description: 'txid of the code.' }),
    message_id: z.uuid().meta({ description: 'Of the pacs.008.' }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'OutgoingPayment' })

const debtor = {
  name: 'Maria Souza',
  document: '12345678909',
  branch: '0001',
  account_num: '500100',
  account_type: 'CACC',
} as const

export const payDocument = {
  at: 'POST /v1/pix/payments',
  scope: 'spi:send',
  bodyBytesMax: 16_384,
  operation: 'createPayment',
  summary: 'Pay by Pix key, QR code or account',
  description: [
    'Exactly one of `key`, `qr_code` and `account`. A key is looked up in the directory, the charge behind a dynamic code is read and its signature checked, what comes out is compared with what was asked for, and the pacs.008 is built, stored and queued: one call instead of four. Its EndToEndId is that of the lookup.',
    'The answer says that the payment is stored, not that it is settled: `GET /v1/pix/payments/{endToEndId}` tells what became of it, step by step, and the events `message.status` and `pacs.002` tell it unasked. Whatever is refused here, and whatever is answered 503, has paid nothing; with the same `Idempotency-Key` a request may be repeated after any failure.',
    'A payer who is to confirm the receiver first looks the key up with `GET /v1/dict/keys/{key}` and pays with its `end_to_end_id`: then the payment is refused (`dict_entry_changed`) if the key has changed hands meanwhile.',
  ].join('\n\n'),
  idempotent: true,
  body: { 'application/json': payBody },
  bodyExamples: {
    account: {
      account: {
        ispb: '99999A04',
        document: '98765432100',
        branch: '0001',
        account_num: '600200',
        account_type: 'CACC',
      },
      amount: 1_050,
      debtor,
    },
    key: { key: 'joao@example.com', amount: 1_050, debtor },
  },
  responses: { 202: { description: 'Stored and queued.', schema: outgoing } },
  errors: [
    paymentErrors.payee_differs,
    paymentErrors.amount_differs,
    messageErrors.payment_sent_already,
  ],
} as const satisfies RouteContract
