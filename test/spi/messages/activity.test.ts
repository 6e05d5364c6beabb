/** Every message that has ended tells how long that took, whatever the end. */
import { afterAll, expect, test } from 'bun:test'
import { insertMessages } from '#src/spi/messages/index.ts'
import { type MessageStatus, messageStatuses } from '../../../src/spi/messages/domain.ts'
import { createMessageService } from '../../../src/spi/messages/service.ts'
import { createTestDatabase } from '../../support/database.ts'
import { message } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

const lasting: ReadonlySet<MessageStatus> = new Set(['QUEUED', 'SENT', 'UNKNOWN', 'RECEIVED'])

test.each(messageStatuses)('%s', async (status) => {
  await sql`truncate spi_messages, spi_history cascade`
  const { id, ...rest } = message({}, new Date(Date.now() - 5_000))
  await insertMessages(sql, [{ id, ...rest }])
  await sql`update spi_messages set status = ${status} where id = ${id}`
  await sql`
    insert into spi_history (message_id, position, status, at) values (${id}, 9, ${status}, now())`
  const { outcomes, p50_ms } = await createMessageService(sql).activity(60)
  expect(outcomes).toMatchObject([{ status, count: 1 }])
  expect(p50_ms !== null).toBe(!lasting.has(status))
})
