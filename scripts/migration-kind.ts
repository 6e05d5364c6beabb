/** Statements that break versions which read and write a table as it was before. */
const breaking = [
  /\bDROP\b/i,
  /\bRENAME\b/i,
  /\bALTER\s+COLUMN\b/i,
  /\bADD\s+CONSTRAINT\b/i,
  /\bADD\s+(?:PRIMARY|UNIQUE|CHECK|FOREIGN|EXCLUDE)\b/i,
  /\bADD\s+COLUMN\b(?!.*\bDEFAULT\b).*\bNOT\s+NULL\b/i,
  /\bCREATE\s+UNIQUE\s+INDEX\b/i,
  /\b(?:UPDATE|DELETE|TRUNCATE|REVOKE)\b/i,
]

const createdIn = (sql: string): ReadonlySet<string> =>
  new Set(
    [...sql.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)"?/gi)].map(([, name = '']) => name),
  )

const statementsOf = (sql: string): readonly string[] =>
  sql
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .filter((statement) => statement.trim() !== '')

/** The table that a statement is about. */
const tableOf = (statement: string): string =>
  /\b(?:ALTER TABLE|ON|UPDATE|FROM|TRUNCATE)\s+(?:ONLY\s+)?"?(\w+)"?/i.exec(statement)?.[1] ?? ''

/**
 * True if programs that do not know the migration can go on after it: it adds tables, indexes, and columns that may be
 * left out, and changes nothing that was there before.
 */
export const isExpanding = (sql: string): boolean => {
  const created = createdIn(sql)
  return statementsOf(sql).every(
    (statement) =>
      created.has(tableOf(statement)) ||
      /^\s*CREATE TABLE\b/i.test(statement) ||
      !statement.split(/,\s*\n/).some((part) => breaking.some((form) => form.test(part))),
  )
}

/**
 * True if a migration indexes an existing table and does something else too: PostgreSQL builds an index while others
 * write only if its migration does nothing else.
 */
export const isMixed = (sql: string): boolean => {
  const created = createdIn(sql)
  const isIndex = (statement: string) =>
    /^\s*CREATE (?:UNIQUE )?INDEX\b/i.test(statement) && !created.has(tableOf(statement))
  const statements = statementsOf(sql)
  return statements.some(isIndex) && !statements.every(isIndex)
}
