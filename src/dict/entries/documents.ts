import { z } from 'zod'
import { pixKeyKind } from '#codecs/brcode'
import { keyTypes } from '#codecs/dict'
import { isTaxId, taxIdForm } from '#codecs/taxpayer'
import { instant, pageResponses, type RouteContract, text } from '#src/platform/http/index.ts'
import { dictErrors } from '../errors.ts'
import { agePage } from '../pages.ts'
import { changeReasons, entryStatuses, removalReasons } from './domain.ts'

const bodyBytesMax = 16_384

const nameCharsMax = 150
const tradeNameCharsMax = 100
export const keyCharsMax = 77

const entryParams = z.object({ id: z.uuid() })

const entriesQuery = z.strictObject({
  key: text(keyCharsMax).optional(),
  ...agePage,
})

const removalQuery = z.strictObject({
  reason: z.enum(removalReasons).default('USER_REQUESTED'),
})

export const taxId = z
  .string()
  .regex(taxIdForm, 'must be a CPF or CNPJ without punctuation')
  .refine(isTaxId, {
    error: 'has other check digits',
    params: { rule: 'check_digits' },
  })

const names = {
  name: text(nameCharsMax).meta({
    description: 'In the exact characters that the directory gets.',
  }),
  trade_name: text(tradeNameCharsMax).optional(),
}

export const owner = z.strictObject({ tax_id: taxId, ...names })

export const account = z.strictObject({
  branch: z
    .string()
    .regex(/^\d{1,4}$/, 'must be 1 to 4 digits')
    .optional(),
  number: z.string().regex(/^[0-9A-Za-z]{1,20}$/, 'must be 1 to 20 digits or letters'),
  type: z.enum(['CACC', 'TRAN', 'SLRY', 'SVGS']),
  opened_at: instant,
})

export const newEntry = z
  .strictObject({
    key_type: z.enum(keyTypes),
    key: text(keyCharsMax)
      .optional()
      .meta({ description: 'In the directory’s form; none of an EVP, which the directory makes.' }),
    owner,
    account,
  })
  .meta({
    example: {
      key_type: 'EMAIL',
      key: 'ana@example.com',
      owner: { tax_id: '98765432100', name: 'Ana Souza' },
      account: {
        branch: '0001',
        number: '500100',
        type: 'CACC',
        opened_at: '2020-01-10T03:00:00Z',
      },
    },
  })
  .superRefine(({ key_type: type, key, owner }, context) => {
    const refuse = (rule: string, message: string): void =>
      context.addIssue({ code: 'custom', path: ['key'], message, params: { rule } })
    if (type === 'EVP') {
      if (key !== undefined) refuse('forbidden', 'is made by the directory')
    } else if (key === undefined) refuse('required', 'is missing')
    else if (pixKeyKind(key)?.toUpperCase() !== type)
      refuse('pix_key', 'is no Pix key of that type')
    else if ((type === 'CPF' || type === 'CNPJ') && key !== owner.tax_id) {
      refuse('consistency', 'must be the tax id of the owner')
    }
  })

const entryChange = z
  .strictObject({
    owner: z.strictObject(names).optional(),
    account: account.optional(),
    reason: z.enum(changeReasons).default('USER_REQUESTED'),
  })
  .refine(({ owner, account: other }) => owner !== undefined || other !== undefined, {
    error: 'must change something',
    params: { rule: 'required' },
  })
  .meta({
    example: { account: { number: '500200', type: 'CACC', opened_at: '2024-05-06T03:00:00Z' } },
  })

const verificationBody = z
  .strictObject({ key_type: z.enum(keyTypes) })
  .meta({ example: { key_type: 'EMAIL' } })

export const ownerShown = z.object({
  tax_id: z.string(),
  name: z.string(),
  trade_name: z.string().nullable(),
})

export const accountShown = z.object({
  branch: z.string().nullable(),
  number: z.string(),
  type: z.string(),
  opened_at: z.string(),
})

