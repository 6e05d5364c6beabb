import { generateKey, type KeyEnvironment } from './api-key.ts'
import { type KeyFileEntry, readKeyFile, writeKeyFile } from './key-file.ts'

export type NewKey = {
  readonly name: string
  readonly account: string
  readonly environment: KeyEnvironment
  readonly grants: readonly string[]
  readonly expiresAt: Date | undefined
}

/** A key as lists show it: nothing in it is secret. Times are ISO 8601. */
export type ListedKey = {
  readonly id: string
  readonly name: string
  readonly account: string
  /** Null for keys that were stored before it was: their text says it. */
  readonly environment: KeyEnvironment | null
  readonly scopes: readonly string[]
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  /** Null when unknown: a file does not record it. */
  readonly last_used_at: string | null
}

/** What the operator's commands do to keys, wherever we keep them. */
export type KeyStore = {
  /** Returns the key's text: the only time that it exists outside its owner's hands. */
  create(key: NewKey): Promise<{ readonly id: string; readonly key: string }>
  list(): Promise<readonly ListedKey[]>
  /** False when there is no such key or it is revoked already. */
  revoke(id: string): Promise<boolean>
}

/** Keys in the file of API_KEYS_FILE. A running gateway sees a change within seconds. */
export const createKeyFileStore = (path: string, now: () => Date): KeyStore => ({
  create: async ({ name, account, environment, grants, expiresAt }) => {
    const file = await readKeyFile(path)
    const { key, id, hash } = generateKey(environment)
    const entry: KeyFileEntry = {
      id,
      name,
      account,
      hash,
      environment,
      scopes: [...grants],
      created_at: now().toISOString(),
      expires_at: expiresAt?.toISOString() ?? null,
      revoked_at: null,
    }
    await writeKeyFile(path, { keys: [...file.keys, entry] })
    return { id, key }
  },
  list: async () =>
    (await readKeyFile(path)).keys.map(({ hash: _hash, ...entry }) => ({
      ...entry,
      environment: entry.environment ?? null,
      expires_at: entry.expires_at ?? null,
      revoked_at: entry.revoked_at ?? null,
      last_used_at: null,
    })),
  revoke: async (id) => {
    const { keys } = await readKeyFile(path)
    const found = keys.find((entry) => entry.id === id)
    if (found === undefined || typeof found.revoked_at === 'string') return false
    const revoked = { ...found, revoked_at: now().toISOString() }
    await writeKeyFile(path, { keys: keys.map((entry) => (entry === found ? revoked : entry)) })
    return true
  },
})
