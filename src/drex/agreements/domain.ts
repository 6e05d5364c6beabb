/** The state of an agreement, as our own steps and the contract's events tell it together; pure. */
import type { TransactionStatus } from '../domain.ts'
import { isFinal } from '../domain.ts'
import type { TransactionError, TransactionKind } from '../engine/transaction.ts'
import type { Hex } from '../evm/hex.ts'

/**
 * The states of a delivery against payment:
 *
 *   pending -> commanded -> settled | cancelled | mismatched
 *   pending -> failed | settled | mismatched
 *
 * Only the contract’s event, seen in a block with its confirmations, leads out of `commanded`.
 */
export const deliveryStatuses = [
  /** Our command is not on the chain yet. */
  'pending',
  /** Ours is there, the other side’s is not. */
  'commanded',
  'settled',
  /** The side that commanded first has taken its command back. */
  'cancelled',
  /** Our command was never on the chain, or the chain refused it. */
  'failed',
  /** The contract says settled, and the tokens do not. */
  'mismatched',
] as const

/** The states of a lien; all but `mismatched` may be followed by `active`. */
export const lienStatuses = [
  /** Nothing is pledged yet. */
  'pending',
  'active',
  /** The beneficiary has let all of it go. */
  'released',
  /** The owner has taken back what was left at the expiry. */
  'reclaimed',
  /** Nothing was pledged, and nothing is under way. */
  'failed',
  /** The contract says pledged or let go, and the token does not. */
  'mismatched',
] as const

type DeliveryStatus = (typeof deliveryStatuses)[number]
type LienStatus = (typeof lienStatuses)[number]

export const deliveryEnds: readonly State['status'][] = [
  'settled',
  'cancelled',
  'failed',
  'mismatched',
]

/** Where a lien has expired, too: until then its owner may pledge again. */
export const lienEnds: readonly State['status'][] = ['released', 'reclaimed', 'failed']

export type Step = {
  readonly kind: TransactionKind
  readonly status: TransactionStatus
  readonly hash: Hex | undefined
  readonly error: TransactionError | undefined
}

/** An event of the contract, its numbers as decimal text. */
export type Told = {
  readonly name: string
  readonly args: Readonly<Record<string, string>>
  readonly hash: Hex
  readonly mismatch: string | undefined
}

export type State = {
  readonly status: DeliveryStatus | LienStatus
  /** The transaction that made it so. */
  readonly hash: Hex | null
  readonly error: TransactionError | null
  /** What a lien pledges, in the token’s smallest unit. */
  readonly pledged: string | null
  /** When a lien expires, in Unix seconds. */
  readonly expiry: number | null
}

const nothing = { hash: null, error: null, pledged: null, expiry: null }

const mismatchError = (message: string): TransactionError => ({
  code: 'TRANSFER_MISMATCH',
  message,
})

/** @param told events of this very operation and these parties */
export const deliveryState = (steps: readonly Step[], told: readonly Told[]): State => {
  const command = steps.findLast(({ kind }) => kind === 'command')
  if (command === undefined || !isFinal(command.status)) return { ...nothing, status: 'pending' }
  const { status, hash = null, error = null } = command
  if (status !== 'confirmed') return { ...nothing, status: 'failed', hash, error }
  // What came before our command was another’s, because the contract would have refused ours after it.
  const end = told.at(-1)
  if (end === undefined) return { ...nothing, status: 'commanded', hash }
  if (end.mismatch !== undefined) {
    return {
      ...nothing,
      status: 'mismatched',
      hash: end.hash,
      error: mismatchError(end.mismatch),
    }
  }
  return {
    ...nothing,
    status: end.name === 'TradeSettled' ? 'settled' : 'cancelled',
    hash: end.hash,
  }
}

/** @param before what the contract told of itself when it was taken over; nothing for one of our own making */
export const lienState = (
  steps: readonly Step[],
  told: readonly Told[],
  before: { readonly pledged: bigint; readonly expiry: number; readonly isOurs: boolean },
): State => {
  const extended = told.findLast(({ name }) => name === 'Extended')
  const last = told.findLast(({ name }) => name !== 'Extended')
  const pledged = last === undefined ? before.pledged : BigInt(last.args['pledged'] ?? '0')
  const error = errorOf(steps)
  const common = {
    hash: last?.hash ?? null,
    error,
    pledged: pledged.toString(),
    expiry: extended === undefined ? before.expiry : Number(extended.args['expiry']),
  }
  const wrong = told.find(({ mismatch }) => mismatch !== undefined)?.mismatch
  if (wrong !== undefined) return { ...common, status: 'mismatched', error: mismatchError(wrong) }
  if (pledged > 0n) return { ...common, status: 'active' }
  if (last !== undefined)
    return { ...common, status: last.name === 'Expired' ? 'reclaimed' : 'released' }
  // A confirmed pledge counts once the contract has told of it; until then the lien is pending.
  const isOpen = steps.some(
    ({ kind, status }) => !isFinal(status) || (kind === 'pledge' && status === 'confirmed'),
  )
  return { ...common, status: isOpen || !before.isOurs ? 'pending' : 'failed' }
}

/** Why the newest of what was done has failed, told by the step that did. */
const errorOf = (steps: readonly Step[]): TransactionError | null => {
  const acts = steps.filter(({ kind }) => kind !== 'revoke')
  const newest = acts.at(-1)
  if (newest?.error === undefined || !isFinal(newest.status)) return null
  const cause = acts.findLast(({ error }) => error !== undefined && error.code !== 'STEP_FAILED')
  return cause?.error ?? newest.error
}
