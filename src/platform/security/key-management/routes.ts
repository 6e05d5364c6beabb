import {
  ApiError,
  httpErrors,
  pageOf,
  type Route,
  respond,
  route,
} from '#src/platform/http/index.ts'
import { keyDocuments as documents } from './documents.ts'
import type { KeyService } from './service.ts'

const found = <T>(one: T | undefined): T => {
  if (one === undefined) throw new ApiError(httpErrors.not_found, 'No such API key.')
  return one
}

export const keyRoutes = (service: KeyService): readonly Route[] => [
  route(documents.list, async ({ query: { limit, cursor: after }, caller }) => {
    const keys = await service.page(caller, { after, limit: limit + 1 })
    const { items, next } = pageOf(keys, limit, ({ id }) => id)
    return Response.json({ keys: items, next_cursor: next })
  }),
  route(documents.create, async ({ body, caller }) => respond(await service.create(body, caller))),
  route(documents.find, async ({ params, caller }) =>
    Response.json(found(await service.find(params.id, caller))),
  ),
  route(documents.change, async ({ params, body, caller }) =>
    Response.json(found(await service.change(params.id, body, caller))),
  ),
  route(documents.rotate, async ({ params, body, caller }) =>
    respond(found(await service.rotate(params.id, body.overlap_seconds, caller))),
  ),
  route(documents.revoke, async ({ params, caller }) => {
    if (!(await service.revoke(params.id, caller))) found(undefined)
    return new Response(null, { status: 204 })
  }),
]
