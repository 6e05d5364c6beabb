import type { Client } from '#src/platform/database/index.ts'
import {
  type Answered,
  type Caller,
  replayOf,
  runOnce,
  settleKey,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { ReadyMessage, SendNow } from '../stage/index.ts'
import type { Accept } from './accept.ts'
import { auditEntry, type Built, knownAlready, queuedAnswer, sentAnswer } from './answers.ts'

export type FastPathDeps = {
  readonly sql: Client
  readonly sendNow: SendNow
  readonly logger: Logger
  /** Sends every other message. */
  readonly enqueue: Accept
}

/**
 * Sends a message within its request: stores it with its signature, sends it, and answers `sent` when the message
 * interface has clearly accepted it. In every other case the queue sends the same bytes, and the answer is `queued`.
 *
 * We commit the message and the answer `queued` before the first byte goes out; if the process dies afterwards, the
 * queue takes the message over. While the better answer may still come, we tell a repetition under the Idempotency-Key
 * to wait, so that all callers get the same answer.
 */
export const createFastPath = (deps: FastPathDeps) => {
  const { sql, sendNow, enqueue, logger } = deps

  const prepare = async ({ message }: Built): Promise<ReadyMessage | undefined> => {
    try {
      return await sendNow.prepare(message)
    } catch (err) {
      logger.warn({ err, id: message.id }, 'not signed within the request: queued')
      return undefined
    }
  }

  /** Returns a replay if it was stored before; otherwise the answer that holds until there is a better one. */
  const store = (built: Built, ready: ReadyMessage, caller: Caller): Promise<Answered> =>
    runOnce(sql, caller.idempotencyKey, async (tx) => {
      if (!(await sendNow.store(tx, ready))) throw knownAlready(built.message)
      await writeAudit(tx, auditEntry(built, caller))
      return { ...queuedAnswer(built), provisionalMs: sendNow.leaseMs }
    })

  const deliver = async (
    built: Built,
    ready: ReadyMessage,
    queued: Answered,
    { idempotencyKey: key }: Caller,
  ): Promise<Answered> => {
    const outcome = await sendNow.send(ready)
    const best =
      outcome.kind === 'accepted' ? { ...queued, ...sentAnswer(built, outcome.resourceId) } : queued
    const isSettled = await sql.begin(async (tx) => {
      if (outcome.kind === 'accepted') await sendNow.noteAccepted(tx, ready, outcome)
      else await sendNow.handOver(tx, ready, outcome)
      return key === undefined || (await settleKey(tx, key, best))
    })
    return isSettled ? best : queued
  }

  return async (built: Built, caller: Caller): Promise<Answered> => {
    const before = await replayOf(sql, caller.idempotencyKey)
    if (before !== undefined) return before
    const ready = await prepare(built)
    if (ready === undefined) return enqueue(built, caller)
    const queued = await store(built, ready, caller)
    if (queued.isReplay) return queued
    try {
      return await deliver(built, ready, queued, caller)
    } catch (err) {
      // We have stored it, and the queue takes it over: the answer kept under the key holds.
      logger.error({ err, id: built.message.id }, 'what became of the sending was not noted')
      return queued
    }
  }
}
