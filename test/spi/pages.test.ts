/** What the statements of instant payments read, on every engine at hand, whatever the plans were made of. */
import { returnsMax } from '#codecs/iso20022'
import type { Client } from '#src/platform/database/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import {
  confirmSent,
  findAnswered,
  lockSent,
  settledOf,
  writeTransactionStatuses,
} from '#src/spi/in/worker/store.ts'
import { createMessages, createOpenMessages } from '#src/spi/index.ts'
import { findBooked } from '#src/spi/messages/booked.ts'
import { countedMax } from '#src/spi/messages/domain.ts'
import {
  applyCrossed,
  applyRemembered,
  changeStatuses,
  endDebited,
  endUnawaited,
  endUnknown,
  findSent,
  firstPlace,
  idsByKey,
  insertMessages,
  noteRepetitions,
  othersUnderKnownKeys,
  refundEvents,
  rememberAnswers,
  reportedEnds,
  reportedReplies,
  setRepetitionOutcomes,
  unawaitedAmong,
  withdrawEnds,
} from '#src/spi/messages/index.ts'
import { findMessage, listMessages, readDocument } from '#src/spi/messages/queries.ts'
import { channelOfPayment, partiesOfReceived } from '#src/spi/out/send/store.ts'
import {
  hasOverdue,
  isLineLeft,
  joinLines,
  lockLine,
  noteCalled,
  noteQueued,
  setAside,
  takeOverdue,
} from '#src/spi/out/stage/entries.ts'
import { createSendings } from '#src/spi/out/stage/sendings.ts'
import {
  countUnknown,
  findOutbound,
  hasToAsk,
  hasToMark,
  lockDoubtful,
  lockOverdue,
  lockUnanswered,
  noteDoubt,
  noteReasks,
} from '#src/spi/out/stage/store.ts'
import { lockPayment, messagesOfPayment } from '#src/spi/payments/store.ts'
import { applyFacts, refusalsBy } from '#src/spi/recurring/project.ts'
import { findRecurrence, listRecurrences } from '#src/spi/recurring/store.ts'
import { figuresOf } from '#src/spi/reports/periods.ts'
import { applyReports } from '#src/spi/reports/project.ts'
import { findReport, listEntries, listReports } from '#src/spi/reports/store.ts'
import { messagesForEver, quietLogger } from '../support/database.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'
import { type Made, madeOutbound, storeMany } from './messages/stored.ts'
import { message } from './messages/support.ts'

const stored = isLong ? 1_000_000 : 25_000
const days = 40
/** Rows of a list that a statement is given. */
const listed = 20
/** Messages that are to be sent later. */
const waiting = 2_000
/** Pages that a statement may read, whatever is stored: thirty for each row of its list. */
const pagesMax = 30 * listed
/** One that reads beside the messages, or changes rows that have few indexes: ten for each row. */
const readPagesMax = 10 * listed
/** One statement stores a message whole: two keys, its row, transaction and history, with fourteen indexes. */
const storePagesMax = 50 * listed
/** One moves it, with its history, its key and the answers that cite it. */
const recordPagesMax = 45 * listed
/** A list counts so many entries of an index, and may look at the row of each and at what tells whether to. */
const countPagesMax = 1.5 * countedMax
/** A list counts its matches and finds its page in one statement. */
const listPagesMax = isLong ? countPagesMax + pagesMax : 3_000
/**
 * So many transactions of some amounts are sorted by time, to be counted and for the page, and their messages may be
 * looked at for another condition.
 */
const fewPagesMax = (isLong ? 11 : 8.5) * countedMax
/** If many messages have an amount, a list looks at each from the newest on: here they are one in a hundred. */
const manyPagesMax = 1.5 * countedMax
/** A report has a thousand entries here, which are looked through. */
const askedPagesMax = 1_200

const now = new Date()
const search = {
  from: new Date(now.getTime() - 86_400_000),
  to: now,
  scheduledTo: now,
  limit: 100,
}
const none = { limit: 50, offset: 0, before: undefined }
/** A day of which nothing was told. */
const longAgo = '2020-01-01'

