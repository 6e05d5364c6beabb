import { allowed, may, useActs } from './act.tsx'
import type { Session } from './api.ts'
import {
  cancelTransferActs,
  type DeadLetter,
  dropLetterAct,
  type Held,
  type LetterClass,
  resendLaneAct,
  resolveActs,
  retryClassActs,
  retryLetterActs,
  sendHeldAct,
  sentHeldAct,
  unknownActs,
} from './attention-acts.tsx'
import { approvals } from './attention-approvals.tsx'
import { waitingInDirectory } from './attention-directory.tsx'
import {
  actsColumn,
  askedMax,
  Section,
  useList,
  type Waiting,
  waiting,
} from './attention-section.tsx'
import { attentionWords as w } from './attention-words.ts'
import { certificateWords, Expiry, importAct } from './certificates.tsx'
import { counterparties, type Health } from './counterparties.ts'
import { count, dayOf, minorOf, reais, tokens } from './format.ts'
import { ScreenHead } from './heads.tsx'
import { openText } from './lanes.ts'
import { isStuck, lateOf, nameOfCertificate, type StoredCertificate, toBeReplaced } from './late.ts'
import { type Networks, useNetworks } from './networks.ts'
import { overviewWords } from './overview-words.ts'
import { type Message, placeOfPayment, type Transaction, type Transfer } from './rails.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, column, ListTable, linkColumn, momentColumn, statusColumn } from './table.tsx'
import { webhookWords } from './webhook-words.ts'
import { counted, type Endpoint, EndpointBadge } from './webhooks.tsx'
import { words } from './words.ts'

/** What the gateway cannot end by itself, with the acts that are safe. */
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
  /** True: a counterparty refuses us access until the certificate or the admission is mended. */
  readonly isRefused: boolean
}

const partsOf = ({ status, checks }: Health): readonly Part[] => {
  // The API tells anybody the state of all parts together.
  const whole = { name: 'gateway', status, isRefused: false, cause: overviewWords.untold }
  return (checks === undefined ? [whole] : partsIn(checks)).filter((one) => one.status !== 'ok')
}

const partsIn = (checks: NonNullable<Health['checks']>): readonly Part[] =>
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

/** The detail of a part as text, without the punctuation of JSON. */
const plainText = (detail: unknown): string => {
  if (typeof detail !== 'object' || detail === null) return String(detail ?? '')
  if (Array.isArray(detail)) return detail.map(plainText).join(', ')
  return Object.entries(detail)
    .map(([name, one]) => `${name.replaceAll('_', ' ')} ${plainText(one)}`)
    .join(' · ')
}

const parts = waiting<Health, Part>({
  title: w.parts,
  note: w.partsNote,
  concern: overviewWords.parts,
  scope: 'ops:read',
  path: '/health',
  rowsOf: partsOf,
  columns: [
    column(w.part, ({ name }) => name.replaceAll('_', ' ')),
    statusColumn,
    column(w.cause, ({ cause }) => cause, 'wide'),
  ],
  keyOf: ({ name }) => name,
  actScope: 'ops:admin',
  actsOf: ({ isRefused }) => (isRefused ? [importAct()] : []),
})

const unknownPix = waiting<{ messages: readonly Message[] }, Message>({
  title: w.unknown,
  note: w.unknownNote,
  concern: overviewWords.unknown,
  scope: 'messages:read',
  path: `/v1/messages?status=UNKNOWN&limit=${askedMax}`,
  rowsOf: ({ messages }) => messages,
  columns: [
    linkColumn(
      ({ id }) => placeOfPayment('spi', id),
      ({ end_to_end_id, biz_msg_idr }) => end_to_end_id ?? biz_msg_idr,
    ),
    column(words.kind, ({ type }) => type),
    column(words.party, ({ destination_ispb }) => destination_ispb, 'mono extra'),
    statusColumn,
    column(words.amount, ({ amount }) => (amount === null ? '' : reais(amount)), 'number'),
    momentColumn(({ created_at }) => created_at),
  ],
  keyOf: ({ id }) => id,
  actsOf: (row, session) => allowed(session, unknownActs(row)),
})

const cards = waiting<{ transactions: readonly Transaction[] }, Transaction>({
  title: w.cards,
  note: w.cardsNote,
  concern: overviewWords.reversals,
  scope: 'cards:read',
  path: `/v1/transactions?needs_attention=true&limit=${askedMax}`,
  rowsOf: ({ transactions }) => transactions,
  columns: [
    linkColumn(
      ({ id }) => placeOfPayment('cards', id),
      ({ rrn, id }) => rrn ?? id,
    ),
    column(words.party, ({ merchant_id }) => merchant_id, 'mono extra'),
    statusColumn,
    column(words.amount, ({ amount, currency }) => minorOf(amount, currency), 'number'),
    momentColumn(({ created_at }) => created_at),
  ],
  keyOf: ({ id }) => id,
  actScope: 'ops:admin',
  actsOf: resolveActs,
})

