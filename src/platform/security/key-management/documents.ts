import { z } from 'zod'
import {
  httpErrors,
  idParams,
  instant,
  pageQuery,
  pageResponses,
  type RouteContract,
  text,
} from '#src/platform/http/index.ts'
import { restrictionsSchema, storedRestrictionsSchema } from '../keys/restrictions.ts'
import { isGrant } from '../keys/scopes.ts'

/** Bodies and answers of the routes of keys, with their texts in the OpenAPI document. */

const nameCharactersMax = 100
const grantsMax = 100
const grantCharactersMax = 50
const overlapSecondsDefault = 86_400
const overlapSecondsMax = 720 * 3_600

const scope = text(grantCharactersMax).refine(isGrant, {
  error: 'is no scope',
  params: { rule: 'unknown' },
})
/** A stored key has no member for `false`. */
const switches = { own_webhooks: z.boolean().optional(), read_only: z.boolean().optional() }
const restrictions = restrictionsSchema.extend(switches).meta({
  id: 'KeyRestrictions',
  description: 'What leaves of the scopes what it names; all of them.',
  example: { merchant_ids: ['MERCHANT000001'] },
})
export type GivenRestrictions = z.infer<typeof restrictions>

const expiry = instant.meta({
  description: 'From when on it opens nothing; later than now.',
  example: '2099-01-01T00:00:00Z',
})

const createKeyBody = z
  .strictObject({
    name: text(nameCharactersMax).meta({ description: 'Who it is for.', example: 'till-7' }),
    scopes: z
      .array(scope)
      .min(1)
      .max(grantsMax)
      .meta({
        description: 'Scopes, whole features as `cards:*`, or `*`: none that the caller lacks.',
        example: ['cards:read'],
      }),
    restrictions: restrictions.optional(),
    expires_at: expiry.optional(),
  })
  .meta({ id: 'CreateKeyRequest' })

const changeKeyBody = z
  .strictObject({
    restrictions: restrictions.optional(),
    expires_at: expiry.optional(),
    replaces: storedRestrictionsSchema.extend(switches).optional().meta({
      description:
        'The restrictions that it had when the caller read it: where it has others by now, nothing changes (409 `changed_meanwhile`). Left out, whatever it has is replaced.',
    }),
  })
  .refine(
    (body) => body.restrictions !== undefined || body.expires_at !== undefined,
    'must change something',
  )
  .meta({ id: 'UpdateKeyRequest' })

const rotateKeyBody = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(overlapSecondsMax)
      .default(overlapSecondsDefault)
      .meta({ description: 'How long the former secret counts on; 0 ends it at once.' }),
  })
  .meta({ id: 'RotateKeyRequest' })

const limitMax = 200
const limitDefault = 50
const keysQuery = z.strictObject(pageQuery(/^[0-9A-Za-z]{12}$/, limitMax, limitDefault))

const time = z.string().nullable()
const view = z
  .object({
    id: z.string(),
    name: z.string(),
    account: z.string(),
    environment: z.enum(['live', 'test']).nullable(),
    scopes: z.array(z.string()),
    restrictions: z.object({
      merchant_ids: z.array(z.string()).optional(),
      wallets: z.array(z.string()).optional(),
      own_webhooks: z.boolean().optional(),
      read_only: z.boolean().optional(),
      requests_per_second: z.int().optional(),
      addresses: z.array(z.string()).optional(),
    }),
    created_at: z.string(),
    expires_at: time,
    revoked_at: time,
    previous_until: time.meta({ description: 'Until when the secret before the last one counts.' }),
    last_used_at: time.meta({ description: 'To the minute.' }),
  })
  .meta({ id: 'ApiKey' })
const made = view.extend({ key: z.string().meta({ description: 'Shown only now.' }) })

const json = <Schema extends z.ZodType>(schema: Schema) => ({ 'application/json': schema })
const answer = (status: number, description: string, schema?: z.ZodType) => ({
  [status]: { description, ...(schema === undefined ? {} : { schema }) },
})
const ofOne = { params: idParams, exampleFrom: { id: 'listApiKeys#/keys/0/id' } } as const
const ofActive = { ...ofOne, errors: [httpErrors.conflict] } as const

export const keyDocuments = {
  list: {
    at: 'GET /v1/keys',
    scope: 'keys:read',
    operation: 'listApiKeys',
    summary: 'API keys of the account, newest first',
    description: 'Those of the database, revoked ones too; no secret.',
    query: keysQuery,
    responses: pageResponses('keys', view, 'The keys'),
  },
  find: {
    at: 'GET /v1/keys/{id}',
    scope: 'keys:read',
    operation: 'getApiKey',
    summary: 'Show an API key',
    ...ofOne,
    responses: answer(200, 'The key, without its secret.', view),
  },
  create: {
    at: 'POST /v1/keys',
    scope: 'keys:manage',
    operation: 'createApiKey',
    summary: 'Make an API key of the account',
    description:
      'It has no scope that the caller lacks, and ends no later. A caller that is restricted, other than to reading, makes none.',
    idempotent: true,
    body: json(createKeyBody),
    errors: [httpErrors.conflict],
    responses: answer(201, 'The key; its text only now.', made),
  },
  change: {
    at: 'PATCH /v1/keys/{id}',
    scope: 'keys:manage',
    operation: 'updateApiKey',
    summary: 'Restrict an API key, or set its expiry',
    description:
      'The restrictions given replace all that it had; none lift them. It ends no later than the caller. It takes effect within five seconds.',
    ...ofOne,
    errors: [httpErrors.conflict, httpErrors.changed_meanwhile],
    body: json(changeKeyBody),
    bodyExamples: { restricted: { restrictions: { merchant_ids: ['MERCHANT000001'] } } },
    responses: answer(200, 'The key.', view),
  },
  rotate: {
    at: 'POST /v1/keys/{id}/rotate',
    scope: 'keys:manage',
    operation: 'rotateApiKey',
    summary: 'Give an API key a new secret',
    description:
      'Its id, scopes and restrictions stay. It ends no later than the caller. A further rotation ends the oldest secret.',
    ...ofActive,
    idempotent: true,
    body: json(rotateKeyBody),
    responses: answer(200, 'The key; its text only now.', made),
  },
  revoke: {
    at: 'DELETE /v1/keys/{id}',
    scope: 'keys:manage',
    operation: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'For good, and within five seconds. A second time changes nothing.',
    ...ofOne,
    responses: answer(204, 'It opens nothing any more.'),
  },
} as const satisfies Readonly<Record<string, RouteContract>>
