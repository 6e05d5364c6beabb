import { z } from 'zod'
import { hasAsciiForm, pixKeyKind, toAscii } from '#codecs/brcode'
import { isTaxId, taxIdForm } from '#codecs/taxpayer'
import { pageQuery, pageResponses, type RouteContract, text } from '#src/platform/http/index.ts'
import { changesDirection } from '#src/platform/runtime/index.ts'
import { accountForm, defaultAccount } from '#src/platform/security/index.ts'
import { receiverErrors } from '../errors.ts'
import { accountTypes } from './domain.ts'

const keyCharsMax = 77
const limitMax = 500
const limitDefault = 50

const key = text(keyCharsMax).meta({
  description: 'Pix key in the canonical form of the directory.',
  example: '7d9f0335-8dcc-4054-9bf9-0dbd61d36906',
})
const taxId = z
  .string()
  .regex(taxIdForm, 'must be a CPF or CNPJ without punctuation')
  .meta({ example: '12345678000195' })
/** Payers are shown it. */
const shown = (charactersMax: number) =>
  text(charactersMax).refine((value) => !changesDirection(value), {
    error: 'holds characters that change the direction of text',
    params: { rule: 'direction' },
  })

/** What a QR code can hold of it is ASCII. */
const printed = (charactersMax: number) =>
  shown(charactersMax).refine((value) => hasAsciiForm(value) && toAscii(value).trim() !== '', {
    error: 'must be text that ASCII has a form for, as QR codes hold it',
    params: { rule: 'ascii' },
  })

const digits = (digitsMax: number) =>
  z
    .string()
    .regex(new RegExp(`^\\d{1,${digitsMax}}$`))
    .optional()

const receiverBody = z
  .strictObject({
    key: key.refine((value) => pixKeyKind(value) !== undefined, {
      error: 'is no Pix key',
      params: { rule: 'pix_key' },
    }),
    account: z.string().regex(accountForm).default(defaultAccount),
    tax_id: taxId.refine(isTaxId, {
      error: 'has other check digits',
      params: { rule: 'check_digits' },
    }),
    name: printed(200).meta({ description: 'In the QR code: its first 25 characters, in ASCII.' }),
    city: printed(60).meta({ description: 'In the QR code: its first 15 characters, in ASCII.' }),
    street: shown(200).optional().meta({ description: 'Charges with a due date need it.' }),
    state: z
      .string()
      .regex(/^[A-Z]{2}$/)
      .optional()
      .meta({ description: 'Two letters. Charges with a due date need it.', example: 'SP' }),
    postal_code: z
      .string()
      .regex(/^\d{8}$/)
      .optional()
      .meta({ description: 'CEP. Charges with a due date need it.', example: '01310100' }),
    account_number: digits(20).meta({
      description:
        'Of the account that is credited. Once it is known, charges of recurrences must name it.',
      example: '500100',
    }),
    branch: digits(4).meta({ description: 'Of that account.', example: '1' }),
    account_type: z.enum(accountTypes).optional().meta({ description: 'Of that account.' }),
  })
  .superRefine(({ account_number: number, branch, account_type: type }, context) => {
    const has = number !== undefined
    if (has === (type !== undefined) && (has || branch === undefined)) return
    const path = [has ? 'account_type' : 'account_number']
    const params = { rule: 'required' }
    context.addIssue({ code: 'custom', path, params, message: 'goes with the rest of the account' })
  })
  .meta({ id: 'PixReceiverRequest' })

const receiverParams = z.object({ key })

const receiversQuery = z.strictObject(pageQuery(/^[^\s]{1,77}$/, limitMax, limitDefault))

const receiver = z
  .object({
    key: z.string(),
    account: z.string(),
    tax_id: z.string(),
    name: z.string(),
    city: z.string(),
    street: z.string().nullable(),
    state: z.string().nullable(),
    postal_code: z.string().nullable(),
    account_number: z.string().nullable(),
    branch: z.string().nullable(),
    account_type: z.enum(accountTypes).nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'PixReceiver' })

export const documents = {
  put: {
    at: 'PUT /v1/pix/receivers',
    scope: 'ops:admin',
    bodyBytesMax: 4_096,
    ofInstitution: true,
    operation: 'setPixReceiver',
    summary: 'Let an account charge with a Pix key',
    description:
      'The key must be in the directory as this institution’s. The same key again changes all that it says but the account. Charges that were made keep the tax_id that it had: they take another once they are put again or revised.',
    body: { 'application/json': receiverBody },
    responses: { 200: { description: 'As it is now.', schema: receiver } },
    errors: [receiverErrors.pix_key_of_another_account],
  },
  list: {
    at: 'GET /v1/pix/receivers',
    scope: 'ops:read',
    operation: 'listPixReceivers',
    summary: 'List the Pix keys that accounts charge with',
    query: receiversQuery,
    responses: pageResponses('receivers', receiver, 'One page, in the order of the keys.'),
  },
  find: {
    at: 'GET /v1/pix/receivers/{key}',
    scope: 'ops:read',
    operation: 'getPixReceiver',
    summary: 'Read who is paid by a Pix key',
    params: receiverParams,
    responses: { 200: { description: 'The receiver.', schema: receiver } },
  },
  remove: {
    at: 'DELETE /v1/pix/receivers/{key}',
    scope: 'ops:admin',
    ofInstitution: true,
    operation: 'deletePixReceiver',
    summary: 'Let nobody charge with a Pix key any more',
    description: 'Charges that were made stay, without the text of their QR codes.',
    params: receiverParams,
    responses: { 204: { description: 'Removed.' } },
  },
} as const satisfies Readonly<Record<string, RouteContract>>
