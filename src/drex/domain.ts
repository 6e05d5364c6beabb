/**
 * The states and events of a tracked transaction; pure.
 *
 *   pending -> signed -> broadcast -> mined -> confirmed | reverted
 *
 * Before it is signed, a transaction uses no nonce, and may fail, expire or be cancelled at once. After that only the
 * chain decides: a receipt of one of its attempts, or of a cancelling attempt at the same nonce. Silence decides
 * nothing. A reorganisation leads from mined back to broadcast, and so does one that takes back a told end.
 */
export const transactionStatuses = [
  'pending',
  'signed',
  'broadcast',
  'mined',
  'confirmed',
  'reverted',
  'failed',
  'cancelled',
] as const

export type TransactionStatus = (typeof transactionStatuses)[number]

export type TransactionEvent =
  /** Nonce, raw bytes and hash are committed. */
  | 'signed'
  /** A node has taken it. */
  | 'accepted'
  /** A receipt exists, of success or of a revert. */
  | 'receipt'
  /** The receipt's block is deep enough and still on the chain. */
  | 'settled_success'
  /** The transaction succeeded, but the token did not move as asked. */
  | 'settled_mismatch'
  | 'settled_revert'
  | 'settled_cancel'
  /** The receipt's block is no longer on the chain. */
  | 'reorganised'
  /** Before it was signed, simulation refused it or its time ran out. */
  | 'refused'
  | 'cancel'
  /** A transaction that is not ours used the nonce, deep enough in the chain: it is signed again. */
  | 'nonce_lost'
  /** The same for one that was only to use the nonce. */
  | 'nonce_used'
  /** The block of an end that was told already has left the chain. */
  | 'corrected'
  /** An ephemeral network began anew, and its old state is gone. */
  | 'network_reset'

type Transitions = Readonly<Partial<Record<TransactionEvent, TransactionStatus>>>

const transitions: Readonly<Record<TransactionStatus, Transitions>> = {
  // Only bytes whose nonce seemed lost can have a receipt here.
  pending: { signed: 'signed', receipt: 'mined', refused: 'failed', cancel: 'cancelled' },
  signed: {
    accepted: 'broadcast',
    receipt: 'mined',
    nonce_lost: 'pending',
    nonce_used: 'cancelled',
    network_reset: 'failed',
  },
  broadcast: {
    accepted: 'broadcast',
    receipt: 'mined',
    nonce_lost: 'pending',
    nonce_used: 'cancelled',
    network_reset: 'failed',
  },
  mined: {
    settled_success: 'confirmed',
    settled_mismatch: 'failed',
    settled_revert: 'reverted',
    settled_cancel: 'cancelled',
    reorganised: 'broadcast',
    network_reset: 'failed',
  },
  confirmed: { corrected: 'broadcast' },
  reverted: { corrected: 'broadcast' },
  failed: { corrected: 'broadcast' },
  cancelled: { corrected: 'broadcast' },
}

/** @returns the next status, or undefined if the event does not apply */
export const transition = (
  status: TransactionStatus,
  event: TransactionEvent,
): TransactionStatus | undefined => transitions[status][event]

/** Ends: only the chain itself can take one back. */
export const finalStatuses = ['confirmed', 'reverted', 'failed', 'cancelled'] as const

export type FinalStatus = (typeof finalStatuses)[number]

export const isFinal = (status: TransactionStatus): status is FinalStatus =>
  finalStatuses.some((final) => final === status)

export const openStatuses = transactionStatuses.filter((status) => !isFinal(status))

/** From the signature on, what a transaction allows takes effect unless it ends otherwise. */
export const begunStatuses: readonly TransactionStatus[] = [
  'signed',
  'broadcast',
  'mined',
  'confirmed',
]

/** Statuses from which an event leads on. */
export const sourcesOf = (event: TransactionEvent): readonly TransactionStatus[] =>
  transactionStatuses.filter((status) => transition(status, event) !== undefined)

/** Fees of an attempt, in wei per unit of gas. */
export type AttemptFees = { readonly maxFee: bigint; readonly tip: bigint }

/** Nodes replace a pooled transaction only for at least 10 % more, of both figures. */
const bumpPercent = 10n

/**
 * Fees for the next attempt at the same nonce: the network's current fees, but at least a tenth more than before.
 * @returns undefined if that is beyond `feeMax`
 */
export const bumpedFees = (
  previous: AttemptFees,
  current: AttemptFees,
  feeMax: bigint,
): AttemptFees | undefined => {
  const raise = (fee: bigint) => (fee * (100n + bumpPercent) + 99n) / 100n
  const maxFee = larger(raise(previous.maxFee), current.maxFee)
  if (maxFee > feeMax) return undefined
  const tip = larger(raise(previous.tip), current.tip)
  // Every node refuses a tip beyond the whole fee.
  const isWithin = tip <= maxFee
  return { maxFee, tip: isWithin ? tip : maxFee }
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Most decimals that a token may have here; tokens in use have at most 27. */
export const decimalsMax = 36

/** A positive decimal with at least two fraction digits, as requests write amounts. */
export const amountForm = /^(?!0\.0+$)(0|[1-9]\d{0,15})\.(\d{2,36})$/

/** Reads `150.00` as 15000n of a token with two decimals. @returns undefined if it has more digits than the token */
export const unitsOf = (amount: string, decimals: number): bigint | undefined => {
  const [whole = '', fraction = ''] = amount.split('.')
  const kept = fraction.slice(0, decimals)
  // Requests always have two fraction digits, also where the token has fewer.
  const rest = fraction.slice(decimals)
  if (fraction.length > Math.max(2, decimals) || /[^0]/.test(rest)) return undefined
  const units = BigInt(whole + kept.padEnd(decimals, '0'))
  return units === 0n ? undefined : units
}

/** Writes 15000n of a token with two decimals as `150.00`: at least two fraction digits, and no zeros after those. */
export const formatUnits = (units: bigint, decimals: number): string => {
  const digits = units.toString().padStart(decimals + 1, '0')
  const split = digits.length - decimals
  let end = digits.length
  while (end > split && digits.charAt(end - 1) === '0') end--
  const fraction = digits.slice(split, end)
  return `${digits.slice(0, split)}.${fraction.padEnd(2, '0')}`
}
