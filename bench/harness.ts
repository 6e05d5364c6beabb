import { ownCpuUs, remoteWorker } from './rounds.ts'
import { startWorker, type Worker } from './worker-process.ts'

/**
 * How we measure. Machines are noisy, so an absolute time proves nothing: contenders take turns, and the figure
 * is the ratio of their CPU times in the same round. Each runs in a process of its own, so that the garbage of
 * one is no burden to another. Every contender returns a checksum of its work, which must not change between
 * rounds and, where contenders do the same work, must be the same for all.
 *
 * A new suite is one file in bench/suites that exports a `Suite`, named in bench/suites/index.ts.
 */
export type Contender = {
  readonly name: string
  /** Does the work `times` times and gives a checksum of all of it. */
  readonly run: (times: number) => number | bigint | Promise<number | bigint>
  /** CPU microseconds used so far, if another process does the work. */
  readonly cpuUs?: () => Promise<number>
  /** Operations before its time counts, if its runtime takes longer to settle in than rounds last. */
  readonly warmUp?: number
  /** Ends the processes and servers that it started. */
  readonly stop?: () => void
}

type Goal = {
  /** Our contender and the peer: `peer time / our time` must be at least `atLeast`. */
  readonly ours: string
  readonly peer: string
  readonly atLeast: number
}

/** The CPU microseconds that one operation of ours may take, whatever a peer takes. */
type Ceiling = { readonly ours: string; readonly cpuUsMax: number }

/** Contenders that we compare with one another. */
export type Group = {
  readonly name: string
  readonly contenders: readonly Contender[]
  readonly goals: readonly Goal[]
  readonly ceilings?: readonly Ceiling[]
  /** Contenders whose checksums must agree. */
  readonly sameWork?: readonly string[]
}

/** A value without a peer, such as a time to be ready or a memory. Without a bound we only report it. */
export type Figure = {
  readonly name: string
  /** Median of the rounds. */
  readonly value: number
  readonly unit: 'ms' | 'µs' | 'MB' | '×'
  readonly atMost?: number
  readonly atLeast?: number
}

export type FigureResult = Figure & { readonly suite: string; readonly reached: boolean }

export type Suite = {
  readonly name: string
  readonly groups: (mode: Mode) => Promise<readonly Group[]> | readonly Group[]
  readonly figures?: (mode: Mode) => Promise<readonly Figure[]>
}

export type Mode = {
  readonly name: 'smoke' | 'full'
  readonly rounds: number
  readonly roundMs: number
}

/** Enough to see that everything still runs, too little to believe a figure: we judge no goal by it. */
export const smoke: Mode = { name: 'smoke', rounds: 2, roundMs: 1 }
export const full: Mode = { name: 'full', rounds: 15, roundMs: 120 }

type ContenderResult = {
  readonly name: string
  /** CPU microseconds per operation, median of the rounds. */
  readonly cpuUs: number
  readonly checksum: string
}

type GoalResult = Goal & { readonly ratio: number; readonly reached: boolean }

type CeilingResult = Ceiling & { readonly cpuUs: number; readonly reached: boolean }

export type GroupResult = {
  readonly suite: string
  readonly group: string
  readonly contenders: readonly ContenderResult[]
  readonly goals: readonly GoalResult[]
  readonly ceilings: readonly CeilingResult[]
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/**
 * CPU microseconds of each worker in each round, by its name.
 *
 * @throws Error if a worker does other work in one round than in another
 */
export const takeTurns = async (
  workers: readonly Worker[],
  rounds: number,
): Promise<ReadonlyMap<string, readonly number[]>> => {
  const samples = new Map<string, number[]>(workers.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    // Every second round runs backwards, so that no contender always follows the same one.
    for (const worker of round % 2 === 0 ? workers : workers.toReversed()) {
      const { cpuUs, checksum } = await worker.round()
      samples.get(worker.name)?.push(cpuUs)
      if (checksum !== worker.checksum) throw new Error(`${worker.name} did other work this time`)
    }
  }
  return samples
}

/** The median of the rounds' ratios: a disturbance hits both contenders of a round alike. */
export const ratioOf = (peer: readonly number[], ours: readonly number[]): number =>
  median(ours.map((own, round) => (peer[round] ?? Number.NaN) / own))

/**
 * Runs one group: each contender calibrates itself to the length of a round, then they take turns.
 *
 * @param isFirst true: the group is the first of its suite
 */
export const runGroup = async (
  suite: string,
  group: Group,
  mode: Mode,
  isFirst = true,
): Promise<GroupResult> => {
  const workers: Worker[] = []
  for (const contender of group.contenders) {
    if (contender.warmUp !== undefined && mode !== smoke) await contender.run(contender.warmUp)
    // A process of its own keeps the code of others out of a contender's figure. In a smoke run one of a suite is
    // enough to see that processes work.
    const isOne = isFirst && workers.length === 0
    const isApart = contender.cpuUs === undefined && (mode !== smoke || isOne)
    workers.push(
      isApart
        ? await startWorker([suite, group.name, contender.name], mode.roundMs)
        : await remoteWorker(contender, contender.cpuUs ?? ownCpuUs, mode.roundMs),
    )
  }
  const samples = await takeTurns(workers, mode.rounds)
  for (const worker of workers) worker.stop()
  refuseOtherWork(group, new Map(workers.map(({ name, single }) => [name, single])))
  return {
    suite,
    group: group.name,
    contenders: workers.map(({ name, single }) => ({
      name,
      cpuUs: median(samples.get(name) ?? []),
      checksum: single,
    })),
    goals: group.goals.map((goal) => judge(goal, samples)),
    ceilings: (group.ceilings ?? []).map((ceiling) => {
      const cpuUs = median(samples.get(ceiling.ours) ?? [])
      return { ...ceiling, cpuUs, reached: cpuUs <= ceiling.cpuUsMax }
    }),
  }
}

export const judgeFigure = (suite: string, figure: Figure): FigureResult => ({
  ...figure,
  suite,
  reached:
    figure.value <= (figure.atMost ?? Number.POSITIVE_INFINITY) &&
    figure.value >= (figure.atLeast ?? Number.NEGATIVE_INFINITY),
})

const refuseOtherWork = (group: Group, checksums: ReadonlyMap<string, string>): void => {
  const [first, ...others] = group.sameWork ?? []
  for (const other of others) {
    if (checksums.get(other) !== checksums.get(first ?? '')) {
      throw new Error(`${group.name}: ${other} and ${first} did not do the same work`)
    }
  }
}

const judge = (goal: Goal, samples: ReadonlyMap<string, readonly number[]>): GoalResult => {
  const ratio = ratioOf(samples.get(goal.peer) ?? [], samples.get(goal.ours) ?? [])
  return { ...goal, ratio, reached: ratio >= goal.atLeast }
}
