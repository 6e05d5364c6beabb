import { afterAll, expect, test } from 'bun:test'
import { insertMessages, reportedEnds } from '#src/spi/messages/index.ts'
import { createTestDatabase } from '../../support/database.ts'
import { message } from './support.ts'

const { sql, close } = await createTestDatabase()
afterAll(close)

const dayMs = 86_400_000

test('a report is found under the payment that it ends, also if the clock ran ahead that made its id', async () => {
  const nowMs = Date.now()
  const reports = [0, 2 * dayMs, 20 * dayMs].map((aheadMs) => {
    const made = message({ type: 'pacs.002' }, new Date(nowMs + aheadMs))
    const transactions = made.transactions.map((one) => ({
      ...one,
      instructionId: one.endToEndId,
      status: 'ACSC',
    }))
    return { ...made, transactions }
  })
  await insertMessages(sql, reports)
  const ids = reports.map(({ transactions }) => transactions[0]?.endToEndId ?? '')
  const ends = await reportedEnds(sql, ids)
  expect(ends).toEqual(
    ids.map((endToEndId) => ({ endToEndId, returnId: null, isSettled: true, reason: null })),
  )
})
