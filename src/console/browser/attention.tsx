import type { ComponentChildren } from 'preact'
import { may, useActs } from './act.tsx'
import type { Session } from './api.ts'
import {
  cancelTransferAct,
  type DeadLetter,
  dropLetterAct,
  type Held,
  type LetterClass,
  resendAct,
  resendLaneAct,
  resolveAct,
  retryClassAct,
  retryLetterAct,
  sendHeldAct,
  sentHeldAct,
} from './attention-acts.tsx'
import { certificateView } from './attention-certificates.tsx'
import { directoryViews } from './attention-directory.tsx'
import { actsColumn, linkColumn, Section, shownMax, useList } from './attention-section.tsx'
import { attentionWords as w } from './attention-words.ts'
import { importAct } from './certificates.tsx'
import { counterparties, type Health } from './counterparties.ts'
import { centsOf, count, reais, tokens } from './format.ts'
import { broadcastList, isLate, isStuck } from './late.ts'
import type { Message, Transaction, Transfer } from './rails.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, momentColumn, Table } from './table.tsx'
import { webhookWords } from './webhook-words.ts'
import { counted, type Endpoint, EndpointBadge } from './webhooks.tsx'
import { words } from './words.ts'

/** What the gateway cannot end by itself, each with what may safely be done about it. */
export const Attention = ({ session }: { readonly session: Session }) => {
  const sections = all.filter(({ scope }) => session.scopes.includes(scope))
  return (
    <>
      <header class="head">
        <div>
          <h1>{w.attention}</h1>
          <p class="quiet">{w.intro}</p>
        </div>
      </header>
      <div class="rest" />
      {sections.map(({ title, View }) => (
        <View key={title} session={session} />
      ))}
    </>
  )
}

type View = (props: { readonly session: Session }) => ComponentChildren

type Part = {
  readonly name: string
  readonly status: string
  readonly cause: string
  /** A counterparty does not let us in: a certificate or an admission has to be mended. */
  readonly isRefused: boolean
}

const partsOf = ({ checks = {} }: Health): readonly Part[] =>
  Object.entries(checks)
    .filter(([, { status }]) => status !== 'ok')
    .map(([name, check]) => {
      const away = counterparties({ [name]: check }).filter(({ isUp }) => !isUp)
      const causes = [
        ...(check.reason === undefined ? [] : [check.reason]),
        ...away.map((party) => [party.name, party.text].filter(Boolean).join(': ')),
      ]
      return {
        ...{ name, status: check.status, isRefused: away.some(({ isRefused }) => isRefused) },
        cause: causes.join(' · ') || plainText(check.detail),
      }
    })

/** What a part tells of itself, without the marks of JSON. */
const plainText = (detail: unknown): string => {
  if (typeof detail !== 'object' || detail === null) return String(detail ?? '')
  if (Array.isArray(detail)) return detail.map(plainText).join(', ')
  return Object.entries(detail)
    .map(([name, one]) => `${name.replaceAll('_', ' ')} ${plainText(one)}`)
    .join(' · ')
}

const partColumns: readonly Column<Part>[] = [
  { head: w.part, cell: ({ name }) => name.replaceAll('_', ' ') },
  { head: words.status, cell: ({ status }) => <Badge status={status} /> },
  { head: w.cause, cell: ({ cause }) => cause, classes: ['wide'] },
]

const Parts: View = ({ session }) => {
  const loaded = useList<Health>('parts', '/health')
  const { ask, dialog } = useActs(loaded.again)
  const columns = [
    ...partColumns,
    ...actsColumn<Part>(may(session, 'ops:admin'), ask, ({ isRefused }) =>
      isRefused ? [importAct()] : [],
    ),
  ]
  return (
    <>
      <Section
        {...{ title: w.parts, note: w.partsNote, loaded, rowsOf: partsOf, columns }}
        keyOf={({ name }) => name}
      />
      {dialog}
    </>
  )
}

const unknownColumns: readonly Column<Message>[] = [
  linkColumn(
    ({ id }) => `/payments/spi/${encodeURIComponent(id)}`,
    ({ end_to_end_id, biz_msg_idr }) => end_to_end_id ?? biz_msg_idr,
  ),
  { head: words.kind, cell: ({ type }) => type },
  {
    head: words.party,
    cell: ({ destination_ispb }) => destination_ispb,
    classes: ['mono', 'extra'],
  },
  { head: words.status, cell: ({ status }) => <Badge status={status} /> },
  {
    head: words.amount,
    cell: ({ amount }) => (amount === null ? '' : reais(amount)),
    classes: ['number'],
  },
  momentColumn(({ created_at }) => created_at),
]

const UnknownPix: View = ({ session }) => {
  const loaded = useList<{ messages: readonly Message[] }>(
    'unknown',
    `/v1/messages?status=UNKNOWN&limit=${shownMax}`,
  )
  const { ask, dialog } = useActs(loaded.again)
  const columns = [
    ...unknownColumns,
    ...actsColumn<Message>(may(session, 'spi:send'), ask, (row) => [resendAct(row.id, row)]),
  ]
  return (
    <>
      <Section
        {...{ title: w.unknown, note: w.unknownNote, loaded, columns }}
        rowsOf={({ messages }) => messages}
        keyOf={({ id }) => id}
      />
      {dialog}
    </>
  )
}

