import type { Emit } from '#src/events/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import type { Route } from '#src/platform/http/index.ts'
import type { Job } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { createInfractionCalls } from './infractions/calls.ts'
import { infractionRoutes } from './infractions/routes.ts'
import {
  createInfractionService,
  type InfractionService,
  infractionJobs,
} from './infractions/service.ts'
import { createRefundCalls } from './refunds/calls.ts'
import type { Returns } from './refunds/returns.ts'
import { refundRoutes } from './refunds/routes.ts'
import { createRefundService, type RefundService, refundJobs } from './refunds/service.ts'
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
  /** @param quietMs for so long a dispute is left to whoever tells the directory now */
  readonly jobs: (pollMs: number, quietMs: number) => readonly Job[]
}

/** The special return mechanism (MED): infraction reports, and the refunds that follow from them. */
export const createDisputing = ({ wire, returns, ...deps }: DisputingDeps): Disputing => {
  const reporting = { ...deps, calls: createInfractionCalls(wire.lane(), deps.ispb) }
  const refunding = { ...deps, returns, calls: createRefundCalls(wire.lane(), deps.ispb) }
  const infractions = createInfractionService(reporting)
  const refunds = createRefundService(refunding)
  return {
    ...{ infractions, refunds },
    routes: [...infractionRoutes(infractions), ...refundRoutes(refunds)],
    jobs: (...pace) => [
      ...infractionJobs(infractions, pace, reporting),
      ...refundJobs(refunds, pace, refunding),
    ],
  }
}

const never = (): never => {
  throw new Error('not configured')
}

/** What answers 503. */
export const unaskedDisputes = (): readonly Route[] => {
  const common = { act: never, find: never, list: never, retry: never, poll: never }
  const moving = { request: never, cancel: never, close: never, returnOf: never }
  return [
    ...infractionRoutes({ ...common, report: never }),
    ...refundRoutes({ ...common, ...moving }),
  ]
}
