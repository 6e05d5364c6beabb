import type { Logger } from '#src/platform/observe/index.ts'
import { createFileMaterial, isHere } from '#src/platform/security/index.ts'
import type { CardSettings } from '../config.ts'
import { createPayshield } from './payshield.ts'
import { createSoftwareModule } from './software.ts'
import type { SecurityModule } from './types.ts'

/**
 * The security module of the settings; undefined without one.
 *
 * @throws Error without its address; KeyMaterialError when the files of its TLS cannot be used
 */
export const createSecurityModule = (
  settings: CardSettings,
  logger: Logger,
): SecurityModule | undefined => {
  if (settings.securityModule === undefined) return undefined
  if (settings.securityModule === 'software') return createSoftwareModule()
  const { moduleAddress: address } = settings
  if (address === undefined) {
    throw new Error('CARDGW_SECURITY_MODULE=payshield needs CARDGW_SECURITY_MODULE_ADDRESS')
  }
  const { hostname, port } = new URL(`tcp://${address}`)
  const host = hostname.replace(/^\[|\]$/g, '')
  if (!settings.moduleTls && !isHere(host)) {
    logger.warn(
      { setting: 'CARDGW_SECURITY_MODULE_TLS' },
      'the security module is reached without TLS: PIN blocks and codes pass in clear',
    )
  }
  return createPayshield({
    host,
    port: Number(port),
    tls: settings.moduleTls ? materialOf(settings, logger) : undefined,
    poolSize: settings.modulePoolSize,
    timeoutMs: settings.moduleTimeoutMs,
  })
}

const materialOf = (
  { moduleTlsCa: ca, moduleTlsCertificate: certificate, moduleTlsKey: key }: CardSettings,
  logger: Logger,
) =>
  createFileMaterial({ ca, certificate, key }, (err) =>
    logger.error({ err }, 'the new TLS files of the security module cannot be used'),
  )
