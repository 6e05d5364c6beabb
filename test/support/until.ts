/** Waits until it holds, and fails where that takes too long. */
export const until = async (
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 15_000,
  what = 'what is waited for',
): Promise<void> => {
  const endMs = performance.now() + timeoutMs
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`not in ${timeoutMs} ms: ${what}`)
    await Bun.sleep(5)
  }
}
