import { expect, test } from 'bun:test'
import { knownVersions, messageTypes, messageVocabulary, ourCatalogue } from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { deadLetterHeaders, valueBytesMax } from '#src/platform/broker/index.ts'
import { textArray } from '#src/platform/database/index.ts'
import { inboundXmlOf } from '#src/spi/in/pull/index.ts'
import type { ReceivedPayment } from '#src/spi/in/worker/received.ts'
import { inboundMessageOf } from '../../../../src/spi/in/pull/message.ts'
import { warningsMax } from '../../../../src/spi/in/worker/validators/index.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { generateMessage } from '../../../support/generated-messages.ts'
import { lettersIn } from '../../../support/letters.ts'
import { utf8 } from '../../../support/messages.ts'
import { createRandom, mutate } from '../../../support/mutations.ts'
import { until } from '../../../support/until.ts'
import { notification, withEntries } from '../../reports/support.ts'
import { fresh, inbound, payment, report, runningWorker, storedWhen, workerOn } from './support.ts'

/** What no interface should send, and one may all the same. */

const database = await createTestDatabase()
const { sql } = database
const worker = await runningWorker(database)
const letters = () => lettersIn(sql)

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

/** The largest that is stored, by the eighteen digits that the schema allows. */
const largest = '92233720368547758'
const largestCents = BigInt(`${largest}00`)
const tooLarge = ['92233720368547758.1', '999999999999999999']

test('a payment of more than is stored has no amount, and the others of its message count', async () => {
  const told: (readonly (readonly [string, bigint])[])[] = []
  const own = await createTestDatabase()
  const receivables = {
    receive: async (_: unknown, payments: readonly ReceivedPayment[]) => {
      told.push(payments.map(({ endToEndId, amountCents }) => [endToEndId, amountCents] as const))
      return new Map()
    },
    pending: async () => [],
    open: async () => ({ ids: [], next: undefined }),
    lock: async () => {},
    end: async () => {},
  }
  const other = await workerOn(own, { receivables })
  await other.feature.start?.()
  try {
    const all = [largest, ...tooLarge].map((amount) => ({
      amount,
      endToEndId: fresh.endToEndId(),
    }))
    const resourceId = fresh.resourceId()
    await other.broker.publish([inbound(payment(all), { resourceId })])
    expect(await storedWhen(own, 'resource_id', resourceId)).toMatchObject({ status: 'PROCESSED' })
    const rows = await own.sql`
      select end_to_end_id as id, amount_cents as cents from spi_transactions order by position`
    expect(rows.map(({ id, cents }) => [id, cents])).toEqual(
      all.map(({ endToEndId, amount }) => [endToEndId, amount === largest ? largestCents : null]),
    )
    expect(told).toEqual([[[all[0]?.endToEndId ?? '', largestCents]]])
  } finally {
    await other.stop()
    await own.close()
  }
})

test('an entry of more than is stored is none, and the others of its report count', async () => {
  const all = [largest, ...tooLarge].map((amount) => ({ amount, endToEndId: fresh.endToEndId() }))
  const entries = all.map(({ amount, endToEndId }) =>
    Buffer.from(
      Buffer.from(notification({ endToEndId, cents: 123 }))
        .toString()
        .replaceAll('1.23', amount),
    ),
  )
  const resourceId = fresh.resourceId()
  await worker.broker.publish([inbound(withEntries(entries), { resourceId })])
  expect(await storedWhen(database, 'resource_id', resourceId)).toMatchObject({
    status: 'PROCESSED',
  })
  const rows = await sql`select reference, amount_cents as cents from spi_entries`
  expect(rows.map(({ reference, cents }) => [reference, cents])).toEqual([
    [all[0]?.endToEndId, largestCents],
  ])
})

test('thousands of answers to nothing are told of a number of times', async () => {
  const unknown = () => ({ endToEndId: fresh.endToEndId(), status: 'ACSC' })
  const warned = async (answers: number) => {
    const resourceId = fresh.resourceId()
    const xml = report(Array.from({ length: answers }, unknown))
    await worker.broker.publish([inbound(xml, { resourceId })])
    const { warnings } = await storedWhen(database, 'resource_id', resourceId)
    return warnings.filter(({ rule }) => rule === 'Answer').length
  }
  expect(await warned(warningsMax)).toBe(warningsMax)
  expect(await warned(warningsMax + 1)).toBe(warningsMax)
  expect(await warned(3_000)).toBe(warningsMax)
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
  await until(async () => (await letters()).length === 1)
  const { value = utf8(''), headers = {} } = (await letters())[0] ?? {}
  expect(Buffer.compare(inboundXmlOf({ value, headers }), xml)).toBe(0)
})

