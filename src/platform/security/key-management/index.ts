import { randomBytes } from 'node:crypto'
import type { Client } from '#src/platform/database/index.ts'
import { type Route, routesWithout } from '#src/platform/http/index.ts'
import { createSealer, type Sealer } from '../sealing/sealer.ts'
import { keyRoutes } from './routes.ts'
import { createKeyService } from './service.ts'

/**
 * Keys of the caller's account over the API.
 *
 * @param sealer of the master key; undefined: one of this process, and a repetition elsewhere shows no secret again
 */
export const createKeyManagement = ({
  sql,
  sealer = createSealer(randomBytes(32)),
}: {
  readonly sql: Client
  readonly sealer?: Sealer | undefined
}): readonly Route[] => keyRoutes(createKeyService({ sql, sealer }))

/** Where there is no database, the file of API_KEYS_FILE is changed by commands alone. */
export const keyRoutesWithoutDatabase = (): readonly Route[] =>
  routesWithout(['DATABASE_DSN'], keyRoutes)
