import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { GroupResult } from './harness.ts'

/** The history keeps this many runs, the newest. */
export const runsMax = 200

const runSchema = z.object({
  at: z.iso.datetime(),
  commit: z.string(),
  /** How many times as fast as the peer, by `suite: group: ours / peer`. */
  ratios: z.record(z.string(), z.number()),
})

/** The results of one run: ratios within it, so that other machines and times compare. */
export type Run = z.infer<typeof runSchema>

export const runOf = (results: readonly GroupResult[], commit: string, at: Date): Run => ({
  at: at.toISOString(),
  commit,
  ratios: Object.fromEntries(
    results.flatMap(({ suite, group, goals }) =>
      goals.map(({ ours, peer, ratio }) => [`${suite}: ${group}: ${ours} / ${peer}`, ratio]),
    ),
  ),
})

/**
 * Appends a run to `history.json` of the directory. It never changes an earlier run, and drops only the oldest beyond
 * `runsMax`.
 *
 * @returns all runs, the oldest first
 * @throws ZodError if the file is no history
 */
export const appendRun = (directory: string, run: Run): readonly Run[] => {
  const file = join(directory, 'history.json')
  const earlier = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
  const runs = [...z.array(runSchema).parse(earlier), run].slice(-runsMax)
  writeFileSync(file, `${JSON.stringify(runs)}\n`)
  return runs
}
