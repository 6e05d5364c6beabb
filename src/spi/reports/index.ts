import { routesWithout } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import { createLargeDocuments } from '../api/large/index.ts'
import { canSend, type SendingParts, settingsMissing } from '../sending.ts'
import { reportRoutes } from './routes.ts'
import { createReportService } from './service.ts'

export { dayForm, isAhead } from './days.ts'
export { type BookDifference, type BookFigures, reconcile } from './walk.ts'

/** Reports on the institution's account, and the entries they tell of, compared with what is stored here. */
export const createReports = (parts: SendingParts): Feature => {
  const name = 'reports'
  if (!canSend(parts)) {
    return { name, routes: routesWithout(settingsMissing(parts), reportRoutes) }
  }
  const large = createLargeDocuments({ files: undefined, learning: true })
  const service = createReportService({ ...parts, readFile: large.reported })
  return { name, routes: reportRoutes(service), stop: large.close }
}
