/** A consumer in a process of its own that settles twenty messages and never ends the next batch; to be killed. */
import { backlogOf } from '../../../support/backlog.ts'
import { openKafkaBroker } from './support.ts'

const [address = '', topic = ''] = process.argv.slice(2)
const settledMax = 20
const broker = await openKafkaBroker({ address, sessionTimeoutMs: 2_000 })
let settled = 0
broker.consume({
  topic,
  group: 'g',
  batchSizeMax: 10,
  handler: async (batch) => {
    if (settled < settledMax) {
      settled += batch.length
      return
    }
    // Positions are written behind the work: what is settled is in Kafka when the backlog says so.
    while ((await backlogOf(broker, topic, 'g')).depth > settledMax) await Bun.sleep(20)
    process.stdout.write('taken\n')
    await new Promise(() => {})
  },
})
