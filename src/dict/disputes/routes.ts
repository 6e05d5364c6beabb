import type { z } from 'zod'
import {
  pageOf,
  type RequestContext,
  type Route,
  readJson,
  respond,
  route,
} from '#src/platform/http/index.ts'
import { cursorAt, placeIn } from '../pages.ts'
import type { documentsOf } from './documents.ts'
import type { Dispute, Wanted } from './domain.ts'
import type { DisputeService, NewDispute } from './service.ts'

/** What a body of the schema asks for. */
export const bodyAs =
  <Body, T>(schema: z.ZodType<Body>, wish: (body: Body) => T) =>
  async (c: RequestContext): Promise<T> =>
    wish(await readJson(c, schema))

export type DisputeInterface<C, W extends Wanted> = {
  readonly documents: Omit<ReturnType<typeof documentsOf>, 'actOn'>
  /** The member of a page that holds the disputes. */
  readonly member: string
  readonly ask: (c: RequestContext) => Promise<NewDispute<C>>
  readonly acts: readonly {
    readonly document: ReturnType<ReturnType<typeof documentsOf>['actOn']>
    readonly wish: (c: RequestContext) => Promise<W>
  }[]
  readonly view: (dispute: Dispute<C, W>) => object
  /** Shows one, with what is looked up for it. */
  readonly show: (dispute: Dispute<C, W>) => Promise<object>
}

/** The routes of a kind of dispute. */
export const disputeRoutes = <C, W extends Wanted>(
  service: Pick<DisputeService<C, W>, 'ask' | 'act' | 'find' | 'list'>,
  { documents, member, ask, acts, view, show }: DisputeInterface<C, W>,
): readonly Route[] => [
  route(documents.create, async (asked) => {
    const wanted = await ask(asked.c)
    return respond(await service.ask(wanted, asked.caller))
  }),
  route(documents.list, async ({ query }) => {
    const { role, status, transaction_id: transactionId, limit, cursor } = query
    const found = await service.list({
      role,
      status,
      transactionId,
      limit: limit + 1,
      after: placeIn(cursor),
      needsPerson: query.needs_attention === 'true',
    })
    const { items, next } = pageOf(found, limit, cursorAt)
    return Response.json({ [member]: items.map(view), next_cursor: next })
  }),
  route(documents.find, async ({ params }) =>
    Response.json(await show(await service.find(params.id))),
  ),
  ...acts.map(({ document, wish }) =>
    route(document, async (asked) => {
      const wanted = await wish(asked.c)
      return respond(await service.act(asked.params.id, wanted, asked.caller))
    }),
  ),
]
