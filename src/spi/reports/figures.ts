/** What a period moved on our account, by our book and by the central bank, and where the two differ. */

type Total = { readonly count: number; readonly cents: bigint }

/** Money that came in and money that went out. */
export type Totals = { readonly credits: Total; readonly debits: Total }

export type Figures = {
  /** The period begins behind this moment, and ends with the other. */
  readonly after: Date
  readonly until: Date
  /** Told by a camt.053 of the first and of the last moment; null: the period is a day, not what lies between two. */
  readonly balances: { readonly opening: bigint; readonly closing: bigint } | null
  /** How many entries the file of the day has, as a camt.052 says. */
  readonly declaredEntries: number | null
  /** Null: it is too much for one answer. */
  readonly counts: Counts | null
}

export type Counts = {
  /** What we were told settled, by our book. */
  readonly ours: Totals
  /** Settlements that we were told more than a day late: they count on the day on which we were told. */
  readonly lateSettlements: number
  /** Settlements told that are of no payment or return in our book, or of one that was refused. */
  readonly unknownSettlements: number
  /** Entries of payments and returns. */
  readonly reported: Totals
  /** Entries about anything else, such as money paid in from another system. */
  readonly others: Totals
}

export const figureOutcomes = [
  'count_differs',
  'sum_differs',
  'declared_count_differs',
  'balance_differs',
  'balance_differs_though_entries_agree',
  'entries_do_not_make_balance',
  'settlement_unknown_here',
  'settlement_told_late',
  'not_counted',
] as const

export type FigureDifference = {
  readonly outcome: (typeof figureOutcomes)[number]
  /** CRDT or DBIT; null: it is about both. */
  readonly direction: 'CRDT' | 'DBIT' | null
  readonly count: number | null
  readonly ourCount: number | null
  readonly cents: bigint | null
  readonly ourCents: bigint | null
}

export const nothing: Totals = {
  credits: { count: 0, cents: 0n },
  debits: { count: 0, cents: 0n },
}

export const plus = (totals: Totals, isCredit: boolean, cents: bigint): Totals => {
  const side = isCredit ? 'credits' : 'debits'
  const { count, cents: sum } = totals[side]
  return { ...totals, [side]: { count: count + 1, cents: sum + cents } }
}

const net = ({ credits, debits }: Totals): bigint => credits.cents - debits.cents
const number = ({ credits, debits }: Totals): number => credits.count + debits.count

const none = { direction: null, count: null, ourCount: null, cents: null, ourCents: null } as const

/** Names every figure of the central bank that our book, or its own entries, do not explain. */
export const differencesIn = (figures: Figures): readonly FigureDifference[] => {
  const { counts } = figures
  if (counts === null) return [{ ...none, outcome: 'not_counted' }]
  const { unknownSettlements, lateSettlements } = counts
  const unknown: readonly FigureDifference[] =
    unknownSettlements === 0
      ? []
      : [{ ...none, outcome: 'settlement_unknown_here', count: unknownSettlements, ourCount: 0 }]
  const late: readonly FigureDifference[] =
    lateSettlements === 0
      ? []
      : [{ ...none, outcome: 'settlement_told_late', count: lateSettlements }]
  const sides = entryDifferences(counts)
  return [
    ...unknown,
    ...late,
    ...sides,
    ...declaredDifference(figures, counts),
    ...balanceDifferences(figures, counts, sides.length === 0),
  ]
}

/** Where no entry was reported there is nothing to compare: the central bank tells entries only when it is asked. */
const entryDifferences = ({ reported, ours }: Counts): readonly FigureDifference[] => {
  if (number(reported) === 0) return []
  return (['credits', 'debits'] as const).flatMap((side): readonly FigureDifference[] => {
    const [there, here] = [reported[side], ours[side]]
    const both: Omit<FigureDifference, 'outcome'> = {
      direction: side === 'credits' ? 'CRDT' : 'DBIT',
      count: there.count,
      ourCount: here.count,
      cents: there.cents,
      ourCents: here.cents,
    }
    if (there.count !== here.count) return [{ ...both, outcome: 'count_differs' }]
    return there.cents === here.cents ? [] : [{ ...both, outcome: 'sum_differs' }]
  })
}

const declaredDifference = (
  { declaredEntries }: Figures,
  { ours, others }: Counts,
): readonly FigureDifference[] => {
  const ourCount = number(ours) + number(others)
  return declaredEntries === null || declaredEntries === ourCount
    ? []
    : [{ ...none, outcome: 'declared_count_differs', count: declaredEntries, ourCount }]
}

const balanceDifferences = (
  { balances }: Figures,
  { ours, reported, others }: Counts,
  entriesAgree: boolean,
): readonly FigureDifference[] => {
  if (balances === null) return []
  const { opening, closing: cents } = balances
  const from = opening + net(others)
  const byBook = from + net(ours)
  const byEntries = from + net(reported)
  const isReported = number(reported) > 0
  const outcome =
    isReported && entriesAgree ? 'balance_differs_though_entries_agree' : 'balance_differs'
  return [
    ...(byBook === cents ? [] : [{ ...none, outcome, cents, ourCents: byBook } as const]),
    ...(!isReported || byEntries === cents
      ? []
      : [{ ...none, outcome: 'entries_do_not_make_balance', cents, ourCents: byEntries } as const]),
  ]
}
