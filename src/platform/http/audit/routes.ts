import { z } from 'zod'
import { readQuery } from '../body.ts'
import { httpErrors } from '../errors.ts'
import { pageOf, pageQuery } from '../page.ts'
import type { Route, RouteDocument } from '../route.ts'
import { instant, text } from '../text.ts'
import { type AuditFilter, type AuditRecord, auditActions, viewOf } from './domain.ts'

const limitDefault = 50
const limitMax = 500
const charactersMax = 200

const query = z.strictObject({
  actor: text(charactersMax).optional().meta({ description: 'Id of an API key' }),
  action: z.enum(auditActions).optional(),
  object: text(charactersMax).optional().meta({ description: 'Id of what it was done to' }),
  from: instant.optional(),
  to: instant.optional(),
  ...pageQuery(/^[0-9a-f-]{36}$/, limitMax, limitDefault),
})

const entry = z
  .object({
    id: z.uuid(),
    at: z.iso.datetime(),
    actor: z.string(),
    action: z.string(),
    object: z.string(),
    outcome: z.string(),
    request_id: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' })

const document: RouteDocument = {
  operation: 'listAuditEntries',
  summary: 'Who did what, newest first',
  description:
    'Written in the transaction of what it tells of; without payloads. The actor is the public id of an API key, or `cli:<user>` of a command.',
  tag: 'Operation',
  query,
  responses: {
    200: {
      description: 'The entries',
      schema: z.object({ entries: z.array(entry), next_cursor: z.string().nullable() }),
    },
  },
  errors: [httpErrors.validation_failed, httpErrors.not_configured],
}

export type ListAudit = (
  filter: AuditFilter,
  page: { readonly limit: number; readonly before: string | undefined },
) => Promise<readonly AuditRecord[]>

export const auditRoutes = (list: ListAudit): readonly Route[] => [
  {
    method: 'GET',
    path: '/v1/audit',
    scope: 'ops:admin',
    document,
    handle: async (c) => {
      const { limit, cursor, ...filter } = readQuery(c, query)
      const found = await list(filter, { limit: limit + 1, before: cursor })
      const { items, next } = pageOf(found, limit, ({ id }) => id)
      return Response.json({ entries: items.map(viewOf), next_cursor: next })
    },
  },
]
