import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Delivery, topics, valueBytesMax } from '#src/platform/broker/index.ts'
import { inboundXmlOf } from '#src/spi/pull/index.ts'
import { inboundMessageOf } from '../../../src/spi/pull/message.ts'
import { until } from '../../contract/broker.contract.ts'
import { createTestDatabase } from '../../support/database.ts'
import { utf8 } from '../../support/messages.ts'
import { fresh, inbound, payment, storedWhen, workerOn } from './support.ts'

/** What no interface should send, and one may all the same. */

const database = await createTestDatabase()
const { sql } = database
const worker = await workerOn(database)
const letters: Delivery[] = []

beforeAll(async () => {
  await worker.feature.start?.()
  worker.broker.consume({
    topic: topics.deadLetters,
    group: 'test',
    batchSizeMax: 10,
    handler: async (batch) => {
      letters.push(...batch)
    },
  })
})
afterAll(async () => {
  await worker.stop()
  await database.close()
})

test('a message without PI-ResourceId is stored with a warning, and known again by its BizMsgIdr', async () => {
  const id = fresh.businessId()
  const xml = utf8(payment({}, { id }))
  const message = inboundMessageOf({ resourceId: undefined, xml }, 'PRIMARY', new Date())
  await worker.broker.publish([message, message])
  const found = await storedWhen(database, 'biz_msg_idr', id)
  expect(found).toMatchObject({ status: 'PROCESSED', warnings: [{ rule: 'PI-ResourceId' }] })
  const after = fresh.resourceId()
  await worker.broker.publish([
    inbound(payment(), { resourceId: after, key: message.key ?? 'none' }),
  ])
  expect((await storedWhen(database, 'resource_id', after)).warnings).toEqual([])
  const [row] = await sql`select count(*)::int as count from spi_messages where biz_msg_idr = ${id}`
  expect(row?.['count']).toBe(1)
})

test('a message larger than the broker takes is FAILED, and every byte of it is kept', async () => {
  const resourceId = fresh.resourceId()
  const xml = utf8(`${payment()}${' '.repeat(valueBytesMax)}`)
  await worker.broker.publish([inboundMessageOf({ resourceId, xml }, 'PRIMARY', new Date())])
  const found = await storedWhen(database, 'resource_id', resourceId)
  expect(found).toMatchObject({ status: 'FAILED', errorCode: 'document_too_large' })
  const [row] = await sql<{ xml: Uint8Array }[]>`
    select xml from spi_messages where id = ${found.id}`
  expect(Buffer.compare(Bun.zstdDecompressSync(row?.xml ?? xml), xml)).toBe(0)
  await until(() => letters.length === 1)
  const { value = utf8(''), headers = {} } = letters[0] ?? {}
  expect(Buffer.compare(inboundXmlOf({ value, headers }), xml)).toBe(0)
})
