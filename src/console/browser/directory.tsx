import { may, useActs } from './act.tsx'
import type { ScreenProps } from './api.ts'
import { asking } from './asking.ts'
import { newOf, writeScope } from './directory-acts.tsx'
import {
  amountOf,
  type DirectoryFilter,
  type Kind,
  kinds,
  kindsOf,
  matterOf,
  otherOf,
  pageOf,
  placeOf,
  queryOf,
  type Told,
} from './directory-kinds.ts'
import { codeText, directoryWords as w } from './directory-words.ts'
import { Choice, Filters, type Given, Sought, StatusChoice } from './filters.tsx'
import { ScreenHead } from './heads.tsx'
import { whenChanged } from './live.ts'
import { pixKeyWords } from './pix-key-words.ts'
import { Link } from './router.tsx'
import {
  type Column,
  column,
  linkColumn,
  momentColumn,
  PagedTable,
  statusColumn,
} from './table.tsx'
import { words } from './words.ts'

/** The lists of the directory of Pix keys as tabs. */
export const DirectoryTabs = ({ current }: { readonly current?: Kind }) => (
  <nav class="tabs" aria-label={pixKeyWords.title}>
    <Link to="/pix-keys" current={current === undefined}>
      {pixKeyWords.keys}
    </Link>
    {kinds.map((kind) => (
      <Link key={kind} to={`/pix-keys?show=${kind}`} current={kind === current}>
        {kindsOf[kind].label}
      </Link>
    ))}
  </nav>
)

const filterOf = (given: Given): DirectoryFilter => ({
  find: (given('find') ?? '').trim(),
  role: given('role') ?? '',
  status: given('status') ?? '',
})

const addressOf = (kind: Kind, filter: DirectoryFilter): string =>
  asking('/pix-keys', { show: kind, ...filter })

/** Claims, infraction reports or refund requests, the newest first; the address holds the search. */
export const DirectoryList = ({ kind, query, session }: ScreenProps & { readonly kind: Kind }) => {
  const { intro, find, roles, statuses } = kindsOf[kind]
  const filter = filterOf((name) => query.get(name))
  const address = addressOf(kind, filter)
  const isFiltered = address !== addressOf(kind, { find: '', role: '', status: '' })
  const { ask, dialog } = useActs(() => {})
  return (
    <>
      <ScreenHead title={pixKeyWords.title} intro={intro}>
        {may(session, writeScope) && (
          <button class="primary" type="button" onClick={() => ask(newOf[kind])}>
            {newOf[kind].title}
          </button>
        )}
      </ScreenHead>
      <DirectoryTabs current={kind} />
      <Filters key={`filters ${address}`} addressOf={(given) => addressOf(kind, filterOf(given))}>
        <Sought name="find" type="search" label={find.label} value={filter.find} />
        <Choice
          {...{ name: 'role', label: w.role, any: w.anyRole }}
          {...{ values: roles, chosen: filter.role, textOf: codeText }}
        />
        <StatusChoice statuses={statuses} chosen={filter.status} />
      </Filters>
      <PagedTable
        name={address}
        load={pageOf(kind, filter)}
        wake={whenChanged(queryOf(kind, filter))}
        columns={columnsOf[kind]}
        empty={isFiltered ? words.none : w.noneYet}
        keyOf={({ id }) => id}
      />
      {dialog}
    </>
  )
}

export const matterColumn = (kind: Kind): Column<Told> =>
  linkColumn((told) => placeOf(kind, told), matterOf, kindsOf[kind].find.label)

/** The kind of a claim (portability or ownership), or the situation or reason of a dispute. */
export const kindText = ({ type, reason, situation }: Told): string => {
  if (type === undefined) return codeText(situation ?? reason ?? '')
  return type === 'PORTABILITY' ? w.portability : w.ownership
}

/** The time until which it waits for somebody, or for its completion. */
const deadlineOf = (told: Told): string | null => {
  if (told.answer_until !== undefined) return told.answer_until
  if (!['open', 'waiting_resolution', 'confirmed'].includes(told.status)) return null
  return (told.status === 'confirmed' ? told.completion_ends_at : told.resolution_ends_at) ?? null
}

const kindColumn: Column<Told> = column(words.kind, kindText)
const roleColumn: Column<Told> = column(w.role, ({ role }) => codeText(role), 'extra')
const otherColumn: Column<Told> = column(w.other, otherOf, 'mono extra')
export const deadlineColumn = momentColumn(deadlineOf, w.deadline)
const createdColumn = momentColumn<Told>(({ created_at: at }) => at)
export const amountColumn: Column<Told> = column(words.amount, amountOf, 'number')

const shared = (kind: Kind): readonly Column<Told>[] => [
  matterColumn(kind),
  kindColumn,
  roleColumn,
  otherColumn,
  statusColumn,
]

const columnsOf: Readonly<Record<Kind, readonly Column<Told>[]>> = {
  claims: [...shared('claims'), deadlineColumn, createdColumn],
  'infraction-reports': [...shared('infraction-reports'), deadlineColumn, createdColumn],
  refunds: [...shared('refunds'), amountColumn, createdColumn],
}
