import { afterAll, beforeAll, expect, test } from 'bun:test'
import { changeStatuses } from '#src/spi/messages/index.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { subscribe } from '../../../support/webhooks.ts'
import { fresh, inbound, queued, refusal, storedWhen, workerOn } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
await subscribe(sql, ['message.status'])
const worker = await workerOn(database)
beforeAll(() => worker.feature.start?.())
afterAll(async () => {
  await worker.stop()
  await database.close()
})

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
  await changeStatuses(sql, [{ id: sent.id, status: 'SENT', resourceId }])
  const refused = await storedWhen(database, 'id', sent.id, ({ status }) => status === 'REJECTED')
  expect(refused.details).toEqual([null, null, 'bad character'])
  expect(await pending(resourceId)).toBe(0)
  const events = await sql<{ data: string }[]>`
    select data from webhook_events where type = 'message.status'`
  expect(events.map(({ data }) => JSON.parse(data))).toMatchObject([
    { message_id: sent.id, status: 'REJECTED' },
  ])
})

test('one that cites nothing of ours is forgotten after two days, not before', async () => {
  const refer = async (age: string): Promise<string> => {
    const reference = fresh.resourceId()
    const own = { resourceId: fresh.resourceId() }
    await worker.broker.publish([inbound(refusal(reference), own)])
    await storedWhen(database, 'resource_id', own.resourceId)
    await sql`
      update spi_pending_answers set created_at = now() - ${age}::interval
      where reference = ${reference}`
    return reference
  }
  const young = await refer('47 hours 59 minutes')
  const old = await refer('48 hours 1 minute')
  const endMs = performance.now() + 40_000
  while ((await pending(old)) > 0 && performance.now() < endMs) await Bun.sleep(20)
  expect([await pending(young), await pending(old)]).toEqual([1, 0])
})
