import { formatCents } from '#codecs/iso20022'
import type { AppEvent } from '#src/events/index.ts'
import { constants, looksLikeOne, type Queryable, uuidBound } from '#src/platform/database/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import {
  momentIn,
  operationMoment,
  resolvedByHand,
  settledStatuses,
  toldStatuses,
  trustedVerdicts,
  untoldStatuses,
} from '../messages/domain.ts'
import { knownReferences } from './booked.ts'
import type { Reported, ReportedAccount, ReportedEntry } from './reported.ts'

/** What one received message reports. */
export type Report = { readonly messageId: string; readonly reported: readonly Reported[] }

const differences = ['missing_here', 'missing_there', 'amount_differs'] as const
type Difference = (typeof differences)[number]

/** How an entry compares with our book; `not_compared`: it is of no payment or return. */
export const entryOutcomes = ['matched', ...differences, 'not_compared'] as const
type EntryOutcome = (typeof entryOutcomes)[number]

type Entry = ReportedEntry & { readonly messageId: string; readonly position: number }
type Compared = {
  readonly entry: Entry
  readonly reference: string
  readonly ourCents: bigint | null
  readonly outcome: EntryOutcome
}

/**
 * Writes what messages report of our account and compares each entry with the messages stored here, in the transaction
 * that stores the report: a payment or return is stored before it can settle, so what is not here is missing.
 *
 * @returns the differences as events
 */
export const applyReports = async (
  tx: Queryable,
  reports: readonly Report[],
): Promise<readonly AppEvent[]> => {
  const all = reports.flatMap(({ messageId, reported }) =>
    reported.map((one, position) => ({ ...one, messageId, position })),
  )
  if (all.length === 0) return []
  const accounts = all.filter((one) => one.kind === 'account')
  const entries = all.filter((one) => one.kind === 'entry')
  if (accounts.length > 0) await writeAccounts(tx, accounts)
  if (entries.length === 0) return []
  const asked = await markAnswered(tx, entries)
  const wanted = entries.map((entry) => {
    const reference = entry.isRefused ? asked.get(entry.requestId) : entry.reference
    return { entry, reference: reference ?? entry.reference }
  })
  const ours = await findOurs(
    tx,
    wanted.map(({ reference }) => reference),
  )
  const booked = await bookedAmong(tx, wanted)
  const compared = wanted.map((one) => ({
    ...one,
    ...comparedWith(one, ours.get(one.reference), booked),
  }))
  await writeEntries(tx, compared)
  return compared.flatMap(eventOf)
}

const writeAccounts = async (
  tx: Queryable,
  accounts: readonly (ReportedAccount & { readonly messageId: string })[],
): Promise<void> => {
  await tx`
    update spi_reports r set declared_entries = a."declaredEntries", file_hash = a."fileHash",
      balances = a.balances, answered_by = a."messageId"
    from json_to_recordset(${JSON.stringify(accounts)}::text::json) as a("requestId" text,
        "declaredEntries" text, "fileHash" text, balances jsonb, "messageId" uuid, nothing text)
      cross join lateral (
        select id, answered_by from spi_reports where request_id = a."requestId" limit 1
      ) asked
    where ${looksLikeOne(tx)} and r.id = asked.id and asked.answered_by is null`
}

/** Marks what was asked for as answered. @returns the entries asked for, by the id of the request */
const markAnswered = async (
  tx: Queryable,
  entries: readonly Entry[],
): Promise<ReadonlyMap<string, string>> => {
  const answers = entries.map(({ requestId, messageId }) => ({ requestId, messageId }))
  const rows = await tx<{ requestId: string; entryId: string | null }[]>`
    update spi_reports r set answered_by = coalesce(r.answered_by, a."messageId")
    from json_to_recordset(${JSON.stringify(answers)}::text::json)
      as a("requestId" text, "messageId" uuid, nothing text)
    where ${looksLikeOne(tx)} and r.request_id = a."requestId"
    returning r.request_id as "requestId", r.entry_id as "entryId"`
  return new Map(
    rows.flatMap(({ requestId, entryId }) => (entryId === null ? [] : [[requestId, entryId]])),
  )
}

