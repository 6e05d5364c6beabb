import { z } from 'zod'
import { pixKeyKind } from '#codecs/brcode'
import { claimTypes, keyTypes } from '#codecs/dict'
import { claimRoles, claimStatuses } from '#src/events/index.ts'
import { pageResponses, type RouteContract, text } from '#src/platform/http/index.ts'
import { account, accountShown, keyCharsMax, owner, ownerShown } from '../entries/documents.ts'
import { dictErrors } from '../errors.ts'
import { agePage } from '../pages.ts'
import { cancelReasons, confirmReasons } from './domain.ts'

const bodyBytesMax = 16_384

const claimParams = z.object({ id: z.uuid() })

const claimsQuery = z.strictObject({
  key: text(keyCharsMax).optional(),
  role: z.enum(claimRoles).optional(),
  status: z.enum(claimStatuses).optional(),
  needs_attention: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: '`true`: those that wait for a person, before a deadline decides.' }),
  ...agePage,
})

const claimed = ['CPF', 'CNPJ', 'PHONE', 'EMAIL'] as const

const newClaim = z
  .strictObject({
    type: z.enum(claimTypes).meta({
      description:
        '`PORTABILITY`: the same owner, at another institution. `OWNERSHIP`: another owner; of phones alone.',
    }),
    key_type: z.enum(claimed),
    key: text(keyCharsMax).meta({ description: 'In the directory’s form.' }),
    claimer: owner,
    account,
  })
  .meta({
    example: {
      type: 'PORTABILITY',
      key_type: 'EMAIL',
      key: 'joao@example.com',
      claimer: { tax_id: '98765432100', name: 'João Lima' },
      account: {
        branch: '0001',
        number: '500100',
        type: 'CACC',
        opened_at: '2020-01-10T03:00:00Z',
      },
    },
  })
  .superRefine(({ type, key_type: keyType, key, claimer }, context) => {
    const refuse = (path: string, rule: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message, params: { rule } })
    if (pixKeyKind(key)?.toUpperCase() !== keyType) {
      refuse('key', 'pix_key', 'is no Pix key of that type')
    } else if ((keyType === 'CPF' || keyType === 'CNPJ') && key !== claimer.tax_id) {
      refuse('key', 'consistency', 'must be the tax id of the claimer')
    }
    if (type === 'OWNERSHIP' && keyType !== 'PHONE') {
      refuse('key_type', 'consistency', 'must be PHONE: only phones change their owner')
    }
  })

const confirmBody = z
  .strictObject({ reason: z.enum(confirmReasons).default('USER_REQUESTED') })
  .meta({ example: { reason: 'USER_REQUESTED' } })

const cancelBody = z
  .strictObject({ reason: z.enum(cancelReasons).default('USER_REQUESTED') })
  .meta({ example: { reason: 'USER_REQUESTED' } })

const acts = ['open', 'acknowledge', 'confirm', 'cancel', 'complete'] as const
const moment = z.iso.datetime().nullable()

const claim = z
  .object({
    id: z.uuid().meta({
      description: 'Ours; the entry that a completed claim of ours ends with has it, too.',
    }),
    claim_id: z.uuid().nullable().meta({ description: 'The directory’s; null until it answers.' }),
    role: z.enum(claimRoles).meta({ description: '`donor`: a key of ours is claimed.' }),
    type: z.enum(claimTypes),
    key_type: z.enum(keyTypes),
    key: z.string(),
    ispb: z.string().nullable().meta({ description: 'The institution on the other side.' }),
    status: z.enum(claimStatuses).meta({
      description: '`opening` until the directory has answered; `refused` if it does not take it.',
    }),
    pending: z.enum(acts).nullable().meta({
      description: 'What the directory was asked for, or is once its period has ended.',
    }),
    next: z
      .object({
        act: z.enum(acts),
        reason: z.string().nullable(),
        at: moment.meta({ description: 'From when on; null if the directory decides.' }),
      })
      .nullable()
      .meta({ description: 'What the gateway does unless somebody asks for something else.' }),
    needs_attention: z.boolean().meta({ description: 'It waits for a person.' }),
    refusal: z.string().nullable().meta({
      description: 'The directory’s name for why it refused what was asked last.',
    }),
    resolution_ends_at: moment.meta({ description: 'Until then the donor answers.' }),
    completion_ends_at: moment.meta({
      description: 'From then on the claim of an owner may be completed.',
    }),
    confirm_reason: z.string().nullable(),
    cancel_reason: z.string().nullable(),
    cancelled_by: z.enum(claimRoles).nullable(),
    claimer: ownerShown
      .nullable()
      .meta({ description: 'Our customer; null where another’s customer claims.' }),
    account: accountShown.nullable(),
    modified_at: moment,
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'DirectoryClaim' })

