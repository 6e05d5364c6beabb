import { z } from 'zod'
import { route } from '../asked.ts'
import { refusedValue } from '../errors.ts'
import { pageQuery, pageResponse, pageResponses } from '../page.ts'
import type { Route, RouteContract } from '../route.ts'
import { instant, text, whole } from '../text.ts'
import { type ExportedLink, UnknownLinkError } from './chain/lines.ts'
import type { Anchor, VerifiedPage } from './chain/verify.ts'
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

const document = {
  at: 'GET /v1/audit',
  scope: 'ops:admin',
  ofInstitution: true,
  operation: 'listAuditEntries',
  summary: 'Who did what, newest first',
  description:
    'Written in the transaction of what it tells of; without payloads. The actor is the public id of an API key, or `cli:<user>` of a command.',
  query,
  responses: pageResponses('entries', entry, 'The entries'),
} as const satisfies RouteContract

const linksDefault = 20
const linksMax = 100
const linkMax = 999_999_999
/** An answer with so many has no further link. */
const entriesMax = 10_000
const databasesMax = 2
const ndjson = 'application/x-ndjson'

const exportQuery = z.strictObject({
  after: whole(0, linkMax, 0).meta({ description: 'Go on behind the link of this number' }),
  limit: whole(1, linksMax, linksDefault).meta({ description: 'Links at most' }),
  database: whole(1, databasesMax, 1).meta({
    description: 'Where cards have a database of their own, 2 for its log',
  }),
})

const exportDocument = {
  at: 'GET /v1/audit/export',
  scope: 'audit:export',
  operation: 'exportAudit',
  summary: 'What is sealed, with the chain that proves it',
  description: `Lines of JSON, oldest first: the entries of a link, each with its hash, and then the link. The answers one after the other are the file that \`trilho audit export\` writes and \`trilho audit verify\` reads. Go on at the header Link (rel="next") until an answer is empty; the same request has more once more is sealed. An answer ends with the link that brings it to ${entriesMax} entries.`,
  query: exportQuery,
  responses: {
    200: { description: 'Whole links', schema: z.string(), contentType: ndjson },
  },
} as const satisfies RouteContract

const anchorForm = /^(\d{1,18}):([0-9a-f]{64})$/
/** The most findings of one answer. */
const findingsMax = 100

const verifyQuery = z.strictObject({
  after: whole(0, linkMax, 0).meta({ description: '`next_after` of the answer before' }),
  limit: whole(1, linksMax, linksDefault).meta({ description: 'Links at most' }),
  database: exportQuery.shape.database,
  anchor: z
    .string()
    .regex(anchorForm, 'must be a link as number:hash')
    .optional()
    .meta({ description: 'A link that was noted elsewhere: the chain must have it' }),
})

const verified = z
  .object({
    links: z.int(),
    entries: z.int(),
    late: z.int().meta({ description: 'Entries that were committed after their time was sealed' }),
    dropped: z.int().meta({ description: 'Links whose entries retention has dropped' }),
    findings_count: z.int(),
    findings: z
      .array(z.object({ kind: z.string(), at: z.string(), message: z.string() }))
      .meta({ description: `What is not as it was sealed; the first ${findingsMax}` }),
    head: z.string().nullable().meta({ description: 'The last link so far, as number:hash' }),
    next_after: z.int().nullable().meta({ description: 'Null: the chain ends here' }),
  })
  .meta({ id: 'AuditVerification' })

const verifyDocument = {
  at: 'GET /v1/audit/verification',
  scope: 'ops:admin',
  ofInstitution: true,
  operation: 'verifyAudit',
  summary: 'Verify a part of the chain over the audit log',
  description: `As \`trilho audit verify\`, link by link: go on with \`next_after\` until it is null. An answer ends with the link that brings it to ${entriesMax} entries.`,
  query: verifyQuery,
  responses: { 200: { description: 'What was found', schema: verified } },
} as const satisfies RouteContract

type ListAudit = (
  filter: AuditFilter,
  page: { readonly limit: number; readonly before: string | undefined },
) => Promise<readonly AuditRecord[]>

/** @returns undefined: there is no such database. @throws UnknownLinkError */
type LinksOf = (
  database: number,
  after: bigint,
) => AsyncIterable<Pick<ExportedLink, 'seq' | 'entries' | 'lines'>> | undefined

/** @returns undefined: there is no such database. @throws UnknownLinkError */
type VerifyLinks = (
  database: number,
  page: {
    readonly after: bigint
    readonly linksMax: number
    readonly anchor: Anchor | undefined
  },
) => Promise<VerifiedPage> | undefined

type AuditDeps = {
  readonly list: ListAudit
  readonly links: LinksOf
  readonly verify: VerifyLinks
}

export const auditRoutes = ({ list, links, verify }: AuditDeps): readonly Route[] => [
  route(document, async ({ query: { limit, cursor, ...filter } }) => {
    const found = await list(filter, { limit: limit + 1, before: cursor })
    return pageResponse('entries', found, limit, viewOf)
  }),
  route(exportDocument, async ({ query: { after, limit, database } }) => {
    const found = links(database, BigInt(after))
    if (found === undefined) throw noDatabase()
    return await pageOfLinks(found, limit, database).catch(refuseUnknown)
  }),
  route(verifyDocument, async ({ query: { after, limit, database, anchor } }) => {
    const page = { after: BigInt(after), linksMax: limit, anchor: anchorOf(anchor) }
    const found = await verify(database, page)?.catch(refuseUnknown)
    if (found === undefined) throw noDatabase()
    const { findings, head = null, next, ...counts } = found
    return Response.json({
      ...counts,
      findings_count: findings.length,
      findings: findings.slice(0, findingsMax),
      head,
      next_after: next === undefined ? null : Number(next),
    })
  }),
]

const noDatabase = () => {
  const message = 'is 1: there is one database'
  return refusedValue([{ pointer: 'database', rule: 'unknown', message }])
}

const refuseUnknown = (error: unknown): never => {
  if (!(error instanceof UnknownLinkError)) throw error
  const message = 'is the number of no link of the chain'
  throw refusedValue([{ pointer: 'after', rule: 'unknown', message }])
}

const anchorOf = (text: string | undefined): Anchor | undefined => {
  const [, seq, hash] = anchorForm.exec(text ?? '') ?? []
  return seq === undefined || hash === undefined ? undefined : { seq: BigInt(seq), hash }
}

/** Whole links, so that what follows another page goes on from it. */
const pageOfLinks = async (
  links: NonNullable<ReturnType<LinksOf>>,
  limit: number,
  database: number,
): Promise<Response> => {
  const texts: string[] = []
  let entries = 0
  let last: bigint | undefined
  for await (const link of links) {
    texts.push(link.lines)
    entries += link.entries
    last = link.seq
    if (texts.length === limit || entries >= entriesMax) break
  }
  const next = `/v1/audit/export?after=${last}&limit=${limit}&database=${database}`
  return new Response(texts.join(''), {
    headers: {
      'Content-Type': ndjson,
      ...(last !== undefined && { Link: `<${next}>; rel="next"` }),
    },
  })
}
