import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The user that PostgreSQL runs as; undefined: the one we are. */
export type RunAs = { readonly uid: number; readonly gid: number } | undefined

/** `nobody` on every system we run on. */
const unprivileged = { uid: 65_534, gid: 65_534 } as const

/** PostgreSQL refuses to run as root, rightly: then it runs as `nobody`. */
export const runAs = (): RunAs => (process.getuid?.() === 0 ? unprivileged : undefined)

/** True when any user may pass through every directory above, and into this one. */
export const isReachableByAll = async (path: string): Promise<boolean> => {
  for (let at = path; ; at = dirname(at)) {
    const { mode } = await stat(at)
    if ((mode & 0o001) === 0) return false
    if (dirname(at) === at) return true
  }
}
