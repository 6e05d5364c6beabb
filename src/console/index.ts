import { randomBytes } from 'node:crypto'
import type { Feature, WholeApi } from '#src/platform/lifecycle/index.ts'
import { createSealer, type Sealer } from '#src/platform/security/index.ts'
import type { ConsoleSettings } from './config.ts'
import { consoleRoutes } from './routes.ts'
import { createSessions } from './session.ts'

export { consoleSettings } from './config.ts'

/**
 * The web console: a page, its sessions, and a way to the API for them.
 *
 * @param sealer of the master key: then a session counts in every process that has the same. Undefined: a key of
 * this process alone, and who is signed in signs in again after a restart.
 */
export const createConsole = (settings: ConsoleSettings, sealer: Sealer | undefined): Feature => {
  let whole: WholeApi | undefined
  const absoluteSeconds = settings.sessionHours * 3_600
  const sessions = createSessions({
    sealer: sealer ?? createSealer(randomBytes(32)),
    idleMs: settings.idleMinutes * 60_000,
    absoluteMs: absoluteSeconds * 1_000,
  })
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
    routes: settings.isEnabled ? consoleRoutes({ sessions, absoluteSeconds, api }) : [],
  }
}