type Wanted = { readonly entry: Entry; readonly reference: string }

/** The references that we know to be booked, among those for which the central bank gives no entry. */
const bookedAmong = async (
  tx: Queryable,
  wanted: readonly Wanted[],
): Promise<ReadonlySet<string>> => {
  const refused = wanted.filter(({ entry }) => entry.isRefused)
  if (refused.length === 0) return new Set()
  const told = wanted.filter(({ entry }) => !entry.isRefused && entry.status === 'BOOK')
  const earlier = await knownReferences(
    tx,
    refused.map(({ reference }) => reference),
  )
  return new Set([...told.map(({ reference }) => reference), ...earlier])
}

export type Ours = {
  readonly reference: string
  readonly cents: bigint
  readonly direction: string
  readonly isSettled: boolean
  /** It was refused, by us or by the central bank. */
  readonly isRefused: boolean
}

/** Messages that name one payment. */
const sameIdMax = 1_000

/**
 * Finds the payments and returns that references are about, with whether a report says that they are settled. Each
 * reference is looked for once, however often it is named: a lookup reads the rows of all who name it.
 *
 * @param refused whether one that was refused counts too, where there is no other
 */
export const findOurs = async (
  tx: Queryable,
  references: readonly string[],
  { refused = false }: { readonly refused?: boolean } = {},
): Promise<ReadonlyMap<string, Ours>> => {
  const rows = [...new Set(references)].map((reference) => {
    const moment = operationMoment(reference)
    const isPast = moment !== undefined && moment.getTime() < Date.now()
    const since = uuidBound(isPast ? new Date(moment.getTime() - dayMs) : new Date(0))
    return { reference, type: reference.startsWith('D') ? 'pacs.004' : 'pacs.008', since }
  })
  const settled = constants(tx, settledStatuses)
  const found = await tx<Ours[]>`
    select reference, cents, direction, "isSettled", "isRefused"
    from (
      select e.reference, op.amount_cents as cents, op.direction, done."isSettled",
        op.is_refused or (op.direction = 'INBOUND' and not done."isSettled"
          and (${reportedAs(tx, ['RJCT'])} or ${refusedByUs(tx)})) as "isRefused"
      from json_to_recordset(${JSON.stringify(rows)}::text::json)
          as e(reference text, type text, since uuid)
        cross join lateral (
          select t.amount_cents, t.status, m.direction, standing >= 2 as is_refused
          from (
              (select message_id, amount_cents, status from spi_transactions
                where end_to_end_id = e.reference and e.type = 'pacs.008' and message_id >= e.since
                order by end_to_end_id, message_id limit ${sameIdMax})
              union all
              (select message_id, amount_cents, status from spi_transactions
                where instruction_id = e.reference and e.type = 'pacs.004' and message_id >= e.since
                order by instruction_id, message_id limit ${sameIdMax})
            ) t
            cross join lateral (
              select type, direction, status from spi_messages where id = t.message_id limit 1
            ) m
            cross join lateral (
              select case
                when t.status in (${settled}) then 0
                when t.status is not distinct from 'RJCT' or m.status = 'REJECTED' then 3
                when m.status = 'FAILED' then 2 else 1 end as standing
            ) one
          where m.type = e.type and (${refused} or standing < 2)
          order by standing, t.message_id limit 1
        ) op
        cross join lateral (
          select coalesce(op.status in (${settled}), false)
            or ${reportedAs(tx, settledStatuses)} as "isSettled"
        ) done
    ) known
    where ${refused} or not "isRefused"`
  return new Map(found.map((one) => [one.reference, one]))
}

/** The answers to the operation `e`, each with its message `m`. */
const answersTo = (tx: Queryable) => tx`
  select from spi_transactions answer
    cross join lateral (
      select type, direction, status, signature, error_code from spi_messages
      where id = answer.message_id limit 1
    ) m
  where answer.instruction_id = e.reference and answer.message_id >= e.since
    and m.type = 'pacs.002'`

