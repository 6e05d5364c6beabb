import type { Route } from '#src/platform/http/index.ts'
import { routesOfKind } from '../charges/routes.ts'
import type { ChargeService } from '../charges/service.ts'
import { wordings } from '../charges/wording.ts'
import { readDueRevision, readNewDueCharge } from './body.ts'
import type { Calendar } from './calendar.ts'

/** `cobv`: charges with a due date. */
export const dueRoutes = (service: ChargeService, calendar: Calendar): readonly Route[] =>
  routesOfKind(service, {
    wording: wordings.cobv,
    name: 'cobrança com vencimento',
    readNew: (value) => readNewDueCharge(value, calendar),
    readRevision: (value) => readDueRevision(value, calendar),
  })
