import type { Client } from '#src/platform/database/index.ts'
import { type Actor, listAudit, writeAudit } from '#src/platform/http/index.ts'
import type { Session } from './session.ts'

/** The record of sessions beside their cookies: who began them, and which ones ended early. */
export type SessionRecord = {
  readonly began: (session: Session, actor: Actor) => Promise<void>
  readonly ended: (session: Session, actor: Actor) => Promise<void>
  readonly isEnded: (session: Session) => Promise<boolean>
}

/** Clocks of two processes differ by less. */
const slackMs = 3_600_000

/**
 * Uses the audit log: the entry of a sign-out itself ends the session, for every process that has the database. So each
 * end has its entry, and each entry its end. Entries outlive every session.
 */
export const createAuditedSessions = (sql: Client): SessionRecord => ({
  began: ({ id: object }, actor) =>
    writeAudit(sql, { actor, object, action: 'console.sign_in', outcome: 'signed_in' }),
  ended: ({ id: object }, actor) =>
    writeAudit(sql, { actor, object, action: 'console.sign_out', outcome: 'signed_out' }),
  isEnded: async ({ id: object, startedMs }) => {
    const from = new Date(startedMs - slackMs)
    const filter = { object, from, action: 'console.sign_out' } as const
    return (await listAudit(sql, filter, { limit: 1, before: undefined })).length > 0
  },
})

/** The ended sessions that this process remembers; the oldest give way. */
const endedMax = 10_000

/** Without a database, only this process knows of a sign-out. */
export const createOwnSessions = (): SessionRecord => {
  const ids = new Set<string>()
  return {
    began: async () => {},
    ended: async ({ id }) => {
      const [oldest] = ids
      if (ids.size >= endedMax && oldest !== undefined) ids.delete(oldest)
      ids.add(id)
    },
    isEnded: async ({ id }) => ids.has(id),
  }
}
