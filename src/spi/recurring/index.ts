import type { Client } from '#src/platform/database/index.ts'
import { routesWithout } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import { recurringRoutes } from './routes.ts'
import { createRecurringService } from './service.ts'

export { rebuildRecurring } from './rebuild.ts'

/** Mandates and charges of Pix Automático; without a database the endpoints answer 503 and name DATABASE_DSN. */
export const createRecurring = ({ sql }: { readonly sql: Client | undefined }): Feature => {
  const name = 'recurring'
  if (sql !== undefined) return { name, routes: recurringRoutes(createRecurringService(sql)) }
  return { name, routes: routesWithout(['DATABASE_DSN'], recurringRoutes) }
}
