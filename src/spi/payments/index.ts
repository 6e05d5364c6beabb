import { routesWithout } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import { canSend, type SendingParts, settingsMissing } from '../sending.ts'
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

export type PaymentsDeps = SendingParts & {
  /** The real clock when absent. */
  readonly now?: () => Date
  readonly noteReturn?: NoteReturn
}

/** Undefined if this process cannot give money back. */
export const createRefunds = (deps: PaymentsDeps): Refunds | undefined => {
  const { now = () => new Date(), noteReturn } = deps
  return canSend(deps) ? createRefundsOn({ ...deps, now, noteReturn }) : undefined
}

/** Payments with their returns, and the endpoints that pay and give money back. */
export const createPayments = (deps: PaymentsDeps & { readonly payees: PayeePorts }): Feature => {
  const { payees, now = () => new Date(), noteReturn } = deps
  const common = { name: 'payments', errors: paymentErrors }
  const routesOn = (on: PaymentDeps) =>
    paymentRoutes(createPaymentService(on), createPay(on, payees), payees.errors)
  const routes = canSend(deps)
    ? routesOn({ ...deps, now, noteReturn })
    : routesWithout(settingsMissing(deps), routesOn)
  return { ...common, routes }
}
