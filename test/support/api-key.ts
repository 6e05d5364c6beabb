import { join } from 'node:path'
import { createKeyFileStore } from '#src/platform/security/index.ts'
import { temporaryDirectory } from './temporary.ts'

/** A file for API_KEYS_FILE with one key in it, which has these grants. */
export const apiKeyFile = async (...grants: readonly string[]) => {
  const file = join(temporaryDirectory(), 'keys.json')
  const { key } = await createKeyFileStore(file, () => new Date()).create({
    name: 'test',
    account: 'default',
    environment: 'test',
    grants: [...grants],
    expiresAt: undefined,
  })
  return { file, key }
}
