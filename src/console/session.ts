import { randomBytes } from 'node:crypto'
import type { Actor } from '#src/platform/http/index.ts'
import { SealError, type Sealer } from '#src/platform/security/index.ts'
import type { SessionRecord } from './record.ts'

/** The sealed contents of our cookie: only a process with the same master key reads or writes one. */
export type Session = {
  /** Made anew at each sign-in: we never take over an id that a browser brought along. */
  readonly id: string
  /** The API key as its owner gave it. */
  readonly key: string
  readonly startedMs: number
  /** The last act of its user, to the minute. */
  readonly seenMs: number
}

export type Sessions = {
  /** A new session, as a cookie holds it. */
  readonly begin: (key: string, actor: Actor) => Promise<string>
  /** Undefined if there is none, or it is altered, ended, or over. */
  readonly read: (sealed: string | undefined) => Promise<Session | undefined>
  /** The session with its idle time begun anew; undefined while that is not due. */
  readonly renewed: (session: Session) => string | undefined
  readonly end: (session: Session, actor: Actor) => Promise<void>
}

const context = 'console session'
const minuteMs = 60_000
const sealedCharactersMax = 1_024

export const createSessions = (options: {
  readonly sealer: Sealer
  readonly record: SessionRecord
  readonly idleMs: number
  readonly absoluteMs: number
  readonly now?: () => number
}): Sessions => {
  const { sealer, record, idleMs, absoluteMs, now = Date.now } = options
  const sealed = (session: Session): string =>
    Buffer.from(sealer.seal(Buffer.from(JSON.stringify(session)), context)).toString('base64url')
  return {
    begin: async (key, actor) => {
      const nowMs = now()
      const id = randomBytes(16).toString('base64url')
      const session = { id, key, startedMs: nowMs, seenMs: nowMs }
      await record.began(session, actor)
      return sealed(session)
    },
    read: async (text) => {
      if (text === undefined || text.length > sealedCharactersMax) return undefined
      const session = opened(sealer, text)
      if (session === undefined) return undefined
      const nowMs = now()
      const isOver = nowMs - session.startedMs >= absoluteMs || nowMs - session.seenMs >= idleMs
      return isOver || (await record.isEnded(session)) ? undefined : session
    },
    renewed: (session) => {
      const nowMs = now()
      return nowMs - session.seenMs < minuteMs ? undefined : sealed({ ...session, seenMs: nowMs })
    },
    end: (session, actor) => record.ended(session, actor),
  }
}

const opened = (sealer: Sealer, text: string): Session | undefined => {
  try {
    const plain = sealer.open(Buffer.from(text, 'base64url'), context)
    return JSON.parse(Buffer.from(plain).toString()) as Session
  } catch (error) {
    if (error instanceof SealError) return undefined
    throw error
  }
}
