/** Lists in the order of age, newest first. */
import type { PendingQuery, Row } from 'postgres'
import { type Queryable, rowCount, textRows } from '#src/platform/database/index.ts'
import { pageQuery } from '#src/platform/http/index.ts'

export const limitMax = 500
export const limitDefault = 50

/** The query parameters of one. */
export const agePage = pageQuery(
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [0-9a-f-]{36}$/,
  limitMax,
  limitDefault,
)

/** The place behind which a page begins. */
export type Place = readonly [createdAt: string, id: string]

/** The place before all others. */
export const newest: Place = ['9999-12-31T00:00:00Z', 'ffffffff-ffff-ffff-ffff-ffffffffffff']

export const placeIn = (cursor: string | undefined): Place | undefined => {
  const [createdAt, id] = cursor?.split(' ') ?? []
  return createdAt === undefined || id === undefined ? undefined : [createdAt, id]
}

export const cursorAt = (one: { readonly createdAt: Date; readonly id: string }): string =>
  `${one.createdAt.toISOString()} ${one.id}`

export type AgeFilter<Role, Status> = {
  readonly role: Role | undefined
  readonly status: Status | undefined
  /** True: those that wait for a person. */
  readonly needsPerson: boolean
  readonly limit: number
  readonly after: Place | undefined
}

type Fragment = PendingQuery<Row[]>

/** A page of what has sides and states, taken from few rows or from those that an index has in the order of the page. */
export const agePageOf = async <One extends object>(
  sql: Queryable,
  of: {
    readonly columns: Fragment
    readonly table: Fragment
    /** What holds for all of them. */
    readonly isOne: Fragment
    /** The few to take it from; undefined: all. */
    readonly few: Fragment | undefined
    /** The condition for waiting for a person, in the words of its index. */
    readonly waits: Fragment
    readonly roles: readonly string[]
    readonly statuses: readonly string[]
  },
  { role, status, needsPerson, limit, after }: AgeFilter<string, string>,
): Promise<readonly One[]> => {
  const { columns, table, isOne, few, waits, roles, statuses } = of
  const [createdAt, id] = after ?? newest
  const behind = sql`(created_at, id) < (${createdAt}::timestamptz, ${id}::uuid)`
  const newestFirst = sql`order by created_at desc, id desc limit ${rowCount(sql, limit)}`
  const isIt = sql`${isOne} and ${behind}
    ${role === undefined ? sql`` : sql`and role = ${role}`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${needsPerson ? sql`and ${waits}` : sql``}`
  const among = (given: string | undefined, all: readonly string[]) =>
    textRows(sql, given === undefined ? all : [given])
  const inOrder = () => sql`${among(role, roles)} as r(of_role)
    cross join ${among(status, statuses)} as s(of_status)
    cross join lateral (
      select * from ${table}
      where ${isOne} and role = of_role and status = of_status and ${behind} ${newestFirst}) p`
  const waiting = () => sql`(select * from ${table} where ${isIt} ${newestFirst}) p`
  const source = few && sql`(select * from ${few} where ${isIt}) p`
  return sql<One[]>`
    select ${columns} from ${source ?? (needsPerson ? waiting() : inOrder())}
    where ${behind} ${newestFirst}`
}
