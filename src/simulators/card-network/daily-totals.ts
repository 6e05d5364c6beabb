import { type CardMessage, createFieldGetter, createFieldSetter } from '#codecs/iso8583'
import { putBounded } from '../bounded.ts'

/**
 * Numbers and amounts (cents) of DE 74 to 77 and 86 to 89, by the currency of DE 49, and the number of approved
 * authorizations of DE 81, which is compared where it is told.
 */
const kinds = ['credits', 'creditReversals', 'debits', 'debitReversals'] as const
export type TotalKind = (typeof kinds)[number]
type Totals = Record<TotalKind, { count: number; cents: number; fees: number }> & {
  authorizations: number
}

const nothing = { count: 0, cents: 0, fees: 0 }

const none = (): Totals => ({
  credits: { ...nothing },
  creditReversals: { ...nothing },
  debits: { ...nothing },
  debitReversals: { ...nothing },
  authorizations: 0,
})

const fields = kinds.map((kind, at) => {
  const [countField, centsField] = [74 + at, 86 + at]
  return {
    kind,
    countOf: createFieldGetter(countField),
    centsOf: createFieldGetter(centsField),
    setCount: createFieldSetter(countField),
    setCents: createFieldSetter(centsField),
  }
})
const [authorizationsOf, setAuthorizations] = [createFieldGetter(81), createFieldSetter(81)]
/** DE 83 and 85: the transaction fees of credits and of debits. */
const feeSetters = { credits: createFieldSetter(83), debits: createFieldSetter(85) }
const hundredPercent = 10_000
const currencyOf = createFieldGetter(50)
const setCode = createFieldSetter(66)
const [inBalance, outOfBalance] = ['1', '2']
/** Days that are remembered, and answered reconciliations. */
const keptMax = 1_000

/** Holds the network's bookings by day and currency, and answers reconciliations. */
export class DailyTotals {
  /** The totals of the day that is open, by currency. */
  private open = new Map<string, Totals>()
  /** By day and currency. */
  private readonly closed = new Map<string, Totals>()
  /** By the numbers of the reconciliation that asked for them. */
  private readonly answered = new Map<string, Totals>()
  private readonly feeBasisPoints: number

  /** @param feeBasisPoints the fee on each sale and refund, as its answers tell; 0: it takes none, and tells of none */
  constructor(feeBasisPoints = 0) {
    this.feeBasisPoints = feeBasisPoints
  }

  book(kind: TotalKind, currency: string, cents: number): void {
    const totals = this.open.get(currency) ?? none()
    this.add(totals[kind], cents)
    this.open.set(currency, totals)
  }

  /** The network's fee on a sale or refund. */
  feeOf(cents: number): number {
    return Math.round((cents * this.feeBasisPoints) / hundredPercent)
  }

  private add(totals: Totals[TotalKind], cents: number): void {
    totals.count++
    totals.cents += cents
    totals.fees += this.feeOf(cents)
  }

  /** Counts an authorization that is approved. */
  count(currency: string): void {
    const totals = this.open.get(currency) ?? none()
    totals.authorizations++
    this.open.set(currency, totals)
  }

  /** Books in a day, MMDD, that has ended. */
  bookLate(kind: TotalKind, currency: string, day: string, cents: number): void {
    const totals = this.closed.get(`${day}:${currency}`) ?? none()
    this.add(totals[kind], cents)
    this.keep(`${day}:${currency}`, totals)
  }

  /** Ends the day, MMDD: later bookings belong to the next. */
  endDay(day: string): void {
    for (const [currency, totals] of this.open) this.keep(`${day}:${currency}`, totals)
    this.open = new Map()
  }

  /**
   * Compares the totals of a reconciliation with those of its day, and puts these into the answer. Without an end of
   * the day by the network, the day is everything booked since the last reconciliation.
   */
  answer(request: CardMessage, answer: CardMessage): void {
    const currency = String(currencyOf(request) ?? '')
    const asked = `${request.transmissionDateTime}:${request.stan}:${currency}`
    let totals =
      this.answered.get(asked) ?? this.closed.get(`${request.settlementDate}:${currency}`)
    if (totals === undefined) {
      totals = this.open.get(currency) ?? none()
      this.open.delete(currency)
      // The same day may be asked about again, once its transactions have been uploaded.
      this.keep(`${request.settlementDate}:${currency}`, totals)
    }
    putBounded(this.answered, asked, totals, keptMax)
    let isSame = true
    for (const { kind, countOf, centsOf, setCount, setCents } of fields) {
      const { count, cents } = totals[kind]
      isSame &&= Number(countOf(request)) === count && Number(centsOf(request)) === cents
      setCount(answer, String(count).padStart(10, '0'))
      setCents(answer, String(cents).padStart(16, '0'))
    }
    if (authorizationsOf(request) !== undefined) {
      isSame &&= Number(authorizationsOf(request)) === totals.authorizations
      setAuthorizations(answer, String(totals.authorizations).padStart(10, '0'))
    }
    if (this.feeBasisPoints > 0) this.tellFees(totals, answer)
    createFieldSetter(50)(answer, currency)
    answer.settlementDate = request.settlementDate
    answer.responseCode = isSame ? '00' : '95'
    setCode(answer, isSame ? inBalance : outOfBalance)
  }

  private tellFees(totals: Totals, answer: CardMessage): void {
    for (const kind of ['credits', 'debits'] as const) {
      feeSetters[kind](answer, String(totals[kind].fees).padStart(12, '0'))
    }
  }

  private keep(key: string, totals: Totals): void {
    putBounded(this.closed, key, totals, keptMax)
  }
}
