import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { GroupResult } from './harness.ts'

/** So many of the newest runs are kept. */
export const runsMax = 200

const runSchema = z.object({
  at: z.iso.datetime(),
  commit: z.string(),
  /** How many times as fast as the peer, by `suite: group: ours / peer`. */
  ratios: z.record(z.string(), z.number()),
})

/** What was measured at a time: ratios within that run, so that other machines and times compare. */
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
 * Appends a run to `history.json` of the directory: what stands there is never changed, only the oldest is dropped once
 * there are more than `runsMax`.
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
