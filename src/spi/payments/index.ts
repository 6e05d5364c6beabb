import type { Revision } from '#codecs/iso20022'
import type { TransactionalBroker } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { routesWithout } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import { paymentErrors } from './errors.ts'
import { createPay, type PayeePorts } from './outgoing.ts'
import { paymentRoutes } from './routes.ts'
import {
  createPaymentService,
  createRefundsOn,
  type NoteReturn,
  type PaymentDeps,
  type Refunds,
} from './service.ts'

export type { PayeePorts } from './outgoing.ts'
export type { Refunds } from './service.ts'

export type PaymentsDeps = {
  /** Undefined: the endpoints answer 503 and name ISPB. */
  readonly ispb: string | undefined
  /** Undefined, here and for the broker: the endpoints answer 503 and name DATABASE_DSN. */
  readonly sql: Client | undefined
  readonly broker: Pick<TransactionalBroker, 'publishIn'> | undefined
  readonly revision: Revision
  /** The real clock when absent. */
  readonly now?: () => Date
  readonly noteReturn?: NoteReturn
}

/** Undefined if this process cannot give money back. */
export const createRefunds = (deps: PaymentsDeps): Refunds | undefined => {
  const { ispb, sql, broker, revision, now = () => new Date(), noteReturn } = deps
  if (ispb === undefined || sql === undefined || broker === undefined) return undefined
  return createRefundsOn({ ispb, sql, broker, revision, now, noteReturn })
}

/** Payments with their returns, and the endpoints that pay and give money back. */
export const createPayments = (deps: PaymentsDeps & { readonly payees: PayeePorts }): Feature => {
  const { ispb, sql, broker, revision, payees, now = () => new Date(), noteReturn } = deps
  const common = { name: 'payments', errors: paymentErrors }
  const routesOn = (on: PaymentDeps) =>
    paymentRoutes(createPaymentService(on), createPay(on, payees), payees.errors)
  if (ispb !== undefined && sql !== undefined && broker !== undefined) {
    return { ...common, routes: routesOn({ ispb, sql, broker, revision, now, noteReturn }) }
  }
  const missing = [
    ...(ispb === undefined ? ['ISPB'] : []),
    ...(sql === undefined || broker === undefined ? ['DATABASE_DSN'] : []),
  ]
  return { ...common, routes: routesWithout(missing, routesOn) }
}
