import type { Revision } from '#codecs/iso20022'
import type { TransactionalBroker } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { routesWithout } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import { createLargeDocuments } from '../api/large/index.ts'
import { reportRoutes } from './routes.ts'
import { createReportService } from './service.ts'

export { dayForm, isAhead } from './days.ts'
export { type BookDifference, type BookFigures, reconcile } from './walk.ts'

export type ReportsDeps = {
  /** Undefined: the endpoints answer 503 and name ISPB. */
  readonly ispb: string | undefined
  /** Undefined, here and for the broker: the endpoints answer 503 and name DATABASE_DSN. */
  readonly sql: Client | undefined
  readonly broker: Pick<TransactionalBroker, 'publishIn'> | undefined
  readonly revision: Revision
}

/** Reports on the institution's account, and the entries they tell of, compared with what is stored here. */
export const createReports = ({ ispb, sql, broker, revision }: ReportsDeps): Feature => {
  const name = 'reports'
  if (ispb !== undefined && sql !== undefined && broker !== undefined) {
    const large = createLargeDocuments({ files: undefined, learning: true })
    const service = createReportService({ ispb, sql, broker, revision, readFile: large.reported })
    return { name, routes: reportRoutes(service), stop: large.close }
  }
  const missing = [
    ...(ispb === undefined ? ['ISPB'] : []),
    ...(sql === undefined || broker === undefined ? ['DATABASE_DSN'] : []),
  ]
  return { name, routes: routesWithout(missing, reportRoutes) }
}
