import type { Broker } from '#src/platform/broker/index.ts'
import { until } from './until.ts'

type Backlog = Awaited<ReturnType<Broker['backlog']>>

/**
 * What waits for a group. The broker gives an answer up after the time that a scrape has, which a cluster that comes back
 * on a busy machine exceeds: it is asked again.
 */
export const backlogOf = async (broker: Broker, topic: string, group: string): Promise<Backlog> => {
  let backlog: Backlog | undefined
  await until(async () => {
    backlog = await broker.backlog(topic, group).catch(() => undefined)
    return backlog !== undefined
  })
  return backlog!
}
