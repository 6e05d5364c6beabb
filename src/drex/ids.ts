import { uuidBound } from '#src/platform/database/index.ts'

/** Identifiers sort by their time of creation. */
export type IdPrefix =
  | 'trf'
  | 'bat'
  | 'dtx'
  | 'wal'
  | 'ctr'
  | 'fnd'
  | 'mov'
  | 'str'
  | 'opr'
  | 'dlv'
  | 'lin'

/** The least id of a moment. */
export const idBound = (prefix: IdPrefix, from: Date): string =>
  `${prefix}_${uuidBound(from).replaceAll('-', '')}`

export const newId = (prefix: IdPrefix): string =>
  `${prefix}_${Bun.randomUUIDv7().replaceAll('-', '')}`
