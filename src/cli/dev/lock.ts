import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Takes the state directory for this process; it is given back when the process exits. A second `dev` on the same
 * state would take the first one's database away.
 *
 * @throws Error when a running `dev` holds it
 */
export const lockState = (directory: string): void => {
  const path = join(directory, 'pid')
  const holder = Number(readOr(path, ''))
  if (holder !== process.pid && isDev(holder)) {
    throw new Error(
      `another dev (process ${holder}) uses ${directory}: end it, or choose another with --state`,
    )
  }
  writeFileSync(path, String(process.pid))
  process.on('exit', () => {
    if (readOr(path, '') === String(process.pid)) rmSync(path, { force: true })
  })
}

/** A process id may have gone to another program since: only one that was started as `dev` counts. */
const isDev = (pid: number): boolean => {
  if (!Number.isSafeInteger(pid) || pid <= 1) return false
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const commandLine = readOr(`/proc/${pid}/cmdline`, '\0dev\0')
  return `\0${commandLine}\0`.includes('\0dev\0')
}

const readOr = (path: string, fallback: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return fallback
  }
}
