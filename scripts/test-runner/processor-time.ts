import { readdirSync, readFileSync } from 'node:fs'

/** A tick of the kernel's clock, in ms: Linux tells times in hundredths of a second. */
const tickMs = 10

type Times = { readonly parent: number; readonly ticks: number }

/** What a process has used, and what those had used that it started and that have ended (proc(5), `stat`). */
const timesOf = (pid: number): Times | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name stands in parentheses and may hold any character, blanks too.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const sum = [11, 12, 13, 14].reduce((ticks, index) => ticks + Number(fields[index]), 0)
    return { parent: Number(fields[1]), ticks: sum }
  } catch {
    return undefined
  }
}

/**
 * The processor time that a process and all that it started have used, in ms; 0 where the system has no /proc. What was
 * started and left behind is missing.
 */
export const processorMsOf = (root: number): number => {
  let pids: number[]
  try {
    pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return 0
  }
  const all = new Map(
    pids.flatMap((pid) => {
      const times = timesOf(pid)
      return times === undefined ? [] : [[pid, times] as const]
    }),
  )
  const isOfRoot = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = all.get(at)?.parent) {
      if (at === root) return true
    }
    return false
  }
  let ticks = 0
  for (const [pid, times] of all) if (isOfRoot(pid)) ticks += times.ticks
  return ticks * tickMs
}
