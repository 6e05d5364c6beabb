import { asking } from './asking.ts'
import { directoryWords as w } from './directory-words.ts'
import { reais } from './format.ts'
import { pageFrom, pageSize } from './page-from.ts'

/** The members that we read of a claim, an infraction report or a refund request, named as in the API. */
export type Told = {
  readonly id: string
  readonly role: string
  readonly status: string
  readonly pending: string | null
  readonly refusal: string | null
  readonly needs_attention: boolean
  readonly created_at: string
  readonly modified_at: string | null
  readonly claim_id?: string | null
  readonly type?: string
  readonly key?: string
  /** ISPB of the other side of a claim. */
  readonly ispb?: string | null
  readonly next?: {
    readonly act: string
    readonly reason: string | null
    readonly at: string | null
  } | null
  readonly resolution_ends_at?: string | null
  readonly completion_ends_at?: string | null
  readonly confirm_reason?: string | null
  readonly cancel_reason?: string | null
  readonly cancelled_by?: string | null
  readonly claimer?: { readonly tax_id: string; readonly name: string } | null
  readonly account?: {
    readonly branch: string | null
    readonly number: string
    readonly type: string
  } | null
  readonly directory_id?: string | null
  /** EndToEndId. */
  readonly transaction_id?: string
  readonly reason?: string
  readonly other_ispb?: string | null
  readonly details?: string | null
  readonly result?: string | null
  readonly analysis?: string | null
  readonly situation?: string
  readonly contact?: { readonly email: string; readonly phone: string } | null
  readonly fraud_type?: string | null
  readonly fraud_marker_id?: string | null
  readonly answer_until?: string | null
  /** Reais. */
  readonly amount?: string
  readonly rejection_reason?: string | null
  readonly funds_recovery_id?: string | null
  readonly return_id?: string | null
  readonly returned_at?: string | null
  readonly return?: {
    readonly id: string
    readonly amount: string
    readonly status: string
    readonly refusal: string | null
  } | null
}

export const kinds = ['claims', 'infraction-reports', 'refunds'] as const
export type Kind = (typeof kinds)[number]

type KindOf = {
  readonly label: string
  readonly intro: string
  /** The member of the answer that holds the list. */
  readonly member: string
  readonly roles: readonly string[]
  readonly statuses: readonly string[]
  /** The parameter to search the list by, and its name for people. */
  readonly find: { readonly parameter: string; readonly label: string }
}

const disputes = {
  roles: ['asked', 'asking'],
  find: { parameter: 'transaction_id', label: w.payment },
}

export const kindsOf: Readonly<Record<Kind, KindOf>> = {
  claims: {
    label: w.claims,
    intro: w.claimsIntro,
    member: 'claims',
    roles: ['donor', 'claimer'],
    statuses: [
      ...['opening', 'open', 'waiting_resolution', 'confirmed'],
      ...['completed', 'cancelled', 'refused'],
    ],
    find: { parameter: 'key', label: w.key },
  },
  'infraction-reports': {
    ...disputes,
    label: w.reports,
    intro: w.reportsIntro,
    member: 'infraction_reports',
    statuses: ['requested', 'open', 'acknowledged', 'closed', 'cancelled', 'refused'],
  },
  refunds: {
    ...disputes,
    label: w.refunds,
    intro: w.refundsIntro,
    member: 'refunds',
    statuses: ['requested', 'open', 'closed', 'cancelled', 'refused'],
  },
}

export const kindIn = (text: string | null | undefined): Kind | undefined =>
  kinds.find((kind) => kind === text)

/** The path of the list in the API. */
export const listOf = (kind: Kind) => `/v1/dict/${kind}` as const
export const pathOf = (kind: Kind, { id }: Pick<Told, 'id'>) =>
  `${listOf(kind)}/${encodeURIComponent(id)}` as const
/** The path of its page. */
export const placeOf = (kind: Kind, { id }: Pick<Told, 'id'>): string =>
  `/pix-keys/${kind}/${encodeURIComponent(id)}`

export const otherOf = ({ ispb, other_ispb: other }: Told): string => ispb ?? other ?? '–'
export const amountOf = ({ amount }: Told): string => (amount === undefined ? '' : reais(amount))
/** What it is about: a key or a payment. */
export const matterOf = ({ key, transaction_id: payment }: Told): string => key ?? payment ?? ''

export type DirectoryFilter = {
  readonly find: string
  readonly role: string
  readonly status: string
}

const askedFor = (kind: Kind, { find, role, status }: DirectoryFilter) => ({
  [kindsOf[kind].find.parameter]: find,
  role,
  status,
})

/** The path of the newest rows of the list. */
export const queryOf = (kind: Kind, filter: DirectoryFilter) =>
  asking(listOf(kind), { limit: String(pageSize), ...askedFor(kind, filter) })

export const rowsOf = (kind: Kind, answer: Readonly<Record<string, readonly Told[]>>) =>
  answer[kindsOf[kind].member] ?? []

export const pageOf = (kind: Kind, filter: DirectoryFilter) =>
  pageFrom<Told>(listOf(kind), kindsOf[kind].member, askedFor(kind, filter))

/** The reasons for which an owner may remove a key (DICT API, deleteEntry). */
export const removalReasons = [
  'USER_REQUESTED',
  'ACCOUNT_CLOSURE',
  'FRAUD',
  'RFB_VALIDATION',
] as const
