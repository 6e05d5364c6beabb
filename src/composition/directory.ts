import type { NamedKeys } from '../certificates/index.ts'
import type { PlatformDeps } from '../cli/index.ts'
import { createDict, type DictFeature } from '../dict/index.ts'
import { warnOfClearText } from '../platform/security/index.ts'
import { createDocumentSigner, createRefunds, createTrust, signingMaterial } from '../spi/index.ts'
import { emitEvents } from '../webhooks/index.ts'
import { interfaceMaterial } from './material.ts'
import { rolesOf } from './roles.ts'
import type { Values } from './settings.ts'

/** The directory of Pix keys, with the message interface's certificates, and those of the parties that it trusts. */
export const createDirectory = (
  values: Values,
  {
    keys,
    ...sending
  }: Parameters<typeof createRefunds>[0] & {
    readonly keys: NamedKeys | undefined
  },
  { logger, metrics }: PlatformDeps,
): DictFeature => {
  const { spi, signing, dict: settings } = values
  const isUsed = settings.url !== undefined
  const bundle = isUsed ? settings.trustedCertificates : undefined
  const { verifier, start, stop } = createTrust('DICT_TRUSTED_CERTS_PATH', bundle, logger)
  const onProblem = (err: Error): void =>
    logger.error({ err }, 'what the directory is asked cannot be signed with the certificate')
  const { ispb = '' } = spi
  const signer = isUsed
    ? createDocumentSigner(
        signing,
        signingMaterial(signing, onProblem, keys && (() => keys.latestPair(ispb, 'PIA'))),
        onProblem,
      )
    : undefined
  const feature = createDict({
    settings,
    ispb: spi.ispb,
    sql: sending.sql,
    emit: emitEvents,
    logger,
    metrics,
    returns: createRefunds(sending),
    tls: isUsed ? interfaceMaterial(spi, keys, logger) : undefined,
    refusalOfSignature: (document) => {
      const verdict = verifier?.verifyWhole(document)
      return verdict === undefined || verdict.ok ? undefined : verdict.message
    },
    sign: signer?.sign ?? (async (document) => document),
    runsJobs: rolesOf(values).has('jobs'),
  })
  return {
    ...feature,
    start: async () => {
      if (isUsed) start()
      warnOfClearText(logger, 'DICT_URL', settings.url, 'keys and whose they are')
      await feature.start?.()
    },
    stop: async () => {
      stop()
      signer?.stop()
      await feature.stop?.()
    },
  }
}
