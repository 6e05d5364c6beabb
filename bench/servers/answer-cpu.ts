/** Tells the benchmark where this server listens and, when asked, the CPU time it has used and its memory. */
export const answerCpu = (url: string): void => {
  process.on('message', (what) => {
    if (what === 'memory') Bun.gc(true)
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuUs: user + system, rssBytes: process.memoryUsage.rss() })
  })
  // The benchmark is gone: so is the need for this server.
  process.on('disconnect', () => process.exit())
  process.send?.({ url })
}
