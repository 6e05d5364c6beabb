import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import { chmod, chown, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { jsonOnce } from '#src/platform/http/index.ts'
import { hasCode, renameDurably } from '#src/platform/runtime/index.ts'
import { accountForm, defaultAccount } from './api-key.ts'
import type { KeyRecord, KeySource } from './authenticator.ts'
import { storedRestrictionsSchema } from './restrictions.ts'
import { isStoredGrant } from './scopes.ts'

const instant = z.iso.datetime()

const hash = z.string().regex(/^[0-9a-f]{64}$/)

/**
 * The file of API_KEYS_FILE: `{"keys": [{id, name, account?, hash, previous_hash?, previous_until?, environment?,
 * scopes, restrictions?, created_at, expires_at?, revoked_at?}]}`.
 */
const fileSchema = z.strictObject({
  keys: z.array(
    z.strictObject({
      id: z.string().regex(/^[0-9A-Za-z]{12}$/),
      name: z.string().max(100),
      account: z.string().regex(accountForm).default(defaultAccount),
      hash,
      previous_hash: hash.nullish(),
      previous_until: instant.nullish(),
      environment: z.enum(['live', 'test']).nullish(),
      scopes: z.array(z.string().refine(isStoredGrant, 'unknown scope')),
      restrictions: storedRestrictionsSchema.optional(),
      created_at: instant,
      expires_at: instant.nullish(),
      revoked_at: instant.nullish(),
    }),
  ),
})

export type KeyFile = z.infer<typeof fileSchema>
export type KeyFileEntry = KeyFile['keys'][number]

const checkEveryMs = 1_000

/** A change takes milliseconds: if a lock stays unchanged for so long, its maker has died. */
const lockMsMax = 5_000
const lockedLookMs = 20

/** Reads the file; an absent one counts as empty. Throws with a path into the JSON when it is malformed. */
export const readKeyFile = async (path: string): Promise<KeyFile> => {
  let content: string
  try {
    content = await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { keys: [] }
    throw error
  }
  const parsed = fileSchema.safeParse(jsonOnce(content))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new Error(`the key file is malformed at ${issue?.path.join('.') ?? ''}: ${issue?.message}`)
}

/**
 * Reads the file and replaces it in one step, one command after the other. Its readers can still read it: a gateway
 * that no longer could would go on accepting a revoked key. Only its owner can read a new file. A change that we report
 * is on the disk: after a power loss, a revoked key stays revoked.
 *
 * @param change undefined: the file stays
 * @returns whether it was replaced
 */
export const changeKeyFile = (
  path: string,
  change: (file: KeyFile) => KeyFile | undefined,
): Promise<boolean> =>
  whileLocked(path, async () => {
    const stamp = await stampOf(path)
    const file = change(await readKeyFile(path))
    if (file === undefined) return false
    const temporary = `${path}.${randomUUID()}`
    try {
      await writeFile(temporary, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
      if (stamp !== undefined) await giveAway(temporary, path)
      if ((await stampOf(path)) !== stamp)
        throw new Error(`${path} was changed meanwhile: try again`)
      await renameDurably(temporary, path)
    } finally {
      await rm(temporary, { force: true })
    }
    return true
  })

/** Gives the file the owner, group and readers of the one that it is to replace. */
const giveAway = async (temporary: string, path: string): Promise<void> => {
  const { uid, gid, mode } = await stat(path)
  try {
    await chown(temporary, uid, gid)
  } catch (cause) {
    const owner = `user ${uid}, group ${gid}`
    throw new Error(`${path} is of ${owner}: run the command as that user or as root`, { cause })
  }
  await chmod(temporary, mode & 0o777)
}

/** Changes with the content. */
const stampIn = ({ mtimeMs, size, ino }: Stats): string => `${mtimeMs}/${size}/${ino}`

/** Undefined: it is not there. */
const stampOf = async (path: string): Promise<string | undefined> => {
  try {
    return stampIn(await stat(path))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

const whileLocked = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  const lock = `${path}.lock`
  let seen: string | undefined
  let sinceMs = 0
  while (!(await isMade(lock))) {
    const current = await stampOf(lock)
    if (current !== seen) {
      seen = current
      sinceMs = performance.now()
    } else if (performance.now() - sinceMs > lockMsMax) await rm(lock, { force: true })
    await Bun.sleep(lockedLookMs)
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

/** False: it was there. */
const isMade = async (lock: string): Promise<boolean> => {
  try {
    await writeFile(lock, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/**
 * Keys from a file, read again when it changes. While the file cannot be read the last good content
 * stays in force and `onProblem` hears of it.
 */
export const createKeyFileSource = (options: {
  readonly path: string
  readonly onProblem: (error: unknown) => void
  /** The monotonic clock; tests set it. */
  readonly tickMs?: () => number
}): KeySource => {
  const { path, onProblem, tickMs = () => performance.now() } = options
  let records = new Map<string, KeyRecord>()
  let stamp = ''
  let checkedMs = Number.NEGATIVE_INFINITY
  let refreshed: Promise<void> = Promise.resolve()

  /** Callers that come while we read the file wait for that reading. */
  const refresh = (): Promise<void> => {
    if (tickMs() - checkedMs < checkEveryMs) return refreshed
    checkedMs = tickMs()
    refreshed = read()
    return refreshed
  }

  const read = async (): Promise<void> => {
    try {
      const current = stampIn(await stat(path))
      if (current === stamp) return
      const file = await readKeyFile(path)
      records = new Map(file.keys.map((entry) => [entry.id, recordOf(entry)]))
      stamp = current
    } catch (error) {
      onProblem(error)
    }
  }

  return {
    find: async (id) => {
      await refresh()
      return records.get(id)
    },
  }
}

const recordOf = (entry: KeyFileEntry): KeyRecord => ({
  id: entry.id,
  name: entry.name,
  account: entry.account,
  hash: entry.hash,
  grants: entry.scopes,
  previous: previousOf(entry.previous_hash, entry.previous_until),
  environment: entry.environment ?? undefined,
  restrictions: entry.restrictions,
  expiresAt: dateOf(entry.expires_at),
  revokedAt: dateOf(entry.revoked_at),
})

/** The secret before the last rotation, from the stored columns. */
export const previousOf = (
  previousHash: string | null | undefined,
  until: string | null | undefined,
): KeyRecord['previous'] =>
  typeof previousHash === 'string' && typeof until === 'string'
    ? { hash: previousHash, until: new Date(until) }
    : undefined

const dateOf = (value: string | null | undefined): Date | undefined =>
  value === null || value === undefined ? undefined : new Date(value)
