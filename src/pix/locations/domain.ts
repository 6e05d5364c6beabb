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
