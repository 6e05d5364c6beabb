import { constants, type Queryable, uuidBound } from '#src/platform/database/index.ts'
import { dayMs, startOfDay } from '#src/platform/runtime/index.ts'
import { trustedVerdicts } from '../messages/domain.ts'
import { countsIn, knownReferences } from './booked.ts'
import { clocksDifferMs, countedAt, dayForm, toldLateMs } from './days.ts'
import { directions, findOurs } from './project.ts'
import type { ReportedEntry } from './reported.ts'

/** How a statement and our book differ about one payment or return. */
export const differenceOutcomes = [
  'missing_here',
  'missing_there',
  'amount_differs',
  'status_differs',
] as const

type Difference = {
  readonly outcome: (typeof differenceOutcomes)[number]
  /** EndToEndId of a payment, RtrId of a return. */
  readonly reference: string
  /** CRDT or DBIT. */
  readonly direction: string | null
  /** Null: it is not in the statement. */
  readonly theirCents: bigint | null
  /** Null: it is not in our book. */
  readonly ourCents: bigint | null
  /** Null: it is not in our book. */
  readonly ourStatus: 'settled' | 'pending' | 'refused' | null
}

/** A booked entry, and where the walk goes on behind it. */
type Booked = Pick<ReportedEntry, 'reference' | 'direction' | 'amountCents'> & {
  readonly at: string
}

/** What the central bank says was booked. */
export type Statement = {
  /** Brazil's days that it is about, the first and the last. */
  readonly days: readonly [from: string, to: string]
  /** Entries behind a place, in a steady order. */
  readonly entries: (sql: Queryable, after: string, limit: number) => Promise<readonly Booked[]>
  /** The references among these that it has. */
  readonly has: (sql: Queryable, references: readonly string[]) => Promise<ReadonlySet<string>>
}

/** @property next - where the walk goes on; null: it has come to its end */
export type DifferencePage = {
  readonly differences: readonly Difference[]
  readonly next: string | null
}

/** Entries, or settlements of our book, that are read at once, and how often one page does so. */
const walkedAtOnce = 500
const readsMax = 20

const theirs = 'theirs'
const ours = 'ours'
/** The day stands before it: who asks for none walks that of the first page. */
export const cursorOfDay = new RegExp(
  `^${dayForm.source.slice(1, -1)} (?:theirs|ours) (?:[0-9a-f-]{36} \\d{1,9})?$`,
)
/** The entries of a file have no place of their own. */
export const cursorOfFile = /^(?:theirs (?:\d{1,9})?|ours (?:[0-9a-f-]{36} \d{1,9})?)$/

/**
 * Compares a statement with our book, both ways: first each of its entries with what we have, then each of our
 * settlements in its days with what it has. Nothing is kept between two pages but the cursor, so a walk goes on wherever
 * it was left. A page may be short, and even empty, before the last one: the work for one is bounded.
 */
export const differencesOf = async (
  sql: Queryable,
  statement: Statement,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
): Promise<DifferencePage> => {
  let { phase, after } = placeOf(cursor)
  const differences: Difference[] = []
  for (let reads = 0; reads < readsMax; reads++) {
    const walk = phase === theirs ? theirDifferences : ourDifferences
    const { found, last, isEnd } = await walk(sql, statement, after)
    for (const [at, difference] of found) {
      differences.push(difference)
      if (differences.length === limit) return { differences, next: `${phase} ${at}` }
    }
    if (!isEnd) after = last
    else if (phase === ours) return { differences, next: null }
    else ({ phase, after } = { phase: ours, after: '' })
  }
  return { differences, next: `${phase} ${after}` }
}

const placeOf = (cursor: string = `${theirs} `) => {
  const space = cursor.indexOf(' ')
  return {
    phase: cursor.startsWith(theirs) ? theirs : ours,
    after: cursor.slice(space + 1),
  }
}

type Walked = {
  readonly found: readonly (readonly [at: string, difference: Difference])[]
  readonly last: string
  readonly isEnd: boolean
}

const theirDifferences = async (
  sql: Queryable,
  statement: Statement,
  after: string,
): Promise<Walked> => {
  const entries = await statement.entries(sql, after, walkedAtOnce)
  const operations = entries.filter(({ reference }) => /^[ED]/.test(reference))
  const ofBook = await findOurs(
    sql,
    operations.map(({ reference }) => reference),
    { refused: true },
  )
  const found = operations.flatMap((entry): Walked['found'] => {
    const { reference, direction, amountCents: theirCents, at } = entry
    const known = ofBook.get(reference)
    const one = known?.direction === directions[direction] ? known : undefined
    const common = { reference, direction, theirCents }
    if (one === undefined) {
      return [[at, { ...common, outcome: 'missing_here', ourCents: null, ourStatus: null }]]
    }
    const ourStatus = one.isRefused ? 'refused' : one.isSettled ? 'settled' : 'pending'
    const said = { ...common, ourCents: one.cents, ourStatus } as const
    if (one.cents !== theirCents) return [[at, { ...said, outcome: 'amount_differs' }]]
    return ourStatus === 'settled' ? [] : [[at, { ...said, outcome: 'status_differs' }]]
  })
  return { found, last: entries.at(-1)?.at ?? after, isEnd: entries.length < walkedAtOnce }
}

type Settlement = {
  readonly messageId: string
  readonly position: number
  readonly reference: string
  /** By the clock of the SPI; null: it did not say. */
  readonly settledAt: Date | null
}

