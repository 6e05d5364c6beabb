import type { Revision } from '#codecs/iso20022'
import type { TransactionalBroker } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { routesWithout } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { NoteReturn } from '../../payments/service.ts'
import type { SendNow } from '../stage/index.ts'
import { sendRoutes } from './routes.ts'
import { type AttemptsAmong, createSendService } from './service.ts'

export type SendFeatureDeps = {
  /** Undefined: the endpoint answers 503 and names ISPB. */
  readonly ispb: string | undefined
  /** Undefined, here and for the broker: the endpoint answers 503 and names DATABASE_DSN. */
  readonly sql: Client | undefined
  readonly broker: TransactionalBroker | undefined
  readonly revision: Revision
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
  const { ispb, sql, broker, sendNow } = deps
  const name = 'send'
  if (ispb !== undefined && sql !== undefined && broker !== undefined) {
    const service = createSendService({ ...deps, ispb, sql, broker, sendNow })
    return { name, routes: sendRoutes(service) }
  }
  const missing = [
    ...(ispb === undefined ? ['ISPB'] : []),
    ...(sql === undefined || broker === undefined ? ['DATABASE_DSN'] : []),
  ]
  return { name, routes: routesWithout(missing, sendRoutes) }
}
