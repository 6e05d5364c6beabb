import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '../../../shared/data')

/** True where the official samples and vectors lie beside the checkout; tests that read them skip elsewhere. */
export const hasSharedData = existsSync(join(root, 'spi'))

/** Shown in the name of a skipped test, so that a skip always says its reason. */
export const skipReason = hasSharedData ? '' : ' [skipped: no official data beside the checkout]'

export const sharedDataPath = (path: string): string => join(root, path)

export const readSharedData = (path: string): Uint8Array =>
  new Uint8Array(readFileSync(sharedDataPath(path)))
