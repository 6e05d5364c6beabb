/** What screens show, put where the gateway has it. */
import { insertMessages } from '#src/spi/messages/index.ts'
import { fresh, payment } from '../spi/in/worker/support.ts'
import { message } from '../spi/messages/support.ts'
import type { TestDatabase } from '../support/database.ts'
import type { SeenConsole } from './visit.ts'

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

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
export type Api = (method: string, path: string, body?: object) => Promise<any>

export const apiOf =
  (url: string, key: string): Api =>
  async (method, path, body) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const answer = await fetch(url + path, {
      ...{ method, headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const told = await answer.json()
    if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(told)}`)
    return told
  }

const [ispb, other] = ['12345678', '99999A04']

/** A key of ours is claimed, a payment to us reported, and its money asked for. */
export const askUs = async (
  { gateway, directory }: Pick<SeenConsole, 'gateway' | 'directory'>,
  key: string,
  owner: { readonly tax_id: string; readonly name: string },
  details: string,
): Promise<{ readonly key: string; readonly payment: string }> => {
  const claimed = `ana${Date.now()}@example.com`
  await apiOf(gateway.urls.httpUrl, key)('POST', '/v1/dict/entries', {
    ...{ key_type: 'EMAIL', key: claimed, owner },
    account: { number: '500100', type: 'CACC', opened_at: '2020-01-10T03:00:00Z' },
  })
  directory.claim({
    ...{ type: 'PORTABILITY', key_type: 'EMAIL', key: claimed, ...owner, ispb: other },
    ...{ account: '777', account_type: 'CACC' },
  })
  const { endToEndId: payment } = await receivedPix(gateway.database.sql)
  const { addTransaction, infractions, refunds } = directory.disputes
  addTransaction({
    ...{ id: payment, debited: other, credited: ispb, amountCents: 1_050n },
    settledMs: Date.now(),
  })
  const report = { transactionId: payment, reason: 'REFUND_REQUEST', situation: 'SCAM' }
  infractions.create({ ...report, details, contact: undefined }, other)
  const request = { transactionId: payment, reason: 'OPERATIONAL_FLAW', amountCents: 1_050n }
  refunds.create({ ...request, details }, other)
  return { key: claimed, payment }
}
