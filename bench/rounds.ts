import type { Contender } from './harness.ts'
import type { Worker } from './worker-process.ts'

/**
 * Rounds until the optimised code settles in, since its compilation must not count. A scan of large messages reaches
 * its last stage only after some fifteen thousand of them.
 */
const warmUpRounds = 16

/** Grows the count until a round takes long enough, then warms up, then corrects the count. */
export const calibrate = async (contender: Contender, roundMs: number): Promise<number> => {
  const times = await timesOf(contender, roundMs)
  for (let round = 0; round < warmUpRounds; round++) await contender.run(times)
  return timesOf(contender, roundMs)
}

const timesOf = async (contender: Contender, roundMs: number): Promise<number> => {
  let times = 1
  for (;;) {
    const before = performance.now()
    await contender.run(times)
    const tookMs = performance.now() - before
    if (tookMs >= roundMs / 2) return Math.max(1, Math.round((times * roundMs) / tookMs))
    times *= tookMs < roundMs / 20 ? 8 : 2
  }
}

/** A contender that works in a process of its own, which it asks for CPU time. */
export const remoteWorker = async (
  contender: Contender,
  cpuUs: () => Promise<number> | number,
  roundMs: number,
): Promise<Worker> => {
  const times = await calibrate(contender, roundMs)
  return {
    name: contender.name,
    checksum: String(await contender.run(times)),
    single: String(await contender.run(1)),
    round: async () => {
      const before = await cpuUs()
      const checksum = String(await contender.run(times))
      return { cpuUs: ((await cpuUs()) - before) / times, checksum }
    },
    stop: () => contender.stop?.(),
  }
}

/** CPU microseconds of this process with all threads, so that its garbage collector counts too. */
export const ownCpuUs = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}
