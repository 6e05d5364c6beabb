/** Tells the benchmark the address of this server and, when asked, its CPU time and its memory. */
export const answerCpu = (url: string): void => {
  process.on('message', (what) => {
    if (what === 'memory') Bun.gc(true)
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuUs: user + system, rssBytes: process.memoryUsage.rss() })
  })
  // Without the benchmark nobody needs this server.
  process.on('disconnect', () => process.exit())
  process.send?.({ url })
}
