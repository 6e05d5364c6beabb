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

/** The least id of a transfer of a moment. */
export const idBound = (from: Date): string => `trf_${uuidBound(from).replaceAll('-', '')}`

export const newId = (prefix: IdPrefix): string =>
  `${prefix}_${Bun.randomUUIDv7().replaceAll('-', '')}`
