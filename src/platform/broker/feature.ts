import type { Feature } from '../lifecycle/index.ts'
import type { Logger } from '../observe/index.ts'
import type { Broker } from './types.ts'

/** The broker in the life of the process: started before those that consume, stopped after them. */
export const createBrokerFeature = (broker: Broker, logger: Logger): Feature => ({
  name: 'broker',
  start: async () => {
    if (!broker.isDurable) {
      logger.warn({ broker: broker.kind }, 'messages are kept in memory: they are lost at a stop')
    }
    await broker.start()
  },
  stop: () => broker.stop(),
  loops: () => broker.loops(),
  checks: async () => (await broker.checks?.()) ?? [],
  health: async () => {
    const answers = await broker.ping().catch(() => false)
    const detail = { kind: broker.kind, durable: broker.isDurable }
    return answers ? { status: 'ok', ready: true, detail } : { status: 'down', ready: true, detail }
  },
})
