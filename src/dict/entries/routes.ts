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
  respond,
} from '#src/platform/http/index.ts'
import { answerOf } from '../once.ts'
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
import type { Entered, EntryService } from './service.ts'
import { entryView } from './view.ts'

const base = '/v1/dict/entries'
const bodyBytesMax = 16_384

const idOf = (c: RequestContext): string => readParams(c, entryParams).id

/** Entries that this institution keeps in the directory of Pix keys. */
export const entryRoutes = (service: EntryService, ispb: string): readonly Route[] => [
  {
    ...{
      method: 'POST',
      path: base,
      scope: 'dict:write',
      bodyBytesMax,
      document: documents.register,
    },
    handle: async (c) => {
      const wanted = wantedOf(await readJson(c, newEntry), ispb)
      return respond(await service.register(wanted, callerOf(c)))
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
    ...{ method: 'PATCH', path: `${base}/{id}`, scope: 'dict:write', bodyBytesMax },
    document: documents.change,
    handle: async (c) => {
      const { owner, account } = await readJson(c, entryChange)
      const wish = {
        owner: owner && { name: owner.name, ...tradeName(owner.trade_name) },
        account: account && accountOf(account, ispb),
      }
      return changed(await service.change(idOf(c), wish, actorOf(callerOf(c))))
    },
  },
  {
    ...{ method: 'DELETE', path: `${base}/{id}`, scope: 'dict:write', document: documents.remove },
    handle: async (c) => {
      const { reason: removal } = readQuery(c, removalQuery)
      return changed(await service.change(idOf(c), { removal }, actorOf(callerOf(c))))
    },
  },
  {
    ...{ method: 'POST', path: '/v1/dict/verifications', scope: 'dict:write', bodyBytesMax },
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

const changed = ({ entry, isDone }: Entered): Response =>
  respond({ ...answerOf(entryView(entry), isDone, 200), isReplay: false })