const entry = z
  .object({
    id: z.uuid().meta({ description: 'The RequestId that the directory knows it by.' }),
    key_type: z.enum(keyTypes),
    key: z.string().nullable().meta({ description: 'Null until the directory has made the EVP.' }),
    status: z.enum(entryStatuses),
    owner: ownerShown,
    account: accountShown,
    cid: z.string().nullable().meta({
      description: 'Content identifier; null while the directory does not have the entry.',
    }),
    refusal: z.string().nullable().meta({
      description: 'The directory’s name for why it refused what was asked last.',
    }),
    owned_since: z.string().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'OwnDirectoryEntry' })

const done = { description: 'The directory has it.', schema: entry }
const asked = {
  description: 'The directory has not answered, and is asked again until it does.',
  schema: entry,
}
const one = {
  params: entryParams,
  exampleFrom: { id: 'listDirectoryEntries#/entries/0/id' },
} as const

export const entryDocuments = {
  register: {
    at: 'POST /v1/dict/entries',
    scope: 'dict:write',
    bodyBytesMax,
    operation: 'registerPixKey',
    summary: 'Register a Pix key of a customer in the directory',
    description:
      'Stored before the directory is told, under a RequestId of its own: a request that nobody answered is told again, also after a restart, and makes one entry. 201 means that the directory has it, 202 that it has not answered yet.',
    body: { 'application/json': newEntry },
    idempotent: true,
    responses: { 201: done, 202: asked },
    errors: [dictErrors.dict_entry_exists, dictErrors.dict_refused],
  },
  list: {
    at: 'GET /v1/dict/entries',
    scope: 'dict:read',
    operation: 'listDirectoryEntries',
    summary: 'This institution’s entries in the directory, newest first',
    query: entriesQuery,
    responses: pageResponses('entries', entry, 'Entries'),
  },
  find: {
    at: 'GET /v1/dict/entries/{id}',
    scope: 'dict:read',
    operation: 'getDirectoryEntry',
    summary: 'An entry of this institution',
    ...one,
    responses: { 200: { description: 'The entry', schema: entry } },
  },
  change: {
    at: 'PATCH /v1/dict/entries/{id}',
    scope: 'dict:write',
    bodyBytesMax,
    operation: 'updateDirectoryEntry',
    summary: 'Give an entry another account or name',
    description:
      'The key and the tax id of its owner stay. An EVP is changed for `BRANCH_TRANSFER` or `RFB_VALIDATION` alone: the directory takes no wish of its owner. 202 as when it was registered.',
    ...one,
    body: { 'application/json': entryChange },
    responses: { 200: done, 202: asked },
    errors: [dictErrors.dict_entry_not_registered, dictErrors.dict_refused],
  },
  remove: {
    at: 'DELETE /v1/dict/entries/{id}',
    scope: 'dict:write',
    operation: 'deletePixKey',
    summary: 'Take an entry out of the directory',
    description: '202 as when it was registered. What is removed stays in the list.',
    ...one,
    query: removalQuery,
    responses: { 200: done, 202: asked },
    errors: [dictErrors.dict_entry_not_registered, dictErrors.dict_refused],
  },
  verify: {
    at: 'POST /v1/dict/verifications',
    scope: 'dict:write',
    bodyBytesMax,
    operation: 'verifyDirectoryEntries',
    summary: 'Compare our entries of a type with the directory’s',
    description:
      'The XOR of the content identifiers of all entries (VSync), judged by the directory. Where they differ, one of both has an entry, or a content of one, that the other lacks.',
    body: { 'application/json': verificationBody },
    responses: {
      200: {
        description: 'What the directory says',
        schema: z.object({
          key_type: z.enum(keyTypes),
          entries: z.int().meta({ description: 'Of ours.' }),
          result: z.enum(['same', 'different']),
        }),
      },
    },
    errors: [dictErrors.dict_refused, dictErrors.dict_unavailable],
  },
} as const satisfies Readonly<Record<string, RouteContract>>