const done = { description: 'The directory has done it.', schema: claim }
const asked = {
  description:
    'The directory has not answered, or its period has not ended: it is asked again until it does.',
  schema: claim,
}
const one = {
  params: claimParams,
  exampleFrom: { id: 'listDirectoryClaims#/claims/0/id' },
} as const
const act = {
  ...one,
  scope: 'dict:write',
  responses: { 200: done, 202: asked },
  idempotent: true,
  errors: [dictErrors.dict_claim_not_possible, dictErrors.dict_refused],
} as const

export const claimDocuments = {
  open: {
    at: 'POST /v1/dict/claims',
    scope: 'dict:write',
    bodyBytesMax,
    operation: 'claimPixKey',
    summary: 'Claim a Pix key for a customer',
    description:
      'A portability brings the customer’s own key from another institution; an ownership brings a phone that was somebody else’s. 201 means that the directory has it, 202 that it has not answered yet: it is looked for there before it is asked again, so that one claim is made.',
    body: { 'application/json': newClaim },
    idempotent: true,
    responses: { 201: done, 202: asked },
    errors: [dictErrors.dict_claim_exists, dictErrors.dict_refused],
  },
  list: {
    at: 'GET /v1/dict/claims',
    scope: 'dict:read',
    operation: 'listDirectoryClaims',
    summary: 'Claims of this institution and against it, newest first',
    query: claimsQuery,
    responses: pageResponses('claims', claim, 'Claims'),
  },
  find: {
    at: 'GET /v1/dict/claims/{id}',
    scope: 'dict:read',
    operation: 'getDirectoryClaim',
    summary: 'A claim, with its deadlines and what happens next',
    ...one,
    responses: { 200: { description: 'The claim', schema: claim } },
  },
  acknowledge: {
    at: 'POST /v1/dict/claims/{id}/acknowledge',
    ...act,
    operation: 'acknowledgeDirectoryClaim',
    summary: 'Tell the directory that a claim against us has arrived',
    description: 'The gateway does it as soon as it has found the claim.',
  },
  confirm: {
    at: 'POST /v1/dict/claims/{id}/confirm',
    ...act,
    bodyBytesMax,
    operation: 'confirmDirectoryClaim',
    summary: 'Give a claimed key up',
    description:
      'As donor. The entry leaves the directory, and our book in the transaction that learns of it.',
    body: { 'application/json': confirmBody },
  },
  cancel: {
    at: 'POST /v1/dict/claims/{id}/cancel',
    ...act,
    bodyBytesMax,
    operation: 'cancelDirectoryClaim',
    summary: 'Cancel a claim, for a reason that its side may give',
    body: { 'application/json': cancelBody },
  },
  complete: {
    at: 'POST /v1/dict/claims/{id}/complete',
    ...act,
    operation: 'completeDirectoryClaim',
    summary: 'Take a key over that was given up',
    description:
      'As claimer. A portability is completed without being asked for. The claim of an owner waits for this request, which says that the possession was proven again; made before completion_ends_at, it is kept until then.',
  },
} as const satisfies Readonly<Record<string, RouteContract>>
