import type { ScreenProps, Session } from './api.ts'
import { asking } from './asking.ts'
import { dayIn } from './days.tsx'
import { Days, Filters, type Given, Sought, StatusChoice } from './filters.tsx'
import { ScreenHead, Tabs } from './heads.tsx'
import { whenChanged } from './live.ts'
import {
  type Filter,
  listOf,
  pageOfRail,
  paymentColumns,
  type Rail,
  railLists,
  rails,
} from './rails.ts'
import { PagedTable } from './table.tsx'
import { words } from './words.ts'

const pageSize = 50

const addressOf = (rail: Rail, filter: Filter): string => asking('/payments', { rail, ...filter })

const filterOf = (get: Given): Filter => ({
  find: (get('find') ?? '').trim(),
  as: get('as') ?? '',
  status: get('status') ?? '',
  from: dayIn(get('from')),
  to: dayIn(get('to')),
})

/** The rails that the key may read. */
const railsOf = ({ scopes }: Session): readonly Rail[] =>
  rails.filter((rail) => scopes.includes(railLists[rail].scope))

/** The payments of a rail; the address holds the search. */
export const Payments = ({ query, session }: ScreenProps) => {
  const mine = railsOf(session)
  const rail = mine.find((one) => one === query.get('rail')) ?? mine[0]
  if (rail === undefined) {
    return (
      <>
        <h1>{words.payments}</h1>
        <p class="empty">{words.lacking}</p>
      </>
    )
  }
  const filter = filterOf((name) => query.get(name))
  const address = addressOf(rail, filter)
  return (
    <>
      <ScreenHead title={words.payments} />
      <Tabs
        {...{ label: words.rail, current: rail, at: '/payments?rail=' }}
        tabs={mine.map((name) => ({ name, label: railLists[name].label }))}
      />
      <PaymentFilters key={address} rail={rail} filter={filter} />
      <List rail={rail} filter={filter} />
    </>
  )
}

const PaymentFilters = ({ rail, filter }: { readonly rail: Rail; readonly filter: Filter }) => {
  const { finds, statuses } = railLists[rail]
  const [first] = finds
  return (
    <Filters addressOf={(given) => addressOf(rail, filterOf(given))}>
      <select name="as" aria-label={words.searchBy}>
        {finds.map(({ parameter, label }) => (
          <option key={parameter} value={parameter} selected={parameter === filter.as}>
            {label}
          </option>
        ))}
      </select>
      <Sought
        {...{ name: 'find', type: 'search', label: words.search, value: filter.find }}
        placeholder={first?.label}
      />
      <StatusChoice {...{ statuses, chosen: filter.status }} />
      <Days from={filter.from} to={filter.to} />
    </Filters>
  )
}

const List = ({ rail, filter }: { readonly rail: Rail; readonly filter: Filter }) => {
  const isFiltered = addressOf(rail, filter) !== addressOf(rail, { find: '', status: '' })
  return (
    <PagedTable
      name={JSON.stringify([rail, filter])}
      load={(cursor, purpose) => pageOfRail(rail, { ...filter, cursor }, pageSize, purpose)}
      wake={whenChanged(listOf(rail, filter, pageSize))}
      empty={isFiltered ? words.none : words.noneYet}
      columns={paymentColumns}
      keyOf={({ to }) => to}
    />
  )
}
