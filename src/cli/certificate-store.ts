import {
  type CertificateStore,
  certificateSettings,
  createDatabaseStore,
  createFolderStore,
} from '#src/certificates/index.ts'
import { loadSettings, platformSettings } from '#src/platform/config/index.ts'
import { databaseSettings, openDatabase } from '#src/platform/database/index.ts'
import { type RecordAct, writeAudit } from '#src/platform/http/index.ts'
import { sealerOf } from '#src/platform/security/index.ts'
import { demandSettings, errorLogger, UsageError } from './command.ts'
import type { Io } from './program.ts'

type OpenStore = {
  readonly store: CertificateStore
  /** Called before we show the result of using a private key; a folder has no log. */
  readonly recordAct: RecordAct
  readonly close: () => Promise<void>
}

const groups = {
  certificates: certificateSettings,
  platform: {
    masterKey: platformSettings.masterKey,
    previousMasterKey: platformSettings.previousMasterKey,
  },
  database: {
    dsn: databaseSettings.dsn,
    connectionsMax: databaseSettings.connectionsMax,
    statementTimeoutSeconds: databaseSettings.statementTimeoutSeconds,
  },
}

/**
 * The store of certificates: the folder, else that of TRILHO_CERTS_DIR, else the database.
 *
 * @throws UsageError where none is named
 */
export const openStore = (folderOption: string | undefined, io: Io): OpenStore => {
  const { values } = demandSettings(loadSettings(groups, io.env))
  const folder = folderOption ?? values.certificates.folder
  if (folder !== undefined) {
    const onProblem = (name: string, error: Error) => io.err(`${name}: ${error.message}\n`)
    const store = createFolderStore(folder, true, onProblem)
    return { store, recordAct: async () => {}, close: async () => {} }
  }
  const { dsn, connectionsMax, statementTimeoutSeconds } = values.database
  if (dsn === undefined) throw new UsageError('say --dir, or set TRILHO_CERTS_DIR or DATABASE_DSN')
  const database = openDatabase({
    dsn,
    connectionsMax,
    statementTimeoutMs: statementTimeoutSeconds * 1000,
    logger: errorLogger(io),
  })
  return {
    store: createDatabaseStore(database.sql, sealerOf(values.platform)),
    recordAct: (entry) => writeAudit(database.sql, entry),
    close: database.close,
  }
}
