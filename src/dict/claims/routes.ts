import { type Asked, pageOf, type Route, respond, route } from '#src/platform/http/index.ts'
import { accountOf, ownerOf } from '../entries/routes.ts'
import { cursorAt, placeIn } from '../pages.ts'
import { claimDocuments as documents } from './documents.ts'
import type { Wish } from './domain.ts'
import type { ClaimService } from './service.ts'
import { claimView } from './view.ts'

type OfClaim = Pick<Asked<typeof documents.find>, 'params' | 'caller'>

/** Claims to keys: portability and ownership. */
export const claimRoutes = (service: ClaimService, ispb: string): readonly Route[] => {
  const act = async (wish: Wish, { params, caller }: OfClaim): Promise<Response> =>
    respond(await service.act(params.id, wish, caller))
  return [
    route(documents.open, async ({ body: asked, caller }) => {
      const { type, key_type: keyType, key, ...body } = asked
      const content = { ...accountOf(body.account, ispb), owner: ownerOf(body.claimer) }
      return respond(await service.open({ type, keyType, key, content }, caller))
    }),
    route(documents.list, async ({ query }) => {
      const { limit, cursor, needs_attention: needs, ...filter } = query
      const { key, role, status } = filter
      const found = await service.list({
        key,
        role,
        status,
        after: placeIn(cursor),
        limit: limit + 1,
        needsPerson: needs === 'true',
      })
      const { items, next } = pageOf(found, limit, cursorAt)
      return Response.json({ claims: items.map(claimView), next_cursor: next })
    }),
    route(documents.find, async ({ params }) =>
      Response.json(claimView(await service.find(params.id))),
    ),
    route(documents.acknowledge, (asked) => act({ act: 'acknowledge' }, asked)),
    route(documents.confirm, (asked) => act({ act: 'confirm', ...asked.body }, asked)),
    route(documents.cancel, (asked) => act({ act: 'cancel', ...asked.body }, asked)),
    route(documents.complete, (asked) => act({ act: 'complete' }, asked)),
  ]
}
