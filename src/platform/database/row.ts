import postgres, { type Row } from 'postgres'

/** By column; bounded by the columns that our statements name. */
const names = new Map<string, string>()

const nameOf = (column: string): string => {
  const known = names.get(column)
  if (known !== undefined) return known
  const name = postgres.toCamel(column)
  names.set(column, name)
  return name
}

/**
 * A row as a value: names in camelCase, undefined for null. An int8 stays a bigint, a numeric stays text.
 *
 * @typeParam T - what the statement selects; nobody checks it
 */
export const valueOfRow = <T>(row: Row): T => {
  const value: Record<string, unknown> = {}
  for (const column in row) value[nameOf(column)] = row[column] ?? undefined
  return value as T
}

/** An int8 as a number. */
export const optionalNumber = (value: bigint | string | undefined): number | undefined =>
  value === undefined ? undefined : Number(value)

/** A numeric, which arrives as text, as a whole number. */
export const optionalBigint = (value: string | undefined): bigint | undefined =>
  value === undefined ? undefined : BigInt(value)
