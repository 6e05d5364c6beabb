import { asking } from './asking.ts'
import { Chain } from './audit-chain.tsx'
import { auditWords as w } from './audit-words.ts'
import { dayEnd, dayIn, dayStart } from './days.tsx'
import { Days, Filters, type Given, Sought } from './filters.tsx'
import { ScreenHead } from './heads.tsx'
import { pageFrom } from './page-from.ts'
import { Link } from './router.tsx'
import { Badge, statusText } from './state.tsx'
import { type Column, column, momentColumn, PagedTable } from './table.tsx'
import { words } from './words.ts'

type Entry = {
  readonly id: string
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly object: string
  readonly outcome: string
}

const pageSize = 100

const texts = ['action', 'actor', 'object'] as const
type Filter = Readonly<Partial<Record<(typeof texts)[number] | 'from' | 'to', string | undefined>>>

const filterOf = (get: Given): Filter => {
  const found = texts.map((name) => [name, (get(name) ?? '').trim()])
  return { ...Object.fromEntries(found), from: dayIn(get('from')), to: dayIn(get('to')) }
}

const addressOf = (filter: Filter): string => asking('/audit', filter)

/** A column whose values link to the entries with the same value. */
const choosing = (
  name: (typeof texts)[number],
  filter: Filter,
  classes?: Column<Entry>['classes'],
): Column<Entry> =>
  column(
    words[name],
    (entry) => <Link to={addressOf({ ...filter, [name]: entry[name] })}>{entry[name]}</Link>,
    classes,
  )

const columnsFor = (filter: Filter): readonly Column<Entry>[] => [
  choosing('object', filter, 'wide mono'),
  choosing('action', filter),
  choosing('actor', filter, 'mono extra'),
  column(words.outcome, ({ action, outcome }) =>
    action === 'access.refused' ? (
      <Badge status="refused" label={statusText(outcome)} />
    ) : (
      statusText(outcome)
    ),
  ),
  momentColumn(({ at }) => at),
]

const loaderOf = ({ from, to, ...rest }: Filter) =>
  pageFrom<Entry>('/v1/audit', 'entries', {
    ...rest,
    limit: String(pageSize),
    from: from && dayStart(from),
    to: to && dayEnd(to),
  })

/** Who did what, the latest first; the address holds the search. */
export const Audit = ({ query }: { readonly query: URLSearchParams }) => {
  const filter = filterOf((name) => query.get(name))
  const address = addressOf(filter)
  return (
    <>
      <ScreenHead title={words.audit} intro={w.intro} />
      <Chain />
      <AuditFilters key={address} filter={filter} />
      <PagedTable
        name={address}
        load={loaderOf(filter)}
        columns={columnsFor(filter)}
        empty={words.none}
        keyOf={({ id }) => id}
      />
    </>
  )
}

const AuditFilters = ({ filter }: { readonly filter: Filter }) => (
  <Filters
    isMany
    addressOf={(given) => addressOf(filterOf(given))}
    after={
      addressOf(filter) !== addressOf({}) && (
        <Link to="/audit" class="button">
          {w.all}
        </Link>
      )
    }
  >
    {texts.map((name) => (
      <Sought key={name} name={name} label={words[name]} value={filter[name] ?? ''} />
    ))}
    <Days from={filter.from} to={filter.to} />
  </Filters>
)
