/** Messages of ours that nothing answers, or whose answer does not name them. */
import { expect, test } from 'bun:test'
import {
  applyRemembered,
  changeStatuses,
  endUnawaited,
  firstPlace,
  insertMessages,
  type MessageStatus,
} from '#src/spi/messages/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { createTestDatabase } from '../../support/database.ts'
import { fresh, inbound, refusal, runningWorker, storedWhen } from '../in/worker/support.ts'
import { message } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
const worker = await runningWorker(database)

/** The central bank refuses the message as a whole. */
const refuse = async (bizMsgIdr: string): Promise<void> => {
  const resourceId = fresh.resourceId()
  await worker.broker.publish([inbound(refusal(bizMsgIdr), { resourceId })])
  await storedWhen(database, 'resource_id', resourceId)
}

const minuteMs = 60_000

const sent = async (type: string, minutesAgo: number, statuses: readonly string[] = []) => {
  const one = message({
    id: Bun.randomUUIDv7('hex', Date.now() - minutesAgo * minuteMs),
    type,
    direction: 'OUTBOUND',
    status: 'SENT',
    resourceId: fresh.resourceId(),
  })
  const [transaction] = one.transactions
  if (transaction === undefined) throw new Error('there is one')
  const all = statuses.map((status, n) => ({
    ...transaction,
    endToEndId: `${transaction.endToEndId}${n}`,
    instructionId: `${transaction.endToEndId}${n}`,
    status,
  }))
  await insertMessages(sql, [{ ...one, transactions: all.length > 0 ? all : [transaction] }])
  return { id: one.id, bizMsgIdr: one.bizMsgIdr ?? '', transactions: all }
}

const step = (
  messageId: string,
  recurrenceId: string,
  type: string,
  direction: string,
  status: string | null = null,
) => sql`
  insert into spi_recurrence_steps (recurrence_id, message_id, position, type, direction, status)
  values (${recurrenceId}, ${messageId}, 0, ${type}, ${direction}, ${status})`

/** Keys that no message has which the worker has received here. */
const keysOfOthers = () => ({ bizMsgIdr: undefined, resourceId: fresh.resourceId() })

/** A pain.012 comes in, by a clock that is so far ahead of that of who sends, two minutes ago. */
const answered = async (recurrenceId: string, status: string, aheadMs = 0): Promise<void> => {
  const at = new Date(Date.now() - 2 * minuteMs + aheadMs)
  const answer = message({ type: 'pain.012', ...keysOfOthers() }, at)
  expect((await insertMessages(sql, [answer])).size).toBe(1)
  await step(answer.id, recurrenceId, 'pain.012', 'INBOUND', status)
}

const statusOf = async (id: string): Promise<MessageStatus | undefined> => {
  const [row] = await sql<{ status: MessageStatus }[]>`
    select status from spi_messages where id = ${id}`
  return row?.status
}

const look = () => sql.begin((tx) => endUnawaited(tx, firstPlace, { emitEvents }))

test.each([
  ['pacs.002', ['RJCT']],
  ['pacs.002', ['RJCT', 'RJCT']],
  ['pain.012', []],
  ['pain.014', []],
  ['camt.029', []],
  ['camt.054', []],
  ['admi.002', []],
])('a %s of %j has ended an hour after it was sent, and not before', async (type, statuses) => {
  const old = await sent(type, 61, statuses)
  const young = await sent(type, 59, statuses)
  await look()
  expect(await statusOf(old.id)).toBe('ACCEPTED')
  expect(await statusOf(young.id)).toBe('SENT')
  const [row] = await sql<{ detail: string }[]>`
    select detail from spi_history where message_id = ${old.id} order by position desc limit 1`
  expect(row?.detail).toBe('no answer is due')
  // The central bank refuses it all the same.
  await refuse(old.bizMsgIdr)
  expect(await statusOf(old.id)).toBe('REJECTED')
})

test.each(['sent_at', 'in_doubt_since'])(
  'the hour of what was sent long after it was made counts from then, by %s',
  async (column) => {
    const sentAgo = async (minutes: number): Promise<string> => {
      const { id } = await sent('camt.029', 30 * 60)
      const at = new Date(Date.now() - minutes * minuteMs)
      await sql`update spi_messages set ${sql(column)} = ${at} where id = ${id}`
      return id
    }
    const [old, young] = [await sentAgo(61), await sentAgo(59)]
    await look()
    expect([await statusOf(old), await statusOf(young)]).toEqual(['ACCEPTED', 'SENT'])
  },
)

