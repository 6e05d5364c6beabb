import type { NamedKeys } from '../certificates/index.ts'
import type { Logger } from '../platform/observe/index.ts'
import {
  createFileMaterial,
  createStoreMaterial,
  type KeyMaterial,
} from '../platform/security/index.ts'
import type { Values } from './settings.ts'

/** The client certificate that the central bank's systems are shown, and the authorities of theirs. */
export const interfaceMaterial = (
  { ispb = '', certificateSource, certificate, key, ca }: Values['spi'],
  keys: NamedKeys | undefined,
  logger: Logger,
): KeyMaterial => {
  const onProblem = (err: Error): void =>
    logger.error({ err }, 'new certificates of the message interface cannot be used')
  return certificateSource === 'store' && keys !== undefined
    ? createStoreMaterial(() => keys.latestPair(ispb, 'PIC'), ca, onProblem)
    : createFileMaterial({ certificate, key, ca }, onProblem)
}
