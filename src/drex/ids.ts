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

export const newId = (prefix: IdPrefix): string =>
  `${prefix}_${Bun.randomUUIDv7().replaceAll('-', '')}`
