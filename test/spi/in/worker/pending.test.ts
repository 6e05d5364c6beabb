import { expect, test } from 'bun:test'
import {
  applyRemembered,
  changeStatuses,
  insertMessages,
  recordChanges,
  rememberAnswers,
} from '#src/spi/messages/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { until } from '../../../support/until.ts'
import { subscribe } from '../../../support/webhooks.ts'
import { message } from '../../messages/support.ts'
import {
  fresh,
  inbound,
  ispb,
  payment,
  queued,
  refusal,
  report,
  runningWorker,
  storedWhen,
  workerOn,
} from './support.ts'

const database = await createTestDatabase()
const { sql } = database
await subscribe(sql, ['message.status'])
const worker = await runningWorker(database)

const pending = async (reference: string): Promise<number> =>
  (await sql`select from spi_pending_answers where reference = ${reference}`).length

test('an admi.002 that cites a PI-ResourceId before it is recorded takes effect when it is', async () => {
  const sent = await queued(database, 'pacs.008', [{ endToEndId: fresh.endToEndId() }])
  const resourceId = fresh.resourceId()
  const own = { resourceId: fresh.resourceId() }
  await worker.broker.publish([inbound(refusal(resourceId, 'bad character'), own)])
  const { warnings } = await storedWhen(database, 'resource_id', own.resourceId)
  expect(warnings.map(({ message }) => message)).toEqual(['answers a message that is not known'])
  expect(await pending(resourceId)).toBe(1)
  expect((await storedWhen(database, 'id', sent.id)).status).toBe('QUEUED')
  await sql.begin(async (tx) => {
    const { cited } = await recordChanges(tx, [{ id: sent.id, status: 'SENT', resourceId }])
    const isCited = cited.has(sent.id)
    await applyRemembered(tx, [{ id: sent.id, type: 'pacs.008', resourceId, isCited }], {
      emitEvents,
    })
  })
  const refused = await storedWhen(database, 'id', sent.id, ({ status }) => status === 'REJECTED')
  expect(refused.details).toEqual([null, null, 'bad character'])
  expect(await pending(resourceId)).toBe(0)
  const events = await sql<{ data: string }[]>`
    select data from webhook_events where type = 'message.status'`
  expect(events.map(({ data }) => JSON.parse(data))).toMatchObject([
    { message_id: sent.id, status: 'REJECTED' },
  ])
})

test('an answer remembered after its PI-ResourceId was recorded takes effect at once', async () => {
  const { id } = await queued(database, 'pacs.008', [{ endToEndId: fresh.endToEndId() }])
  const resourceId = fresh.resourceId()
  await changeStatuses(sql, [{ id, status: 'SENT', resourceId }])
  const answer = { messageId: Bun.randomUUIDv7(), outcome: 'REJECTED', reason: 'late' } as const
  await sql.begin((tx) =>
    rememberAnswers(tx, [{ ...answer, reference: resourceId }], { emitEvents }),
  )
  expect((await storedWhen(database, 'id', id)).status).toBe('REJECTED')
  expect(await pending(resourceId)).toBe(0)
})

/** A worker that starts looks at once for what others have left. */
const looked = async (work: () => Promise<unknown>): Promise<void> => {
  await sql`delete from job_leases where name = 'remembered answers'`
  const other = await workerOn(database)
  await other.feature.start?.()
  await work()
  await other.stop()
}

test('answer and record that commit at the same moment are joined by the rare look', async () => {
  const { id } = await queued(database, 'pacs.008', [{ endToEndId: fresh.endToEndId() }])
  const resourceId = fresh.resourceId()
  const answered = Promise.withResolvers<void>()
  const recorded = Promise.withResolvers<void>()
  const answer = { messageId: Bun.randomUUIDv7(), outcome: 'REJECTED', reason: 'crossed' } as const
  // Each looks before the other has committed.
  await Promise.all([
    sql.begin(async (tx) => {
      await rememberAnswers(tx, [{ ...answer, reference: resourceId }], { emitEvents })
      answered.resolve()
      await recorded.promise
    }),
    sql.begin(async (tx) => {
      const { cited } = await recordChanges(tx, [{ id, status: 'SENT', resourceId }])
      await answered.promise
      const isCited = cited.has(id)
      await applyRemembered(tx, [{ id, type: 'pacs.008', resourceId, isCited }], { emitEvents })
      recorded.resolve()
    }),
  ])
  expect((await storedWhen(database, 'id', id)).status).toBe('SENT')
  await looked(() => storedWhen(database, 'id', id, ({ status }) => status === 'REJECTED'))
  expect(await pending(resourceId)).toBe(0)
})

