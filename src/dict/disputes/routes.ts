import type { z } from 'zod'
import {
  callerOf,
  pageOf,
  type RequestContext,
  type Route,
  type RouteDocument,
  readJson,
  readParams,
  readQuery,
  respond,
  route,
} from '#src/platform/http/index.ts'
import { cursorAt, placeIn } from '../pages.ts'
import { disputeParams, disputesQuery } from './documents.ts'
import type { Dispute, Wanted } from './domain.ts'
import type { DisputeService, NewDispute } from './service.ts'

/** A request that the directory is asked for something by. */
export const bodyBytesMax = 16_384

/** What a body of the schema asks for. */
export const bodyAs =
  <Body, T>(schema: z.ZodType<Body>, wish: (body: Body) => T) =>
  async (c: RequestContext): Promise<T> =>
    wish(await readJson(c, schema))

export type DisputeInterface<C, W extends Wanted> = {
  readonly base: string
  readonly documents: Readonly<Record<'create' | 'list' | 'find', RouteDocument>>
  /** The member of a page that holds the disputes. */
  readonly member: string
  readonly ask: (c: RequestContext) => Promise<NewDispute<C>>
  readonly acts: readonly {
    readonly act: W['act']
    readonly document: RouteDocument
    readonly wish: (c: RequestContext) => Promise<W>
  }[]
  readonly view: (dispute: Dispute<C, W>) => object
  /** Shows one, with what is looked up for it. */
  readonly show: (dispute: Dispute<C, W>) => Promise<object>
}

/** The routes of a kind of dispute. */
export const disputeRoutes = <C, W extends Wanted>(
  service: Pick<DisputeService<C, W>, 'ask' | 'act' | 'find' | 'list'>,
  { base, documents, member, ask, acts, view, show }: DisputeInterface<C, W>,
): readonly Route[] => {
  const idOf = (c: RequestContext): string => readParams(c, disputeParams).id
  return [
    route(`POST ${base}`, 'dict:write', documents.create, { bodyBytesMax }, async (c) =>
      respond(await service.ask(await ask(c), callerOf(c))),
    ),
    route(`GET ${base}`, 'dict:read', documents.list, async (c) => {
      const asked = readQuery(c, disputesQuery)
      const { role, status, transaction_id: transactionId, limit, cursor } = asked
      const found = await service.list({
        role,
        status,
        transactionId,
        limit: limit + 1,
        after: placeIn(cursor),
        needsPerson: asked.needs_attention === 'true',
      })
      const { items, next } = pageOf(found, limit, cursorAt)
      return Response.json({ [member]: items.map(view), next_cursor: next })
    }),
    route(`GET ${base}/{id}`, 'dict:read', documents.find, async (c) =>
      Response.json(await show(await service.find(idOf(c)))),
    ),
    ...acts.map(({ act, document, wish }) =>
      route(`POST ${base}/{id}/${act}`, 'dict:write', document, { bodyBytesMax }, async (c) =>
        respond(await service.act(idOf(c), await wish(c), callerOf(c))),
      ),
    ),
  ]
}
