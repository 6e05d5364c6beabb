import { createMemoryBroker } from '#src/platform/broker/index.ts'
import { brokerContract } from '../../contract/broker.contract.ts'
import { quietLogger } from '../../support/database.ts'

const shared = createMemoryBroker({ logger: quietLogger })

// Another "process" is another user of the same broker: nothing but memory connects them.
brokerContract('memory', { open: async () => ({ ...shared, stop: async () => {} }) })
