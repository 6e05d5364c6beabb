import { generateKey, type KeyEnvironment } from './api-key.ts'
import { changeKeyFile, type KeyFileEntry, readKeyFile } from './key-file.ts'
import type { StoredRestrictions } from './restrictions.ts'

export type NewKey = {
  readonly name: string
  readonly account: string
  readonly environment: KeyEnvironment
  readonly grants: readonly string[]
  readonly restrictions?: StoredRestrictions
  readonly expiresAt: Date | undefined
}

/** The changes of a key; an undefined member stays. */
export type KeyChange = {
  /** The whole set: restrictions that are not here are lifted. */
  readonly restrictions?: StoredRestrictions | undefined
  readonly expiresAt?: Date | undefined
}

/** A key as lists show it: nothing in it is secret. Times are ISO 8601. */
export type ListedKey = {
  readonly id: string
  readonly name: string
  readonly account: string
  /** Null for keys that were stored before environments were: their text tells it. */
  readonly environment: KeyEnvironment | null
  readonly scopes: readonly string[]
  readonly restrictions: StoredRestrictions
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  /** Until when the secret before the last rotation counts; null: there is none. */
  readonly previous_until: string | null
  /** Null when unknown: a file does not record it. */
  readonly last_used_at: string | null
}

/** The key's new text, and until when the former secret counts. */
type RotatedKey = { readonly key: string; readonly previousUntil: Date }

/** The acts of the operator's commands on keys, wherever we keep them. */
export type KeyStore = {
  /** Returns the key's text: the only time that it exists outside its owner's hands. */
  create(key: NewKey): Promise<{ readonly id: string; readonly key: string }>
  list(): Promise<readonly ListedKey[]>
  /** False when there is no such key or it is revoked already. */
  revoke(id: string): Promise<boolean>
  /** False when there is no such key or it is revoked. */
  change(id: string, change: KeyChange): Promise<boolean>
  /**
   * Gives a key a new secret; its name, its property and its rights stay. The present secret counts for so long.
   *
   * @param environment of a key that was stored without one
   * @returns undefined when there is no such key or it is revoked
   */
  rotate(
    id: string,
    overlapSeconds: number,
    environment: KeyEnvironment,
  ): Promise<RotatedKey | undefined>
}

/** Keys in the file of API_KEYS_FILE. A running gateway sees a change within seconds. */
export const createKeyFileStore = (path: string, now: () => Date): KeyStore => {
  /** Replaces a key that is not revoked; false if there is no such key. */
  const replace = (id: string, changed: (entry: KeyFileEntry) => KeyFileEntry): Promise<boolean> =>
    changeKeyFile(path, ({ keys }) => {
      const found = keys.find((entry) => entry.id === id)
      if (found === undefined || typeof found.revoked_at === 'string') return undefined
      const next = changed(found)
      return { keys: keys.map((entry) => (entry === found ? next : entry)) }
    })
  return {
    create: async ({ name, account, environment, grants, restrictions, expiresAt }) => {
      const { key, id, hash } = generateKey(environment)
      const entry: KeyFileEntry = {
        id,
        name,
        account,
        hash,
        environment,
        scopes: [...grants],
        ...(restrictions === undefined ? {} : { restrictions }),
        created_at: now().toISOString(),
        expires_at: expiresAt?.toISOString() ?? null,
        revoked_at: null,
      }
      await changeKeyFile(path, ({ keys }) => ({ keys: [...keys, entry] }))
      return { id, key }
    },
    list: async () => (await readKeyFile(path)).keys.map(listed),
    revoke: (id) => replace(id, (entry) => ({ ...entry, revoked_at: now().toISOString() })),
    change: (id, { restrictions, expiresAt }) =>
      replace(id, (entry) => ({
        ...entry,
        ...(restrictions === undefined ? {} : { restrictions }),
        ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
      })),
    rotate: async (id, overlapSeconds, environment) => {
      let rotated: RotatedKey | undefined
      await replace(id, (entry) => {
        const { key, hash } = generateKey(entry.environment ?? environment, id)
        const previousUntil = new Date(now().getTime() + overlapSeconds * 1_000)
        rotated = { key, previousUntil }
        const previous_until = previousUntil.toISOString()
        return { ...entry, hash, previous_hash: entry.hash, previous_until }
      })
      return rotated
    },
  }
}

const listed = ({ hash: _hash, previous_hash: _previous, ...entry }: KeyFileEntry): ListedKey => ({
  ...entry,
  environment: entry.environment ?? null,
  restrictions: entry.restrictions ?? {},
  expires_at: entry.expires_at ?? null,
  revoked_at: entry.revoked_at ?? null,
  previous_until: entry.previous_until ?? null,
  last_used_at: null,
})
