import { z } from 'zod'
import { keyTypes } from '#codecs/dict'
import {
  instant,
  pageQuery,
  pageResponses,
  type RouteContract,
  text,
} from '#src/platform/http/index.ts'
import { accountShown, keyCharsMax, ownerShown } from '../entries/documents.ts'
import { dictErrors } from '../errors.ts'
import { limitDefault, limitMax } from '../pages.ts'
import { comparisonMethods, comparisonStatuses } from './domain.ts'

const sides = ['ours', 'theirs'] as const

const comparisonParams = z.object({ id: z.uuid() })

const newComparison = z
  .strictObject({
    key_type: z.enum(keyTypes),
    method: z.enum(comparisonMethods).meta({
      description:
        'file: all contents that the directory has, made by it within minutes, forty a day, and waited for six hours. events: what came and went since a moment.',
    }),
    since: instant.optional().meta({ description: 'Of events: from when.' }),
  })
  .meta({ example: { key_type: 'EMAIL', method: 'file' } })
  .superRefine(({ method, since }, context) => {
    const isNeeded = method === 'events'
    if (isNeeded === (since !== undefined)) return
    context.addIssue({
      code: 'custom',
      path: ['since'],
      params: { rule: isNeeded ? 'required' : 'forbidden' },
      message: isNeeded ? 'is missing' : 'is of events alone',
    })
  })

const mending = z
  .strictObject({ key: text(keyCharsMax), keep: z.enum(sides) })
  .meta({ example: { key: 'ana@example.com', keep: 'theirs' } })

const differencesQuery = z.strictObject(pageQuery(/^[!-~]{1,77}$/, limitMax, limitDefault))

const count = z.int().nullable()

const comparison = z
  .object({
    id: z.uuid(),
    key_type: z.enum(keyTypes),
    method: z.enum(comparisonMethods),
    since: z.iso.datetime().nullable(),
    status: z.enum(comparisonStatuses),
    entries: count.meta({ description: 'Of ours that were compared; null while it runs.' }),
    only_ours: count.meta({ description: 'Contents that the directory lacks.' }),
    only_theirs: count.meta({ description: 'Contents that we lack.' }),
    complete: z.boolean().nullable().meta({
      description:
        'Whether these differences explain the directory’s check. If not, compare by file, or since earlier.',
    }),
    failure: z.string().nullable(),
    created_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'DirectoryComparison' })

const side = ownerShown.extend({ account: accountShown })

const difference = z
  .object({
    key: z.string(),
    entry_id: z.uuid().nullable().meta({ description: 'Of ours; null: we have none.' }),
    theirs: side.nullable().meta({ description: 'The directory’s; null: it has none.' }),
    kept: z.enum(sides).nullable().meta({ description: 'Which side was kept; null: not mended.' }),
  })
  .meta({ id: 'DirectoryDifference' })

const started = { id: 'compareDirectoryEntries#/id' }

export const comparisonDocuments = {
  start: {
    at: 'POST /v1/dict/comparisons',
    scope: 'dict:write',
    bodyBytesMax: 16_384,
    operation: 'compareDirectoryEntries',
    summary: 'Find which of our entries and the directory’s differ',
    description:
      'By the identifiers of their contents (CIDs), in the background: `GET` it until it is `done`. Up to 1 000 differences of each side are asked for one by one and shown with their keys, the others counted.',
    body: { 'application/json': newComparison },
    idempotent: true,
    responses: { 202: { description: 'It runs.', schema: comparison } },
    errors: [dictErrors.dict_comparison_running],
  },
  find: {
    at: 'GET /v1/dict/comparisons/{id}',
    scope: 'dict:read',
    operation: 'getDirectoryComparison',
    summary: 'A comparison of entries',
    params: comparisonParams,
    exampleFrom: started,
    responses: { 200: { description: 'The comparison', schema: comparison } },
  },
  differences: {
    at: 'GET /v1/dict/comparisons/{id}/differences',
    scope: 'dict:read',
    operation: 'listDirectoryDifferences',
    summary: 'Keys whose entries differ, in their order',
    params: comparisonParams,
    exampleFrom: started,
    query: differencesQuery,
    responses: pageResponses('differences', difference, 'Differences'),
  },
  mend: {
    at: 'POST /v1/dict/comparisons/{id}/mend',
    scope: 'dict:write',
    bodyBytesMax: 16_384,
    operation: 'mendDirectoryDifference',
    summary: 'Keep one side of a difference',
    description:
      'ours: the directory gets what we have, or loses what we do not have, for the reason RECONCILIATION, and is told until it answers. theirs: our book gets what the directory has, and nobody is told. The directory is asked first whether they still differ so. What it refuses to be told, at once (422) or later, is not kept: the difference stands as before. Of a random key that it lacks only theirs can be kept.',
    params: comparisonParams,
    exampleFrom: started,
    idempotent: true,
    body: { 'application/json': mending },
    responses: { 200: { description: 'The difference', schema: difference } },
    errors: [
      dictErrors.dict_difference_mended,
      dictErrors.dict_entry_not_registered,
      dictErrors.dict_refused,
      dictErrors.dict_unavailable,
    ],
  },
} as const satisfies Readonly<Record<string, RouteContract>>