test('one that cites nothing of ours is forgotten after two days, not before', async () => {
  const refer = async (age: string): Promise<string> => {
    const reference = fresh.resourceId()
    await sql`
      insert into spi_pending_answers (message_id, reference, outcome, created_at)
      values (${Bun.randomUUIDv7()}, ${reference}, 'REJECTED', now() - ${age}::interval)`
    return reference
  }
  const young = await refer('47 hours 59 minutes')
  const old = await refer('48 hours 1 minute')
  await looked(() => until(async () => (await pending(old)) === 0))
  expect([await pending(young), await pending(old)]).toEqual([1, 0])
})

const timedOut = { status: 'RJCT', reason: 'AB03' } as const

/** Records that it was sent, as every way of sending does. */
const recordSent = async (id: string, type = 'pacs.002', on = sql): Promise<void> => {
  const resourceId = fresh.resourceId()
  await on.begin(async (tx) => {
    const { cited } = await recordChanges(tx, [{ id, status: 'SENT', resourceId }])
    const isCited = cited.has(id)
    await applyRemembered(tx, [{ id, type, resourceId, isCited }], { emitEvents })
  })
}

test.each([
  ['ACSP', 'REJECTED', 'E'],
  ['RJCT', 'ACCEPTED', 'E'],
  ['ACSP', 'REJECTED', 'D'],
])(
  'a reply of %s that is made after the report on it is %s when it is sent (%s)',
  async (own, status, kind) => {
    const endToEndId = fresh.endToEndId()
    const instructionId = kind === 'E' ? endToEndId : fresh.returnId()
    const of = { endToEndId, instructionId }
    const resourceId = fresh.resourceId()
    await worker.broker.publish([inbound(report([{ ...of, ...timedOut }]), { resourceId })])
    await storedWhen(database, 'resource_id', resourceId)
    const { id } = await queued(database, 'pacs.002', [{ ...of, status: own }])
    await recordSent(id)
    const reply = await storedWhen(database, 'id', id)
    expect(reply.history).toEqual(['QUEUED', 'SENT', status])
    expect(reply.details).toEqual([null, null, 'AB03'])
  },
)

test('a reply of several, reported on before it is made, ends by each of its payments', async () => {
  const all = [{ endToEndId: fresh.endToEndId() }, { endToEndId: fresh.endToEndId() }].map(
    (one) => ({ ...one, instructionId: one.endToEndId, status: 'ACSP' }),
  )
  const receive = async (xml: string): Promise<void> => {
    const resourceId = fresh.resourceId()
    await worker.broker.publish([inbound(xml, { resourceId })])
    await storedWhen(database, 'resource_id', resourceId)
  }
  await receive(report([{ ...all[1]!, ...timedOut }]))
  const { id } = await queued(database, 'pacs.002', all)
  await recordSent(id)
  expect((await storedWhen(database, 'id', id)).status).toBe('SENT')
  await receive(report([{ ...all[0]!, status: 'ACCC' }]))
  expect(await storedWhen(database, 'id', id)).toMatchObject({
    status: 'PARTIALLY_ACCEPTED',
    details: [null, null, '1 of 2 refused: AB03'],
  })
})

test('a report on a payment ends no answer to a charge that shares its id', async () => {
  const endToEndId = fresh.endToEndId()
  const resourceId = fresh.resourceId()
  const xml = report([{ endToEndId, ...timedOut }])
  await worker.broker.publish([inbound(xml, { resourceId })])
  await storedWhen(database, 'resource_id', resourceId)
  const { id } = await queued(database, 'pain.014', [{ endToEndId, instructionId: endToEndId }])
  await recordSent(id, 'pain.014')
  expect((await storedWhen(database, 'id', id)).status).toBe('SENT')
})

