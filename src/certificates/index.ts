import { X509Certificate } from 'node:crypto'
import type { Client } from '#src/platform/database/index.ts'
import { withMissingSettings } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import {
  type CertificateUse,
  SealError,
  sealedStock,
  sealerOf,
} from '#src/platform/security/index.ts'
import { keyUsageOf } from './check.ts'
import { certificateDemo } from './demo.ts'
import {
  type CertificateType,
  latestUsable,
  nameText,
  parseNameText,
  statusAt,
  tokenType,
} from './domain.ts'
import { certificateErrors } from './errors.ts'
import { createExpiryWatch } from './expiry-watch.ts'
import { createFolderStore, keyPem } from './folder-store.ts'
import { checkUses } from './in-use.ts'
import { certificateRoutes } from './routes.ts'
import { type CertificateService, createCertificateService } from './service.ts'
import { type CertificateStore, createDatabaseStore, sealedKeys } from './store.ts'

export { ispbForm } from '#codecs/taxpayer'
export { certificateSettings } from './config.ts'
export {
  type CertificateRecord,
  certificateTypeMeanings,
  certificateTypes,
  nameText,
  parseNameText,
  versionMax,
} from './domain.ts'
export { createFolderStore, keyPem } from './folder-store.ts'
export { fullChain, isKubernetesNamespace, secretManifest } from './manifest.ts'
export { viewOf } from './routes.ts'
export {
  type CertificateService,
  type CertificateSource,
  createCertificateService,
  type ImportOutcome,
} from './service.ts'
export { type CertificateStore, createDatabaseStore } from './store.ts'

export type CertificatesDeps = {
  /** Folder of certificates; used instead of the database. */
  readonly folder: string | undefined
  readonly sql: Client | undefined
  readonly masterKey: Uint8Array | undefined
  readonly previousMasterKey: Uint8Array | undefined
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Certificates by the text of their name, as JOSE takes keys. */
export type NamedKeys = {
  readonly list: () => Promise<
    readonly {
      readonly kid: string
      readonly certificate: string
      readonly fingerprint: string
      readonly active: boolean
      readonly hasKey: boolean
      /** The uses that the extension keyUsage allows. */
      readonly signs: boolean
      readonly encrypts: boolean
      /** Whether the private key may sign and decrypt tokens; keys of other purposes do nothing else. */
      readonly isForTokens: boolean
    }[]
  >
  /** Undefined, too, if another certificate has the name by now. */
  readonly readKey: (kid: string, fingerprint: string) => Promise<Uint8Array | undefined>
  /**
   * Certificate with its chain, and its key, of the latest version that can be used now for a purpose; PEM.
   *
   * @throws Error if there is none
   */
  readonly latestPair: (
    ispb: string,
    type: CertificateType,
  ) => Promise<{ readonly cert: string; readonly key: string }>
}

export type CertificatesFeature = Feature & {
  /** Tells of the certificates that other features use, from now on: metrics, log lines, `trilho doctor`. */
  readonly track: (uses: readonly CertificateUse[]) => void
  /** Undefined like `service`. */
  readonly keys: NamedKeys | undefined
  /** Undefined if neither a folder nor a database is configured. */
  readonly service: CertificateService | undefined
}

const storeOf = (deps: CertificatesDeps): CertificateStore | undefined => {
  const { folder, sql, logger } = deps
  if (folder !== undefined) {
    return createFolderStore(folder, false, (certificate, err) =>
      logger.warn({ certificate, err }, 'certificate cannot be read'),
    )
  }
  return sql === undefined ? undefined : createDatabaseStore(sql, sealerOf(deps))
}

const now = (): Date => new Date()

/** Reads every sealed key once, so that a wrong master key is found at the start. */
const checkKeys = async (store: CertificateStore): Promise<void> => {
  for (const record of await store.list()) {
    const key = record.hasKey ? await store.readKey(record) : undefined
    key?.fill(0)
  }
}

/** The certificates of a service by their names. */
export const namedKeys = (service: CertificateService): NamedKeys => ({
  list: async () =>
    (await service.list()).map((record) => ({
      kid: nameText(record),
      certificate: record.certificate,
      fingerprint: record.fingerprint,
      active: statusAt(record, now()) === 'active',
      hasKey: record.hasKey,
      ...keyUsageOf(new X509Certificate(record.certificate)),
      isForTokens: record.type === tokenType,
    })),
  readKey: async (kid, fingerprint) => {
    const name = parseNameText(kid)
    return name === undefined ? undefined : service.readKey({ ...name, fingerprint })
  },
  latestPair: async (ispb, type) => {
    const record = latestUsable(await service.list(), { ispb, type }, now())
    const key = record === undefined ? undefined : await service.readKey(record)
    if (record === undefined || key === undefined) {
      throw new Error(`the certificate store has no active ${ispb}.${type} with a key`)
    }
    return { cert: [record.certificate, ...record.chain].join(''), key: keyPem(key) }
  },
})

/** Certificates of the institution: store, endpoints, metrics and warnings before they expire. */
export const createCertificates = (deps: CertificatesDeps): CertificatesFeature => {
  const { logger, metrics, sql } = deps
  const sealer = sealerOf(deps)
  const store = storeOf(deps)
  const missing: CertificateStore = {
    kind: 'folder',
    writable: false,
    lastVersion: async () => 0,
    list: async () => [],
    readKey: async () => undefined,
    add: async () => false,
    remove: async () => false,
  }
  const service = createCertificateService({ store: store ?? missing, now })
  const uses: CertificateUse[] = []
  const watch = createExpiryWatch({ list: service.list, uses: () => uses, metrics, logger, now })
  const routes = certificateRoutes({ service, logger, now })
  return {
    name: 'certificates',
    ...(sql === undefined || sealer === undefined
      ? {}
      : {
          sealed: sealedStock(
            'certificate keys',
            () => sealer,
            () => sealedKeys(sql),
          ),
        }),
    ...(store?.writable === true ? { demo: certificateDemo } : {}),
    errors: certificateErrors,
    track: (those) => {
      uses.push(...those)
    },
    checks: () => checkUses(uses, service.list, now()),
    routes:
      store === undefined
        ? withMissingSettings(routes, ['TRILHO_CERTS_DIR or DATABASE_DSN'])
        : routes,
    service: store === undefined ? undefined : service,
    keys: store === undefined ? undefined : namedKeys(service),
    start: async () => {
      if (store?.kind === 'database' && deps.masterKey === undefined) {
        logger.warn({}, 'TRILHO_MASTER_KEY is not set: certificates are kept without private keys')
      } else if (store !== undefined) {
        await checkKeys(store).catch((error: unknown) => {
          if (error instanceof SealError) throw error
          logger.warn({ err: error }, 'certificates cannot be read now')
        })
      }
      void watch.start()
    },
    stop: watch.stop,
  }
}