const Cards: View = ({ session }) => {
  const loaded = useList<{ transactions: readonly Transaction[] }>(
    'reversals',
    `/v1/transactions?needs_attention=true&limit=${shownMax}`,
  )
  const { ask, dialog } = useActs(loaded.again)
  const columns: readonly Column<Transaction>[] = [
    linkColumn(
      ({ id }) => `/payments/cards/${encodeURIComponent(id)}`,
      ({ rrn, id }) => rrn ?? id,
    ),
    { head: words.party, cell: ({ merchant_id }) => merchant_id, classes: ['mono', 'extra'] },
    { head: words.status, cell: ({ status }) => <Badge status={status} /> },
    { head: words.amount, cell: ({ amount }) => centsOf(amount), classes: ['number'] },
    momentColumn(({ created_at }) => created_at),
    ...actsColumn<Transaction>(may(session, 'ops:admin'), ask, (row) => [resolveAct(row)]),
  ]
  return (
    <>
      <Section
        {...{ title: w.cards, note: w.cardsNote, loaded, columns }}
        rowsOf={({ transactions }) => transactions}
        keyOf={({ id }) => id}
      />
      {dialog}
    </>
  )
}

const Transfers: View = ({ session }) => {
  const loaded = useList<{ transfers: readonly Transfer[] }>('transfers', broadcastList)
  const { ask, dialog } = useActs(loaded.again)
  const columns: readonly Column<Transfer>[] = [
    linkColumn(
      ({ transfer_id }) => `/payments/drex/${encodeURIComponent(transfer_id)}`,
      ({ transfer_id }) => transfer_id,
    ),
    { head: words.kind, cell: ({ network }) => network, classes: ['extra'] },
    { head: words.status, cell: ({ status }) => <Badge status={status} /> },
    { head: words.amount, cell: (row) => tokens(row.amount, row.currency), classes: ['number'] },
    momentColumn(({ created_at }) => created_at),
    ...actsColumn<Transfer>(may(session, 'drex:transfer'), ask, (row) => [cancelTransferAct(row)]),
  ]
  return (
    <>
      <Section
        {...{ title: w.transfers, note: w.transfersNote, loaded, columns }}
        rowsOf={({ transfers }) => transfers.filter(isLate).slice(0, shownMax)}
        keyOf={({ transfer_id }) => transfer_id}
      />
      {dialog}
    </>
  )
}

type Lane = {
  readonly network: string
  readonly sender: string
  readonly wallet_id: string
  readonly open: number
  readonly oldest_at: string | null
  readonly oldest_status: string | null
  readonly oldest_kind: string | null
  readonly oldest_subject: string | null
}

/** The transfer that the others wait for: its page has what may be done about it. */
const Oldest = ({ lane }: { readonly lane: Lane }) => {
  const { oldest_kind: kind, oldest_subject: subject } = lane
  if (kind === null || subject === null) return null
  const text = `${kind.replaceAll('_', ' ')} ${subject}`
  if (kind !== 'transfer') return <span>{text}</span>
  return <Link to={`/payments/drex/${encodeURIComponent(subject)}`}>{text}</Link>
}

const laneColumns: readonly Column<Lane>[] = [
  linkColumn(
    ({ wallet_id: id }) => `/currency/wallets/${encodeURIComponent(id)}`,
    ({ sender }) => sender,
  ),
  { head: words.kind, cell: ({ network }) => network, classes: ['extra'] },
  { head: w.waitsFor, cell: (lane) => <Oldest lane={lane} />, classes: ['wide', 'mono'] },
  { head: words.status, cell: ({ oldest_status: status }) => <Badge status={status ?? ''} /> },
  { head: w.count, cell: ({ open }) => count(open), classes: ['number'] },
  momentColumn(({ oldest_at: at }) => at ?? ''),
]

const Lanes: View = ({ session }) => {
  const loaded = useList<{ lanes: readonly Lane[] }>('lanes', '/v1/drex/lanes')
  const { ask, dialog } = useActs(loaded.again)
  const columns = [
    ...laneColumns,
    ...actsColumn<Lane>(may(session, 'drex:transfer'), ask, (lane) =>
      // What nobody has signed cannot be sent again.
      lane.oldest_status === 'pending' ? [] : [resendLaneAct(lane)],
    ),
  ]
  return (
    <>
      <Section
        {...{ title: w.lanes, note: w.lanesNote, loaded, columns }}
        rowsOf={({ lanes }) => lanes.filter(isStuck)}
        keyOf={({ network, sender }) => `${network} ${sender}`}
      />
      {dialog}
    </>
  )
}

