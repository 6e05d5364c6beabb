export type Outcome = {
  readonly status: string
  readonly reason: string | null
  readonly count: number
}

const shownMax = 5

export const sumOf = (outcomes: readonly Outcome[]): number =>
  outcomes.reduce((sum, one) => sum + one.count, 0)

const isUnknown = ({ status }: Outcome): boolean => status.toLowerCase() === 'unknown'

/** The most frequent outcomes, and always the unknown one; `rest`: all others. */
export const shownOf = (
  outcomes: readonly Outcome[],
): { readonly shown: readonly Outcome[]; readonly rest: readonly Outcome[] } => {
  const isShown = (one: Outcome, at: number) => at < shownMax || isUnknown(one)
  return {
    shown: outcomes.filter(isShown),
    rest: outcomes.filter((one, at) => !isShown(one, at)),
  }
}
