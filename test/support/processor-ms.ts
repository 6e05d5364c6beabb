/**
 * Begins to count the processor time of this process, in ms, which other work on the machine does not lengthen.
 *
 * @returns tells how much was used since
 */
export const countProcessorMs = (): (() => number) => {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
}
