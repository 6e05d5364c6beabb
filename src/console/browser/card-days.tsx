import { type Act, may, sending, useListActs } from './act.tsx'
import type { Session } from './api.ts'
import { actsColumn } from './attention-section.tsx'
import { textIn } from './fields.tsx'
import { count, minorOf } from './format.ts'
import { pageFrom } from './page-from.ts'
import { railWords as w } from './rails-words.ts'
import { Link } from './router.tsx'
import { Badge, statusText } from './state.tsx'
import { type Column, column, momentColumn, PagedTable } from './table.tsx'
import { fill, words } from './words.ts'

type Sum = { readonly number: number | null; readonly amount: number | null }
type Kind = 'credit' | 'credit_reversal' | 'debit' | 'debit_reversal'
type Totals = Readonly<Record<Kind, Sum>>

/** A business day of a network, in one currency. */
type Day = {
  readonly id: string
  readonly network: string
  readonly day: string
  readonly currency: string
  readonly status: string
  readonly ours: Totals | null
  readonly theirs: Totals | null
  readonly difference: (Totals & { readonly authorizations: number | null }) | null
  readonly resolved_at: string | null
  readonly resolved_reason: string | null
}

const kinds: readonly Kind[] = ['debit', 'debit_reversal', 'credit', 'credit_reversal']

/** The number and the sum. */
const sumText = ({ number, amount }: Sum, currency: string): string =>
  `${number === null ? '?' : count(number)} · ${amount === null ? '?' : minorOf(amount, currency)}`

/** The difference of each kind that has one, then that of the count of authorizations. */
const differencesOf = ({ difference, currency }: Day): string => {
  if (difference === null) return '–'
  const differing = kinds.filter((kind) => {
    const { number, amount } = difference[kind]
    return (number ?? 0) !== 0 || (amount ?? 0) !== 0
  })
  const sums = differing.map(
    (kind) => `${statusText(kind)}: ${sumText(difference[kind], currency)}`,
  )
  const counted = difference.authorizations ?? 0
  const counts = counted === 0 ? [] : [`${statusText('authorization')}: ${count(counted)}`]
  return [...sums, ...counts].join('; ') || '0'
}

/** Our total, and under it the network's. */
const BothTotals = ({ day, kind }: { readonly day: Day; readonly kind: Kind }) => (
  <>
    <div>
      {day.ours === null ? '–' : sumText(day.ours[kind], day.currency)}{' '}
      <span class="quiet">{w.ours}</span>
    </div>
    <div>
      {day.theirs === null ? '–' : sumText(day.theirs[kind], day.currency)}{' '}
      <span class="quiet">{w.theirs}</span>
    </div>
  </>
)

const dayColumns: readonly Column<Day>[] = [
  column(
    w.day,
    ({ id, day, network, currency }) => (
      <Link to={`/cards/days/${id}?${new URLSearchParams({ day, network, currency })}`}>{day}</Link>
    ),
    'mono',
  ),
  column(w.network, ({ network }) => network, 'mono'),
  column(words.status, ({ status, resolved_at: seenTo, resolved_reason: note }) => (
    <>
      <Badge status={status} />{' '}
      {seenTo !== null && (
        <span class="quiet">
          {w.seenTo}: {note}
        </span>
      )}
    </>
  )),
  column(w.currency, ({ currency }) => currency, 'mono extra'),
  column(w.sales, (day) => <BothTotals day={day} kind="debit" />, 'number'),
  column(w.refunds, (day) => <BothTotals day={day} kind="credit" />, 'number'),
  column(w.difference, differencesOf, 'wide'),
]

const days = '/v1/transactions/reconciliations'

/** Marks something as seen to; the API keeps the note and audits it. */
const seenToAct = (path: string, consequence: string): Act => ({
  title: w.resolve,
  consequence,
  fields: [{ name: 'reason', label: w.note, more: { maxLength: 200 } }],
  run: sending('POST', `${path}/resolve`, (form) => ({ reason: textIn(form, 'reason') })),
})

const dayActs = ({ id, status, resolved_at: seenTo, ...day }: Day): readonly Act[] =>
  seenTo !== null || !['different', 'refused', 'unanswered'].includes(status)
    ? []
    : [
        seenToAct(
          `${days}/${id}`,
          fill(w.resolveDayConsequence, {
            day: day.day,
            network: day.network,
            currency: day.currency,
          }),
        ),
      ]

/** Business days compared with their networks. */
export const Days = ({ session }: { readonly session: Session }) => (
  <Waiting
    {...{ session, path: days, member: 'reconciliations', columns: dayColumns, actsOf: dayActs }}
    {...{ title: w.days, note: w.daysNote, empty: w.noDays }}
  />
)

type Unmatched = {
  readonly id: string
  readonly network: string
  readonly mti: string
  readonly rrn: string
  readonly stan: string
  readonly amount: number | null
  readonly currency: string | null
  readonly response_code: string | null
  readonly times: number
  readonly last_at: string
}

const unmatchedColumns: readonly Column<Unmatched>[] = [
  column('RRN', ({ rrn }) => rrn, 'mono'),
  column(words.stan, ({ stan }) => stan, 'mono extra'),
  column(w.network, ({ network }) => network, 'mono'),
  column(words.kind, ({ mti }) => mti, 'mono'),
  column(w.answer, ({ response_code: code }) => code ?? '–', 'mono extra'),
  column(
    words.amount,
    ({ amount, currency }) => (amount === null ? '–' : minorOf(amount, currency)),
    'number',
  ),
  column(w.times, ({ times }) => count(times), 'number extra'),
  momentColumn(({ last_at: at }) => at),
]

const unmatched = '/v1/transactions/unmatched-advices'

const unmatchedActs = ({ id, network, rrn }: Unmatched): readonly Act[] => [
  seenToAct(`${unmatched}/${id}`, fill(w.resolveAdviceConsequence, { network, rrn })),
]

/** Advices of networks about transactions that we do not know. */
export const UnmatchedAdvices = ({ session }: { readonly session: Session }) => (
  <Waiting
    {...{ session, path: unmatched, member: 'advices', columns: unmatchedColumns }}
    {...{ actsOf: unmatchedActs, title: w.unmatched, note: w.unmatchedNote, empty: w.noUnmatched }}
  />
)

/** A list of things that a person has to see to. */
const Waiting = <T extends { readonly id: string }>({
  session,
  path,
  member,
  columns,
  actsOf,
  title,
  note,
  empty,
}: {
  readonly session: Session
  readonly path: string
  readonly member: string
  readonly columns: readonly Column<T>[]
  readonly actsOf: (row: T) => readonly Act[]
  readonly title: string
  readonly note: string
  readonly empty: string
}) => {
  const { turn, ask, dialog } = useListActs()
  return (
    <>
      <PagedTable
        {...{ title, note }}
        name={`${path} ${turn}`}
        load={pageFrom<T>(path, member)}
        empty={empty}
        columns={[...columns, ...actsColumn<T>(may(session, 'ops:admin'), ask, actsOf)]}
        keyOf={({ id }: T) => id}
      />
      {dialog}
    </>
  )
}
