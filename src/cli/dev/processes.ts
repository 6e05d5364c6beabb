import { readFileSync } from 'node:fs'

export type Process = {
  readonly pid: number
  readonly parent: number
  readonly name: string
  /** True if it has ended, and its parent has not asked how. */
  readonly isZombie: boolean
  /** Ticks since the machine started. */
  readonly start: string
}

/** Reads /proc. On systems without it, it is undefined as for a process that has ended. */
export const processOf = (pid: number): Process | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name is in parentheses and may hold anything; state, parent and start are fields 3, 4 and 22 of proc(5).
    const close = stat.lastIndexOf(')')
    const fields = stat.slice(close + 2).split(' ')
    return {
      pid,
      parent: Number(fields[1]),
      name: stat.slice(stat.indexOf('(') + 1, close),
      isZombie: fields[0] === 'Z',
      start: fields[19] ?? '',
    }
  } catch {
    return undefined
  }
}

/**
 * When a process started, which tells it from a later one of its number; undefined if it has ended or cannot be read.
 */
export const startOf = (pid: number): string | undefined => {
  if (process.platform !== 'linux') return toldStart(pid)
  const found = processOf(pid)
  return found?.isZombie === false ? found.start : undefined
}

const toldStart = (pid: number): string | undefined => {
  try {
    const command = ['ps', '-o', 'stat=', '-o', 'lstart=', '-p', String(pid)]
    const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' }
    const told = Bun.spawnSync(command, { env }).stdout.toString()
    const [state = 'Z', ...start] = told.trim().split(/\s+/)
    return state.startsWith('Z') || start.length === 0 ? undefined : start.join(' ')
  } catch {
    return undefined
  }
}
