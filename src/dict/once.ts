import type { Client, Transaction } from '#src/platform/database/index.ts'
import {
  type Answer,
  type Answered,
  ApiError,
  answerKey,
  type IdempotencyKey,
  runOnce,
} from '#src/platform/http/index.ts'

/**
 * Stores what is wanted once per Idempotency-Key, and then has the directory told. What comes of that is the answer that
 * repetitions get; until it is kept, as where the process dies before, they get what has become of the wish.
 *
 * @param write stores what is wanted; returns its id
 * @param tell asks the directory, or shows what was done already. @throws ApiError: repetitions are refused by it, too
 */
export const askOnce = async (
  sql: Client,
  key: IdempotencyKey | undefined,
  write: (tx: Transaction) => Promise<string>,
  tell: (id: string) => Promise<Answer>,
): Promise<Answered> => {
  const kept = await runOnce(sql, key, async (tx) => ({
    status: 202,
    body: JSON.stringify(await write(tx)),
  }))
  const id = JSON.parse(kept.body) as unknown
  if (typeof id !== 'string') return kept
  const answer = await tell(id)
  if (key !== undefined) await answerKey(sql, key, answer)
  return { ...answer, isReplay: kept.isReplay }
}

/** What the directory refused stands in what it was told of. */
export const unlessRefused = async (told: Promise<unknown>): Promise<void> => {
  try {
    await told
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

/** 202: the directory has not answered yet. */
export const answerOf = (view: object, isDone: boolean, status: 200 | 201): Answer => ({
  status: isDone ? status : 202,
  body: JSON.stringify(view),
})
