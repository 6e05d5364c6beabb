/** A payment of unknown outcome of which a report tells that it was booked. */
import { expect, test } from 'bun:test'
import { endBooked, firstPlace } from '#src/spi/messages/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { subscribe } from '../../../support/webhooks.ts'
import { notification } from '../../reports/support.ts'
import { fresh, queued, report, runningWorker, storedWhen, tellingOf, workerOn } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
await subscribe(sql)
const worker = await runningWorker(database)
const tell = tellingOf(database, worker)

type Entry = Parameters<typeof notification>[0]
const booked = (entry: Entry) => tell(Buffer.from(notification(entry)).toString())
const look = () => endBooked(sql, firstPlace, { emitEvents })
const stands = (id: string) => storedWhen(database, 'id', id)

const unknown = async (type: string, ...parts: Parameters<typeof queued>[2]) => {
  const { id } = await queued(database, type, parts)
  await sql`update spi_messages set status = 'UNKNOWN' where id = ${id}`
  return id
}

const unknownPayment = async () => {
  const endToEndId = fresh.endToEndId()
  return { endToEndId, id: await unknown('pacs.008', { endToEndId }) }
}

test('has settled', async () => {
  const { id, endToEndId } = await unknownPayment()
  expect((await look()).ended).toEqual([])
  await booked({ endToEndId, direction: 'DBIT' })
  expect((await look()).ended).toMatchObject([{ change: { id, status: 'ACCEPTED' } }])
  expect(await stands(id)).toMatchObject({
    status: 'ACCEPTED',
    errorCode: null,
    statuses: ['ACSC'],
    details: [null, 'booked'],
  })
  const events = await sql<{ data: string }[]>`
    select data from webhook_events where type = 'message.status' and subject = ${endToEndId}`
  expect(events.map(({ data }) => JSON.parse(data))).toMatchObject([
    { status: 'ACCEPTED', detail: 'booked' },
  ])
  expect((await look()).ended).toEqual([])
  // Its answer says the same.
  await tell(report([{ endToEndId, status: 'ACSC' }]))
  expect(await stands(id)).toMatchObject({ history: ['QUEUED', 'ACCEPTED'] })
})

test('is ended by the worker itself', async () => {
  const { id, endToEndId } = await unknownPayment()
  await booked({ endToEndId, direction: 'DBIT' })
  await sql`delete from job_leases where name = 'remembered answers'`
  const other = await workerOn(database)
  await other.feature.start?.()
  await storedWhen(database, 'id', id, ({ status }) => status === 'ACCEPTED')
  await other.stop()
})

test.each<[string, Omit<Entry, 'endToEndId'>]>([
  ['another amount', { direction: 'DBIT', cents: 1_051 }],
  ['a credit', { direction: 'CRDT' }],
  ['what is for information', { direction: 'DBIT', status: 'INFO' }],
  ['that there is none', { direction: 'DBIT', isMissing: true }],
])('is not ended by %s', async (_, entry) => {
  const { id, endToEndId } = await unknownPayment()
  await booked({ endToEndId, ...entry })
  expect((await look()).ended).toEqual([])
  expect(await stands(id)).toMatchObject({ status: 'UNKNOWN', statuses: [null] })
})

test('is not ended by what was told otherwise later', async () => {
  const { id, endToEndId } = await unknownPayment()
  await booked({ endToEndId, direction: 'DBIT' })
  await booked({ endToEndId, direction: 'DBIT', cents: 1 })
  expect((await look()).ended).toEqual([])
  expect(await stands(id)).toMatchObject({ status: 'UNKNOWN' })
})

test('ends its part of a message, which waits for the others', async () => {
  const [one, two, three] = [fresh.endToEndId(), fresh.endToEndId(), fresh.endToEndId()]
  const parts = [one, two, three].map((endToEndId) => ({ endToEndId }))
  const id = await unknown('pacs.008', ...parts)
  await tell(report([{ endToEndId: one, status: 'RJCT', reason: 'AC03' }]))
  await booked({ endToEndId: two, direction: 'DBIT' })
  expect((await look()).ended).toEqual([])
  const waiting = { status: 'UNKNOWN', statuses: ['RJCT', 'ACSC', null], history: ['QUEUED'] }
  expect(await stands(id)).toMatchObject(waiting)
  await booked({ endToEndId: three, direction: 'DBIT' })
  expect((await look()).ended).toHaveLength(1)
  expect(await stands(id)).toMatchObject({
    status: 'PARTIALLY_ACCEPTED',
    statuses: ['RJCT', 'ACSC', 'ACSC'],
    refusals: ['AC03', null, null],
    details: [null, '1 of 3 refused: AC03; booked'],
  })
})

test('ends its part of a message, which the answer of the other ends', async () => {
  const [one, two] = [fresh.endToEndId(), fresh.endToEndId()]
  const id = await unknown('pacs.008', { endToEndId: one }, { endToEndId: two })
  await booked({ endToEndId: one, direction: 'DBIT' })
  await look()
  await tell(report([{ endToEndId: two, status: 'RJCT', reason: 'AC03' }]))
  expect(await stands(id)).toMatchObject({
    status: 'PARTIALLY_ACCEPTED',
    statuses: ['ACSC', 'RJCT'],
    details: [null, '1 of 2 refused: AC03'],
  })
})

test('is a return, too, by the id of the return', async () => {
  const [endToEndId, returnId] = [fresh.endToEndId(), fresh.returnId()]
  const id = await unknown('pacs.004', { endToEndId, instructionId: returnId })
  await booked({ endToEndId, direction: 'DBIT' })
  expect((await look()).ended).toEqual([])
  await booked({ endToEndId, returnId, direction: 'DBIT' })
  expect((await look()).ended).toHaveLength(1)
  expect(await stands(id)).toMatchObject({ status: 'ACCEPTED', statuses: ['ACSC'] })
  const events = await sql`
    select from webhook_events where type = 'pix.refund.settled' and subject = ${endToEndId}`
  expect(events).toHaveLength(1)
})

test('is one of several returns: it ends for its receiver at once, and its event comes with the message', async () => {
  const parts = [1, 2].map(() => ({
    endToEndId: fresh.endToEndId(),
    instructionId: fresh.returnId(),
  }))
  const [one = parts[0], two = parts[0]] = parts
  const id = await unknown('pacs.004', ...parts)
  const told: unknown[] = []
  const receivables = {
    end: async (_: unknown, ends: readonly unknown[]) => void told.push(...ends),
  }
  const lookAt = () => endBooked(sql, firstPlace, { emitEvents, receivables })
  const end = (part: typeof one, returnId = part?.instructionId ?? '') =>
    booked({ endToEndId: part?.endToEndId ?? '', returnId, direction: 'DBIT' })
  await end(one)
  await lookAt()
  expect(told).toMatchObject([{ returnId: one?.instructionId, isSettled: true }])
  await lookAt()
  expect(told).toHaveLength(1)
  await end(two)
  expect((await lookAt()).ended).toHaveLength(1)
  expect(told).toMatchObject([{}, { returnId: two?.instructionId, isSettled: true }])
  expect(await stands(id)).toMatchObject({ status: 'ACCEPTED', statuses: ['ACSC', 'ACSC'] })
})