test('another message under the ids of one that is known is a dead letter; the same one again is none', async () => {
  const before = (await letters()).length
  const resourceId = fresh.resourceId()
  const id = fresh.businessId()
  const first = inbound(payment({}, { id }), { resourceId, key: 'k' })
  const sameResource = inbound(payment(), { resourceId, key: 'k' })
  const sameBusinessId = inbound(payment({}, { id }), { key: 'k' })
  const again = { ...first, headers: { ...first.headers, 'resource-id': fresh.resourceId() } }
  // In one batch and later.
  await worker.broker.publish([first, sameResource, first])
  await storedWhen(database, 'resource_id', resourceId)
  await worker.broker.publish([sameBusinessId, again, first])
  await until(async () => (await letters()).length === before + 2)
  const last = fresh.resourceId()
  await worker.broker.publish([inbound(payment(), { resourceId: last, key: 'k' })])
  await storedWhen(database, 'resource_id', last)
  const added = (await letters()).slice(before)
  const codes = added.map(({ headers }) => headers[deadLetterHeaders.errorCode])
  expect(codes).toEqual(['ids_of_another_message', 'ids_of_another_message'])
  const values = added.map(({ value }) => Buffer.from(value).toString())
  const expected = [sameResource, sameBusinessId].map(({ value }) => Buffer.from(value).toString())
  expect(values).toEqual(expected)
})

test('a payment behind one of its batch that is not stored is stored itself', async () => {
  const resourceId = fresh.resourceId()
  const id = fresh.businessId()
  const lone = fresh.resourceId()
  const before = (await letters()).length
  await worker.broker.publish([inbound(payment(), { resourceId, key: 'k' })])
  await storedWhen(database, 'resource_id', resourceId)
  const misnamed = inbound(payment({}, { id }), { resourceId, key: 'k' })
  const behind = inbound(payment({}, { id }), { resourceId: lone, key: 'k' })
  await worker.broker.publish([misnamed, behind, behind])
  expect(await storedWhen(database, 'resource_id', lone)).toMatchObject({ status: 'PROCESSED' })
  await until(async () => (await letters()).length === before + 1)
  expect((await letters()).at(-1)?.value).toEqual(misnamed.value)
})

test('what was a dead letter for the PI-ResourceId of another is stored when it is retried', async () => {
  const before = (await letters()).length
  const resourceId = fresh.resourceId()
  const id = fresh.businessId()
  await worker.broker.publish([inbound(payment(), { resourceId, key: 'k' })])
  await storedWhen(database, 'resource_id', resourceId)
  const misnamed = inbound(payment({}, { id }), { resourceId, key: 'k' })
  await worker.broker.publish([misnamed])
  await until(async () => (await letters()).length === before + 1)
  await worker.broker.publish([
    { ...misnamed, headers: { ...misnamed.headers, [deadLetterHeaders.retried]: 'true' } },
  ])
  expect(await storedWhen(database, 'biz_msg_idr', id)).toMatchObject({ status: 'PROCESSED' })
})

test('whatever a program with a bug sends of any type is PROCESSED or FAILED, and none is given up', async () => {
  const random = createRandom(7)
  const scanner = createXmlScanner({ vocabulary: messageVocabulary })
  const before = (await letters()).length
  const messages = messageTypes.flatMap((type) => {
    const schema = ourCatalogue.schemaOf(type, knownVersions(type).at(-1) ?? '')
    if (schema === undefined) throw new Error(`no schema of ${type}`)
    return Array.from({ length: 40 }, () => {
      const whole = scanner.scan(utf8(generateMessage(schema, random)))
      const id = `<BizMsgIdr>${fresh.businessId()}<`
      return inbound(mutate(whole, random).replace(/<BizMsgIdr>[^<]*</, id))
    })
  })
  await worker.broker.publish(messages)
  const resourceIds = messages.map(({ headers = {} }) => headers['resource-id'] ?? '')
  const storedOf = async () => {
    const rows = await sql<{ status: string; count: number }[]>`
      select status, count(*)::int as count from spi_messages
      where resource_id = any(${textArray(resourceIds)}::text::text[]) group by status`
    return new Map(rows.map(({ status, count }) => [status, count]))
  }
  let found = await storedOf()
  const sum = (): number => [...found.values()].reduce((total, count) => total + count, 0)
  const endMs = performance.now() + 40_000
  while (sum() < messages.length && performance.now() < endMs) found = await storedOf()
  expect([...found.keys()].sort()).toEqual(['FAILED', 'PROCESSED'])
  expect(sum()).toBe(messages.length)
  const failed = found.get('FAILED') ?? 0
  await until(async () => (await letters()).length === before + failed)
  const codes = (await letters()).map(({ headers }) => headers[deadLetterHeaders.errorCode])
  expect(codes).not.toContain('attempts_exhausted')
}, 60_000)

test('a report that names one payment thousands of times is compared as fast as another', async () => {
  const endToEndId = fresh.endToEndId()
  const paid = fresh.resourceId()
  await worker.broker.publish([inbound(payment({ endToEndId }), { resourceId: paid })])
  await storedWhen(database, 'resource_id', paid)
  const entry = Buffer.from(notification({ endToEndId })).toString()
  const named = Buffer.from(entry.replace('<Refs>', `<Refs><InstrId>${endToEndId}</InstrId>`))
  const entries = Array.from({ length: 3_000 }, () => named)
  const resourceId = fresh.resourceId()
  await worker.broker.publish([inbound(withEntries(entries), { resourceId })])
  expect(await storedWhen(database, 'resource_id', resourceId)).toMatchObject({
    status: 'PROCESSED',
  })
  const rows = await sql`
    select outcome, count(*)::int as count from spi_entries
    where reference = ${endToEndId} group by outcome`
  expect(rows.map((row) => ({ ...row }))).toEqual([{ outcome: 'matched', count: 3_000 }])
})
