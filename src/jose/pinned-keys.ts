import { readFile } from 'node:fs/promises'
import type { Logger } from '#src/platform/observe/index.ts'
import { readKeySetText } from './key-set.ts'
import type { VerificationKey } from './names.ts'

/** The keys of others that the operator trusts, of a JWK set in a file. */
export type PinnedKeys = {
  /** @throws Error if the file cannot be read, is no JWK set, or none of its keys can verify */
  readonly start: () => Promise<void>
  readonly keys: () => Promise<readonly VerificationKey[]>
}

const keptMs = 5_000

const readSet = async (path: string): Promise<readonly VerificationKey[]> => {
  const keys = readKeySetText(await readFile(path), 'pinned')
  if (keys === undefined) throw new Error(`${path} is no JWK set`)
  if (keys.length === 0) throw new Error(`no key of ${path} can verify`)
  return keys
}

/** Follows the file: a change counts after some seconds, unless the file cannot be read. */
export const createPinnedKeys = (path: string | undefined, logger: Logger): PinnedKeys => {
  if (path === undefined) return { start: async () => {}, keys: async () => [] }
  let current: readonly VerificationKey[] = []
  let readAtMs = Number.NEGATIVE_INFINITY
  const read = async (): Promise<void> => {
    readAtMs = performance.now()
    current = await readSet(path)
  }
  return {
    start: read,
    keys: async () => {
      if (performance.now() - readAtMs > keptMs) {
        await read().catch((err: unknown) =>
          logger.error({ err, path }, 'pinned keys cannot be read, the old ones stay'),
        )
      }
      return current
    },
  }
}
