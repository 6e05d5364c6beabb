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
  route,
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
  route(`POST ${base}`, 'dict:write', documents.register, { bodyBytesMax }, async (c) => {
    const wanted = wantedOf(await readJson(c, newEntry), ispb)
    return respond(await service.register(wanted, callerOf(c)))
  }),
  route(`GET ${base}`, 'dict:read', documents.list, async (c) => {
    const { key, limit, cursor } = readQuery(c, entriesQuery)
    const found = await service.list({ key, limit: limit + 1, after: placeIn(cursor) })
    const { items, next } = pageOf(found, limit, cursorAt)
    return Response.json({ entries: items.map(entryView), next_cursor: next })
  }),
  route(`GET ${base}/{id}`, 'dict:read', documents.find, async (c) =>
    Response.json(entryView(await service.find(idOf(c)))),
  ),
  route(`PATCH ${base}/{id}`, 'dict:write', documents.change, { bodyBytesMax }, async (c) => {
    const { owner, account } = await readJson(c, entryChange)
    const wish = {
      owner: owner && { name: owner.name, ...tradeName(owner.trade_name) },
      account: account && accountOf(account, ispb),
    }
    return changed(await service.change(idOf(c), wish, actorOf(callerOf(c))))
  }),
  route(`DELETE ${base}/{id}`, 'dict:write', documents.remove, async (c) => {
    const { reason: removal } = readQuery(c, removalQuery)
    return changed(await service.change(idOf(c), { removal }, actorOf(callerOf(c))))
  }),
  route(
    'POST /v1/dict/verifications',
    'dict:write',
    documents.verify,
    { bodyBytesMax },
    async (c) => {
      const { key_type: type } = await readJson(c, verificationBody)
      const { entries, isSame } = await service.verify(type)
      return Response.json({ key_type: type, entries, result: isSame ? 'same' : 'different' })
    },
  ),
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
  taxIdNumber: owner.tax_id,
  name: owner.name,
  ...tradeName(owner.trade_name),
})

const wantedOf = (
  { key_type: keyType, key, owner, account }: z.output<typeof newEntry>,
  ispb: string,
) => ({
  keyType,
  key,
  content: {
    ...accountOf(account, ispb),
    owner: ownerOf(owner),
  },
})

const changed = ({ entry, isDone }: Entered): Response =>
  respond({ ...answerOf(entryView(entry), isDone, 200), isReplay: false })
