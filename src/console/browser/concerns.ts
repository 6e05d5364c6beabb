import type { Followed } from '../followed.ts'
import { getJson, Refusal, type Session, type Wake } from './api.ts'
import { listOf, rowsOf } from './directory-kinds.ts'
import { count } from './format.ts'
import { broadcastList, type Certificate, isLate, isStuck, toBeReplaced } from './late.ts'
import { whenChanged } from './live.ts'
import { overviewWords as w } from './overview-words.ts'

/** Something that waits for a person, and how many of it: so many and more where `isMore`. */
export type Concern = { readonly name: string; readonly many: number; readonly isMore: boolean }

/** `50+` where there are more than are counted. */
export const manyText = (concerns: readonly Pick<Concern, 'many' | 'isMore'>[]): string => {
  const sum = concerns.reduce((so, { many }) => so + many, 0)
  return `${count(sum)}${concerns.some(({ isMore }) => isMore) ? '+' : ''}`
}

const countedMax = 50
/** All of it is asked for at once, so what changes within this time is answered together. */
const gatherMs = 500

type Source = {
  readonly name: string
  readonly scope: string
  readonly path: Followed
  readonly countOf: (answer: never) => number
}

type Health = { readonly checks: Readonly<Record<string, { readonly status: string }>> }
type Endpoint = {
  readonly disabled_reason: string | null
  readonly health: { readonly exhausted: number }
}

/** What somebody here is asked to answer, of the directory of Pix keys. */
const directoryConcerns: readonly Source[] = [
  ...([
    ['claims', w.claims],
    ['infraction-reports', w.reports],
    ['refunds', w.refundRequests],
  ] as const),
].map(([kind, name]) => ({
  name,
  scope: 'dict:read',
  path: `${listOf(kind)}?needs_attention=true&limit=${countedMax}`,
  countOf: (answer: Parameters<typeof rowsOf>[1]) => rowsOf(kind, answer).length,
}))

const sources: readonly Source[] = [
  {
    name: w.parts,
    scope: 'ops:read',
    path: '/health',
    countOf: ({ checks }: Health) =>
      Object.values(checks).filter(({ status }) => status !== 'ok').length,
  },
  {
    name: w.unknown,
    scope: 'messages:read',
    path: `/v1/messages?status=UNKNOWN&limit=${countedMax}`,
    countOf: ({ messages }: { messages: readonly unknown[] }) => messages.length,
  },
  {
    name: w.reversals,
    scope: 'cards:read',
    path: `/v1/transactions?needs_attention=true&limit=${countedMax}`,
    countOf: ({ transactions }: { transactions: readonly unknown[] }) => transactions.length,
  },
  {
    name: w.transfers,
    scope: 'drex:read',
    path: broadcastList,
    countOf: ({ transfers }: { transfers: readonly { readonly created_at: string }[] }) =>
      Math.min(countedMax, transfers.filter(isLate).length),
  },
  {
    name: w.lanes,
    scope: 'drex:read',
    path: '/v1/drex/lanes',
    countOf: ({ lanes }: { lanes: readonly { readonly oldest_at: string | null }[] }) =>
      lanes.filter(isStuck).length,
  },
  {
    name: w.expiring,
    scope: 'ops:admin',
    path: '/v1/certificates',
    countOf: ({ certificates }: { certificates: readonly Certificate[] }) =>
      toBeReplaced(certificates).length,
  },
  {
    name: w.held,
    scope: 'ops:read',
    path: `/v1/drex/held?limit=${countedMax}`,
    countOf: ({ held }: { held: readonly unknown[] }) => held.length,
  },
  {
    name: w.letters,
    scope: 'ops:read',
    path: '/v1/ops/dead-letters?limit=1',
    countOf: ({ classes }: { classes: readonly { readonly count: number }[] }) =>
      classes.reduce((sum, one) => sum + one.count, 0),
  },
  ...directoryConcerns,
  {
    name: w.endpoints,
    scope: 'webhooks:read',
    path: '/v1/webhooks',
    countOf: ({ webhooks }: { webhooks: readonly Endpoint[] }) =>
      webhooks.filter(
        ({ disabled_reason: reason, health }) =>
          health.exhausted > 0 || (reason !== null && reason !== 'request'),
      ).length,
  },
]

/** Any of what waits for a person has changed, of that which the key may see: told once for all that changes together. */
export const concernsChanged = ({ scopes }: Session, everyMs: number): Wake =>
  whenChanged(
    sources.filter(({ scope }) => scopes.includes(scope)).map(({ path }) => path),
    everyMs,
    gatherMs,
  )

/** What waits for a person, of that which the key may see; a part that cannot be asked tells of nothing. */
export const concernsOf = async (
  { scopes }: Session,
  purpose: 'user' | 'background',
): Promise<readonly Concern[]> => {
  const asked = sources.filter(({ scope }) => scopes.includes(scope))
  const found = await Promise.all(
    asked.map(async ({ name, path, countOf }) => {
      try {
        return { name, many: countOf((await getJson<never>(path, purpose)) as never) }
      } catch (error) {
        if (error instanceof Refusal) return { name, many: 0 }
        throw error
      }
    }),
  )
  return found
    .filter(({ many }) => many > 0)
    .map(({ name, many }) => ({ name: nameOf(name, many), many, isMore: many === countedMax }))
}

/** Names have a form for one, and behind a bar the one for more. */
const nameOf = (name: string, many: number): string => {
  const [one = name, more = one] = name.split('|')
  return many === 1 ? one : more
}
