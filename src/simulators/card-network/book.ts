import { putBounded } from '../bounded.ts'
import type { Behaviour } from './behaviour.ts'
import { DailyTotals, type TotalKind } from './daily-totals.ts'

/** One payment as the network knows it, for audits; amounts in cents. */
export type BookEntry = {
  /** MTI of the message that opened it. */
  readonly mti: string
  /** DE 32 without leading zeros; empty where the gateway sends none. */
  readonly acquirer: string
  readonly stan: string
  readonly rrn: string
  /** DE 7, MMDDhhmmss. */
  readonly transmission: string
  readonly responseCode: string
  readonly authCode: string | undefined
  /** DE 49. */
  readonly currency: string
  /** The behaviour that the card asks for in later messages. */
  readonly behaviour: Behaviour | undefined
  /** The amount with its increments. */
  authorizedAmount: number
  capturedAmount: number
  reversedAmount: number
  refundedAmount: number
  /** How often the message that opened it came; more than 1 is a fault of the sender. */
  requests: number
  /** How many 0400 and 0401 came for it or for its captures. */
  reversals: number
}

const booked = { captured: 'debits', refunded: 'credits' } as const
const takenBack = { captured: 'debitReversals', refunded: 'creditReversals' } as const

/** Tells a message from all others: two gateways may use one STAN in the same hour, and the same RRN then. */
export type Original = Pick<BookEntry, 'acquirer' | 'stan' | 'rrn' | 'transmission'>

/** A message about a payment that is there. */
export type Reference = Pick<BookEntry, 'acquirer' | 'rrn'> & {
  /** DE 38. */
  readonly authCode: string | undefined
}

/** An increment, capture or refund of a payment. */
type Movement = {
  readonly kind: 'authorized' | 'captured' | 'refunded'
  readonly entry: BookEntry
  readonly amount: number
  isReversed: boolean
}

/** Whether the opening message moved the money; then increments move more. */
const isSale = ({ mti }: BookEntry): boolean => mti.startsWith('02')

const keyOf = ({ acquirer, stan, rrn, transmission }: Original): string =>
  `${acquirer}:${transmission}:${stan}:${rrn}`

/** The least specific key comes first. */
const referenceKeysOf = ({ acquirer, rrn, authCode }: Reference): readonly string[] => {
  const byRrn = `${acquirer}:${rrn}`
  return authCode === undefined ? [byRrn] : [byRrn, `${byRrn}:${authCode}`]
}

/** The amounts that the network authorized, captured and reversed; at `entriesMax`, the oldest entries go. */
export class Book {
  private readonly opened = new Map<string, BookEntry>()
  private readonly movements = new Map<string, Movement>()
  private readonly uploaded = new Map<string, number>()
  private readonly byReference = new Map<string, BookEntry>()
  readonly days: DailyTotals
  private readonly entriesMax: number

  constructor(entriesMax: number, feeBasisPoints = 0) {
    this.entriesMax = entriesMax
    this.days = new DailyTotals(feeBasisPoints)
  }

  entries(): readonly Readonly<BookEntry>[] {
    return [...this.opened.values()]
  }

  find(original: Original): BookEntry | undefined {
    return this.opened.get(keyOf(original))
  }

  /** The payment with this RRN and authorization code; if the code is absent or unknown, the last with this RRN. */
  findReferred(reference: Reference): BookEntry | undefined {
    if (reference.rrn === '') return undefined
    const [byRrn = '', byCode = ''] = referenceKeysOf(reference)
    return this.byReference.get(byCode) ?? this.byReference.get(byRrn)
  }

  open(entry: BookEntry): void {
    const { capturedAmount, currency } = entry
    if (capturedAmount > 0) this.days.book('debits', currency, capturedAmount)
    this.opened.set(keyOf(entry), entry)
    for (const key of referenceKeysOf(entry)) this.byReference.set(key, entry)
    if (this.opened.size <= this.entriesMax) return
    const [oldest] = this.opened
    if (oldest === undefined) return
    this.opened.delete(oldest[0])
    for (const key of referenceKeysOf(oldest[1])) {
      if (this.byReference.get(key) === oldest[1]) this.byReference.delete(key)
    }
  }