/** Whether the central bank says so of it. */
const reportedAs = (tx: Queryable, statuses: readonly string[]) => tx`
  exists (
    ${answersTo(tx)} and answer.status in (${constants(tx, statuses)})
      and m.direction = 'INBOUND' and m.signature in (${constants(tx, trustedVerdicts)})
  )`

/**
 * Whether we have told that we refuse it, or a person that nothing settled, and nothing else: as `ownRefusal` of the
 * payments sees it.
 */
const refusedByUs = (tx: Queryable) => tx`
  (exists (
    ${answersTo(tx)} and m.direction = 'OUTBOUND' and (${isResolved(tx)}
      or answer.status = 'RJCT' and m.status in (${constants(tx, toldStatuses)}))
  ) and not exists (
    ${answersTo(tx)} and answer.status is distinct from 'RJCT' and m.direction = 'OUTBOUND'
      and not ${isResolved(tx)} and m.status not in (${constants(tx, untoldStatuses)})
  ))`

const isResolved = (tx: Queryable) => tx`m.error_code is not distinct from ${resolvedByHand}`

export const directions: Readonly<Record<string, string>> = { CRDT: 'INBOUND', DBIT: 'OUTBOUND' }

const comparedWith = (
  { entry, reference }: Wanted,
  ours: Ours | undefined,
  booked: ReadonlySet<string>,
): Pick<Compared, 'ourCents' | 'outcome'> => {
  const ourCents = ours?.cents ?? null
  if (entry.isRefused) {
    // Why a query failed is not always that there is no such entry.
    const isMissing = ours?.isSettled === true && !booked.has(reference)
    return { ourCents, outcome: isMissing ? 'missing_there' : 'not_compared' }
  }
  const isOperation = /^[ED]/.test(reference) && entry.status === 'BOOK'
  if (!isOperation) return { ourCents, outcome: 'not_compared' }
  if (ours === undefined || ours.direction !== directions[entry.direction]) {
    return { ourCents: null, outcome: 'missing_here' }
  }
  return { ourCents, outcome: ours.cents === entry.amountCents ? 'matched' : 'amount_differs' }
}

const writeEntries = async (tx: Queryable, compared: readonly Compared[]): Promise<void> => {
  const rows = compared.map(({ entry, reference, ourCents, outcome }) => ({
    messageId: entry.messageId,
    position: entry.position,
    requestId: entry.requestId,
    reference,
    outcome,
    endToEndId: entry.isRefused ? null : entry.endToEndId,
    amountCents: entry.isRefused ? null : String(entry.amountCents),
    direction: entry.isRefused ? null : entry.direction,
    status: entry.status,
    bookedOn: entry.bookedOn,
    valuedAt: momentIn(entry.valuedAt),
    ourCents: ourCents === null ? null : String(ourCents),
  }))
  await tx`
    insert into spi_entries (message_id, position, request_id, reference, end_to_end_id,
      amount_cents, direction, status, booked_on, valued_at, our_cents, outcome)
    select "messageId", position, "requestId", reference, "endToEndId", "amountCents", direction,
      status, "bookedOn", coalesce("valuedAt", now()), "ourCents", outcome
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as e("messageId" uuid,
      position int, "requestId" text, reference text, "endToEndId" text, "amountCents" bigint,
      direction text, status text, "bookedOn" text, "valuedAt" timestamptz, "ourCents" bigint, outcome text)
    on conflict do nothing`
}

const isDifference = (outcome: EntryOutcome): outcome is Difference =>
  differences.some((one) => one === outcome)

const eventOf = ({ entry, reference, ourCents, outcome }: Compared): readonly AppEvent[] => {
  if (!isDifference(outcome)) return []
  return [
    {
      type: 'pix.entry.differs',
      subject: reference,
      data: {
        message_id: entry.messageId,
        request_id: entry.requestId,
        reference,
        outcome,
        end_to_end_id: entry.isRefused ? null : entry.endToEndId,
        amount: entry.isRefused ? null : formatCents(entry.amountCents),
        our_amount: ourCents === null ? null : formatCents(ourCents),
      },
    },
  ]
}
