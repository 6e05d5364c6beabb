import type { Metrics } from '#src/platform/observe/index.ts'

type Value = { readonly network: string; readonly value: number }

/** Declares a gauge whose values the database has: zero for a network that it tells nothing of. Without it there are none. */
export const gaugeByNetwork = (
  metrics: Metrics,
  name: string,
  help: string,
  networks: readonly string[],
  read: () => Promise<readonly Value[]>,
): void => {
  metrics.gauge(name, help, ['network'], async (gauge) => {
    const rows = await read().catch(() => undefined)
    gauge.reset()
    if (rows === undefined) return
    for (const network of networks) gauge.set({ network }, 0)
    for (const { network, value } of rows) gauge.set({ network }, value)
  })
}