const ourDifferences = async (
  sql: Queryable,
  statement: Statement,
  after: string,
): Promise<Walked> => {
  const told = await settlementsTold(sql, statement.days, after)
  const [fromMs, toMs] = boundsOf(statement.days)
  const settlements = told.filter((one) => {
    const { atMs } = countedAt(one.messageId, one.settledAt?.getTime() ?? null)
    return atMs >= fromMs && atMs < toMs
  })
  const references = settlements.map(({ reference }) => reference)
  const ofBook = await findOurs(sql, references)
  const there = await statement.has(sql, references)
  const found = settlements.flatMap((one): Walked['found'] => {
    const known = ofBook.get(one.reference)
    if (known === undefined || there.has(one.reference)) return []
    const { direction, cents: ourCents } = known
    return [
      [
        placeIn(one),
        {
          outcome: 'missing_there',
          reference: one.reference,
          theirCents: null,
          ourCents,
          direction: direction === 'INBOUND' ? 'CRDT' : 'DBIT',
          ourStatus: 'settled',
        },
      ],
    ]
  })
  const last = told.at(-1)
  return {
    found,
    last: last === undefined ? after : placeIn(last),
    isEnd: told.length < walkedAtOnce,
  }
}

const placeIn = ({ messageId, position }: Pick<Settlement, 'messageId' | 'position'>): string =>
  `${messageId} ${position}`

const boundsOf = ([from, to]: Statement['days']) =>
  [startOfDay(from).getTime(), startOfDay(to).getTime() + dayMs] as const

/**
 * What the central bank told us settled, in the order in which it told us: all of some days, which it may have told later,
 * and what it told beside that.
 */
const settlementsTold = async (
  sql: Queryable,
  days: Statement['days'],
  after: string,
): Promise<readonly Settlement[]> => {
  const [fromMs, toMs] = boundsOf(days)
  const until = uuidBound(new Date(toMs + toldLateMs))
  const [id = '', position = '-1'] = after.split(' ')
  const since = id === '' ? uuidBound(new Date(fromMs - clocksDifferMs)) : id
  const told = (status: string) => sql`(
    select message_id, position, instruction_id, settled_at from spi_transactions
    where status = ${status} and message_id >= ${since}::uuid and message_id < ${until}::uuid
      and (message_id, position) > (${since}::uuid, ${Number(position)}::int)
      and exists (
        select from spi_messages m where m.id = spi_transactions.message_id
          and m.type = 'pacs.002' and m.direction = 'INBOUND'
          and m.signature in (${constants(sql, trustedVerdicts)}))
    order by status, message_id, position limit ${walkedAtOnce})`
  const rows = await sql<(Omit<Settlement, 'reference'> & { reference: string | null })[]>`
    select message_id as "messageId", position, instruction_id as reference,
      settled_at as "settledAt"
    from (${told('ACCC')} union all ${told('ACSC')}) t
    order by message_id, position limit ${walkedAtOnce}`
  return rows.map(({ reference, ...place }) => ({ ...place, reference: reference ?? '' }))
}

/** What every camt.054 that was received says about one day: of an entry that was told twice, the later. */
export const statementOfDay = (day: string): Statement => ({
  days: [day, day],
  entries: async (sql, after, limit) => {
    const [id = '', position = '-1'] = after.split(' ')
    const rows = await sql<(Omit<Booked, 'at'> & { messageId: string; position: number })[]>`
      select message_id as "messageId", position, reference, direction,
        amount_cents as "amountCents"
      from spi_entries e
      where booked_on = ${day} and ${countsIn(sql)}
        and (message_id, position)
          > (${id === '' ? uuidBound(new Date(0)) : id}::uuid, ${Number(position)}::int)
      order by booked_on, message_id, position limit ${limit}`
    return rows.map(({ messageId, position, ...entry }) => ({
      ...entry,
      at: placeIn({ messageId, position }),
    }))
  },
  has: knownReferences,
})

export const bookedIn = (reported: readonly ReportedEntry[]): readonly ReportedEntry[] =>
  reported.filter(({ status, isRefused }) => status === 'BOOK' && !isRefused)

/** The first and the last day on which something is booked; undefined if nothing is on a day that exists. */
export const daysOf = (booked: readonly ReportedEntry[]): Statement['days'] | undefined => {
  const days = booked
    .flatMap(({ bookedOn }) => (bookedOn !== null && dayForm.test(bookedOn) ? [bookedOn] : []))
    .sort()
  const [from] = days
  const to = days.at(-1)
  return from === undefined || to === undefined ? undefined : [from, to]
}

/** @returns undefined if no entry of the file is booked on a day */
export const statementOfFile = (reported: readonly ReportedEntry[]): Statement | undefined => {
  const booked = bookedIn(reported)
  const days = daysOf(booked)
  if (days === undefined) return undefined
  const byReference = new Map(booked.map((entry) => [entry.reference, entry]))
  const entries = [...byReference.values()].map((entry, index) => ({ ...entry, at: String(index) }))
  return {
    days,
    entries: async (_, after, limit) => {
      const next = after === '' ? 0 : Number(after) + 1
      return entries.slice(next, next + limit)
    },
    has: async (sql, references) => {
      const missing = references.filter((one) => !byReference.has(one))
      // What is booked on the day after, or was before, other reports may have told.
      const elsewhere = await knownReferences(sql, missing)
      return new Set([...references.filter((one) => byReference.has(one)), ...elsewhere])
    },
  }
}
