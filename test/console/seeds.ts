/** What screens show, put where the gateway has it. */
import { insertMessages } from '#src/spi/messages/index.ts'
import { fresh, payment } from '../spi/in/worker/support.ts'
import { message } from '../spi/messages/support.ts'
import type { TestDatabase } from '../support/database.ts'

/** A Pix of R$ 10.50 to this institution, settled. @returns the id of its message */
export const receivedPix = async (
  sql: TestDatabase['sql'],
): Promise<{ readonly id: string; readonly endToEndId: string }> => {
  const endToEndId = fresh.endToEndId()
  const stored = message({ xml: Buffer.from(payment({ endToEndId })) })
  const [paid] = stored.transactions.map((one) => ({ ...one, endToEndId, amountCents: 1_050n }))
  if (paid === undefined) throw new Error('a payment has a transaction')
  const settledBy = { ...paid, instructionId: endToEndId, status: 'ACCC', settledAt: new Date() }
  await insertMessages(sql, [
    { ...stored, transactions: [paid] },
    message({ type: 'pacs.002', definition: 'pacs.002.spi.1.14', transactions: [settledBy] }),
  ])
  return { id: stored.id, endToEndId }
}
