import { may, useActs } from './act.tsx'
import type { Session } from './api.ts'
import {
  cancelTransferActs,
  type DeadLetter,
  dropLetterAct,
  type Held,
  type LetterClass,
  resendAct,
  resendLaneAct,
  resolveActs,
  retryClassActs,
  retryLetterAct,
  sendHeldAct,
  sentHeldAct,
} from './attention-acts.tsx'
import { waitingCertificates } from './attention-certificates.tsx'
import { waitingInDirectory } from './attention-directory.tsx'
import {
  actsColumn,
  askedMax,
  linkColumn,
  Section,
  useList,
  type Waiting,
  waiting,
} from './attention-section.tsx'
import { attentionWords as w } from './attention-words.ts'
import { importAct } from './certificates.tsx'
import { counterparties, type Health } from './counterparties.ts'
import { count, minorOf, reais, tokens } from './format.ts'
import { ScreenHead } from './heads.tsx'
import { isStuck, lateOf } from './late.ts'
import { type Networks, useNetworks } from './networks.ts'
import { overviewWords } from './overview-words.ts'
import type { Message, Transaction, Transfer } from './rails.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, momentColumn, Table } from './table.tsx'
import { webhookWords } from './webhook-words.ts'
import { counted, type Endpoint, EndpointBadge } from './webhooks.tsx'
import { words } from './words.ts'

/** What the gateway cannot end by itself, each with what may safely be done about it. */
export const Attention = ({ session }: { readonly session: Session }) => {
  const sections = allWaiting.filter(({ scope }) => session.scopes.includes(scope))
  return (
    <>
      <ScreenHead title={w.attention} intro={w.intro} />
      <div class="rest" />
      {sections.map(({ title, View }) => (
        <View key={title} session={session} />
      ))}
    </>
  )
}

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
        name,
        status: check.status,
        isRefused: away.some(({ isRefused }) => isRefused),
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

const parts = waiting<Health, Part>({
  title: w.parts,
  note: w.partsNote,
  concern: overviewWords.parts,
  scope: 'ops:read',
  path: '/health',
  rowsOf: partsOf,
  columns: partColumns,
  keyOf: ({ name }) => name,
  actScope: 'ops:admin',
  actsOf: ({ isRefused }) => (isRefused ? [importAct()] : []),
})

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

const unknownPix = waiting<{ messages: readonly Message[] }, Message>({
  title: w.unknown,
  note: w.unknownNote,
  concern: overviewWords.unknown,
  scope: 'messages:read',
  path: `/v1/messages?status=UNKNOWN&limit=${askedMax}`,
  rowsOf: ({ messages }) => messages,
  columns: unknownColumns,
  keyOf: ({ id }) => id,
  actScope: 'spi:send',
  actsOf: (row) => [resendAct(row.id, row)],
})

const cardColumns: readonly Column<Transaction>[] = [
  linkColumn(
    ({ id }) => `/payments/cards/${encodeURIComponent(id)}`,
    ({ rrn, id }) => rrn ?? id,
  ),
  { head: words.party, cell: ({ merchant_id }) => merchant_id, classes: ['mono', 'extra'] },
  { head: words.status, cell: ({ status }) => <Badge status={status} /> },
  {
    head: words.amount,
    cell: ({ amount, currency }) => minorOf(amount, currency),
    classes: ['number'],
  },
  momentColumn(({ created_at }) => created_at),
]

const cards = waiting<{ transactions: readonly Transaction[] }, Transaction>({
  title: w.cards,
  note: w.cardsNote,
  concern: overviewWords.reversals,
  scope: 'cards:read',
  path: `/v1/transactions?needs_attention=true&limit=${askedMax}`,
  rowsOf: ({ transactions }) => transactions,
  columns: cardColumns,
  keyOf: ({ id }) => id,
  actScope: 'ops:admin',
  actsOf: resolveActs,
})

const transferColumns: readonly Column<Transfer>[] = [
  linkColumn(
    ({ transfer_id }) => `/payments/drex/${encodeURIComponent(transfer_id)}`,
    ({ transfer_id }) => transfer_id,
  ),
  { head: words.kind, cell: ({ network }) => network, classes: ['extra'] },
  { head: words.status, cell: ({ status }) => <Badge status={status} /> },
  { head: words.amount, cell: (row) => tokens(row.amount, row.currency), classes: ['number'] },
  momentColumn(({ created_at }) => created_at),
]

