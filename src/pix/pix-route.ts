import { z } from 'zod'
import {
  type Caller,
  type RequestContext,
  type Route,
  type RouteContract,
  route,
} from '#src/platform/http/index.ts'
import type { Scope } from '#src/platform/security/index.ts'
import { pixErrorRenderer } from './errors.ts'

/** Where the API Pix is. */
export const pixPath = '/pix/v2'

/** The texts in the places of a path. */
type ParamsIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [N in Name]: string } & ParamsIn<Rest>
  : unknown

type At = `${Route['method']} /${string}`

type Asked<A extends At> = {
  readonly params: ParamsIn<A>
  /** JSON, where a route takes a body. */
  readonly body: unknown
  readonly caller: Caller
  readonly c: RequestContext
}

type Rest<A extends At> = Pick<RouteContract, 'bodyValuesMax' | 'idempotent'> & {
  /** Takes a body of JSON. */
  readonly bodyBytesMax?: number
  readonly handle: (asked: Asked<A>) => Response | Promise<Response>
}

/** What the standard calls a body, by its path; members of the others it names alone. */
const roots: Readonly<Record<string, string>> = {
  cob: 'cob',
  cobv: 'cobv',
  lotecobv: 'loteCobV',
  rec: 'rec',
  solicrec: 'solicrec',
  cobr: 'cobr',
  pix: 'devolucao',
  webhook: 'webhook',
}

const rootOf = (at: At): string => roots[at.split('/')[1] ?? ''] ?? ''

const anyJson = { 'application/json': z.unknown() }

/**
 * A route of the API Pix. Our document does not describe it: the standard's does. Its errors are the standard's too, so
 * that handlers judge what is asked in its words.
 */
export const pixRoute = <const A extends At>(
  at: A,
  scope: Scope,
  summary: string,
  { handle, ...rules }: Rest<A>,
): Route => {
  const contract: RouteContract = {
    ...rules,
    ...(rules.bodyBytesMax === undefined ? {} : { body: anyJson }),
    at: at.replace(' ', ` ${pixPath}`) as RouteContract['at'],
    scope,
    summary,
    operation: undefined,
    errorStyle: pixErrorRenderer(rootOf(at)),
    responses: {},
  }
  return route(contract, ({ body, caller, c }) =>
    handle({ body, caller, c, params: c.req.param() as ParamsIn<A> }),
  )
}