const transfers = waiting<{ transfers: readonly Transfer[] }, Transfer, Networks>({
  title: w.transfers,
  note: w.transfersNote,
  concern: overviewWords.transfers,
  scope: 'drex:read',
  path: `/v1/drex/transfers?status=broadcast&full_addresses=true&limit=${askedMax}`,
  asked: lateOf,
  rowsOf: ({ transfers }) => transfers,
  columns: [
    linkColumn(
      ({ transfer_id }) => placeOfPayment('drex', transfer_id),
      ({ transfer_id }) => transfer_id,
    ),
    column(words.kind, ({ network }) => network, 'extra'),
    statusColumn,
    column(words.amount, (row) => tokens(row.amount, row.currency), 'number'),
    momentColumn(({ created_at }) => created_at),
  ],
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

/** The transaction that the others wait for; a transfer has a page with its acts. */
const Oldest = ({ lane }: { readonly lane: Lane }) => {
  const { oldest_kind: kind, oldest_subject: subject } = lane
  if (kind === null || subject === null) return null
  const text = `${kind.replaceAll('_', ' ')} ${subject}`
  if (kind !== 'transfer') return <span>{text}</span>
  return <Link to={placeOfPayment('drex', subject)}>{text}</Link>
}

const lanes = waiting<{ lanes: readonly Lane[] }, Lane>({
  title: w.lanes,
  note: w.lanesNote,
  concern: overviewWords.lanes,
  scope: 'drex:read',
  path: '/v1/drex/lanes',
  rowsOf: ({ lanes }) => lanes.filter(isStuck),
  columns: [
    linkColumn(
      ({ wallet_id: id }) => `/currency/wallets/${encodeURIComponent(id)}`,
      ({ sender }) => sender,
    ),
    column(words.kind, ({ network }) => network, 'extra'),
    column(w.waitsFor, (lane) => <Oldest lane={lane} />, 'wide mono'),
    column(words.status, ({ oldest_status: status }) => <Badge status={status ?? ''} />),
    column(w.count, ({ open }) => openText(open), 'number'),
    momentColumn(({ oldest_at: at }) => at),
  ],
  keyOf: ({ network, sender }) => `${network} ${sender}`,
  actScope: 'drex:transfer',
  // A transaction that is not signed cannot be sent again.
  actsOf: (lane) => (lane.oldest_status === 'pending' ? [] : [resendLaneAct(lane)]),
})

/** The page of the transfer, or else of the wallet: an operation has no page of its own. */
const pageOfHeld = ({ kind, subject, from_wallet: wallet }: Held): string =>
  kind === 'transfer'
    ? placeOfPayment('drex', subject)
    : `/currency/wallets/${encodeURIComponent(wallet)}`

const heldBack = waiting<{ held: readonly Held[] }, Held>({
  title: w.held,
  note: w.heldNote,
  concern: overviewWords.held,
  scope: 'ops:read',
  path: `/v1/drex/held?limit=${askedMax}`,
  rowsOf: ({ held }) => held,
  columns: [
    linkColumn(pageOfHeld, ({ subject }) => subject),
    column(words.kind, ({ kind }) => kind.replaceAll('_', ' ')),
    column(w.cause, ({ reason }) => w[reason]),
    column(w.found, ({ candidates }) => count(candidates.length), 'number'),
    momentColumn(({ held_since: at }) => at),
  ],
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
    column(w.code, ({ code }) => code ?? w.noCode),
    column(w.topic, ({ topic }) => topic, 'mono extra'),
    column(w.count, (one) => count(one.count), 'number'),
    ...actsColumn<LetterClass>(isAllowed, ask, retryClassActs),
  ]
  const columns: readonly Column<DeadLetter>[] = [
    column(words.identifier, ({ id, key }) => key ?? id, 'mono wide'),
    column(w.code, ({ code }) => code ?? w.noCode),
    column(w.attempts, ({ attempts }) => attempts, 'number extra'),
    momentColumn(({ at }) => at),
    ...actsColumn<DeadLetter>(isAllowed, ask, (row) => [
      ...retryLetterActs(row),
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
        <ListTable
          isCard
          columns={columns}
          rows={loaded.value?.dead_letters ?? []}
          keyOf={({ id }) => id}
        />
      )}
      {dialog}
    </>
  )
}

const endpoints = waiting<{ webhooks: readonly Endpoint[] }, Endpoint>({
  title: w.endpoints,
  concern: overviewWords.endpoints,
  scope: 'webhooks:read',
  path: `/v1/webhooks?needs_attention=true&limit=${askedMax}`,
  columns: [
    column(
      webhookWords.endpoint,
      ({ id, url }) => <Link to={`/webhooks/${id}?status=exhausted`}>{url}</Link>,
      'wide mono',
    ),
    column(words.status, (endpoint) => <EndpointBadge endpoint={endpoint} />),
    column(webhookWords.exhausted, ({ health }) => counted(health.exhausted), 'number'),
  ],
  rowsOf: ({ webhooks }) => webhooks,
  keyOf: ({ id }) => id,
})

/** The API counts no more than this many of the newest. */
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

/** Certificates that expire soon; the act imports a new one beside them. */
const endingCertificates = waiting<
  { certificates: readonly StoredCertificate[] },
  StoredCertificate
>({
  title: w.certificates,
  note: w.certificatesNote,
  concern: overviewWords.expiring,
  scope: 'ops:admin',
  path: '/v1/certificates',
  columns: [
    column(
      certificateWords.certificate,
      (one) => <Link to="/certificates">{nameOfCertificate(one)}</Link>,
      'wide',
    ),
    column(words.status, (one) => <Expiry one={one} />),
    column(certificateWords.expires, ({ not_after: at }) => dayOf(at, true), 'number'),
  ],
  keyOf: nameOfCertificate,
  rowsOf: ({ certificates }) => toBeReplaced(certificates),
  actScope: 'ops:admin',
  actsOf: (one) => [importAct(one)],
})

/** Everything that waits for a person, in the order of the screen. */
export const allWaiting: readonly Waiting[] = [
  parts,
  unknownPix,
  cards,
  approvals,
  transfers,
  lanes,
  heldBack,
  letters,
  ...waitingInDirectory,
  endpoints,
  endingCertificates,
]
