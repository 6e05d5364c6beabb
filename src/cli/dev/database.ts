import { join } from 'node:path'
import type { Environment } from '#src/platform/config/index.ts'
import {
  type EmbeddedPostgres,
  NoPostgresError,
  startEmbeddedPostgres,
} from '#src/platform/database/index.ts'
import { isSet } from './environment.ts'

export type DevDatabase = {
  /** Undefined: none was started. */
  readonly url: string | undefined
  /** Why there is none, for the user. */
  readonly notes: readonly string[]
  /** Resolves when the server ends; never when there is none. */
  readonly exited: Promise<void>
  readonly stop: () => Promise<void>
}

const none = (notes: readonly string[]): DevDatabase => ({
  url: undefined,
  notes,
  exited: new Promise(() => {}),
  stop: async () => {},
})

/** A PostgreSQL of `dev`'s own, unless the user named one or none is to be found on this machine. */
export const startDevDatabase = async (env: Environment, state: string): Promise<DevDatabase> => {
  if (isSet(env, 'DATABASE_DSN') || isSet(env, 'DATABASE_DSN_FILE')) return none([])
  try {
    const server: EmbeddedPostgres = await startEmbeddedPostgres({
      directory: join(state, 'postgres'),
    })
    return { url: server.url, notes: [], exited: server.exited, stop: server.stop }
  } catch (error) {
    if (!(error instanceof NoPostgresError)) throw error
    return none([`${error.message} Until then, what needs a database answers 503.`])
  }
}
