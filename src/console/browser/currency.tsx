import { useState } from 'preact/hooks'
import { type Act, type Ask, may, mayMakeWallet, sending, useActs } from './act.tsx'
import { agreementWords } from './agreement-words.ts'
import { Deliveries, Liens } from './agreements.tsx'
import { getJson, type ScreenProps, type Session, useLoaded } from './api.ts'
import { textIn } from './fields.tsx'
import { count, duration } from './format.ts'
import { whenChanged } from './live.ts'
import { MakeLink, registerAct, type ThingName, things } from './make.tsx'
import { makeWords } from './make-words.ts'
import { type Network, useNetworks } from './networks.ts'
import { pageFrom } from './page-from.ts'
import { Card, Shown } from './parts.tsx'
import { railWords as w } from './rails-words.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, Moment, momentColumn, PagedTable, Table } from './table.tsx'
import { fill, words } from './words.ts'

const tabs = [
  { name: 'wallets', label: w.wallets, scope: 'wallets:read' },
  { name: 'contracts', label: w.contracts, scope: 'contracts:read' },
  { name: 'deliveries', label: agreementWords.deliveries, scope: 'drex:read' },
  { name: 'liens', label: agreementWords.liens, scope: 'drex:read' },
  { name: 'operations', label: makeWords.operations, scope: 'drex:read' },
  { name: 'networks', label: w.networks, scope: 'drex:read' },
  { name: 'lanes', label: w.lanes, scope: 'drex:read' },
] as const

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
      <nav class="tabs" aria-label={words.drex}>
        {mine.map(({ name, label }) => (
          <Link key={name} to={`/currency?show=${name}`} current={name === current?.name}>
            {label}
          </Link>
        ))}
      </nav>
      {current === undefined && <p class="empty">{words.lacking}</p>}
      {current?.name === 'wallets' && <Wallets session={session} />}
      {current?.name === 'contracts' && <Contracts session={session} />}
      {current?.name === 'deliveries' && (
        <>
          <Making name="delivery" session={session} />
          <Deliveries />
        </>
      )}
      {current?.name === 'liens' && (
        <>
          <Making name="lien" session={session} />
          <Liens />
        </>
      )}
      {current?.name === 'operations' && (
        <>
          <Making name="operation" session={session} />
          <Operations />
        </>
      )}
      {current?.name === 'networks' && <Networks />}
      {current?.name === 'lanes' && <Lanes />}
    </>
  )
}

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
  {
    head: w.label,
    classes: ['wide'],
    cell: ({ wallet_id: id, label }) => (
      <Link to={`/currency/wallets/${encodeURIComponent(id)}`}>{label}</Link>
    ),
  },
  { head: w.address, cell: ({ address }) => address, classes: ['mono', 'wide'] },
  { head: w.type, cell: ({ type }) => type.replaceAll('_', ' '), classes: ['extra'] },
  { head: words.status, cell: ({ status }) => <Badge status={status} /> },
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
  const [turn, setTurn] = useState(0)
  const { ask, dialog } = useActs(() => setTurn((one) => one + 1))
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
  {
    head: w.label,
    classes: ['wide'],
    cell: ({ address, network, label }) =>
      address === null ? (
        label
      ) : (
        <Link to={`/currency/contracts/${address}?network=${encodeURIComponent(network)}`}>
          {label}
        </Link>
      ),
  },
  { head: w.address, cell: ({ address }) => address ?? '–', classes: ['mono', 'wide'] },
  { head: w.network, cell: ({ network }) => network, classes: ['extra'] },
  { head: w.template, cell: ({ template }) => template ?? '–', classes: ['extra'] },
  { head: words.status, cell: ({ status }) => <Badge status={status} /> },
  momentColumn(({ created_at: at }) => at),
]

const Contracts = ({ session }: { readonly session: Session }) => {
  const [turn, setTurn] = useState(0)
  const { ask, dialog } = useActs(() => setTurn((one) => one + 1))
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

/** A contract is registered on one of the networks that are configured. */
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
  {
    head: words.identifier,
    classes: ['mono', 'wide'],
    cell: ({ operation_id: id, tx_hash: hash }) =>
      hash === null ? id : <Link to={`/tools?${new URLSearchParams({ find: hash })}`}>{id}</Link>,
  },
  { head: words.kind, cell: ({ operation }) => operation.replaceAll('_', ' ') },
  { head: w.network, cell: ({ network }) => network, classes: ['extra'] },
  { head: words.status, cell: ({ status }) => <Badge status={status} /> },
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
  { head: w.network, cell: ({ id }) => id, classes: ['mono'] },
  {
    head: words.status,
    cell: ({ configured, state }) =>
      configured ? (
        <Badge status={state === 'running' ? 'up' : 'down'} label={state ?? w.notConfigured} />
      ) : (
        <span class="quiet">{w.notConfigured}</span>
      ),
  },
  { head: w.environment, cell: ({ environment }) => environment, classes: ['extra'] },
  { head: w.chain, cell: ({ chain_id: id }) => id ?? '–', classes: ['number', 'extra'] },
  {
    head: w.blocks,
    cell: ({ block_time_ms: ms }) => duration(ms),
    classes: ['number', 'extra'],
  },
  {
    head: w.confirmations,
    cell: ({ confirmations }) => count(confirmations),
    classes: ['number', 'extra'],
  },
  { head: w.fees, cell: ({ gas_policy: policy }) => policy, classes: ['extra'] },
]

const Networks = () => (
  <Shown loaded={useNetworks()}>
    {({ networks }) => (
      <div class="card list">
        <Table columns={networkColumns} rows={networks} keyOf={({ id }) => id} />
      </div>
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
  {
    head: w.address,
    classes: ['mono', 'wide'],
    cell: ({ wallet_id: id, sender }) => (
      <Link to={`/currency/wallets/${encodeURIComponent(id)}`}>{sender}</Link>
    ),
  },
  { head: w.label, cell: ({ label }) => label, classes: ['extra'] },
  { head: w.network, cell: ({ network }) => network },
  { head: w.nextNonce, cell: ({ next_nonce: next }) => count(next), classes: ['number'] },
  { head: w.waiting, cell: ({ open }) => count(open), classes: ['number'] },
  {
    head: words.status,
    cell: ({ oldest_status: status }) =>
      status === null ? <Badge status="ok" label="–" /> : <Badge status={status} />,
  },
  {
    head: w.oldest,
    cell: ({ oldest_at: at }) => (at === null ? '–' : <Moment at={at} />),
    classes: ['number', 'quiet'],
  },
]

const Lanes = () => {
  const loaded = useLoaded(
    'lanes',
    (purpose) => getJson<{ lanes: readonly Lane[] }>('/v1/drex/lanes', purpose),
    whenChanged('/v1/drex/lanes'),
  )
  return (
    <Shown loaded={loaded}>
      {({ lanes }) =>
        lanes.length === 0 ? (
          <Card title={w.lanes}>
            <p class="empty">{w.noLanes}</p>
          </Card>
        ) : (
          <div class="card list">
            <Table
              columns={laneColumns}
              rows={lanes}
              keyOf={({ network, sender }) => `${network} ${sender}`}
            />
          </div>
        )
      }
    </Shown>
  )
}
