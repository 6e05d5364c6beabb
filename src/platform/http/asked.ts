import type { ZodType, z } from 'zod'
import { readJson, readParams, readQuery } from './body.ts'
import { type Caller, callerOf } from './caller.ts'
import type { RequestContext, Route, RouteContract, RouteDocument, RouteRules } from './route.ts'

type Judged<Schema> = Schema extends ZodType ? z.output<Schema> : undefined

type ParamsOf<D> = D extends { readonly params: infer Schema } ? Judged<Schema> : undefined
type QueryOf<D> = D extends { readonly query: infer Schema } ? Judged<Schema> : undefined
type BodyOf<D> = D extends { readonly body: { readonly 'application/json': infer Schema } }
  ? [keyof D['body']] extends ['application/json']
    ? Judged<Schema>
    : undefined
  : undefined

/**
 * The parts of a request, read by the schemas that its route publishes: the schema that we tell is the one that judges.
 */
export type Asked<D extends RouteDocument> = {
  /** Taken from the path. */
  readonly params: ParamsOf<D>
  readonly query: QueryOf<D>
  /** Only for routes that take nothing but JSON. */
  readonly body: BodyOf<D>
  readonly caller: Caller
  readonly c: RequestContext
}

/** Reads a part when the handler takes it, so that a handler without a query pays for none. */
class Reader implements Asked<RouteDocument> {
  readonly c: RequestContext
  readonly body: undefined
  readonly #document: RouteDocument

  constructor(c: RequestContext, document: RouteDocument, body: unknown) {
    this.c = c
    this.#document = document
    this.body = body as undefined
  }

  get params() {
    return readParams(this.c, this.#document.params as ZodType) as undefined
  }

  get query() {
    return readQuery(this.c, this.#document.query as ZodType) as undefined
  }

  get caller() {
    return callerOf(this.c)
  }
}

type Handle<D extends RouteDocument> = (asked: Asked<D>) => Response | Promise<Response>

/**
 * A route whose handler is given what is asked: `route(documents.find, ({ params, caller }) => …)`.
 */
export const route = <const D extends RouteContract>(contract: D, handle: Handle<D>): Route => {
  const [method, path] = contract.at.split(' ') as [Route['method'], string]
  const ask = (c: RequestContext, body?: unknown) =>
    handle(new Reader(c, contract, body) as unknown as Asked<D>)
  /** Found at the first request, as some documents make their schemas when asked; null: the handler reads the body. */
  let judge: ZodType | null | undefined
  return {
    ...rulesOf(contract),
    method,
    path,
    document: contract,
    handle: (c) => {
      if (judge === undefined) judge = judgedBody(contract)
      return judge === null ? ask(c) : readJson(c, judge).then((body) => ask(c, body))
    },
  }
}

const ruleNames = [
  'scope',
  'ofInstitution',
  'accepts',
  'bodyBytesMax',
  'bodyValuesMax',
  'errorStyle',
  'act',
  'isPure',
  'asksOthers',
] as const satisfies readonly (keyof RouteRules)[]

/** Leaves out the rest of the contract, so that a start makes no schema that nobody asks for. */
const rulesOf = (contract: RouteContract): RouteRules =>
  Object.fromEntries(
    ruleNames.flatMap((name) => (contract[name] === undefined ? [] : [[name, contract[name]]])),
  ) as RouteRules

const judgedBody = (contract: RouteContract): ZodType | null => {
  if (contract.isBodyReadByHand === true) return null
  const { body } = contract
  if (body === undefined || Object.keys(body).length > 1) return null
  return body['application/json'] ?? null
}
