import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second. */
const tickUs = 10_000

type Stat = { readonly parent: number; readonly us: number }

const statOf = (pid: string): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in parentheses, may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    // Its own time, and that of its children that have ended.
    const ticks = [11, 12, 13, 14].reduce((sum, place) => sum + Number(fields[place]), 0)
    return { parent: Number(fields[1]), us: ticks * tickUs }
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}

/** CPU time of a process and all its children, in µs; 0 if the system does not tell. */
export const familyUs = (root: number): number => {
  if (process.platform !== 'linux') return 0
  const stats = new Map<number, Stat>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(name) : undefined
    if (stat !== undefined) stats.set(Number(name), stat)
  }
  const belongs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = stats.get(at)?.parent) {
      if (at === root) return true
    }
    return false
  }
  let us = 0
  for (const [pid, stat] of stats) if (belongs(pid)) us += stat.us
  return us
}

/** The value below which this share of the sorted values lies. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
