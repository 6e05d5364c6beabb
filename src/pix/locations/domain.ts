export type LocationKind = 'cob' | 'cobv'

export type Location = {
  readonly id: bigint
  readonly account: string
  readonly token: string
  readonly kind: LocationKind
  /** This and the txid name the charge that it shows. */
  readonly chargeId: string | null
  readonly txid: string | null
  readonly createdAt: Date
}

/** What is no id is the id of nothing. @throws what `missing` makes */
export const locationIdIn = (id: string, missing: () => Error): bigint => {
  if (!/^\d{1,18}$/.test(id)) throw missing()
  return BigInt(id)
}
