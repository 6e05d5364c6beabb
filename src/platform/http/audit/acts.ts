import type { Logger } from '#src/platform/observe/index.ts'
import { firstCharacters, inTime } from '#src/platform/runtime/index.ts'
import { findInIdentifier } from '#src/platform/security/sensitive/index.ts'
import { ApiError } from '../errors.ts'
import type { RequestContext } from '../route.ts'
import type { AuditAction, AuditEntry } from './domain.ts'

/** Writes an entry by itself: for acts that change nothing in the database. */
export type RecordAct = (entry: AuditEntry) => Promise<void>

const objectCharactersMax = 200
/** A caller that goes on asking for what it may not do leaves one entry in so long. */
const refusedEveryMs = 60_000
const refusalsMax = 4_096
/** The act is done: its answer does not wait longer for a database that is frozen, which may still take the entry. */
const recordMsMax = 1_000

export type Acts = {
  /** Does the act, and records its outcome before its answer goes out, unless the database is away. */
  readonly done: (
    action: AuditAction,
    c: RequestContext,
    handle: () => Response | Promise<Response>,
  ) => Promise<Response>
  /** Records what a key was refused; does not wait. */
  readonly refused: (refusal: {
    readonly requestId: string
    readonly keyId: string
    /** Method and route. */
    readonly object: string
    /** The restriction that forbade it; `forbidden` where the scope or the right is missing. */
    readonly outcome: string
  }) => void
}

/** @param record undefined where there is no database: then the log alone tells of acts */
export const createActs = (record: RecordAct | undefined, logger: Logger): Acts => {
  const refusedAtMs = new Map<string, number>()

  /** A database that is away must not keep an operator from acting: then the log tells of it. */
  const write = async (entry: AuditEntry): Promise<void> => {
    const { actor, action, object, outcome } = entry
    const line = { actor: actor.id, request_id: actor.requestId, action, object, outcome }
    if (record === undefined) return logger.info(line, 'act')
    await inTime(record(entry), recordMsMax).catch((err: unknown) => {
      logger.error({ ...line, err }, 'an act is not in the audit log')
    })
  }

  return {
    done: async (action, c, handle) => {
      const { principal, requestId } = c.env
      const actor = { id: principal?.keyId ?? 'nobody', requestId }
      const object = firstCharacters(withoutSecrets(c.req.path), objectCharactersMax)
      try {
        const response = await handle()
        await write({ actor, action, object, outcome: 'done' })
        return response
      } catch (error) {
        const outcome = error instanceof ApiError ? error.definition.code : 'internal'
        await write({ actor, action, object, outcome })
        throw error
      }
    },
    refused: ({ requestId, keyId, object, outcome }) => {
      const subject = `${keyId} ${object} ${outcome}`
      const atMs = refusedAtMs.get(subject)
      if (atMs !== undefined && performance.now() - atMs < refusedEveryMs) return
      if (refusedAtMs.size >= refusalsMax) refusedAtMs.clear()
      refusedAtMs.set(subject, performance.now())
      const actor = { id: keyId, requestId }
      void write({ actor, action: 'access.refused', object, outcome })
    },
  }
}

/** Entries can never be changed, so a secret that a caller put into the path is left out of them. */
const withoutSecrets = (path: string): string =>
  path
    .split('/')
    .map((segment) => {
      const kind = findInIdentifier(decoded(segment))
      return kind === undefined ? segment : `[${kind}]`
    })
    .join('/')

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
