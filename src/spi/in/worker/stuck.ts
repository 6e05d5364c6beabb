import { type Client, type Queryable, withDeadlockRetries } from '#src/platform/database/index.ts'
import { momentOf } from '../../messages/index.ts'
import { paymentOf } from '../../payments/domain.ts'
import { messagesOfPayment, paymentMessagesMax } from '../../payments/store.ts'
import type { BegunPlace, Receivables, ReceivedEnd } from './received.ts'

const readMax = 200

const beginning: BegunPlace = { at: new Date(0), id: '' }

/**
 * Walks, some at a time, payments and returns without an end, and ends those whose messages tell of one: an end that
 * nobody was told of, such as a refusal of ours that an earlier release sent.
 *
 * @param receivables whoever was paid
 * @returns a step of the walk, which takes those that were begun before a moment
 */
export const createStuckWalk = (
  sql: Client,
  receivables: Receivables,
): ((to: Date) => Promise<void>) => {
  let from = beginning
  return async (to) => {
    const { ids, next } = await receivables.open(sql, from, to, readMax)
    from = next ?? beginning
    const found = await endsOfAll(sql, ids)
    if (found.length === 0) return
    const stuck = [...new Set(found.map(({ endToEndId }) => endToEndId))]
    await withDeadlockRetries(sql, async (tx) => {
      // A return that was refused may be under way again by now, under its RtrId.
      await receivables.lock(tx, stuck)
      await receivables.end(tx, await endsOfAll(tx, stuck), new Date())
    })
  }
}

const endsOfAll = async (
  sql: Queryable,
  endToEndIds: readonly string[],
): Promise<readonly ReceivedEnd[]> => {
  const ends: ReceivedEnd[] = []
  for (const id of endToEndIds) ends.push(...(await endsOf(sql, id)))
  return ends
}

/** The ends that messages tell of a received payment, and of its returns. */
const endsOf = async (sql: Queryable, endToEndId: string): Promise<readonly ReceivedEnd[]> => {
  const messages = await messagesOfPayment(sql, endToEndId)
  if (messages.length > paymentMessagesMax) return []
  const payment = paymentOf(endToEndId, messages, momentOf)
  if (payment?.direction !== 'INBOUND') return []
  return [{ ...payment, id: null }, ...payment.returns].flatMap(({ id, outcome, refusal }) => {
    if (outcome !== 'settled' && outcome !== 'rejected') return []
    const isSettled = outcome === 'settled'
    return [{ endToEndId, returnId: id, isSettled, reason: isSettled ? null : refusal }]
  })
}
