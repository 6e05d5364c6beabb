import {
  ApiError,
  callerOf,
  httpErrors,
  idParams,
  pageOf,
  type RequestContext,
  type Route,
  readJson,
  readParams,
  readQuery,
  respond,
} from '#src/platform/http/index.ts'
import {
  changeKeyBody,
  createKeyBody,
  keyDocuments as documents,
  keysQuery,
  rotateKeyBody,
} from './documents.ts'
import type { KeyService } from './service.ts'

const base = '/v1/keys'

const found = <T>(one: T | undefined): T => {
  if (one === undefined) throw new ApiError(httpErrors.not_found, 'No such API key.')
  return one
}

const idOf = (c: RequestContext): string => readParams(c, idParams).id

const reading = (path: string, document: Route['document'], handle: Route['handle']): Route => ({
  method: 'GET',
  path,
  scope: 'keys:read',
  document,
  handle,
})

const managing = (
  method: Route['method'],
  path: string,
  document: Route['document'],
  handle: Route['handle'],
): Route => ({ method, path, scope: 'keys:manage', document, handle })

export const keyRoutes = (service: KeyService): readonly Route[] => [
  reading(base, documents.list, async (c) => {
    const { limit, cursor: after } = readQuery(c, keysQuery)
    const keys = await service.page(callerOf(c), { after, limit: limit + 1 })
    const { items, next } = pageOf(keys, limit, ({ id }) => id)
    return Response.json({ keys: items, next_cursor: next })
  }),
  managing('POST', base, documents.create, async (c) => {
    const request = await readJson(c, createKeyBody)
    return respond(await service.create(request, callerOf(c)))
  }),
  reading(`${base}/{id}`, documents.find, async (c) =>
    Response.json(found(await service.find(idOf(c), callerOf(c)))),
  ),
  managing('PATCH', `${base}/{id}`, documents.change, async (c) => {
    const change = await readJson(c, changeKeyBody)
    return Response.json(found(await service.change(idOf(c), change, callerOf(c))))
  }),
  managing('POST', `${base}/{id}/rotate`, documents.rotate, async (c) => {
    const { overlap_seconds: overlapSeconds } = await readJson(c, rotateKeyBody)
    return respond(found(await service.rotate(idOf(c), overlapSeconds, callerOf(c))))
  }),
  managing('DELETE', `${base}/{id}`, documents.revoke, async (c) => {
    if (!(await service.revoke(idOf(c), callerOf(c)))) found(undefined)
    return new Response(null, { status: 204 })
  }),
]
