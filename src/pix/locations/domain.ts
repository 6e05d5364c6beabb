export const locationKinds = ['cob', 'cobv'] as const

export type LocationKind = (typeof locationKinds)[number]

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