  findMovement(original: Original): Movement | undefined {
    return this.movements.get(keyOf(original))
  }

  /**
   * The amount booked under these numbers; undefined if nothing was captured, refunded or uploaded, or it is taken
   * back.
   */
  bookedAmount(original: Original): number | undefined {
    const movement = this.movements.get(keyOf(original))
    if (movement !== undefined) return movement.isReversed ? undefined : movement.amount
    return this.uploaded.get(keyOf(original)) ?? this.opened.get(keyOf(original))?.capturedAmount
  }

  /** Books a transaction that came only with an upload, in the totals of its ended day. */
  upload(of: Original, kind: TotalKind, currency: string, day: string, amount: number): void {
    this.days.bookLate(kind, currency, day, amount)
    putBounded(this.uploaded, keyOf(of), amount, this.entriesMax)
  }

  move(kind: Movement['kind'], entry: BookEntry, by: Original, amount: number): void {
    entry[`${kind}Amount`] += amount
    if (kind === 'authorized') this.days.count(entry.currency)
    else this.days.book(booked[kind], entry.currency, amount)
    if (kind === 'authorized' && isSale(entry)) {
      entry.capturedAmount += amount
      this.days.book(booked.captured, entry.currency, amount)
    }
    const movement = { kind, entry, amount, isReversed: false }
    putBounded(this.movements, keyOf(by), movement, this.entriesMax)
  }

  /**
   * Takes one increment, capture or refund back; the entry stands as before.
   *
   * @returns false: a refund has given a part of it back
   */
  reverseMovement(movement: Movement): boolean {
    const { kind, entry, amount, isReversed } = movement
    if (isReversed) return true
    if (kind === 'captured' && entry.capturedAmount - amount < entry.refundedAmount) return false
    movement.isReversed = true
    entry[`${kind}Amount`] -= amount
    // The increment may be among what is taken back already.
    const isOfSale = kind === 'authorized' && isSale(entry)
    const back = isOfSale ? Math.min(amount, entry.capturedAmount) : amount
    if (isOfSale) entry.capturedAmount -= back
    const standing = entry.authorizedAmount - (isOfSale ? 0 : entry.capturedAmount)
    entry.reversedAmount = Math.min(entry.reversedAmount, standing)
    const taken = isOfSale ? 'captured' : kind
    if (taken !== 'authorized' && back > 0) this.days.book(takenBack[taken], entry.currency, back)
    return true
  }

  /**
   * Takes so much of the authorization back, with what was before; the same again changes nothing.
   *
   * @returns false: a part of it is refunded
   */
  reduce(entry: BookEntry, reversed: number): boolean {
    const more = Math.max(reversed - entry.reversedAmount, 0)
    if (isSale(entry) && entry.capturedAmount - more < entry.refundedAmount) return false
    entry.reversedAmount += more
    if (!isSale(entry) || more === 0) return true
    entry.capturedAmount -= more
    this.days.book(takenBack.captured, entry.currency, more)
    return true
  }

  /** Takes the whole payment back, captures too; a second time changes nothing. @returns false: a part is refunded */
  reverse(entry: BookEntry): boolean {
    const { capturedAmount, currency, refundedAmount } = entry
    if (refundedAmount > 0) return false
    if (capturedAmount > 0) this.days.book('debitReversals', currency, capturedAmount)
    entry.reversedAmount = entry.authorizedAmount
    entry.capturedAmount = 0
    return true
  }

  /** Takes the hold back, and leaves what is captured; a second time changes nothing. */
  release(entry: BookEntry): void {
    entry.reversedAmount = entry.authorizedAmount - entry.capturedAmount
  }
}
