import type { TransactionalBroker } from '#src/platform/broker/index.ts'
import { routesWithout } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { NoteReturn } from '../../payments/service.ts'
import { canSend, type SendingParts, settingsMissing } from '../../sending.ts'
import type { SendNow } from '../stage/index.ts'
import { sendRoutes } from './routes.ts'
import { type AttemptsAmong, createSendService } from './service.ts'

export type SendFeatureDeps = SendingParts & {
  readonly broker: TransactionalBroker | undefined
  /** Undefined: SPI_SYNC_ENABLED is false, or the message interface is not configured. */
  readonly sendNow?: SendNow | undefined
  /** Learns of returns, in their transaction. */
  readonly noteReturn?: NoteReturn
  /** Knows the charges that are not made here. */
  readonly attemptsAmong?: AttemptsAmong
  readonly logger: Logger
  /** The real clock when absent. */
  readonly nowMs?: () => number
}

/** The endpoint that builds, stores and queues outbound messages. */
export const createSend = (deps: SendFeatureDeps): Feature => {
  const routes = canSend(deps)
    ? sendRoutes(createSendService(deps))
    : routesWithout(settingsMissing(deps), sendRoutes)
  return { name: 'send', routes }
}