test('reply and report that commit at the same moment are joined by the rare look', async () => {
  const endToEndId = fresh.endToEndId()
  const of = { endToEndId, instructionId: endToEndId, status: 'ACSP' }
  const resourceId = fresh.resourceId()
  await worker.broker.publish([inbound(report([{ ...of, ...timedOut }]), { resourceId })])
  await storedWhen(database, 'resource_id', resourceId)
  const { id } = await queued(database, 'pacs.002', [of])
  // As a sender records it that does not see the report yet.
  await changeStatuses(sql, [{ id, status: 'SENT', resourceId: fresh.resourceId() }])
  await looked(() => storedWhen(database, 'id', id, ({ status }) => status === 'REJECTED'))
})

test.each([
  ['ACSP', 'ACCC', undefined, 'ACCEPTED'],
  ['ACSP', 'RJCT', 'AB03', 'REJECTED'],
  ['RJCT', 'RJCT', 'AB03', 'ACCEPTED'],
  ['RJCT', 'ACCC', undefined, 'REJECTED'],
])(
  'a second reply of %s to a payment that ended %s (%s) is %s, whenever it is sent',
  async (own, status, reason, ends) => {
    const all = Array.from({ length: 36 }, fresh.endToEndId)
    const reports = all.map((endToEndId) => ({
      endToEndId,
      status,
      ...(reason === undefined ? {} : { reason }),
    }))
    const reply = async (endToEndId: string): Promise<string> => {
      const of = { endToEndId, instructionId: endToEndId, status: own }
      return (await queued(database, 'pacs.002', [of])).id
    }
    for (const endToEndId of all) await recordSent(await reply(endToEndId))
    // Some second replies are queued before the report comes and sent after it, the others are made after it.
    const early = await Promise.all(all.slice(0, 12).map(reply))
    const resourceId = fresh.resourceId()
    await worker.broker.publish([inbound(report(reports), { resourceId })])
    await storedWhen(database, 'resource_id', resourceId)
    const late = await Promise.all(all.slice(12).map(reply))
    await Promise.all([...early, ...late].map((id) => recordSent(id)))
    const [left] = await sql<{ statuses: string[] }[]>`
      select to_jsonb(array_agg(distinct status)) as statuses from spi_messages
      where direction = 'OUTBOUND' and end_to_end_id in ${sql(all)}`
    expect(left?.statuses).toEqual([ends])
  },
)

test('payments and their AB03 that wait together leave no reply of the gateway at SENT', async () => {
  const other = await createTestDatabase()
  const accepting = await workerOn(other, { autoAccept: true })
  const ids = Array.from({ length: 36 }, fresh.endToEndId)
  await accepting.broker.publish(
    ids.flatMap((endToEndId) => [
      inbound(payment({ endToEndId })),
      inbound(report([{ endToEndId, ...timedOut }])),
    ]),
  )
  await accepting.feature.start?.()
  const replies = () =>
    other.sql<{ id: string }[]>`select id from spi_messages where direction = 'OUTBOUND'`
  await until(async () => (await replies()).length === ids.length)
  for (const { id } of await replies()) await recordSent(id, 'pacs.002', other.sql)
  const [left] = await other.sql<{ statuses: string[] }[]>`
    select to_jsonb(array_agg(distinct status)) as statuses from spi_messages
    where direction = 'OUTBOUND'`
  expect(left?.statuses).toEqual(['REJECTED'])
  await accepting.stop()
  await other.close()
})

test('one look ends all that waits for nothing, however many that are', async () => {
  const other = await createTestDatabase()
  const count = 6_000
  const hoursAgoMs = Date.now() - 2 * 3_600_000
  const sent = (n: number) => ({
    ...message({ type: 'camt.029', direction: 'OUTBOUND', status: 'SENT' }),
    id: Bun.randomUUIDv7('hex', hoursAgoMs + n),
    bizMsgIdr: fresh.businessId(ispb),
    resourceId: fresh.resourceId(),
    transactions: [],
  })
  for (let n = 0; n < count; n += 500) {
    await insertMessages(
      other.sql,
      Array.from({ length: 500 }, (_, one) => sent(n + one)),
    )
  }
  const worker = await workerOn(other)
  await worker.feature.start?.()
  const left = () => other.sql`select from spi_messages where status = 'SENT' limit 1`
  await until(async () => (await left()).length === 0)
  await worker.stop()
  await other.close()
}, 60_000)
