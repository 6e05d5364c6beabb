import type { Base } from './base.ts'
import { type Group, type Mode, ratioOf, takeTurns } from './harness.ts'
import { noContenderCode, startWorker, type Worker, WorkerEndedError } from './worker-process.ts'

/** The smallest ratio to an earlier commit that is not yet a loss. */
export const keptAtLeast = 0.9

/** One of our contenders here and at an earlier commit, measured in turns. */
export type PairResult = {
  readonly suite: string
  readonly group: string
  readonly contender: string
  readonly base: string
  /** Its time there ÷ its time here; absent if the earlier commit lacks it, or its work differs. */
  readonly ratio?: number
  readonly reached: boolean
}

type Two = { readonly there: Worker; readonly here: Worker }

/** Measures once, and again if that looks like a loss: a disturbance does not come twice. */
export const ratioOfTwo = async (
  start: () => Promise<Two | undefined>,
  mode: Mode,
): Promise<number | undefined> => {
  const ratios: number[] = []
  while (ratios.length < 2 && (ratios[0] ?? 0) < keptAtLeast) {
    const two = await start()
    if (two === undefined) return undefined
    const { there, here } = two
    try {
      if (there.single !== here.single) return undefined
      const workers = [
        { ...there, name: 'there' },
        { ...here, name: 'here' },
      ]
      const samples = await takeTurns(workers, mode.rounds)
      ratios.push(ratioOf(samples.get('there') ?? [], samples.get('here') ?? []))
    } finally {
      there.stop()
      here.stop()
    }
  }
  return Math.max(...ratios)
}

/** The contenders with a goal are ours. One with a server of its own cannot run twice, so only its goal judges it. */
const oursOf = ({ contenders, goals, ceilings = [] }: Group): readonly string[] => {
  const ours = new Set([...goals, ...ceilings].map((goal) => goal.ours))
  return contenders
    .filter(({ name, cpuUs }) => ours.has(name) && cpuUs === undefined)
    .map(({ name }) => name)
}

/** Undefined if the earlier commit has no such contender. @throws any other error: a failed comparison is no answer */
const noneThere = (error: unknown): undefined => {
  if (error instanceof WorkerEndedError && error.code === noContenderCode) return undefined
  throw error
}

export const comparePairs = async (
  suite: string,
  group: Group,
  base: Base,
  mode: Mode,
): Promise<readonly PairResult[]> => {
  const results: PairResult[] = []
  for (const contender of oursOf(group)) {
    const start = async (): Promise<Two | undefined> => {
      const address = [suite, group.name, contender] as const
      const there = await startWorker(address, mode.roundMs, base.tree).catch(noneThere)
      return there && { there, here: await startWorker(address, mode.roundMs) }
    }
    const ratio = await ratioOfTwo(start, mode)
    results.push({
      suite,
      group: group.name,
      contender,
      base: base.commit,
      ...(ratio === undefined ? {} : { ratio }),
      reached: ratio === undefined || ratio >= keptAtLeast,
    })
  }
  return results
}