const transfers = waiting<{ transfers: readonly Transfer[] }, Transfer, Networks>({
  title: w.transfers,
  note: w.transfersNote,
  concern: overviewWords.transfers,
  scope: 'drex:read',
  path: `/v1/drex/transfers?status=broadcast&limit=${askedMax}`,
  asked: lateOf,
  rowsOf: ({ transfers }) => transfers,
  columns: transferColumns,
  keyOf: ({ transfer_id }) => transfer_id,
  actScope: 'drex:transfer',
  useKnown: () => useNetworks().value,
  actsOf: (row, _, known) => cancelTransferActs(row, known),
})

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

const lanes = waiting<{ lanes: readonly Lane[] }, Lane>({
  title: w.lanes,
  note: w.lanesNote,
  concern: overviewWords.lanes,
  scope: 'drex:read',
  path: '/v1/drex/lanes',
  rowsOf: ({ lanes }) => lanes.filter(isStuck),
  columns: laneColumns,
  keyOf: ({ network, sender }) => `${network} ${sender}`,
  actScope: 'drex:transfer',
  // What nobody has signed cannot be sent again.
  actsOf: (lane) => (lane.oldest_status === 'pending' ? [] : [resendLaneAct(lane)]),
})

/** Where what it belongs to is shown; an operation has no page of its own. */
const pageOfHeld = ({ kind, subject, from_wallet: wallet }: Held): string =>
  kind === 'transfer'
    ? `/payments/drex/${encodeURIComponent(subject)}`
    : `/currency/wallets/${encodeURIComponent(wallet)}`

const heldColumns: readonly Column<Held>[] = [
  linkColumn(pageOfHeld, ({ subject }) => subject),
  { head: words.kind, cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { head: w.cause, cell: ({ reason }) => w[reason] },
  { head: w.found, cell: ({ candidates }) => count(candidates.length), classes: ['number'] },
  momentColumn(({ held_since: at }) => at),
]

const heldBack = waiting<{ held: readonly Held[] }, Held>({
  title: w.held,
  note: w.heldNote,
  concern: overviewWords.held,
  scope: 'ops:read',
  path: `/v1/drex/held?limit=${askedMax}`,
  rowsOf: ({ held }) => held,
  columns: heldColumns,
  keyOf: (row) => row.transaction_id,
  actScope: 'ops:admin',
  actsOf: (row) => [sentHeldAct(row), sendHeldAct(row)],
})

type Letters = {
  readonly dead_letters: readonly DeadLetter[]
  readonly classes: readonly LetterClass[]
}

const Letters: Waiting['View'] = ({ session }) => {
  const loaded = useList<Letters>(`/v1/ops/dead-letters?limit=${askedMax}`)
  const { ask, dialog } = useActs(loaded.again)
  const isAllowed = may(session, 'ops:admin')
  const classColumns: readonly Column<LetterClass>[] = [
    { head: w.code, cell: ({ code }) => code ?? w.noCode },
    { head: w.topic, cell: ({ topic }) => topic, classes: ['mono', 'extra'] },
    { head: w.count, cell: (one) => count(one.count), classes: ['number'] },
    ...actsColumn<LetterClass>(isAllowed, ask, retryClassActs),
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

const endpoints = waiting<{ webhooks: readonly Endpoint[] }, Endpoint>({
  title: w.endpoints,
  concern: overviewWords.endpoints,
  scope: 'webhooks:read',
  path: `/v1/webhooks?needs_attention=true&limit=${askedMax}`,
  columns: endpointColumns,
  rowsOf: ({ webhooks }) => webhooks,
  keyOf: ({ id }) => id,
})

/** The API counts the newest so many. */
const lettersClassedMax = 10_000

const letters: Waiting = {
  title: w.letters,
  concern: overviewWords.letters,
  scope: 'ops:read',
  path: '/v1/ops/dead-letters?limit=1',
  countOf: ({ classes }: Letters) => {
    const many = classes.reduce((sum, one) => sum + one.count, 0)
    return { many, isMore: many >= lettersClassedMax }
  },
  View: Letters,
}

/** All that waits for a person, in the order in which it is shown. */
export const allWaiting: readonly Waiting[] = [
  parts,
  unknownPix,
  cards,
  transfers,
  lanes,
  heldBack,
  letters,
  ...waitingInDirectory,
  endpoints,
  waitingCertificates,
]
