/** Tells the benchmark where this server listens and, when asked, the CPU time it has used. */
export const answerCpu = (url: string): void => {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuUs: user + system })
  })
  // The benchmark is gone: so is the need for this server.
  process.on('disconnect', () => process.exit())
  process.send?.({ url })
}
