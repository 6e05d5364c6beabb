import type { z } from 'zod'
import { actorOf, pageOf, type Route, respond, route } from '#src/platform/http/index.ts'
import { answerOf } from '../once.ts'
import { cursorAt, placeIn } from '../pages.ts'
import { entryDocuments as documents, type newEntry } from './documents.ts'
import type { Entered, EntryService } from './service.ts'
import { entryView } from './view.ts'

/** Entries that this institution keeps in the directory of Pix keys. */
export const entryRoutes = (service: EntryService, ispb: string): readonly Route[] => [
  route(documents.register, async ({ body, caller }) => {
    const wanted = wantedOf(body, ispb)
    return respond(await service.register(wanted, caller))
  }),
  route(documents.list, async ({ query: { key, limit, cursor } }) => {
    const found = await service.list({ key, limit: limit + 1, after: placeIn(cursor) })
    const { items, next } = pageOf(found, limit, cursorAt)
    return Response.json({ entries: items.map(entryView), next_cursor: next })
  }),
  route(documents.find, async ({ params }) =>
    Response.json(entryView(await service.find(params.id))),
  ),
  route(documents.change, async ({ params, body: { owner, account, reason }, caller }) => {
    const wish = {
      reason,
      owner: owner && { name: owner.name, ...tradeName(owner.trade_name) },
      account: account && accountOf(account, ispb),
    }
    return changed(await service.change(params.id, wish, actorOf(caller)))
  }),
  route(documents.remove, async ({ params, query: { reason: removal }, caller }) =>
    changed(await service.change(params.id, { removal }, actorOf(caller))),
  ),
  route(documents.verify, async ({ body: { key_type: type } }) => {
    const { entries, isSame } = await service.verify(type)
    return Response.json({ key_type: type, entries, result: isSame ? 'same' : 'different' })
  }),
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
