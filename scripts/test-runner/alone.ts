import type { FileReport } from './process.ts'

/*
 * Hundreds of tests that start databases, brokers and chains share two cores, and now and then one meets a wait that
 * the crowd made too long. Such a test is a defect, and the run says so, but it does not hold everybody's work back.
 */

/** More failed files than this, one in a hundred, are no accident: none of them runs again. */
export const secondRunsMax = 7

const hasFailed = ({ counts }: FileReport): boolean => counts.fail > 0

/** The reports; each failed file has that of a second run, one file after the other. */
export const withSecondRuns = async (
  reports: readonly FileReport[],
  runAlone: (file: string) => Promise<FileReport>,
): Promise<readonly FileReport[]> => {
  if (reports.filter(hasFailed).length > secondRunsMax) return reports
  const replaced: FileReport[] = []
  for (const report of reports) {
    replaced.push(hasFailed(report) ? await runAlone(report.file) : report)
  }
  return replaced
}

/** Names each file that passed only alone, with its first failure, so that nobody overlooks it. */
export const shownOnlyAlone = (
  first: readonly FileReport[],
  reports: readonly FileReport[],
): string =>
  first
    .filter((report, index) => report !== reports[index] && !hasFailed(reports[index] ?? report))
    .map(({ file, failures }) => `PASSED ONLY ALONE: ${file}\n${failures.join('\n')}\n`)
    .join('\n')
