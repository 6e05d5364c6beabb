import { type Act, may, useListActs } from './act.tsx'
import { every, type ScreenProps, type Session } from './api.ts'
import { asking } from './asking.ts'
import { actsColumn } from './attention-section.tsx'
import { newChargeAct, unlinkAct } from './charge-acts.tsx'
import {
  amountOf,
  type ChargeFilter,
  createdAtOf,
  type Kind,
  kindIn,
  kinds,
  kindsOf,
  pageOfCharges,
  personText,
  placeOf,
  type Told,
} from './charge-kinds.ts'
import { chargeWords as w } from './charge-words.ts'
import { dayIn, daysAgo } from './days.tsx'
import { Days, Filters, type Given, Sought, StatusChoice } from './filters.tsx'
import { ScreenHead, Tabs } from './heads.tsx'
import { go, Link } from './router.tsx'
import {
  type Column,
  column,
  linkColumn,
  momentColumn,
  PagedTable,
  statusColumn,
} from './table.tsx'
import { words } from './words.ts'

/** How many days a list shows at first. */
const daysShown = 30

const filterOf = (get: Given): ChargeFilter => ({
  status: get('status') ?? '',
  taxId: (get('tax_id') ?? '').replaceAll(/[.\-/\s]/g, ''),
  from: dayIn(get('from')) ?? daysAgo(daysShown),
  to: dayIn(get('to')) ?? daysAgo(0),
})

const addressOf = (kind: Kind, { status, taxId, from, to }: ChargeFilter): string =>
  asking('/charges', { show: kind, from, to, status, tax_id: taxId })

/** The lists of the API Pix: charges, recurrences, and received Pix. */
export const Charges = ({ query, session }: ScreenProps) => {
  const mine = kinds.filter((kind) => session.scopes.includes(kindsOf[kind].scope))
  const current = mine.find((kind) => kind === kindIn(query.get('show'))) ?? mine[0]
  const filter = filterOf((name) => query.get(name))
  const { turn, ask, dialog } = useListActs()
  return (
    <>
      <ScreenHead title={w.charges} intro={w.intro}>
        <div class="actions">
          {current !== undefined && <OpenOne key={`open ${current}`} kind={current} />}
          {may(session, 'cob:write') && (
            <button class="primary" type="button" onClick={() => ask(newChargeAct)}>
              {w.newCharge}
            </button>
          )}
        </div>
      </ScreenHead>
      <Tabs
        {...{ label: w.charges, current, at: '/charges?show=' }}
        tabs={mine.map((name) => ({ name, label: kindsOf[name].label }))}
      />
      {current === undefined && <p class="empty">{words.lacking}</p>}
      {current !== undefined && (
        <Listed
          key={`${addressOf(current, filter)} ${turn}`}
          {...{ kind: current, filter, session, ask }}
        />
      )}
      {dialog}
    </>
  )
}

/** Opens one of this kind by its identifier, whatever the list shows. */
const OpenOne = ({ kind }: { readonly kind: Kind }) =>
  kind === 'locrec' ? null : (
    <search>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          const id = String(new FormData(event.currentTarget).get('id')).trim()
          if (id !== '') go(placeOf(kind, id))
        }}
      >
        <Sought name="id" type="search" label={w.openOne} placeholder={identifiers[kind]} />
        <button type="submit">{w.open}</button>
      </form>
    </search>
  )

const identifiers: Readonly<Record<Kind, string>> = {
  cob: 'txid',
  cobv: 'txid',
  cobr: 'txid',
  pix: 'EndToEndId',
  rec: 'idRec',
  solicrec: 'idSolicRec',
  locrec: 'id',
}

const ChargeFilters = ({
  kind,
  filter,
}: {
  readonly kind: Kind
  readonly filter: ChargeFilter
}) => {
  const { statuses = [] } = kindsOf[kind]
  return (
    <Filters addressOf={(given) => addressOf(kind, filterOf(given))}>
      {kind !== 'locrec' && <Sought name="tax_id" label={w.taxId} value={filter.taxId} />}
      {statuses.length > 0 && <StatusChoice {...{ statuses, chosen: filter.status }} />}
      <Days {...filter} />
    </Filters>
  )
}

type ListProps = {
  readonly kind: Kind
  readonly filter: ChargeFilter
  readonly session: Session
  readonly ask: (act: Act) => void
}

const Listed = ({ kind, filter, ...more }: ListProps) => {
  if (kindsOf[kind].member === undefined) return <p class="empty">{w.onlyById}</p>
  return (
    <>
      <ChargeFilters kind={kind} filter={filter} />
      <Rows {...{ kind, filter, ...more }} />
    </>
  )
}

const Rows = ({ kind, filter, session, ask }: ListProps) => {
  const mayUnlink = kind === 'locrec' && may(session, 'payloadlocationrec:write')
  const acts = actsColumn<Told>(mayUnlink, ask, (one) =>
    one.idRec === undefined ? [] : [unlinkAct(one)],
  )
  return (
    <PagedTable
      name={addressOf(kind, filter)}
      load={(cursor, purpose) => pageOfCharges(kind, filter, cursor, purpose)}
      columns={[...columnsOf(kind), ...acts]}
      empty={w.noneHere}
      keyOf={kindsOf[kind].idOf}
      wake={every(everyMs)}
    />
  )
}

/** The standard's lists count all their rows, so we ask for them seldom. */
const everyMs = 30_000

const amountColumn: Column<Told> = column(words.amount, amountOf, 'number')
const createdColumn = momentColumn(createdAtOf)
const payerColumn: Column<Told> = column(
  w.payer,
  ({ devedor, vinculo }) => personText(devedor ?? vinculo?.devedor) || '–',
  'extra',
)

const dueColumn: Column<Told> = column(
  w.due,
  ({ calendario }) => calendario?.dataDeVencimento ?? '–',
  'extra',
)

const recurrenceColumn: Column<Told> = column(
  w.recurrence,
  ({ idRec }) =>
    idRec === undefined ? w.nothingShown : <Link to={placeOf('rec', idRec)}>{idRec}</Link>,
  'mono wide',
)

const columnsOf = (kind: Kind): readonly Column<Told>[] => {
  const { idOf } = kindsOf[kind]
  const idColumn: Column<Told> = linkColumn((one) => placeOf(kind, idOf(one)), idOf)
  switch (kind) {
    case 'pix':
      return [
        idColumn,
        column('txid', ({ txid }) => txid ?? '–', 'mono extra'),
        column(w.key, ({ chave }) => chave ?? '–', 'mono extra'),
        amountColumn,
        createdColumn,
      ]
    case 'rec':
      return [
        idColumn,
        column(w.contract, ({ vinculo }) => vinculo?.contrato ?? '–', 'extra'),
        payerColumn,
        statusColumn,
        amountColumn,
        createdColumn,
      ]
    case 'locrec':
      return [
        column(w.location, ({ location }) => location ?? '', 'mono wide'),
        recurrenceColumn,
        createdColumn,
      ]
    case 'cob':
      return [idColumn, payerColumn, statusColumn, amountColumn, createdColumn]
    default:
      return [idColumn, payerColumn, dueColumn, statusColumn, amountColumn, createdColumn]
  }
}