/** What the rail asks the database, each as the product does it, about some stored messages. */
const work = async (sql: Client, made: readonly Made[]): Promise<void> => {
  const ids = made.map(({ id }) => id)
  const answers = made.map(({ e2e, n }, at) => ({
    kind: 'transaction' as const,
    types: ['pacs.008' as const],
    endToEndId: e2e,
    instructionId: at % 2 === 0 ? undefined : `D${n}`,
    outcome: 'ACCEPTED' as const,
    status: 'ACSC',
    reason: undefined,
  }))
  const fresh = made.map(() => message())
  const [first] = made
  await sql
    .begin(async (tx) => {
      await findAnswered(tx, answers, now)
      await findSent(tx, ids)
      await lockSent(tx, ids)
      await writeTransactionStatuses(
        tx,
        ids.map((messageId) => ({ messageId, position: 0, status: 'ACSC', refusal: undefined })),
      )
      await idsByKey(
        tx,
        'OUTBOUND',
        'BizMsgIdr',
        made.map(({ n }) => `M${n}`),
      )
      await insertMessages(tx, fresh)
      await insertMessages(
        tx,
        fresh.map((one) => ({ ...one, id: Bun.randomUUIDv7() })),
      )
      await othersUnderKnownKeys(tx, fresh)
      await changeStatuses(
        tx,
        ids.map((id, at) => ({ id, status: 'UNKNOWN', resourceId: `X${at}` })),
      )
      await changeStatuses(
        tx,
        ids.map((id) => ({ id, status: 'ACCEPTED' })),
        ids.map((messageId) => ({ messageId, position: 0, status: 'ACSC', refusal: undefined })),
      )
      await noteRepetitions(
        tx,
        ids.map((id) => ({ id, detail: 'again' })),
      )
      await setRepetitionOutcomes(
        tx,
        ids.map((id) => ({ id, detail: 'again', repetition: 1 })),
      )
      await findOutbound(tx, ids)
      await hasToMark(tx, search, search)
      await hasToAsk(tx, search)
      await lockOverdue(tx, search)
      await lockDoubtful(tx, search)
      await lockUnanswered(tx, search)
      await noteReasks(
        tx,
        ids.map((id) => ({ id, reasks: 1, pauseMs: 1_000 })),
      )
      const overdue = { now: search.from, lostBefore: search.from }
      await hasOverdue(tx, overdue)
      await takeOverdue(tx, { ...overdue, limit: listed })
      const called = { lostBefore: search.from, calledAfter: now, limit: listed }
      const line = await lockLine(tx, 'secondary', { after: firstPlace, ...called })
      await noteCalled(
        tx,
        line.map(({ id }) => id),
        now,
      )
      await isLineLeft(tx, 'investigations')
      await joinLines(
        tx,
        ids.map((id) => ({ id, line: 'secondary' })),
      )
      for (const id of ids.slice(0, 1)) {
        await setAside(tx, id, now)
        await noteQueued(tx, id)
      }
      for (const { e2e } of made.slice(0, 1)) await channelOfPayment(tx, e2e)
      const cited = made.slice(0, returnsMax).map(({ e2e }) => e2e)
      await partiesOfReceived(tx, cited)
      for (const { id, e2e } of made) {
        await messagesOfPayment(tx, e2e)
        await lockPayment(tx, { messageId: id, position: 0 })
      }
      await refundEvents(
        tx,
        ids.map((id) => ({ id, status: 'ACCEPTED' })),
        () => 'pacs.004',
      )
      const stated = made.map(({ id, e2e }) => ({
        fact: {
          ...({ kind: 'charge', key: e2e, type: 'pain.014', position: 0 } as const),
          ...({ event: 'scheduled', requestId: null, status: 'ACSP', reason: null } as const),
          mandateId: null,
          reconciliationId: null,
          terms: null,
        } as const,
        ...({ messageId: id, direction: 'INBOUND' } as const),
      }))
      await applyFacts(tx, stated)
      await refusalsBy(
        tx,
        ids.map((id) => ({ id, status: 'REJECTED' })),
        () => 'pain.013',
      )
      const reported = made.map(({ id, e2e, n }) => ({
        messageId: id,
        reported: [
          {
            ...({ kind: 'entry', requestId: `M${n}`, reference: e2e, endToEndId: e2e } as const),
            amountCents: 1n,
            direction: 'DBIT',
            status: 'BOOK',
            bookedOn: null,
            valuedAt: null,
            isRefused: n % 2 === 0,
          },
          {
            ...({ kind: 'account', requestId: `M${n}`, declaredEntries: '1' } as const),
            fileHash: null,
            balances: [],
          },
        ],
      }))
      await applyReports(tx, reported)
      const recorded = made.map(({ id, n }) => ({
        id,
        type: 'pacs.002',
        resourceId: `R${n}`,
        isCited: true,
      }))
      await reportedReplies(tx, ids)
      await reportedEnds(
        tx,
        made.map(({ e2e }) => e2e),
      )
      await applyRemembered(tx, recorded, { emitEvents: async () => {} })
      await applyCrossed(tx, { emitEvents: async () => {} })
      await unawaitedAmong(tx, ids)
      await endUnawaited(tx, firstPlace, { emitEvents: async () => {} })
      await settledOf(tx, ids)
      await confirmSent(tx, ids)
      await withdrawEnds(tx, ids)
      for (const id of ids.slice(0, 2)) {
        const end = { outcome: 'ACCEPTED', detail: 'resolved' } as const
        await endDebited(tx, { id, type: 'pacs.008' }, { emitEvents: async () => {} })
        await endUnknown(tx, { id, type: 'pacs.008' }, end, { emitEvents: async () => {} })
      }
      await rememberAnswers(
        tx,
        made.map(({ n }) => ({
          messageId: Bun.randomUUIDv7(),
          reference: `E${n}`,
          outcome: 'REJECTED' as const,
          reason: 'AB03',
        })),
        { emitEvents: async () => {} },
      )
      if (first !== undefined) await noteDoubt(tx, first.id, now)
      throw new Undone()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  const sendings = createSendings(sql)
  await Promise.all(
    fresh.map(({ id }) => sendings.begin({ id, bytes: Buffer.from('<a/>'), unsigned: undefined })),
  )
  const queued = await sql<{ id: string }[]>`
    select id from spi_messages where status = 'QUEUED' order by status desc, id desc limit ${listed}`
  await Promise.all(queued.slice(0, 5).map(({ id }) => sendings.withdraw(id)))
  await Promise.all(queued.slice(5).map(({ id }) => sendings.hold(id)))
  await Promise.all(fresh.map(({ id }) => sendings.withdraw(id)))
  await listMessages(sql, {}, none)
  await listMessages(sql, { direction: 'OUTBOUND', status: 'SENT' }, none)
  for (const status of ['SENT', 'UNKNOWN', 'ACCEPTED'] as const) {
    await listMessages(sql, { status }, none)
    await listMessages(sql, { type: 'pacs.008', status }, none)
  }
  await listMessages(sql, { type: 'pacs.008' }, none)
  await listMessages(sql, { type: 'pacs.008', direction: 'OUTBOUND' }, none)
  await listMessages(sql, { direction: 'OUTBOUND', status: 'ACCEPTED' }, none)
  await listMessages(sql, { type: 'pacs.008', direction: 'OUTBOUND', status: 'ACCEPTED' }, none)
  await listMessages(sql, { transactionStatus: 'RJCT' }, none)
  // Nearly all of them.
  await listMessages(sql, { transactionStatus: 'ACSC' }, none)
  for (const transactionStatus of ['RJCT', 'ACSC']) {
    await listMessages(sql, { transactionStatus, direction: 'OUTBOUND' }, none)
    await listMessages(sql, { transactionStatus, status: 'UNKNOWN' }, none)
    await listMessages(sql, { transactionStatus, status: 'ACCEPTED', type: 'pacs.008' }, none)
  }
  for (const [fromCents, toCents] of [
    [500n, 500n],
    [0n, BigInt(countedMax) - 1n],
    [1n, BigInt(countedMax) + 1n],
    [0n, BigInt(stored)],
  ] as const) {
    const amounts = { fromCents, toCents }
    await listMessages(sql, { amounts }, none)
    await listMessages(sql, { amounts, transactionStatus: 'RJCT' }, none)
    await listMessages(sql, { amounts, direction: 'OUTBOUND' }, none)
    await listMessages(sql, { amounts, status: 'UNKNOWN' }, none)
  }
  await listMessages(sql, { bizMsgIdr: 'M700' }, none)
  await listMessages(sql, { bizMsgIdr: 'M700', status: 'ACCEPTED' }, none)
  for (const state of [undefined, 'requested', 'cancelled']) {
    await listRecurrences(sql, 'charge', { state }, { limit: 50, after: undefined })
    await listRecurrences(
      sql,
      'charge',
      { state, mandateId: 'R7' },
      { limit: 50, after: undefined },
    )
  }
  for (const filter of [{}, { outcome: 'matched' }, { requestId: 'M7' }]) {
    await listEntries(sql, filter, 50, undefined)
    await listEntries(sql, { ...filter, outcome: 'missing_here' }, 50, [Bun.randomUUIDv7(), 0])
  }
  await findBooked(sql, firstPlace)
  await countUnknown(sql)
  await listReports(sql, 50)
  const metrics = createMetrics({ version: 'test', withProcess: false })
  await createOpenMessages({ sql, logger: quietLogger, metrics }).book?.()
  await figuresOf(sql, { days: [longAgo, longAgo], bounds: { balancesMax: 1, countedMax: 1 } })
  if (first === undefined) return
  await findReport(sql, first.id)
  await listRecurrences(sql, 'charge', {}, { limit: 50, after: [first.id, first.e2e] })
  await findRecurrence(sql, 'charge', first.e2e)
  await listMessages(sql, { endToEndId: first.e2e }, none)
  await listMessages(sql, { endToEndId: first.e2e, transactionStatus: 'RJCT' }, none)
  await findMessage(sql, first.id)
  await readDocument(sql, first.id)
}

class Undone extends Error {}

const budgetOf = (text: string): number => {
  if (text.includes(') few')) return fewPagesMax
  if (text.includes('amount_cents +')) return manyPagesMax
  if (text.startsWith('select count(*)') || text.includes('as counted')) return countPagesMax
  if (text.includes('from named')) return recordPagesMax
  if (text.includes(') asked')) return askedPagesMax
  if (text.includes('counted.total')) return listPagesMax
  const isSmall = /^(?:select|update spi_(?:history|transactions|reports)) /.test(text)
  if (isSmall && !/ spi_messages\b/.test(text)) return readPagesMax
  return text.startsWith('with given as materialized') ? storePagesMax : pagesMax
}

holdPageBudgets<readonly Made[]>({
  prepare: async (sql) => {
    const feature = createMessages({ sql, ...messagesForEver, logger: quietLogger })
    await feature.start?.()
    await feature.drain?.()
  },
  absent: Array.from({ length: listed }, (_, n) => ({
    id: Bun.randomUUIDv7(),
    e2e: `E${n}`,
    n,
  })),
  store: async (sql) => {
    await storeMany(sql, stored, days)
    await sql`
      insert into spi_recurrences (id, kind, key, state, mandate_id, created_by)
      select 'charge ' || e2e, 'charge', e2e, 'requested', 'R' || n % 1000, id from made`
    await sql`
      insert into spi_recurrence_steps (recurrence_id, message_id, position, type, direction, state)
      select 'charge ' || e2e, id, 0, 'pain.013', 'OUTBOUND', 'requested' from made`
    await sql`
      insert into spi_entries (message_id, position, request_id, reference, outcome)
      select id, 1, 'M' || n % 1000, e2e, case when n % 100 = 0 then 'missing_here' else 'matched' end
      from made`
    // What was set aside, waits in a line or is called, all of it before the last day.
    await sql`
      insert into spi_messages (id, type, direction, status, transaction_count, signature, xml,
        requeue_after, waits_for, requeued_at)
      select overlay(id::text placing '9' from 20)::uuid, 'pacs.008', 'OUTBOUND', 'QUEUED', 1, 'NOT_CHECKED', xml,
        case when place % 3 = 0 then now() + interval '1 hour' end,
        case when place % 3 <> 0 then 'secondary' end, case when place % 3 = 1 then now() end
      from (
        select id, row_number() over (order by id) as place from made where direction = 'OUTBOUND'
          order by id limit ${waiting}
      ) first cross join lateral (select xml from spi_messages where id = first.id limit 1) message
      order by md5(first.id::text)`
    // What was sent again and is not due yet, or no longer.
    await sql`
      insert into spi_messages (id, type, direction, status, transaction_count, signature, xml, reask_after)
      select overlay(id::text placing 'b' from 20)::uuid, 'pacs.008', 'OUTBOUND', 'UNKNOWN', 1, 'NOT_CHECKED', xml,
        now() + case when place % 2 = 0 then interval '1 hour' else interval '-25 hours' end
      from (
        select id, row_number() over (order by id desc) as place from made where direction = 'OUTBOUND'
          order by id desc limit ${2 * listed}
      ) last cross join lateral (select xml from spi_messages where id = last.id limit 1) message
      order by md5(last.id::text)`
    // What was sent long after it was made, and is unanswered since before the last day.
    await sql`
      insert into spi_messages (id, type, direction, status, transaction_count, signature, xml, sent_at)
      select overlay(id::text placing 'a' from 20)::uuid, 'pacs.008', 'OUTBOUND',
        case when place % 2 = 0 then 'SENT' else 'UNKNOWN' end, 1, 'NOT_CHECKED', xml,
        now() - make_interval(hours => 25, secs => place::int)
      from (
        select id, row_number() over (order by id) as place from made where direction = 'OUTBOUND'
          order by id limit ${10 * listed}
      ) first cross join lateral (select xml from spi_messages where id = first.id limit 1) message
      order by md5(first.id::text)`
    await sql`
      insert into spi_reports (id, request_id, report) select id, 'M' || n, 'balances' from made`
    await sql`
      insert into spi_reports (id, request_id, report, day, declared_entries)
      select gen_random_uuid(), 'D' || n, 'entries', '2020-01-02', '1' from made`
    return madeOutbound(sql, listed)
  },
  work,
  // What is stored here is less than what these may read.
  walks: (text) => budgetOf(text) > pagesMax || text.startsWith('update spi_recurrences'),
  isTooDear: ({ text, pagesPerCall }) => pagesPerCall > budgetOf(text),
})
