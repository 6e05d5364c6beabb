/**
 * SQLSTATE classes of a server that is away, overloaded or stopping, and of transactions it chose to end:
 * connection, transaction rollback (serialization, deadlock), resources, operator intervention, system error.
 */
const transientClasses: ReadonlySet<string> = new Set(['08', '40', '53', '57', '58'])
/** lock_not_available; a standby takes no writes until it is promoted. */
const transientStates: ReadonlySet<string> = new Set(['55P03', '25006'])
/**
 * A schema that is not this program's, which an operator mends: a table, column or function that is not there, or no
 * right to it.
 */
const schemaStates: ReadonlySet<string> = new Set(['42P01', '42703', '42883', '42501'])
/** Our own code of a schema that is behind, the driver's, and the system's. */
const transientCodes: ReadonlySet<string> = new Set([
  'DATABASE_NOT_READY',
  ...['CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED', 'CONNECT_TIMEOUT'],
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH'],
])

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

/**
 * True if one of the rows that were written together may be to blame, alone: the others are tried without it. So it is
 * with a right that is missing, too: one row may need a table that the others do not.
 */
export const isRowFault = (error: unknown): boolean => {
  const code = codeOf(error)
  if (code === undefined) return true
  if (transientCodes.has(code)) return false
  return code.length !== 5 || !(transientClasses.has(code.slice(0, 2)) || transientStates.has(code))
}

/** True if the same statements may succeed later: the caller may ask again, or let them wait. */
export const isTransientDatabaseError = (error: unknown): boolean => {
  const code = codeOf(error)
  return code !== undefined && (schemaStates.has(code) || !isRowFault(error))
}

/** SQLSTATE class of connections, and the states of a server that stops, starts, or takes no more of them. */
const awayStates = /^(?:08...|57P0[1-5]|53300)$/

/**
 * True if this program has no database to ask now: it is away, or its schema is another. A failure of a present
 * database, such as a statement that takes too long, does not count.
 */
export const isDatabaseAway = (error: unknown): boolean => {
  const code = codeOf(error) ?? ''
  return schemaStates.has(code) || transientCodes.has(code) || awayStates.test(code)
}

/** For checks: the database's answer, or `instead` while there is none to ask; the database has its own check. */
export const storedOr = async <T>(instead: T, ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask()
  } catch (error) {
    if (isDatabaseAway(error)) return instead
    throw error
  }
}

const queryCanceled = '57014'

/** True if a statement ran into the time limit, or an operator ended it. */
export const isStatementCanceled = (error: unknown): boolean => codeOf(error) === queryCanceled

const uniqueViolation = '23505'

/** True if another row has what may be there once only. */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === uniqueViolation

/**
 * SQLSTATEs of a value that the database cannot use: too long, out of range, not a time, not text in its encoding,
 * not representable in `jsonb`.
 */
const inputStates: ReadonlySet<string> = new Set([
  ...['22001', '22003', '22007', '22008', '22021', '22P02', '22P03', '22P05'],
])

/** True if the value to store or look up is to blame: the same statement fails again. */
export const isInputDatabaseError = (error: unknown): error is Error & { readonly code: string } =>
  inputStates.has(codeOf(error) ?? '')
