import { expect, test } from 'bun:test'
import type { Client } from '#src/platform/database/index.ts'
import { insertReversals } from '../../../src/cards/reversals/index.ts'
import { type CardTransaction, transactionById } from '../../../src/cards/transactions/store.ts'
import { createCardWriter } from '../../../src/cards/transactions/writer.ts'
import { changeTransactions } from '../../../src/cards/transactions/writes.ts'
import { cardsRigOfFile } from '../../support/cards-rig.ts'

const rig = await cardsRigOfFile()

/** The database, away for one statement. */
const awayOnce = (sql: Client): Client => {
  let isAway = true
  return new Proxy(sql, {
    apply: (target, self, given) => {
      if (!isAway) return Reflect.apply(target, self, given) as unknown
      isAway = false
      throw Object.assign(new Error('away'), { code: 'CONNECTION_CLOSED' })
    },
  })
}

const ofCaptured = { operation: undefined, operationStan: undefined, operationCents: undefined }

test.each([
  ['refund', 'captured', { refundedCents: 1_000n }],
  ['partial_capture', 'authorized', { capturedCents: 1_000n, captureStan: '000009' }],
  ['partial_void', 'authorized', { reversedCents: 1_000n }],
  ['increment', 'authorized', { amountCents: 11_000n }],
] as const)(
  'a %s that was taken back before it could be written is not written, one that was written is',
  async (operation, status, fields) => {
    const { sql } = rig.database
    const { id } = await rig.authorize('tok_visa_approved', { capture: status === 'captured' })
    const write = async (stored: (after: CardTransaction) => CardTransaction) => {
      const first = await transactionById(sql, id)
      if (first === undefined) throw new Error('no such transaction')
      const started = { ...first, operation, operationStan: '000009', operationCents: 1_000n }
      const after = { ...first, ...ofCaptured, ...fields }
      // By another process, or by an attempt of which nobody heard.
      const done = { before: first, after: stored(after), events: [] }
      expect(await changeTransactions(sql, [done], undefined)).toEqual([true])
      const away = awayOnce(sql)
      const writer = createCardWriter(away, insertReversals, () => undefined, undefined)
      return writer.change({ before: started, after, events: [] })
    }
    expect(await write((after) => ({ ...after, ...taken(fields) }))).toBe(false)
    expect(await write((after) => after)).toBe(true)
  },
)

/** As it was before. */
const taken = (fields: Partial<CardTransaction>): Partial<CardTransaction> =>
  'amountCents' in fields
    ? { amountCents: 10_000n }
    : Object.fromEntries(Object.keys(fields).map((member) => [member, undefined]))
