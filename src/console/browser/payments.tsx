import { paymentColumns } from './payment-columns.tsx'
import { type Filter, pageOfRail, type Rail, railLists, rails } from './rails.ts'
import { go, Link } from './router.tsx'
import { statusText } from './state.tsx'
import { PagedTable } from './table.tsx'
import { words } from './words.ts'

const pageSize = 50

const addressOf = (rail: Rail, { find, status }: Filter): string => {
  const query = new URLSearchParams({ rail })
  if (find !== '') query.set('find', find)
  if (status !== '') query.set('status', status)
  return `/payments?${query}`
}

const railOf = (query: URLSearchParams): Rail =>
  rails.find((rail) => rail === query.get('rail')) ?? 'spi'

/** The payments of a rail; what is looked for is in the address. */
export const Payments = ({ query }: { readonly query: URLSearchParams }) => {
  const rail = railOf(query)
  const filter = { find: query.get('find') ?? '', status: query.get('status') ?? '' }
  const address = addressOf(rail, filter)
  return (
    <>
      <header class="head">
        <h1>{words.payments}</h1>
      </header>
      <nav class="tabs" aria-label={words.rail}>
        {rails.map((one) => (
          <Link key={one} to={addressOf(one, { find: '', status: '' })} current={one === rail}>
            {railLists[one].label}
          </Link>
        ))}
      </nav>
      <Filters key={address} rail={rail} filter={filter} />
      <List key={`list ${address}`} rail={rail} filter={filter} />
    </>
  )
}

const Filters = ({ rail, filter }: { readonly rail: Rail; readonly filter: Filter }) => {
  const { findLabel, statuses } = railLists[rail]
  return (
    <search>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          const given = new FormData(event.currentTarget)
          const find = String(given.get('find') ?? '').trim()
          go(addressOf(rail, { find, status: String(given.get('status') ?? '') }))
        }}
      >
        <input
          name="find"
          type="search"
          aria-label={findLabel}
          placeholder={findLabel}
          defaultValue={filter.find}
          autocomplete="off"
          spellcheck={false}
        />
        <select
          name="status"
          aria-label={words.status}
          onChange={(event) => event.currentTarget.form?.requestSubmit()}
        >
          <option value="">{words.any}</option>
          {statuses.map((status) => (
            <option key={status} value={status} selected={status === filter.status}>
              {statusText(status)}
            </option>
          ))}
        </select>
        <button type="submit">{words.search}</button>
      </form>
    </search>
  )
}

const List = ({ rail, filter }: { readonly rail: Rail; readonly filter: Filter }) => {
  const isFiltered = filter.find !== '' || filter.status !== ''
  return (
    <PagedTable
      name={JSON.stringify([rail, filter])}
      load={(cursor) => pageOfRail(rail, { ...filter, cursor }, pageSize)}
      empty={isFiltered ? words.none : words.noneYet}
      columns={paymentColumns}
      keyOf={({ to }) => to}
    />
  )
}
