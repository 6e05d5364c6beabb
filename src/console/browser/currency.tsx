import type { FunctionComponent } from 'preact'
import { type Act, type Ask, may, mayMakeWallet, sending, useListActs } from './act.tsx'
import { agreementWords } from './agreement-words.ts'
import { Deliveries, Liens } from './agreements.tsx'
import type { ScreenProps, Session } from './api.ts'
import { textIn } from './fields.tsx'
import { count, duration } from './format.ts'
import { Tabs } from './heads.tsx'
import { lanesMax, openText } from './lanes.ts'
import { useFollowed } from './live.ts'
import { MakeLink, registerAct, type ThingName, things } from './make.tsx'
import { makeWords } from './make-words.ts'
import { type Network, useNetworks } from './networks.ts'
import { pageFrom } from './page-from.ts'
import { Card, Shown } from './parts.tsx'
import { railWords as w } from './rails-words.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, column, ListTable, momentColumn, PagedTable, statusColumn } from './table.tsx'
import { fill, words } from './words.ts'

const Making = ({ name, session }: { readonly name: ThingName; readonly session: Session }) =>
  may(session, things[name].scope) ? (
    <div class="actions">
      <MakeLink name={name} session={session} />
    </div>
  ) : null

export type Wallet = {
  readonly wallet_id: string
  readonly address: string
  readonly type: string
  readonly label: string
  readonly status: string
  readonly created_at: string
}

const walletColumns: readonly Column<Wallet>[] = [
  column(
    w.label,
    ({ wallet_id: id, label }) => (
      <Link to={`/currency/wallets/${encodeURIComponent(id)}`}>{label}</Link>
    ),
    'wide',
  ),
  column(w.address, ({ address }) => address, 'mono wide'),
  column(w.type, ({ type }) => type.replaceAll('_', ' '), 'extra'),
  statusColumn,
  momentColumn(({ created_at: at }) => at),
]

const createWallet: Act = {
  title: w.create,
  consequence: w.createConsequence,
  fields: [{ name: 'label', label: w.label, more: { maxLength: 100 } }],
  run: sending(
    'POST',
    '/v1/wallets',
    (form) => ({ type: 'managed', label: textIn(form, 'label') }),
    ({ address }: Wallet) => fill(w.created, { address }),
  ),
}

const Wallets = ({ session }: { readonly session: Session }) => {
  const { turn, ask, dialog } = useListActs()
  return (
    <>
      {mayMakeWallet(session) && (
        <div class="actions">
          <button type="button" onClick={() => ask(createWallet)}>
            {w.create}
          </button>
        </div>
      )}
      <PagedTable
        name={`wallets ${turn}`}
        load={pageFrom<Wallet>('/v1/wallets', 'wallets')}
        columns={walletColumns}
        empty={w.noWallets}
        keyOf={({ wallet_id: id }) => id}
      />
      {dialog}
    </>
  )
}

export type Contract = {
  readonly contract_id: string
  readonly address: string | null
  readonly network: string
  readonly template: string | null
  readonly label: string
  readonly status: string
  readonly created_at: string
}

const contractColumns: readonly Column<Contract>[] = [
  column(
    w.label,
    ({ address, network, label }) =>
      address === null ? (
        label
      ) : (
        <Link to={`/currency/contracts/${address}?network=${encodeURIComponent(network)}`}>
          {label}
        </Link>
      ),
    'wide',
  ),
  column(w.address, ({ address }) => address ?? '–', 'mono wide'),
  column(w.network, ({ network }) => network, 'extra'),
  column(w.template, ({ template }) => template ?? '–', 'extra'),
  statusColumn,
  momentColumn(({ created_at: at }) => at),
]

const Contracts = ({ session }: { readonly session: Session }) => {
  const { turn, ask, dialog } = useListActs()
  return (
    <>
      {may(session, 'contracts:deploy') && (
        <div class="actions">
          <MakeLink name="contract" session={session} />
          {session.scopes.includes('drex:read') && <RegisterButton ask={ask} />}
        </div>
      )}
      <PagedTable
        name={`contracts ${turn}`}
        load={pageFrom<Contract>('/v1/contracts', 'contracts')}
        columns={contractColumns}
        empty={w.noContracts}
        keyOf={({ contract_id: id }) => id}
      />
      {dialog}
    </>
  )
}

/** Registers a contract on one of the configured networks. */
const RegisterButton = ({ ask }: { readonly ask: Ask }) => (
  <Shown loaded={useNetworks()}>
    {({ networks }) => {
      const configured = networks.filter((one) => one.configured).map(({ id }) => id)
      return (
        <button type="button" onClick={() => ask(registerAct(configured))}>
          {makeWords.registration}
        </button>
      )
    }}
  </Shown>
)

type Operation = {
  readonly operation_id: string
  readonly operation: string
  readonly network: string
  readonly signer_wallet: string
  readonly status: string
  readonly tx_hash: string | null
  readonly created_at: string
}

