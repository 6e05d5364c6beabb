import type { TestDatabase } from './database.ts'

/** All rows of all tables as text, by `schema.table`; bytes as the text they may hold. */
export const dumpOf = async ({ sql }: TestDatabase): Promise<ReadonlyMap<string, string>> => {
  const tables = await sql<{ schemaname: string; tablename: string }[]>`
    select schemaname, tablename from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`
  const dump = new Map<string, string>()
  for (const { schemaname, tablename } of tables) {
    const rows = await sql<{ line: string }[]>`
      select t::text as line from ${sql(schemaname)}.${sql(tablename)} t`
    const lines = rows.map(({ line }) =>
      line.replaceAll(/\\+x((?:[0-9a-f]{2})+)/g, (_, hex: string) =>
        Buffer.from(hex, 'hex').toString('latin1'),
      ),
    )
    dump.set(`${schemaname}.${tablename}`, lines.join('\n'))
  }
  return dump
}
