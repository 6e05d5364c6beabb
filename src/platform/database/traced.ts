import { currentTraceparent, inSpan, type OpenSpan, openSpan } from '../observe/index.ts'
import type { Queryable } from './database.ts'

const summaryCharactersMax = 120

/** A query of the driver is more than a promise: the first await sends it, these functions settle it. */
type PendingQuery = {
  handle(): unknown
  resolve(value: unknown): void
  reject(error: unknown): void
}

/**
 * The same client, with a client span for every statement that is sent and one around every transaction, within a
 * trace. Statements that an idle process repeats belong to no trace. A span shows only the text written in our code,
 * never a parameter.
 */
export const traced = <T extends Queryable>(sql: T): T =>
  new Proxy(sql, {
    apply: (target, self, args: readonly unknown[]) => {
      const query: unknown = Reflect.apply(target, self, args)
      const [strings] = args
      if (isPartOfTrace() && isTemplate(strings)) observe(query as PendingQuery, strings.join('?'))
      return query
    },
    get: (target, property) => {
      const member: unknown = Reflect.get(target, property)
      if (property === 'unsafe') return tracedUnsafe(target)
      if (property === 'begin' || property === 'savepoint') return tracedBegin(target, property)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })

const isPartOfTrace = (): boolean => currentTraceparent() !== undefined

const isTemplate = (value: unknown): value is TemplateStringsArray =>
  Array.isArray(value) && 'raw' in value

const tracedUnsafe =
  (sql: Queryable) =>
  (...args: Parameters<Queryable['unsafe']>): unknown => {
    const query: unknown = sql.unsafe(...args)
    if (isPartOfTrace()) observe(query as PendingQuery, args[0])
    return query
  }

const tracedBegin =
  (sql: Queryable, method: 'begin' | 'savepoint') =>
  (...args: unknown[]): unknown => {
    const work = args.pop() as (inner: Queryable) => unknown
    const call = Reflect.get(sql, method) as (...all: unknown[]) => Promise<unknown>
    if (!isPartOfTrace()) return call.call(sql, ...args, (inner: Queryable) => work(traced(inner)))
    const options = { kind: 'client', attributes: attributesOf(method) } as const
    return inSpan(`postgresql ${method}`, options, () =>
      call.call(sql, ...args, (inner: Queryable) => work(traced(inner))),
    )
  }

const attributesOf = (text: string): { readonly [name: string]: string } => {
  const summary = text.replace(/\s+/g, ' ').trim().slice(0, summaryCharactersMax)
  const operation = /^\w+/.exec(summary)?.[0].toUpperCase() ?? ''
  return {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    'db.query.summary': summary,
  }
}

/** A fragment is never sent, so the span begins with the sending. */
const observe = (query: PendingQuery, text: string): void => {
  const { handle, resolve, reject } = query
  let span: OpenSpan | undefined
  query.handle = () => {
    if (span === undefined) {
      const attributes = attributesOf(text)
      span = openSpan(`postgresql ${attributes['db.operation.name'] ?? ''}`, {
        kind: 'client',
        attributes,
      })
    }
    return handle.call(query)
  }
  query.resolve = (value) => {
    span?.end()
    resolve.call(query, value)
  }
  query.reject = (error) => {
    span?.end(error)
    reject.call(query, error)
  }
}