const operationColumns: readonly Column<Operation>[] = [
  column(
    words.identifier,
    ({ operation_id: id, tx_hash: hash }) =>
      hash === null ? id : <Link to={`/tools?${new URLSearchParams({ find: hash })}`}>{id}</Link>,
    'mono wide',
  ),
  column(words.kind, ({ operation }) => operation.replaceAll('_', ' ')),
  column(w.network, ({ network }) => network, 'extra'),
  statusColumn,
  momentColumn(({ created_at: at }) => at),
]

const Operations = () => (
  <PagedTable
    name="operations"
    load={pageFrom<Operation>('/v1/drex/operations', 'operations')}
    columns={operationColumns}
    empty={makeWords.noOperations}
    keyOf={({ operation_id: id }) => id}
  />
)

const networkColumns: readonly Column<Network>[] = [
  column(w.network, ({ id }) => id, 'mono'),
  column(words.status, ({ configured, state }) =>
    configured ? (
      <Badge status={state === 'running' ? 'up' : 'down'} label={state ?? w.notConfigured} />
    ) : (
      <span class="quiet">{w.notConfigured}</span>
    ),
  ),
  column(w.environment, ({ environment }) => environment, 'extra'),
  column(w.chain, ({ chain_id: id }) => id ?? '–', 'number extra'),
  column(w.blocks, ({ block_time_ms: ms }) => duration(ms), 'number extra'),
  column(w.confirmations, ({ confirmations }) => count(confirmations), 'number extra'),
  column(w.fees, ({ gas_policy: policy }) => policy, 'extra'),
]

const Networks = () => (
  <Shown loaded={useNetworks()}>
    {({ networks }) => (
      <ListTable isCard columns={networkColumns} rows={networks} keyOf={({ id }) => id} />
    )}
  </Shown>
)

type Lane = {
  readonly network: string
  readonly sender: string
  readonly wallet_id: string
  readonly label: string
  readonly next_nonce: number
  readonly open: number
  readonly oldest_at: string | null
  readonly oldest_status: string | null
}

const laneColumns: readonly Column<Lane>[] = [
  column(
    w.address,
    ({ wallet_id: id, sender }) => (
      <Link to={`/currency/wallets/${encodeURIComponent(id)}`}>{sender}</Link>
    ),
    'mono wide',
  ),
  column(w.label, ({ label }) => label, 'extra'),
  column(w.network, ({ network }) => network),
  column(w.nextNonce, ({ next_nonce: next }) => count(next), 'number'),
  column(w.waiting, ({ open }) => openText(open), 'number'),
  column(words.status, ({ oldest_status: status }) =>
    status === null ? <Badge status="ok" label="–" /> : <Badge status={status} />,
  ),
  momentColumn(({ oldest_at: at }) => at, w.oldest),
]

const Lanes = () => {
  const loaded = useFollowed<{ lanes: readonly Lane[] }>('/v1/drex/lanes')
  return (
    <Shown loaded={loaded}>
      {({ lanes }) =>
        lanes.length === 0 ? (
          <Card title={w.lanes}>
            <p class="empty">{w.noLanes}</p>
          </Card>
        ) : (
          <>
            {lanes.length >= lanesMax && (
              <p class="quiet">{fill(w.lanesFirst, { count: count(lanesMax) })}</p>
            )}
            <ListTable
              isCard
              columns={laneColumns}
              rows={lanes}
              keyOf={({ network, sender }) => `${network} ${sender}`}
            />
          </>
        )
      }
    </Shown>
  )
}

type Tab = {
  readonly name: string
  readonly label: string
  readonly scope: string
  /** The thing that a button above the list makes. */
  readonly makes?: ThingName
  readonly View: FunctionComponent<{ readonly session: Session }>
}

const tabs: readonly Tab[] = [
  { name: 'wallets', label: w.wallets, scope: 'wallets:read', View: Wallets },
  { name: 'contracts', label: w.contracts, scope: 'contracts:read', View: Contracts },
  {
    name: 'deliveries',
    label: agreementWords.deliveries,
    scope: 'drex:read',
    makes: 'delivery',
    View: Deliveries,
  },
  { name: 'liens', label: agreementWords.liens, scope: 'drex:read', makes: 'lien', View: Liens },
  {
    name: 'operations',
    label: makeWords.operations,
    scope: 'drex:read',
    makes: 'operation',
    View: Operations,
  },
  { name: 'networks', label: w.networks, scope: 'drex:read', View: Networks },
  { name: 'lanes', label: w.lanes, scope: 'drex:read', View: Lanes },
]

/** Wallets, contracts, networks and lanes of nonces; transfers are among the payments. */
export const Currency = ({ query, session }: ScreenProps) => {
  const mine = tabs.filter(({ scope }) => session.scopes.includes(scope))
  const current = mine.find(({ name }) => name === query.get('show')) ?? mine[0]
  return (
    <>
      <header class="head">
        <h1>{words.drex}</h1>
        <div class="actions">
          <Link to="/payments?rail=drex">{w.transfers}</Link>
          <MakeLink name="transfer" session={session} isPrimary />
        </div>
      </header>
      <Tabs label={words.drex} tabs={mine} current={current?.name} at="/currency?show=" />
      {current === undefined && <p class="empty">{words.lacking}</p>}
      {current?.makes !== undefined && <Making name={current.makes} session={session} />}
      {current !== undefined && <current.View session={session} />}
    </>
  )
}
