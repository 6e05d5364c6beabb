/*
 * `bun test` prints a file's heading when the file begins, a line for each test that ended, after the test's own
 * output, and a summary when the process is through with its files.
 */

export type Counts = { readonly pass: number; readonly fail: number; readonly skip: number }

export const sumOf = (all: readonly Counts[]): Counts => {
  const sum = { pass: 0, fail: 0, skip: 0 }
  for (const { pass, fail, skip } of all) {
    sum.pass += pass
    sum.fail += fail
    sum.skip += skip
  }
  return sum
}

const failureCharactersMax = 4_000

const kindOf: Readonly<Record<string, keyof Counts>> = {
  pass: 'pass',
  fail: 'fail',
  skip: 'skip',
  todo: 'skip',
}

/** True for the first line of the summary: the lines after it belong to no file. */
export const isSummary = (line: string): boolean =>
  /^\d+ tests? (?:failed|skipped|todo):$|^ *\d+ (?:pass|fail)$/.test(line)

/** Collects the lines of one file. */
export const createFileOutput = () => {
  const lines: string[] = []
  const failures: string[] = []
  const counts = { pass: 0, fail: 0, skip: 0 }
  let sinceResult: string[] = []
  let errorBounds = 0

  const end = (kind: keyof Counts): void => {
    counts[kind]++
    if (kind === 'fail') failures.push(sinceResult.join('\n').trim().slice(-failureCharactersMax))
    sinceResult = []
  }
  return {
    lines,
    counts,
    /** The output and the result of each failed test, only the end if it is long. */
    failures,
    add: (line: string): void => {
      lines.push(line)
      sinceResult.push(line)
      const kind = kindOf[/^\((\w+)\) /.exec(line)?.[1] ?? '']
      if (kind !== undefined) end(kind)
      // An error that no test threw stands between two rules of hyphens and has no result.
      if (line.startsWith('# Unhandled error between tests')) errorBounds = 2
      else if (errorBounds > 0 && /^-{10,}$/.test(line) && --errorBounds === 0) end('fail')
    },
  }
}

export type FileOutput = ReturnType<typeof createFileOutput>
