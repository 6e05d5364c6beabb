import type { Client } from '#src/platform/database/index.ts'
import { type Route, withMissingSettings } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { Authenticator } from '#src/platform/security/index.ts'
import { chargeRoutes } from './charges/routes.ts'
import { createChargeService } from './charges/service.ts'
import { addressesOn } from './charges/view.ts'
import type { PixSettings } from './config.ts'
import { pixErrors, receiverErrors } from './errors.ts'
import { locationRoutes } from './locations/routes.ts'
import { createLocationService } from './locations/service.ts'
import { tokenRoute } from './oauth/routes.ts'
import { createIssue, createTokenSource, createTokenSweep } from './oauth/tokens.ts'
import { payloadRoutes, type SignPayload } from './payload.ts'
import { receiverRoutes } from './receivers/routes.ts'
import { createReceiverService } from './receivers/service.ts'

export { pixSettings } from './config.ts'

export type PixDeps = {
  /** Undefined: the endpoints answer 503 and name DATABASE_DSN. */
  readonly sql: Client | undefined
  readonly settings: PixSettings
  readonly authenticator: Authenticator
  readonly signing: SignPayload
  readonly runsJobs?: boolean
  readonly logger: Logger
  /** The real clock when absent. */
  readonly now?: () => Date
}

/** The central bank's API Pix, for the software of merchants, and the payloads that payers' institutions read. */
export const createPix = (deps: PixDeps): Feature => {
  const { settings, authenticator, logger, runsJobs = true } = deps
  // Without a database nobody calls what follows: every route answers before.
  const sql = deps.sql as Client
  const common = { name: 'pix', errors: { ...pixErrors, ...receiverErrors } }
  const tokens = tokenRoute({
    authenticator,
    issue: createIssue(sql, deps.now ?? (() => new Date())),
    seconds: settings.tokenSeconds,
  })
  const routes = [
    tokens,
    ...receiverRoutes(createReceiverService(sql)),
    ...chargingRoutes(deps, sql),
  ]
  if (deps.sql === undefined) {
    return { ...common, routes: withMissingSettings(routes, ['DATABASE_DSN']) }
  }
  const sweep = createTokenSweep(sql, logger)
  return {
    ...common,
    routes,
    tokenSource: createTokenSource(sql),
    start: async () => {
      if (runsJobs) await sweep.start()
    },
    drain: sweep.stop,
  }
}

/** What needs a host for locations, and what needs a key to sign with besides. */
const chargingRoutes = (
  { settings, signing, now = () => new Date() }: PixDeps,
  sql: Client,
): readonly Route[] => {
  const { locationHost: host, signingKid: kid } = settings
  const addresses = addressesOn(host ?? '')
  const charging = [
    ...chargeRoutes(createChargeService({ sql, addresses, now })),
    ...locationRoutes(createLocationService({ sql, addresses, now })),
  ]
  const payloads = payloadRoutes({ sql, signing, kid: kid ?? '', host: host ?? '', now })
  const missing = host === undefined ? ['PIX_LOCATION_HOST'] : []
  const missingToSign = [...missing, ...(kid === undefined ? ['PIX_SIGNING_KID'] : [])]
  return [
    ...(missing.length === 0 ? charging : withMissingSettings(charging, missing)),
    ...(missingToSign.length === 0 ? payloads : withMissingSettings(payloads, missingToSign)),
  ]
}