/** Where what it belongs to is shown; an operation has no page of its own. */
const pageOfHeld = ({ kind, subject, from_wallet: wallet }: Held): string =>
  kind === 'transfer'
    ? `/payments/drex/${encodeURIComponent(subject)}`
    : `/currency/wallets/${encodeURIComponent(wallet)}`

const HeldBack: View = ({ session }) => {
  const loaded = useList<{ held: readonly Held[] }>('held', `/v1/drex/held?limit=${shownMax}`)
  const { ask, dialog } = useActs(loaded.again)
  const columns: readonly Column<Held>[] = [
    linkColumn(pageOfHeld, ({ subject }) => subject),
    { head: words.kind, cell: ({ kind }) => kind.replaceAll('_', ' ') },
    { head: w.cause, cell: ({ reason }) => w[reason] },
    { head: w.found, cell: ({ candidates }) => count(candidates.length), classes: ['number'] },
    momentColumn(({ held_since: at }) => at),
    ...actsColumn<Held>(may(session, 'ops:admin'), ask, (row) => [
      sentHeldAct(row),
      sendHeldAct(row),
    ]),
  ]
  return (
    <>
      <Section
        {...{ title: w.held, note: w.heldNote, loaded, columns }}
        rowsOf={({ held }) => held}
        keyOf={({ transaction_id: id }) => id}
      />
      {dialog}
    </>
  )
}

type Letters = {
  readonly dead_letters: readonly DeadLetter[]
  readonly classes: readonly LetterClass[]
}

const Letters: View = ({ session }) => {
  const loaded = useList<Letters>('letters', `/v1/ops/dead-letters?limit=${shownMax}`)
  const { ask, dialog } = useActs(loaded.again)
  const isAllowed = may(session, 'ops:admin')
  const classColumns: readonly Column<LetterClass>[] = [
    { head: w.code, cell: ({ code }) => code ?? w.noCode },
    { head: w.topic, cell: ({ topic }) => topic, classes: ['mono', 'extra'] },
    { head: w.count, cell: (one) => count(one.count), classes: ['number'] },
    ...actsColumn<LetterClass>(isAllowed, ask, ({ code, ...one }) =>
      code === null ? [] : [retryClassAct({ ...one, code })],
    ),
  ]
  const columns: readonly Column<DeadLetter>[] = [
    { head: words.identifier, cell: ({ id, key }) => key ?? id, classes: ['mono', 'wide'] },
    { head: w.code, cell: ({ code }) => code ?? w.noCode },
    { head: w.attempts, cell: ({ attempts }) => attempts, classes: ['number', 'extra'] },
    momentColumn(({ at }) => at),
    ...actsColumn<DeadLetter>(isAllowed, ask, (row) => [
      ...(row.topic === null ? [] : [retryLetterAct(row)]),
      dropLetterAct(row),
    ]),
  ]
  return (
    <>
      <Section
        {...{ title: w.letters, note: w.lettersNote, loaded, columns: classColumns }}
        rowsOf={({ classes }) => classes}
        keyOf={({ code, topic }) => `${code} ${topic}`}
      />
      {(loaded.value?.dead_letters.length ?? 0) > 0 && (
        <div class="card list">
          <Table columns={columns} rows={loaded.value?.dead_letters ?? []} keyOf={({ id }) => id} />
        </div>
      )}
      {dialog}
    </>
  )
}

const endpointColumns: readonly Column<Endpoint>[] = [
  {
    head: webhookWords.endpoint,
    classes: ['wide', 'mono'],
    cell: ({ id, url }) => <Link to={`/webhooks/${id}?status=exhausted`}>{url}</Link>,
  },
  { head: words.status, cell: (endpoint) => <EndpointBadge endpoint={endpoint} /> },
  {
    head: webhookWords.exhausted,
    classes: ['number'],
    cell: ({ health }) => counted(health.exhausted),
  },
]

const isTaken = ({ health, disabled_reason: reason }: Endpoint): boolean =>
  health.exhausted === 0 && (reason === null || reason === 'request')

const Endpoints: View = () => {
  const loaded = useList<{ webhooks: readonly Endpoint[] }>('endpoints', '/v1/webhooks')
  return (
    <Section
      {...{ title: w.endpoints, loaded, columns: endpointColumns }}
      rowsOf={({ webhooks }) => webhooks.filter((one) => !isTaken(one))}
      keyOf={({ id }) => id}
    />
  )
}

const all: readonly { readonly title: string; readonly scope: string; readonly View: View }[] = [
  { title: w.parts, scope: 'ops:read', View: Parts },
  { title: w.unknown, scope: 'messages:read', View: UnknownPix },
  { title: w.cards, scope: 'cards:read', View: Cards },
  { title: w.transfers, scope: 'drex:read', View: Transfers },
  { title: w.lanes, scope: 'drex:read', View: Lanes },
  { title: w.held, scope: 'ops:read', View: HeldBack },
  { title: w.letters, scope: 'ops:read', View: Letters },
  ...directoryViews,
  { title: w.endpoints, scope: 'webhooks:read', View: Endpoints },
  certificateView,
]
