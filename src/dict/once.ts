import type { Client, Transaction } from '#src/platform/database/index.ts'
import {
  type Answer,
  type Answered,
  ApiError,
  answerKey,
  type IdempotencyKey,
  runOnce,
} from '#src/platform/http/index.ts'
import { dictErrors } from './errors.ts'

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
  if (kept.status === refusedStatus) throw refusalOf(id as KeptRefusal)
  if (typeof id !== 'string') return kept
  const keep = async (answer: Answer): Promise<void> => {
    if (key !== undefined) await answerKey(sql, key, answer)
  }
  try {
    const answer = await tell(id)
    await keep(answer)
    return { ...answer, isReplay: kept.isReplay }
  } catch (error) {
    // What is asked for later may come about, and would be told as done in its place.
    if (isRefusal(error)) {
      const { message, details } = error
      await keep({ status: refusedStatus, body: JSON.stringify({ message, details }) })
    }
    throw error
  }
}

/** What is kept of a refusal; each repetition is told of it in its own language. */
type KeptRefusal = Pick<ApiError, 'message' | 'details'>

const refusedStatus = dictErrors.dict_refused.status

const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.definition === dictErrors.dict_refused

const refusalOf = ({ message, details }: KeptRefusal): ApiError =>
  new ApiError(dictErrors.dict_refused, message, { details })

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
