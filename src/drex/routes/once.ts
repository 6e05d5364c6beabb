/** Requests that create something, exactly once per Idempotency-Key, even across crashes. */
import type { Client } from '#src/platform/database/index.ts'
import {
  type Answer,
  type Answered,
  type AuditEntry,
  actorOf,
  answerKey,
  away,
  type Caller,
  orReplay,
  type RequestContext,
  replayOf,
  respond,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { Creation } from '../creation.ts'

export type Audited = Omit<AuditEntry, 'actor'>

/** A request: its judged body and its caller. */
type Asked<T> = { readonly body: T; readonly caller: Caller; readonly c: RequestContext }

type Once<T, R> = {
  readonly status: number
  /** Refuses what the key has no right to, before another key's answer is found under the same Idempotency-Key. */
  readonly allow: (caller: Caller, request: T) => void
  /** Asks and checks, and writes nothing that a repetition would write twice. */
  readonly prepare: (request: T, caller: Caller) => Promise<Creation<R>>
  readonly show: (result: R) => unknown
  /** The audit record; undefined if nothing changed. */
  readonly audit: (result: R) => Audited | undefined
  /** Reads the newest state for an answer that was stored too early; undefined keeps the stored one. */
  readonly reread?: (kept: string) => Promise<R | undefined>
}

/**
 * The row, its audit entry, the key and an answer commit together: if the process dies before, nothing has happened; if
 * it dies after, a repetition gets what was created.
 */
export const once = async <T, R>(
  sql: Client,
  { body, caller, c }: Asked<T>,
  { status, allow, prepare, show, audit, reread }: Once<T, R>,
): Promise<Response> => {
  allow(caller, body)
  const key = caller.idempotencyKey
  const answerOf = (result: R): Answer => ({ status, body: JSON.stringify(show(result)) })
  const repeat = async (kept: Answered): Promise<Response> => {
    const newest = await reread?.(kept.body)
    return respond(newest === undefined ? kept : { ...kept, ...answerOf(newest) })
  }
  const before = await replayOf(sql, key)
  if (before !== undefined) return repeat(before)
  // A network's node takes its time for the checks, and its blocks for the end.
  const creation = await orReplay(sql, key, () => away(c, prepare(body, caller)))
  if ('isReplay' in creation) return repeat(creation)
  const created: R[] = []
  const answered = await runOnce(sql, key, async (tx) => {
    const written = await creation.write(tx)
    created.push(written)
    const entry = audit(written)
    if (entry !== undefined) await writeAudit(tx, { ...entry, actor: actorOf(caller) })
    return answerOf(written)
  })
  if (answered.isReplay) return repeat(answered)
  if (creation.settle === undefined) return respond(answered)
  const final = answerOf(await away(c, creation.settle(created[0] as R)))
  if (key !== undefined) await answerKey(sql, key, final)
  return respond({ ...final, isReplay: false })
}
