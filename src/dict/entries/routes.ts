import type { z } from 'zod'
import {
  actorOf,
  callerOf,
  pageOf,
  type RequestContext,
  type Route,
  readJson,
  readParams,
  readQuery,
} from '#src/platform/http/index.ts'
import { cursorAt, placeIn } from '../pages.ts'
import {
  entryDocuments as documents,
  entriesQuery,
  entryChange,
  entryParams,
  newEntry,
  removalQuery,
  verificationBody,
} from './documents.ts'
import type { OwnEntry } from './domain.ts'
import type { Entered, EntryService } from './service.ts'

const base = '/v1/dict/entries'
const bodyBytesMax = 16_384
const json = { accepts: ['application/json'], bodyBytesMax }

const idOf = (c: RequestContext): string => readParams(c, entryParams).id

/** Entries that this institution keeps in the directory of Pix keys. */
export const entryRoutes = (service: EntryService, ispb: string): readonly Route[] => [
  {
    ...{ method: 'POST', path: base, scope: 'dict:write', ...json, document: documents.register },
    handle: async (c) => {
      const wanted = wantedOf(await readJson(c, newEntry), ispb)
      const caller = callerOf(c)
      return entered(await service.register(wanted, caller, actorOf(caller)), 201)
    },
  },
  {
    ...{ method: 'GET', path: base, scope: 'dict:read', document: documents.list },
    handle: async (c) => {
      const { key, limit, cursor } = readQuery(c, entriesQuery)
      const found = await service.list({ key, limit: limit + 1, after: placeIn(cursor) })
      const { items, next } = pageOf(found, limit, cursorAt)
      return Response.json({ entries: items.map(entryView), next_cursor: next })
    },
  },
  {
    ...{ method: 'GET', path: `${base}/{id}`, scope: 'dict:read', document: documents.find },
    handle: async (c) => Response.json(entryView(await service.find(idOf(c)))),
  },
  {
    ...{ method: 'PATCH', path: `${base}/{id}`, scope: 'dict:write', ...json },
    document: documents.change,
    handle: async (c) => {
      const { owner, account } = await readJson(c, entryChange)
      const wish = {
        owner: owner && { name: owner.name, ...tradeName(owner.trade_name) },
        account: account && accountOf(account, ispb),
      }
      return entered(await service.change(idOf(c), wish, actorOf(callerOf(c))), 200)
    },
  },
  {
    ...{ method: 'DELETE', path: `${base}/{id}`, scope: 'dict:write', document: documents.remove },
    handle: async (c) => {
      const { reason: removal } = readQuery(c, removalQuery)
      return entered(await service.change(idOf(c), { removal }, actorOf(callerOf(c))), 200)
    },
  },
  {
    ...{ method: 'POST', path: '/v1/dict/verifications', scope: 'dict:write', ...json },
    document: documents.verify,
    handle: async (c) => {
      const { key_type: type } = await readJson(c, verificationBody)
      const { entries, isSame } = await service.verify(type)
      return Response.json({ key_type: type, entries, result: isSame ? 'same' : 'different' })
    },
  },
]

const tradeName = (name: string | undefined) => (name === undefined ? {} : { tradeName: name })

export const accountOf = (
  { branch, number, type, opened_at: openedAt }: z.output<typeof newEntry>['account'],
  ispb: string,
) => ({
  account: { participant: ispb, branch, accountNumber: number, accountType: type },
  openedAt: openedAt.toISOString(),
})

export const ownerOf = (owner: z.output<typeof newEntry>['owner']) => ({
  ...{ taxIdNumber: owner.tax_id, name: owner.name, ...tradeName(owner.trade_name) },
})

const wantedOf = (
  { key_type: keyType, key, owner, account }: z.output<typeof newEntry>,
  ispb: string,
) => ({
  ...{ keyType, key },
  content: {
    ...accountOf(account, ispb),
    owner: ownerOf(owner),
  },
})

const entered = ({ entry, isDone }: Entered, status: 200 | 201): Response =>
  Response.json(entryView(entry), { status: isDone ? status : 202 })

const entryView = ({ id, keyType, key, status, content, cid, refusal, ...entry }: OwnEntry) => ({
  ...{ id, key_type: keyType, key, status },
  owner: {
    ...{ tax_id: content.owner.taxIdNumber, name: content.owner.name },
    trade_name: content.owner.tradeName ?? null,
  },
  account: {
    ...{ branch: content.account.branch ?? null, number: content.account.accountNumber },
    ...{ type: content.account.accountType, opened_at: content.openedAt },
  },
  ...{ cid, refusal, owned_since: entry.ownedSince, created_at: entry.createdAt.toISOString() },
})
