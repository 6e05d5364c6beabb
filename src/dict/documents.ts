import { z } from 'zod'
import { keyTypes } from '#codecs/dict'
import { type RouteContract, text } from '#src/platform/http/index.ts'
import { keyCharsMax, taxId } from './entries/documents.ts'
import { dictErrors } from './errors.ts'

const keyParams = z.object({
  key: text(keyCharsMax).meta({
    description:
      'CPF, CNPJ, phone with +, e-mail or EVP, in the directory’s form; escaped as a path needs it.',
    example: 'joao@example.com',
  }),
})

const lookupQuery = z.strictObject({
  payer: taxId.meta({
    description: 'Who wants to pay: the directory counts its lookups.',
    example: '12345678909',
  }),
})

const entry = z
  .object({
    key: z.string(),
    key_type: z.enum(keyTypes),
    owner: z.object({
      type: z.enum(['natural_person', 'legal_person']),
      name: z.string(),
      trade_name: z.string().nullable(),
      tax_id: z.string().meta({
        description: 'As a payer may be shown it: the six middle digits of a CPF, a CNPJ whole.',
        example: '***654321**',
      }),
    }),
    ispb: z.string().meta({ description: 'The institution that keeps the account.' }),
    account_type: z.string().meta({ example: 'CACC' }),
    owned_since: z.iso.datetime({ offset: true }),
    claimed_since: z.iso
      .datetime({ offset: true })
      .nullable()
      .meta({ description: 'Somebody else claims the key since then.' }),
    end_to_end_id: z.string().meta({
      description: 'Pay with it: `end_to_end_id` of `POST /v1/pix/payments`.',
    }),
    payable_until: z.iso.datetime(),
  })
  .meta({ id: 'DirectoryEntry' })

/** What may come of looking a key up. */
const lookupErrors = [
  dictErrors.dict_key_not_found,
  dictErrors.dict_refused,
  dictErrors.dict_key_of_this_institution,
  dictErrors.dict_limited,
  dictErrors.dict_unavailable,
]

/** What may come of asking whom a payment by key goes to. */
export const payeeErrors = [...lookupErrors, dictErrors.dict_entry_changed]

export const documents = {
  lookUp: {
    at: 'GET /v1/dict/keys/{key}',
    scope: 'dict:read',
    asksOthers: true,
    operation: 'resolvePixKey',
    summary: 'Look up who is paid by a Pix key',
    description: [
      'Asks the directory of Pix keys, or uses its last answer again while that holds. The account itself is not shown: `POST /v1/pix/payments` pays it.',
      'A lookup costs the payer and the institution one of what the directory allows each, and one that finds nothing many more; a payment gives it back. Every lookup is in the audit log, under its `end_to_end_id`.',
    ].join('\n\n'),
    params: keyParams,
    query: lookupQuery,
    responses: { 200: { description: 'The entry.', schema: entry } },
    errors: lookupErrors,
  },
} as const satisfies Readonly<Record<string, RouteContract>>
