import postgres from 'postgres'

/**
 * Settings of a session that our statements and their answers rely on, whatever the server or the role prefers. Poolers
 * take no others at the start of a connection.
 */
export const sessionSettings = {
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  standard_conforming_strings: 'on',
} as const

/** The server writes bytes as `bytea_output` says, which poolers let nobody choose at the start: we read both forms. */
const bytea = {
  to: 17,
  from: [17],
  serialize: (value: Uint8Array): string => `\\x${Buffer.from(value).toString('hex')}`,
  parse: (text: string): Uint8Array =>
    text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex') : unescaped(text),
}

/** The older form: a backslash is written twice, and what is no printable ASCII in three octal digits. */
const unescaped = (text: string): Uint8Array =>
  Buffer.from(
    text.replaceAll(/\\(?:\\|([0-3][0-7]{2}))/g, (_, octal: string | undefined) =>
      octal === undefined ? '\\' : String.fromCharCode(Number.parseInt(octal, 8)),
    ),
    'latin1',
  )

/** How columns are read and written, where the driver's own way does not do. */
export const columnTypes = { bigint: postgres.BigInt, bytea }
