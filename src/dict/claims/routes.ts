import {
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
import { accountOf, ownerOf } from '../entries/routes.ts'
import { cursorAt, placeIn } from '../pages.ts'
import {
  cancelBody,
  claimParams,
  claimsQuery,
  confirmBody,
  claimDocuments as documents,
  newClaim,
} from './documents.ts'
import type { Wish } from './domain.ts'
import type { ClaimService } from './service.ts'
import { claimView } from './view.ts'

const base = '/v1/dict/claims'
const bodyBytesMax = 16_384

/** Claims to keys: portability and ownership. */
export const claimRoutes = (service: ClaimService, ispb: string): readonly Route[] => {
  const act = async (c: RequestContext, wish: Wish): Promise<Response> => {
    const { id } = readParams(c, claimParams)
    return respond(await service.act(id, wish, callerOf(c)))
  }
  return [
    route(`POST ${base}`, 'dict:write', documents.open, { bodyBytesMax }, async (c) => {
      const { type, key_type: keyType, key, ...body } = await readJson(c, newClaim)
      const content = { ...accountOf(body.account, ispb), owner: ownerOf(body.claimer) }
      return respond(await service.open({ type, keyType, key, content }, callerOf(c)))
    }),
    route(`GET ${base}`, 'dict:read', documents.list, async (c) => {
      const { limit, cursor, needs_attention: needs, ...filter } = readQuery(c, claimsQuery)
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
    route(`GET ${base}/{id}`, 'dict:read', documents.find, async (c) =>
      Response.json(claimView(await service.find(readParams(c, claimParams).id))),
    ),
    route(`POST ${base}/{id}/acknowledge`, 'dict:write', documents.acknowledge, (c) =>
      act(c, { act: 'acknowledge' }),
    ),
    route(
      `POST ${base}/{id}/confirm`,
      'dict:write',
      documents.confirm,
      { bodyBytesMax },
      async (c) => act(c, { act: 'confirm', ...(await readJson(c, confirmBody)) }),
    ),
    route(`POST ${base}/{id}/cancel`, 'dict:write', documents.cancel, { bodyBytesMax }, async (c) =>
      act(c, { act: 'cancel', ...(await readJson(c, cancelBody)) }),
    ),
    route(`POST ${base}/{id}/complete`, 'dict:write', documents.complete, (c) =>
      act(c, { act: 'complete' }),
    ),
  ]
}
