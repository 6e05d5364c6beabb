/** Waits until it holds. The limit is for what never comes: a busy machine may take many times the usual. */
export const until = async (
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 40_000,
  what = 'what is waited for',
): Promise<void> => {
  const endMs = performance.now() + timeoutMs
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`not in ${timeoutMs} ms: ${what}`)
    await Bun.sleep(5)
  }
}
