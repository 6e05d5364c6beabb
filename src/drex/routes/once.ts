/** Requests that create something, each once per Idempotency-Key whatever dies in between. */
import type { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import {
  type AuditEntry,
  actorOf,
  callerOf,
  claimKey,
  completeClaim,
  findReplay,
  type RequestContext,
  readBytes,
  type StoredResponse,
  toResponse,
  validated,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { Creation } from '../creation.ts'
import { parseBody } from './shared.ts'

export type Audited = Omit<AuditEntry, 'actor'>

export type Once<T, R> = {
  readonly schema: z.ZodType<T>
  readonly status: number
  /** Asks and checks; writes nothing that a repetition would write again. */
  readonly prepare: (request: T) => Promise<Creation<R>>
  readonly show: (result: R) => unknown
  /** What is recorded of it; undefined where nothing was changed. */
  readonly audit: (result: R) => Audited | undefined
  /** The newest state behind an answer that was kept before all was known; undefined keeps it. */
  readonly reread?: (kept: string) => Promise<R | undefined>
}

/**
 * The row, its audit entry, the key and an answer commit together: a request whose process died before has done
 * nothing, one whose process died after is answered with what it created.
 */
export const once = async <T, R>(
  sql: Client,
  c: RequestContext,
  { schema, status, prepare, show, audit, reread }: Once<T, R>,
): Promise<Response> => {
  const bytes = await readBytes(c)
  const request = validated(schema, parseBody(bytes), '')
  const caller = callerOf(c, bytes)
  const claim = caller.idempotencyKey
  const actor = actorOf(caller)
  const answer = (result: R): StoredResponse => ({
    status,
    contentType: 'application/json',
    body: JSON.stringify(show(result)),
  })
  const repeat = async (kept: StoredResponse): Promise<Response> => {
    const newest = await reread?.(kept.body)
    return toResponse(newest === undefined ? kept : answer(newest), true)
  }
  const before = claim && (await findReplay(sql, claim))
  if (before !== undefined) return repeat(before)
  const creation = await prepare(request)
  const outcome = await sql.begin(async (tx) => {
    if (claim !== undefined) {
      const claimed = await claimKey(tx, claim)
      if (claimed.kind === 'replay') return claimed
    }
    const written = await creation.write(tx)
    const entry = audit(written)
    if (entry !== undefined) await writeAudit(tx, { ...entry, actor })
    if (claim !== undefined) await completeClaim(tx, claim, answer(written))
    return { kind: 'new' as const, written }
  })
  if (outcome.kind === 'replay') return repeat(outcome.response)
  const response = answer(await creation.settle(outcome.written))
  if (claim !== undefined) await completeClaim(sql, claim, response)
  return toResponse(response, false)
}
