import { dlopen, ptr } from 'bun:ffi'
import { type Figure, type Mode, median, smoke } from '../harness.ts'

const windows = 9
const windowMsDefault = 700
const heldMsMax = 1
const laneCount = 8
const threadCputimeId = 3

/**
 * CPU milliseconds of this thread, or wall time without such a clock. The runtime's own figure moves in steps of four
 * milliseconds.
 */
const openThreadClock = (): (() => number) => {
  try {
    const { symbols } = dlopen('libc.so.6', {
      clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' },
    })
    const time = new BigInt64Array(2)
    const at = ptr(time)
    return () => {
      symbols.clock_gettime(threadCputimeId, at)
      return Number(time[0]) * 1e3 + Number(time[1]) / 1e6
    }
  } catch {
    return () => performance.now()
  }
}

type Work = () => Promise<unknown>

/** @property cpuMs the CPU time of the loop's own thread in its longest turn */
type Longest = { readonly wallMs: number; readonly cpuMs: number }

/** The longest turn of the event loop in a window. We keep no others, as a growing list would hold the loop itself. */
const longestTurn = async (
  threadMs: () => number,
  work: Work | undefined,
  windowMs: number,
): Promise<Longest> => {
  let [wallMs, cpuMs, isRunning] = [0, 0, true]
  let [lastMs, lastThreadMs] = [performance.now(), threadMs()]
  const turn = (): void => {
    const [nowMs, nowThreadMs] = [performance.now(), threadMs()]
    wallMs = Math.max(wallMs, nowMs - lastMs)
    cpuMs = Math.max(cpuMs, nowThreadMs - lastThreadMs)
    lastMs = nowMs
    lastThreadMs = nowThreadMs
    if (isRunning) setImmediate(turn)
  }
  const lane = async (busy: Work): Promise<void> => {
    while (isRunning) await busy()
  }
  const lanes = work === undefined ? [] : Array.from({ length: laneCount }, () => lane(work))
  setImmediate(turn)
  await Bun.sleep(windowMs)
  isRunning = false
  await Promise.all(lanes)
  return { wallMs, cpuMs }
}

/**
 * The longest turn of the event loop, idle and while it asks for signatures without a pause. Windows of both take
 * turns; we take the longest turn of each, and their median and worst. The wall time of a turn includes the time that
 * the system gives the core to other threads, which happens with as many busy threads as cores. The CPU time of the
 * loop's thread includes garbage collection, which any turn may meet; whatever exceeds its longest idle turn counts as
 * signing's.
 */
export const loopFigures = async (sign: Work, mode: Mode): Promise<readonly Figure[]> => {
  const threadMs = openThreadClock()
  const windowMs = mode === smoke ? 50 : windowMsDefault
  const idle: Longest[] = []
  const busy: Longest[] = []
  // Compiling in the first window is no cost of signing.
  await longestTurn(threadMs, sign, windowMs)
  for (let window = 0; window < (mode === smoke ? 1 : windows); window++) {
    idle.push(await longestTurn(threadMs, undefined, windowMs))
    busy.push(await longestTurn(threadMs, sign, windowMs))
  }
  const figuresOf = (when: string, turns: readonly Longest[]): Figure[] => {
    const wall = turns.map(({ wallMs }) => wallMs)
    const cpu = turns.map(({ cpuMs }) => cpuMs)
    const figure = (name: string, value: number): Figure => ({ name, value, unit: 'ms' })
    return [
      figure(`longest turn of the event loop ${when}, by the clock`, median(wall)),
      figure(`the worst of all windows ${when}, by the clock`, Math.max(...wall)),
      figure(`longest turn of the event loop ${when}, its own CPU`, median(cpu)),
      figure(`the worst of all windows ${when}, its own CPU`, Math.max(...cpu)),
    ]
  }
  return [
    ...figuresOf('idle', idle),
    ...figuresOf('while signing', busy),
    {
      name: 'longest turn while signing over the longest idle one, own CPU',
      value: median(busy.map(({ cpuMs }, window) => cpuMs - (idle[window]?.cpuMs ?? 0))),
      unit: 'ms',
      atMost: heldMsMax,
    },
  ]
}
