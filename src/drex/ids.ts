import { uuidBound } from '#src/platform/database/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'

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

/** Identifiers hold the time of their process, rows that of the database. */
const clockMarginMs = 60_000

/** No id of rows since this moment is less. */
export const idSince = (prefix: IdPrefix, from: Date): string =>
  `${prefix}_${uuidBound(new Date(from.getTime() - clockMarginMs)).replaceAll('-', '')}`

export const newId = (prefix: IdPrefix): string => `${prefix}_${newUuid().replaceAll('-', '')}`
