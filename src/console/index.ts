import { randomBytes } from 'node:crypto'
import type { Client } from '#src/platform/database/index.ts'
import type { Feature, WholeApi } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { createSealer, type Sealer } from '#src/platform/security/index.ts'
import type { ConsoleSettings } from './config.ts'
import { createLive } from './live.ts'
import { createAuditedSessions, createOwnSessions } from './record.ts'
import { consoleRoutes } from './routes.ts'
import { createSessions } from './session.ts'

export { consoleSettings } from './config.ts'

/**
 * The web console: a page, its sessions, and a way to the API for them.
 *
 * @param sealer of the master key: then a session counts in every process with the same key. Undefined: a key of this
 * process alone, so users sign in again after a restart.
 * @param sql keeps who signed in and out, for every process; undefined: only this process knows of a sign-out
 */
export const createConsole = (
  settings: ConsoleSettings,
  sealer: Sealer | undefined,
  sql: Client | undefined,
  logger: Logger,
): Feature => {
  let whole: WholeApi | undefined
  const absoluteSeconds = settings.sessionHours * 3_600
  const sessions = createSessions({
    sealer: sealer ?? createSealer(randomBytes(32)),
    record: sql === undefined ? createOwnSessions() : createAuditedSessions(sql),
    idleMs: settings.idleMinutes * 60_000,
    absoluteMs: absoluteSeconds * 1_000,
  })
  const live = createLive(logger)
  const { traceUrl } = settings
  const api = (): WholeApi => {
    if (whole === undefined) throw new Error('nothing listens yet')
    return whole
  }
  return {
    name: 'console',
    listener: 'admin',
    reach: (given) => {
      whole = given
    },
    drain: live.close,
    routes: settings.isEnabled
      ? consoleRoutes({ sessions, live, absoluteSeconds, api, traceUrl })
      : [],
  }
}
