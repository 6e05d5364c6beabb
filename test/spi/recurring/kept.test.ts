/** What a rebuild leaves as it was known, since some of what told of it is not kept any more. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ensurePartitions } from '#src/platform/database/index.ts'
import { rebuildRecurring } from '#src/spi/index.ts'
import { insertMessages } from '#src/spi/messages/index.ts'
import { forgetMessages, messageTables } from '#src/spi/messages/retention.ts'
import { factsIn } from '#src/spi/recurring/facts.ts'
import { applyFacts } from '#src/spi/recurring/project.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { message } from '../messages/support.ts'
import { mandateAnswer, mandateCancellation, mandateRequest, newMandateId } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

const february = new Date('2021-02-15T12:00:00Z')
const march = new Date('2021-03-15T12:00:00Z')

beforeAll(async () => {
  for (const table of messageTables) {
    for (const at of [february, march]) await ensurePartitions(sql, table, 0, at)
  }
  // What is open keeps its month, and a later one goes before it.
  await insertMessages(sql, [message({ direction: 'OUTBOUND', status: 'UNKNOWN' }, february)])
})

const receive = async (type: string, text: string, at: Date): Promise<void> => {
  const xml = Buffer.from(text)
  const received = message({ type, direction: 'INBOUND', status: 'PROCESSED', xml }, at)
  await insertMessages(sql, [received])
  const { id: messageId } = received
  const stated = factsIn(type, xml).map(
    (fact) => ({ fact, messageId, direction: 'INBOUND' }) as const,
  )
  await sql.begin((tx) => applyFacts(tx, stated))
}

const forget = () =>
  forgetMessages({
    sql,
    days: 365,
    archiveDirectory: undefined,
    logger: { ...quietLogger, warn: () => {} },
  })

const rowOf = async (id: string) => {
  const [row] = await sql`select * from spi_recurrences where key = ${id}`
  return row
}

type Later = (id: string) => readonly (readonly [type: string, text: string])[]

test.each<readonly [string, Later]>([
  ['its last message', () => []],
  [
    'a message between others',
    (id) => [
      ['pain.011', mandateCancellation(id)],
      ['pain.012', mandateAnswer(id, { reason: 'AP13', of: 'IC' })],
    ],
  ],
])('a mandate stays as it was known where %s is gone', async (_, later) => {
  const id = newMandateId()
  await receive('pain.009', mandateRequest(id), february)
  await receive('pain.012', mandateAnswer(id, 'CFDB'), march)
  for (const [type, text] of later(id)) await receive(type, text, new Date())
  for (const table of messageTables) await ensurePartitions(sql, table, 0, march)
  await forget()
  const known = await rowOf(id)
  expect(known).toMatchObject({ state: 'confirmed' })
  expect(await rebuildRecurring(sql)).toMatchObject({ changed: 0 })
  expect(await rowOf(id)).toEqual(known)
})

test('so it does where the message that gave it its state went before this was noted', async () => {
  const id = newMandateId()
  await receive('pain.009', mandateRequest(id), february)
  await receive('pain.012', mandateAnswer(id, 'CFDB'), new Date())
  await sql`
    delete from spi_messages where id = (select changed_by from spi_recurrences where key = ${id})`
  expect(await rebuildRecurring(sql)).toMatchObject({ changed: 0 })
  expect(await rowOf(id)).toMatchObject({ state: 'confirmed' })
})