test.each([
  ['pacs.008', []],
  ['pacs.004', []],
  ['pacs.002', ['ACSP']],
  ['pacs.002', ['ACSP', 'RJCT']],
  ['pain.009', []],
  ['pain.011', []],
  ['pain.013', []],
  ['camt.055', []],
  ['camt.060', []],
  ['trck.002', []],
  ['reda.014', []],
  ['reda.022', []],
  ['reda.031', []],
])('a %s of %j waits for its answer, and what accepted it stands', async (type, statuses) => {
  const { id, bizMsgIdr } = await sent(type, 3 * 24 * 60, statuses)
  await look()
  expect(await statusOf(id)).toBe('SENT')
  await changeStatuses(sql, [{ id, status: 'ACCEPTED' }])
  await refuse(bizMsgIdr)
  expect(await statusOf(id)).toBe('ACCEPTED')
})

test('a camt.055 that tells of a cancellation awaits nothing, one that asks for it does', async () => {
  const [told, asked] = [await sent('camt.055', 61), await sent('camt.055', 61)]
  await step(told.id, 'charge E1', 'camt.055', 'OUTBOUND', 'DHIP')
  await step(asked.id, 'charge E2', 'camt.055', 'OUTBOUND', 'DHSR')
  await look()
  expect([await statusOf(told.id), await statusOf(asked.id)]).toEqual(['ACCEPTED', 'SENT'])
})

test('what asks of a mandate ends with the pain.012 about it', async () => {
  const request = await sent('pain.009', 10)
  const cancellation = await sent('pain.011', 8)
  await step(request.id, 'mandate R1', 'pain.009', 'OUTBOUND')
  await step(cancellation.id, 'mandate R1', 'pain.011', 'OUTBOUND')
  await look()
  expect(await statusOf(request.id)).toBe('SENT')
  const answer = (status: string) => answered('mandate R1', status)
  await answer('CFDB')
  await look()
  expect(await statusOf(request.id)).toBe('ACCEPTED')
  expect(await statusOf(cancellation.id)).toBe('SENT')
  await answer('CCLD')
  await look()
  expect(await statusOf(cancellation.id)).toBe('ACCEPTED')
})

test.each([
  ['ahead of', 3_000],
  ['behind', -3_000],
])(
  'an answer counts by when it was stored, where its process has a clock %s ours',
  async (way, ms) => {
    const [before, asks] = [`mandate old ${way}`, `mandate new ${way}`]
    // Told before we asked, it is no answer.
    await answered(before, 'CCLD', ms)
    const [old, anew] = [await sent('pain.011', 2), await sent('pain.011', 2)]
    await step(old.id, before, 'pain.011', 'OUTBOUND')
    await step(anew.id, asks, 'pain.011', 'OUTBOUND')
    await answered(asks, 'CCLD', ms)
    await look()
    expect([await statusOf(old.id), await statusOf(anew.id)]).toEqual(['SENT', 'ACCEPTED'])
  },
)

test('what asks for a report ends once that has come', async () => {
  const { id } = await sent('camt.060', 10)
  await sql`insert into spi_reports (id, request_id, report) values (${id}, 'M1', 'entries')`
  await look()
  expect(await statusOf(id)).toBe('SENT')
  await sql`update spi_reports set answered_by = ${Bun.randomUUIDv7()} where id = ${id}`
  await look()
  expect(await statusOf(id)).toBe('ACCEPTED')
})

test('a reply that accepts and refuses ends with the report on what it accepts', async () => {
  const { id, transactions } = await sent('pacs.002', 3, ['RJCT', 'ACSP'])
  const applied = () =>
    sql.begin((tx) =>
      applyRemembered(tx, [{ id, type: 'pacs.002', resourceId: 'x', isCited: false }], {
        emitEvents,
      }),
    )
  await applied()
  expect(await statusOf(id)).toBe('SENT')
  const [, accepted] = transactions
  if (accepted === undefined) throw new Error('there are two')
  const report = [{ ...accepted, status: 'ACCC' }]
  await insertMessages(sql, [
    message({ type: 'pacs.002', transactions: report, ...keysOfOthers() }),
  ])
  await applied()
  expect(await statusOf(id)).toBe('ACCEPTED')
})

test('a walk goes on where it ended', async () => {
  const { id } = await sent('camt.029', 61)
  const { place } = await sql.begin((tx) => endUnawaited(tx, id, { emitEvents }))
  expect(place).toBeUndefined()
  expect(await statusOf(id)).toBe('SENT')
})
