import type { Context } from 'hono'
import type { ZodType } from 'zod'
import type { Principal, Scope } from '../security/index.ts'
import type { AuditAction } from './audit/domain.ts'
import { ApiError, type ErrorDefinition, httpErrors } from './errors.ts'
import type { Rooms } from './limits/concurrency.ts'
import type { Allowance, RateLimits } from './limits/rate.ts'
import type { ErrorStyle } from './render.ts'

/** The facts of one request; a handler finds them in `c.env`. */
export type Exchange = {
  readonly requestId: string
  /** By the clock of `performance.now()`. */
  readonly startedMs: number
  route: Route | undefined
  /** Where no route matches, the style of its neighbours. */
  errorStyle?: ErrorStyle | undefined
  /** The body's bytes, once they have been read. */
  body: Uint8Array | undefined
  /** Set before the handler runs, unless the route is public. */
  principal: Principal | undefined
  /** Further fields for the request's log line: ids, never personal data. */
  logFields: Readonly<Record<string, string | number | boolean>> | undefined
  /** Undefined: no caller is limited. */
  readonly rates: RateLimits | undefined
  /** The requests that the caller has left; undefined if it is not limited. */
  allowance: Allowance | undefined
  /** The rooms to leave at the end, once entered. */
  rooms: Rooms | undefined
  /** Where the request comes from; undefined if that is not known. */
  readonly address: () => string | undefined
  /** SHA-256 of the certificate that the caller has shown to a trusted proxy, in base64url; undefined: none. */
  readonly certificate: () => string | undefined
}

export type RequestContext = Context<{ Bindings: Exchange }>

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The part of a route that the OpenAPI document shows. Zod schemas here cost nothing per request. */
export type RouteDocument = {
  /** The operation's name for clients, a verb and its object; undefined: the route is not in the OpenAPI document. */
  readonly operation: string | undefined
  readonly summary: string
  readonly description?: string
  readonly params?: ZodType
  readonly query?: ZodType
  /** Takes an Idempotency-Key: the handler reads the body before `callerOf`, and keeps the answer under the key. */
  readonly idempotent?: true
  /** By media type. */
  readonly body?: Readonly<Record<string, ZodType>>
  /** Absent: a request without a body is refused. */
  readonly isBodyOptional?: true
  /** Named bodies to choose from, for every media type. */
  readonly bodyExamples?: Readonly<Record<string, unknown>>
  /**
   * Where "Try it out" takes values from that no document holds: by the name of a parameter, or the JSON Pointer of a
   * member of the body, an operation, its query and the JSON Pointer into its answer, as in `{ id:
   * 'listMessages?direction=INBOUND#/messages/0/id' }`. A GET is asked; any other operation must have been tried.
   */
  readonly exampleFrom?: Readonly<Record<string, string>>
  readonly responses: Readonly<Record<number, RouteResponse>>
  /** Errors besides those of every route. */
  readonly errors?: readonly ErrorDefinition[]
}

type RouteResponse = {
  readonly description: string
  readonly schema?: ZodType
  readonly contentType?: string
  /** Further media types, by `Accept`; texts. */
  readonly alsoAs?: readonly string[]
  readonly example?: unknown
}

/** The rules that the application enforces before the handler runs, besides those of the document. */
export type RouteRules = {
  readonly scope: Scope | 'public'
  /**
   * The route shows, signs or moves what is the institution's, and its scope does not say so already: keys of other
   * accounts find nothing there.
   */
  readonly ofInstitution?: boolean
  /**
   * The media types it takes, unless they are those of its document; if the body is optional, the first is for bodies
   * without Content-Type.
   */
  readonly accepts?: readonly string[]
  /** Absent: 64 KiB where it takes JSON alone, otherwise 8 MiB. */
  readonly bodyBytesMax?: number
  /** Values in a large body of JSON, absent: 20 000. More are a turn of the event loop that others miss. */
  readonly bodyValuesMax?: number
  readonly errorStyle?: ErrorStyle
  /**
   * An act that changes nothing in the database, so the application records it. An act that changes something there
   * records itself, in the same transaction.
   */
  readonly act?: AuditAction
  /** A POST that computes its answer from its body alone: a key that is read-only may use it. */
  readonly isPure?: true
  /** A question that is passed on, to a directory or a node: how long it takes tells nothing about this gateway. */
  readonly asksOthers?: true
}

/** All of an endpoint but its handler, as features write it down. */
export type RouteContract = RouteDocument &
  RouteRules & {
    /** As OpenAPI writes paths: `GET /v1/messages/{id}`. */
    readonly at: `${Method} ${string}`
    /** The handler reads it from `c`: it is hot, may be absent, or has no schema that judges all of it. */
    readonly isBodyReadByHand?: true
  }

/**
 * One endpoint. The application checks key and scope, Content-Type and body size before `handle`. {@link route} makes
 * it of a contract.
 */
export type Route = RouteRules & {
  readonly method: Method
  /** Also the `path` label of the metrics. */
  readonly path: string
  readonly document: RouteDocument
  /** The answer with its texts for people in Portuguese; the parts for programs stay the same. */
  readonly inPortuguese?: (answer: unknown) => unknown
  readonly handle: (c: RequestContext) => Response | Promise<Response>
}

/** The media types that a route takes; undefined: it takes no body. */
export const acceptedBy = ({ accepts, document }: Route): readonly string[] | undefined =>
  accepts ?? (document.body && Object.keys(document.body))

/** Whether the route changes, moves and signs nothing, and hands out no private key. */
export const isReading = ({ method, act, isPure }: Route): boolean =>
  act === undefined && (method === 'GET' || isPure === true)

/** The same routes, but they answer 503 and name the settings they lack. */
export const withMissingSettings = (
  routes: readonly Route[],
  missing: readonly string[],
): readonly Route[] =>
  routes.map((route) => ({
    ...route,
    handle: () => {
      throw new ApiError(
        httpErrors.not_configured,
        `${route.method} ${route.path} needs ${missing.length === 1 ? 'the setting' : 'the settings'} ${missing.join(', ')}.`,
        { details: { settings: missing } },
      )
    },
  }))

/** The routes of a service that cannot be made; no request reaches a handler, so no handler needs the service. */
export const routesWithout = <Service>(
  missing: readonly string[],
  routesOf: (service: Service) => readonly Route[],
): readonly Route[] => withMissingSettings(routesOf({} as Service), missing)
