import type { Demo } from '#src/platform/lifecycle/index.ts'
import { firstCharacters, inTime } from '#src/platform/runtime/index.ts'

/** One or more operations of a feature, done at the start of `dev`. */
export type Demonstration = {
  readonly name: string
  readonly show: () => AsyncIterable<Demo> | Promise<readonly Demo[]>
}

/** Waits for the end of a payment give up earlier. */
const timeoutMs = 20_000
const reasonCharactersMax = 300

/** One line in place of a demonstration. */
export const notShown = (name: string, error: unknown): string => {
  const reason = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ')
  return `${name} not shown: ${firstCharacters(reason, reasonCharactersMax)}`
}

/**
 * Does the demonstrations one after the other. If one fails, the others go on: settings and kept state of the user may
 * speak against an operation, while all the rest works.
 */
export const demonstrate = async (
  demonstrations: readonly Demonstration[],
  eachMs = timeoutMs,
): Promise<{ readonly demos: readonly Demo[]; readonly notes: readonly string[] }> => {
  const demos: Demo[] = []
  const notes: string[] = []
  for (const { name, show } of demonstrations) {
    const shown: Demo[] = []
    try {
      await inTime(collect(show, shown), eachMs)
    } catch (error) {
      notes.push(notShown(name, error))
    }
    demos.push(...shown)
  }
  return { demos, notes }
}

const collect = async (show: Demonstration['show'], shown: Demo[]): Promise<void> => {
  for await (const demo of await show()) shown.push(demo)
}
