import { afterAll, expect, test } from 'bun:test'
import { insertMessages } from '#src/spi/messages/index.ts'
import { createMessageService } from '../../../src/spi/messages/service.ts'
import { createTestDatabase } from '../../support/database.ts'
import { message } from './support.ts'

const { sql, close } = await createTestDatabase(4)
afterAll(close)

test('a list and its total are of one moment, while messages are stored', async () => {
  const { list } = createMessageService(sql)
  const page = { limit: 1_000, offset: 0, before: undefined }
  let isOver = false
  const writing = (async () => {
    while (!isOver) await insertMessages(sql, [message()])
  })()
  for (let round = 0; round < 60; round++) {
    const { messages, total } = await list({}, page)
    if (total < page.limit) expect(total).toBe(messages.length)
  }
  isOver = true
  await writing
})
