import type { Pem } from '#src/platform/config/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { createFileMaterial } from '#src/platform/security/index.ts'
import { createMessageVerifier } from './verifier.ts'

/**
 * The certificates that we check signatures with; follows changes of the file.
 *
 * @param setting that names the file
 * @param bundle undefined: signatures are not checked
 */
export const createTrust = (setting: string, bundle: Pem | undefined, logger: Logger) => {
  if (bundle === undefined) {
    const start = (): void =>
      logger.warn({ setting }, `${setting} is not set: what comes is believed, whoever signed it`)
    return { verifier: undefined, material: undefined, start, stop: () => {} }
  }
  const verifier = createMessageVerifier(certificatesOf(setting, bundle.text))
  const onProblem = (err: unknown): void =>
    logger.error({ err }, `changed ${setting} cannot be used: the old ones still count`)
  const material = createFileMaterial(
    { certificate: undefined, key: undefined, ca: bundle },
    onProblem,
  )
  material.onChange(({ ca = '' }) => {
    try {
      verifier.replace(certificatesOf(setting, ca))
    } catch (error) {
      onProblem(error)
    }
  })
  return { verifier, material, start: material.watch, stop: material.stop }
}

const block = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** @throws Error when the bundle holds no certificate */
const certificatesOf = (setting: string, bundle: string): readonly string[] => {
  const found = bundle.match(block) ?? []
  if (found.length === 0) throw new Error(`${setting} holds no certificate`)
  return found
}
