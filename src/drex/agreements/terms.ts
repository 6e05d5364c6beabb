/** What was agreed, as it is kept: amounts in smallest units as decimal text. */
import type { Hex } from '../evm/hex.ts'

export type DeliveryTerms = {
  /** The operation’s number in the contract. */
  readonly number: string
  readonly seller: Hex
  readonly buyer: Hex
  readonly bond: Hex
  readonly bondId: string
  readonly acronym: string
  readonly code: string
  /** Unix seconds. */
  readonly maturity: number
  /** Two decimals. */
  readonly amount: string
  /** Eight decimals. */
  readonly unitPrice: string
  readonly money: Hex
  /** Two decimals. */
  readonly price: string
}

export type LienTerms = {
  readonly token: Hex
  readonly decimals: number
  readonly owner: Hex
  readonly beneficiary: Hex
  readonly documentHash: string
  /** Unix seconds, as first agreed. */
  readonly expiry: number
  /** First pledged; of one that was taken over, what it held then. */
  readonly amount: string
  /** The contract of the network that admits accounts, where the lien’s own has to be admitted. */
  readonly admission: Hex | null
  /** Its contract is deployed by us. */
  readonly isOurs: boolean
}

export type Terms =
  | {
      readonly kind: 'delivery'
      readonly part: 'seller' | 'buyer'
      readonly terms: DeliveryTerms
    }
  | { readonly kind: 'lien'; readonly part: 'owner' | 'beneficiary'; readonly terms: LienTerms }
