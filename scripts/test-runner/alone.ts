import type { FileReport } from './process.ts'

/*
 * Hundreds of tests that start databases, brokers and chains share two cores, and now and then one meets a wait that
 * the crowd made too long. Such a test is a defect, and is told as one; it does not hold back the work of everybody.
 */

/** More failed files than this, one in a hundred, are no accident of a crowd: none of them runs again. */
export const secondRunsMax = 7

const hasFailed = ({ counts }: FileReport): boolean => counts.fail > 0

/** The reports, with those of failed files replaced by a second run, one file after the other. */
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

/** Names each file that passed only alone, with what failed at first, so that nobody overlooks it. */
export const shownOnlyAlone = (
  first: readonly FileReport[],
  reports: readonly FileReport[],
): string =>
  first
    .filter((report, index) => report !== reports[index] && !hasFailed(reports[index] ?? report))
    .map(({ file, failures }) => `PASSED ONLY ALONE: ${file}\n${failures.join('\n')}\n`)
    .join('\n')
