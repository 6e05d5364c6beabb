import { getTableColumns, type Table } from 'drizzle-orm'

/** SQL that `sql(text)` puts into a statement; made only of names in our code, never of input. */
type SqlText = TemplateStringsArray

const sqlText = (text: string): SqlText => Object.assign([text], { raw: [text] })

/**
 * The columns of a table as its schema lists them, so that no statement spells them again.
 *
 * @param omitted what only statements of its own read and write
 */
export const createColumns = <T extends Table, Omitted extends MemberOf<T>>(
  table: T,
  omitted: readonly Omitted[],
) => {
  type Member = Exclude<MemberOf<T>, Omitted>
  const left: ReadonlySet<string> = new Set(omitted)
  const columns: Readonly<Record<string, { name: string; getSQLType: () => string }>> =
    getTableColumns(table)
  const all = Object.keys(columns).filter((member) => !left.has(member)) as Member[]
  const nameOf = (member: Member): string => columns[member]?.name ?? ''
  const list = (members: readonly Member[], write: (member: Member) => string): SqlText =>
    sqlText(members.map(write).join(', '))
  return {
    all,
    /** A record in which nothing is there. */
    none: Object.fromEntries(all.map((member) => [member, undefined])) as Record<Member, undefined>,
    /** `t.auth_code as "authCode", …` */
    selected: (table: string) => list(all, (member) => `${table}.${nameOf(member)} as "${member}"`),
    /** `auth_code, …` */
    names: (members: readonly Member[]) => list(members, nameOf),
    /** `"authCode", …` */
    members: (members: readonly Member[]) => list(members, (member) => `"${member}"`),
    /** `"authCode" text, …`, of `json_to_recordset` */
    declared: (members: readonly Member[]) =>
      list(members, (member) => `"${member}" ${columns[member]?.getSQLType()}`),
    /** `auth_code = i."authCode", …` */
    assigned: (members: readonly Member[], from: string) =>
      list(members, (member) => `${nameOf(member)} = ${from}."${member}"`),
    /** The given members of a record, in the form that `json_to_recordset` takes: what is left out is null. */
    json: (
      record: { readonly [M in Member]?: unknown },
      members: readonly Member[],
    ): Readonly<Record<string, unknown>> => {
      const json: Record<string, unknown> = {}
      for (const member of members) {
        const value = record[member]
        // Most are undefined, and writing them out would take longer than all others.
        if (value !== undefined) json[member] = plainOf(value)
      }
      return json
    },
  }
}

type MemberOf<T extends Table> = keyof T['$inferSelect'] & string

/** A date as text: one that is left to the serializer takes all that is written with it off its fast way. */
const plainOf = (value: unknown): unknown => {
  if (typeof value === 'bigint') return String(value)
  return value instanceof Date ? value.toISOString() : value
}

/** A row as a record: what is null in the table is undefined here. */
export type RecordOf<Row> = {
  readonly [K in keyof Row]: null extends Row[K] ? Exclude<Row[K], null> | undefined : Row[K]
}

/** A spread copies a row at once; its members one by one cost as much as the row's way from the database. */
export const recordOf = <Row extends object>(row: Row): RecordOf<Row> => {
  const record = { ...row } as Record<string, unknown>
  for (const member in record) if (record[member] === null) record[member] = undefined
  return record as RecordOf<Row>
}
