import type { Emit } from '#src/events/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { type Route, routesWithout } from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { infractionRoutes } from './infractions/routes.ts'
import { createInfractionService, type InfractionService } from './infractions/service.ts'
import type { Returns } from './refunds/returns.ts'
import { refundRoutes } from './refunds/routes.ts'
import { createRefundService, type RefundService } from './refunds/service.ts'
import type { DirectoryWire } from './wire.ts'

export type DisputingDeps = {
  readonly sql: Client
  readonly ispb: string
  readonly wire: DirectoryWire
  readonly returns: Returns
  readonly emit: Emit
  readonly logger: Logger
  readonly now: () => Date
}

export type Disputing = {
  readonly infractions: InfractionService
  readonly refunds: RefundService
  readonly routes: readonly Route[]
}

/** The special return mechanism (MED): infraction reports, and the refunds that follow from them. */
export const createDisputing = (deps: DisputingDeps): Disputing => {
  const infractions = createInfractionService(deps)
  const refunds = createRefundService(deps)
  return {
    infractions,
    refunds,
    routes: [...infractionRoutes(infractions), ...refundRoutes(refunds)],
  }
}

/** What answers 503. */
export const unaskedDisputes = (missing: readonly string[]): readonly Route[] => [
  ...routesWithout(missing, infractionRoutes),
  ...routesWithout(missing, refundRoutes),
]
