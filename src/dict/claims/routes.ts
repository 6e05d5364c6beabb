import {
  callerOf,
  pageOf,
  type RequestContext,
  type Route,
  readJson,
  readParams,
  readQuery,
  respond,
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
const write = { method: 'POST', scope: 'dict:write' } as const

/** Claims to keys: portability and ownership. */
export const claimRoutes = (service: ClaimService, ispb: string): readonly Route[] => {
  const act = async (c: RequestContext, wish: Wish): Promise<Response> => {
    const { id } = readParams(c, claimParams)
    return respond(await service.act(id, wish, callerOf(c)))
  }
  return [
    {
      ...{ ...write, path: base, bodyBytesMax, document: documents.open },
      handle: async (c) => {
        const { type, key_type: keyType, key, ...body } = await readJson(c, newClaim)
        const content = { ...accountOf(body.account, ispb), owner: ownerOf(body.claimer) }
        return respond(await service.open({ type, keyType, key, content }, callerOf(c)))
      },
    },
    {
      ...{ method: 'GET', path: base, scope: 'dict:read', document: documents.list },
      handle: async (c) => {
        const { limit, cursor, needs_attention: needs, ...filter } = readQuery(c, claimsQuery)
        const { key, role, status } = filter
        const found = await service.list({
          ...{
            key,
            role,
            status,
            after: placeIn(cursor),
            limit: limit + 1,
            needsPerson: needs === 'true',
          },
        })
        const { items, next } = pageOf(found, limit, cursorAt)
        return Response.json({ claims: items.map(claimView), next_cursor: next })
      },
    },
    {
      ...{ method: 'GET', path: `${base}/{id}`, scope: 'dict:read', document: documents.find },
      handle: async (c) =>
        Response.json(claimView(await service.find(readParams(c, claimParams).id))),
    },
    {
      ...{ ...write, path: `${base}/{id}/acknowledge`, document: documents.acknowledge },
      handle: (c) => act(c, { act: 'acknowledge' }),
    },
    {
      ...{ ...write, path: `${base}/{id}/confirm`, bodyBytesMax, document: documents.confirm },
      handle: async (c) => act(c, { act: 'confirm', ...(await readJson(c, confirmBody)) }),
    },
    {
      ...{ ...write, path: `${base}/{id}/cancel`, bodyBytesMax, document: documents.cancel },
      handle: async (c) => act(c, { act: 'cancel', ...(await readJson(c, cancelBody)) }),
    },
    {
      ...{ ...write, path: `${base}/{id}/complete`, document: documents.complete },
      handle: (c) => act(c, { act: 'complete' }),
    },
  ]
}
