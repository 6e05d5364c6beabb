import type { Client, Transaction } from '#src/platform/database/index.ts'

/** Queues hold what is still to be done, and what is sealed opens under its own key alone. */
const untouched = [
  ...['broker_', 'job_leases', 'schema_migrations', 'certificates', 'drex_wallets', 'drex_tokens'],
  // A row for each network.
  ...['drex_positions', 'drex_agreement_positions', 'drex_network_state'],
]
/** What ends a row where no partial index tells, and whose few rows a column names without being a key. */
const instead: Readonly<Record<string, string>> = {
  until_block: '0',
  subject: '"subject" || copy',
  // No payment has more than a few entries, and no transaction of cards more than a few events.
  'spi_entries.reference': '"reference" || copy',
  'card_events.transaction_id': '"transaction_id" || copy',
  // An address has a contract, which a few accounts know.
  'drex_contracts.address': '"address" || copy',
}
const sourcesMax = 5

type Column = { readonly name: string; readonly type: string; readonly isForeign: boolean }
type Index = { readonly columns: readonly string[]; readonly predicate: string | null }

/**
 * Copies rows of every table until it holds `count` more, with what its unique indexes demand made new. Copied are those
 * that the fewest partial indexes hold: what is finished, and nothing else where there is such. A table that is empty
 * stays so.
 *
 * @returns the rows that each table has got
 */
export const multiplyRows = async (
  sql: Client,
  count: number,
): Promise<ReadonlyMap<string, number>> => {
  const grown = new Map<string, number>()
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    // References of copies lead to what the original's lead to, and checks of form do not know their keys.
    await tx`set local session_replication_role = replica`
    const tables = await tx<{ name: string }[]>`
      select relname as name from pg_class
      where relkind in ('r', 'p') and not relispartition
        and relnamespace = current_schema()::regnamespace order by relname`
    for (const { name } of tables) {
      if (untouched.some((prefix) => name.startsWith(prefix))) continue
      await tx.unsafe(await withoutChecks(tx, name))
      const statement = await copying(tx, name, count)
      grown.set(name, (await tx.unsafe(statement)).count)
      // Whoever counts on goes on behind the copies.
      await countOn(tx, name)
    }
  })
  return grown
}

const countOn = async (sql: Transaction, table: string): Promise<void> => {
  const counted = await sql<{ name: string; sequence: string }[]>`
    select attname as name, pg_get_serial_sequence(${table}, attname) as sequence from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
      and pg_get_serial_sequence(${table}, attname) is not null`
  for (const { name, sequence } of counted) {
    await sql`select setval(${sequence}::regclass, max(${sql(name)})) from ${sql(table)}`
  }
}

const withoutChecks = async (sql: Transaction, table: string): Promise<string> => {
  const rows = await sql<{ name: string }[]>`
    select conname as name from pg_constraint
    where conrelid = ${table}::regclass and contype = 'c' and conislocal`
  return rows.map(({ name }) => `alter table "${table}" drop constraint "${name}";`).join('\n')
}

const copying = async (sql: Transaction, table: string, count: number): Promise<string> => {
  const columns = await sql<Column[]>`
    select attname as name, format_type(atttypid, null) as type,
      exists (select from pg_constraint where conrelid = attrelid and contype = 'f' and attnum = any(conkey))
        as "isForeign"
    from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''
    order by attnum`
  const indexes = await sql<(Index & { readonly isUnique: boolean })[]>`
    select indisunique as "isUnique", pg_get_expr(indpred, indrelid) as predicate,
      array(select attname::text from pg_attribute where attrelid = indrelid and attnum = any(indkey)) as columns
    from pg_index where indrelid = ${table}::regclass`
  const changed = new Set<string>()
  for (const { isUnique, columns: keys } of indexes) {
    if (!isUnique || keys.some((key) => changed.has(key))) continue
    const [best] = columns
      .filter(({ name }) => keys.includes(name))
      .toSorted((a, b) => suitability(b) - suitability(a))
    if (best !== undefined) changed.add(best.name)
  }
  const predicates = indexes.flatMap(({ predicate }) => predicate ?? [])
  // What is done next is found by an index of some statuses.
  const weightOf = (predicate: string): number => (/status|state/.test(predicate) ? 10 : 1)
  const held = predicates
    .map((predicate) => `${weightOf(predicate)} * coalesce((${predicate})::int, 0)`)
    .join(' + ')
  const list = columns.map(({ name }) => `"${name}"`).join(', ')
  const values = columns.map((column) =>
    changed.has(column.name)
      ? madeNew(table, column)
      : (instead[`${table}.${column.name}`] ?? instead[column.name] ?? `"${column.name}"`),
  )
  return `
    with source as materialized (
      select *, row_number() over () - 1 as source_row from (
        select *, min(held_by) over () as fewest from (
          select *, ${held === '' ? '1' : held} as held_by from "${table}" order by held_by limit ${sourcesMax}
        ) ranked
      ) finished where held_by = fewest
    )
    insert into "${table}" (${list}) overriding system value
    select ${values.join(', ')} from source cross join lateral (
      select source_row * ${count} + turn as copy
      from generate_series(1, (select ${count} / count(*) from source)) turn
    ) copies
    on conflict do nothing`
}

const kinds = ['boolean', 'timestamp with time zone', 'bytea', 'bigint', 'text', 'uuid']

/** A key of its own is made new rather than one of another table, or a word of a few. */
const suitability = ({ name, type, isForeign }: Column): number =>
  kinds.indexOf(type) +
  (isForeign ? 0 : 10) -
  (/^(account|network|status|kind|type|direction|topic|format)$/.test(name) ? 20 : 0)

const madeNew = (table: string, { name, type }: Column): string => {
  const column = `"${name}"`
  switch (type) {
    case 'uuid':
      return `(left(${column}::text, 24) || lpad(to_hex(copy), 12, '0'))::uuid`
    case 'bytea':
      return `${column} || int8send(copy)`
    case 'timestamp with time zone':
      return `${column} - copy * interval '1 microsecond'`
    case 'date':
      return `${column} - copy::int`
    case 'text':
      return `${column} || copy`
    default:
      return `(select max(${column}) from "${table}") + copy`
  }
}
