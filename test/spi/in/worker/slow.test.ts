import { afterAll, expect, test } from 'bun:test'
import {
  createPostgresBroker,
  deadLetterHeaders,
  openDeadLetters,
} from '#src/platform/broker/index.ts'
import { openDatabase } from '#src/platform/database/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import { createTestDatabase, quietLogger } from '../../../support/database.ts'
import { lettersIn } from '../../../support/letters.ts'
import { utf8 } from '../../../support/messages.ts'
import { until } from '../../../support/until.ts'
import { fresh, inbound, payment, report, storedWhen, workerOn } from './support.ts'

const whole = await createTestDatabase()
const { dsn } = whole
const impatient = { dsn, connectionsMax: 10, statementTimeoutMs: 500, logger: quietLogger }
const database = { ...openDatabase(impatient), dsn }
const { sql } = whole
// What the tests do themselves is not to be cut off.
const patient = createPostgresBroker({ sql, dsn, logger: quietLogger })
await patient.start()
afterAll(async () => {
  await patient.stop()
  await Promise.all([database.close(), whole.close()])
})

const silent = { ...quietLogger, warn: () => {}, error: () => {} }
const workerWithShortRests = () => {
  const slowBackoff = { backoffFirstMs: 1, backoffMaxMs: 20 }
  return workerOn(database, { logger: silent, slowBackoff })
}

/** Longer than all tries of a slow message take. */
const triedMs = 5_000

/** Messages whose storing takes longer than any statement may. */
const makeSlow = async (when: string): Promise<void> => {
  await sql.unsafe(`
    create or replace function take_long() returns trigger language plpgsql as $$
    begin perform pg_sleep(60); return new; end $$;
    create or replace trigger take_long before insert on spi_messages for each row
      when (${when}) execute function take_long()`)
}

const makeQuick = () => sql`drop trigger take_long on spi_messages`

test('a message that takes longer than a statement may goes to dlq whole, and its partition goes on', async () => {
  const id = fresh.businessId()
  await makeSlow(`new.biz_msg_idr = '${id}'`)
  const worker = await workerWithShortRests()
  const slow = payment({}, { id })
  const key = fresh.endToEndId()
  const others = Array.from({ length: 40 }, () => fresh.resourceId())
  const good = (resourceId: string, ofKey: string) => inbound(payment(), { resourceId, key: ofKey })
  await patient.publish([
    ...others.slice(0, 3).map((one) => good(one, key)),
    inbound(slow, { key }),
    ...others.slice(3, 6).map((one) => good(one, key)),
    ...others.slice(6).map((one) => good(one, fresh.endToEndId())),
  ])
  await worker.feature.start?.()
  for (const one of others) await storedWhen(whole, 'resource_id', one)
  const letters = await lettersIn(sql)
  expect(letters.map(({ headers }) => headers)).toMatchObject([
    { [deadLetterHeaders.errorCode]: 'attempts_exhausted', [deadLetterHeaders.attempt]: '6' },
  ])
  expect(letters[0]?.value).toEqual(utf8(slow))

  await makeQuick()
  await openDeadLetters(sql).retry(letters[0]?.id ?? 0n, commandActor())
  expect(await storedWhen(whole, 'biz_msg_idr', id)).toMatchObject({ status: 'PROCESSED' })
  await worker.stop()
}, 60_000)

test('a message that waits for a lock is waited for, however long', async () => {
  const worker = await workerWithShortRests()
  const resourceId = fresh.resourceId()
  const before = (await lettersIn(sql)).length
  await sql.begin(async (tx) => {
    await tx`lock table spi_messages in access exclusive mode`
    await patient.publish([inbound(payment(), { resourceId })])
    await worker.feature.start?.()
    await Bun.sleep(triedMs)
  })
  await storedWhen(whole, 'resource_id', resourceId)
  await worker.stop()
  expect(await lettersIn(sql)).toHaveLength(before)
})

test('while the database is too slow for all, whatever is received stays in its queue', async () => {
  const worker = await workerWithShortRests()
  const before = (await lettersIn(sql)).length
  const many = Array.from({ length: 20 }, () => fresh.resourceId())
  await makeSlow('true')
  await patient.publish(
    many.map((resourceId) => inbound(payment(), { resourceId, key: fresh.endToEndId() })),
  )
  await worker.feature.start?.()
  await Bun.sleep(triedMs)
  expect(await lettersIn(sql)).toHaveLength(before)
  await makeQuick()
  for (const one of many) await storedWhen(whole, 'resource_id', one)
  await worker.stop()
  expect(await lettersIn(sql)).toHaveLength(before)
}, 60_000)

test('a message that is alone stays, too, and so do all of a type that the database is too slow for', async () => {
  const worker = await workerWithShortRests()
  const before = (await lettersIn(sql)).length
  const slow = [fresh.resourceId(), fresh.resourceId()]
  const others = Array.from({ length: 20 }, () => fresh.resourceId())
  await makeSlow(`new.type = 'pacs.002'`)
  // Behind them in their own partitions the others would wait, too.
  const answer = (resourceId: string) =>
    inbound(report([{ endToEndId: fresh.endToEndId(), status: 'ACSC' }]), {
      resourceId,
      channel: 'SECONDARY',
    })
  await patient.publish(slow.slice(0, 1).map(answer))
  await worker.feature.start?.()
  await Bun.sleep(triedMs)
  await patient.publish([
    ...slow.slice(1).map(answer),
    ...others.map((resourceId) => inbound(payment(), { resourceId, key: fresh.endToEndId() })),
  ])
  for (const one of others) await storedWhen(whole, 'resource_id', one)
  await Bun.sleep(triedMs)
  expect(await lettersIn(sql)).toHaveLength(before)
  await makeQuick()
  for (const one of slow) await storedWhen(whole, 'resource_id', one)
  await worker.stop()
}, 60_000)

test('several that take too long go to dlq though nothing else is received', async () => {
  const worker = await workerWithShortRests()
  const before = (await lettersIn(sql)).length
  const stored = await sql`select from spi_messages`
  const ids = Array.from({ length: 3 }, () => fresh.businessId())
  await makeSlow(`new.biz_msg_idr in (${ids.map((id) => `'${id}'`).join()})`)
  await patient.publish(ids.map((id) => inbound(payment({}, { id }), { key: fresh.endToEndId() })))
  await worker.feature.start?.()
  await until(async () => (await lettersIn(sql)).length === before + ids.length)
  await makeQuick()
  expect(await sql`select from spi_messages`).toHaveLength(stored.length)
  await worker.stop()
}, 60_000)
