import type { Client } from '#src/platform/database/index.ts'
import { type Route, withMissingSettings } from '#src/platform/http/index.ts'
import type { Job } from '#src/platform/jobs/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { Authenticator } from '#src/platform/security/index.ts'
import { batchRoutes } from './batches/routes.ts'
import { createBatchService } from './batches/service.ts'
import { chargeRoutes } from './charges/routes.ts'
import { createChargeService } from './charges/service.ts'
import { addressesOn } from './charges/view.ts'
import { wordings } from './charges/wording.ts'
import { collectionRoutes } from './collections/routes.ts'
import { createCollectionService } from './collections/service.ts'
import { createRecurringSweep } from './collections/sweep.ts'
import type { PixSettings } from './config.ts'
import { type Calendar, createCalendar, type IsHoliday } from './due/calendar.ts'
import { dueRoutes } from './due/routes.ts'
import { pixErrors, receiverErrors } from './errors.ts'
import { locationRoutes } from './locations/routes.ts'
import { chargeLocations, createLocationService } from './locations/service.ts'
import { automaticWebhookRoutes } from './notices/automatic.ts'
import { webhookRoutes } from './notices/routes.ts'
import { createPixWebhookService, type Topics } from './notices/service.ts'
import { tokenRoute } from './oauth/routes.ts'
import { createIssue, createTokenSource, createTokenSweep } from './oauth/tokens.ts'
import { keysPath, payloadRoutes } from './payloads/routes.ts'
import { createPayloadService } from './payloads/service.ts'
import { createSign, type SignPayload, signingHealth } from './payloads/signing.ts'
import { pixPath } from './pix-route.ts'
import { createReceivables, type Receivables } from './received/receive.ts'
import { pixRoutes } from './received/routes.ts'
import { createPixService, type Refunds } from './received/service.ts'
import { receiverRoutes } from './receivers/routes.ts'
import { createReceiverService } from './receivers/service.ts'
import { recurrenceLocations } from './recurrences/locations.ts'
import type { MandateSender } from './recurrences/mandate.ts'
import { recurrenceLocationRoutes, recurrenceRoutes } from './recurrences/routes.ts'
import { createRecurrenceService } from './recurrences/service.ts'
import { recurrenceAddressOn } from './recurrences/view.ts'
import { requestRoutes } from './requests/routes.ts'
import { createRequestService } from './requests/service.ts'
import { createRecurrences, type Recurrences, tellRefusals } from './requests/told.ts'

export { attemptsAmong } from './collections/store.ts'
export { pixSettings } from './config.ts'
export { endReceivables } from './received/receive.ts'
export { noteReturn } from './received/store.ts'
export { tellRefusals } from './requests/told.ts'

export type PixDeps = {
  /** Undefined: the endpoints answer 503 and name DATABASE_DSN. */
  readonly sql: Client | undefined
  readonly settings: PixSettings
  readonly authenticator: Authenticator
  readonly signing: SignPayload
  /** Holidays of the whole country, as the gateway knows them now. */
  readonly isHoliday: IsHoliday
  /** Ours. Undefined: recurrences answer 503 and name ISPB. */
  readonly ispb: string | undefined
  /** Undefined: returns answer 503 and name ISPB. */
  readonly refunds: Refunds | undefined
  /** Undefined: requests to payers, and charges of recurrences, answer 503 and name ISPB. */
  readonly mandates: MandateSender | undefined
  /** Where receivers are told of what they have received. */
  readonly topics: Topics
  readonly runsJobs?: boolean
  readonly logger: Logger
  /** The real clock when absent. */
  readonly now?: () => Date
}

export type PixFeature = Feature & {
  /** The part that is not for merchants: whose the keys are, and the payloads that payers' institutions read. */
  readonly beside: Feature
  /** For the worker of instant payments; undefined without a database. */
  readonly receivables: Receivables | undefined
  /** The same, of recurrences. */
  readonly recurrences: Recurrences | undefined
}

/** What the routes and jobs are made of. */
type Parts = PixDeps & { readonly calendar: Calendar }

/** The central bank's API Pix, for the software of merchants, and the payloads that payers' institutions read. */
export const createPix = (given: PixDeps): PixFeature => {
  const deps = { ...given, calendar: createCalendar(given.isHoliday) }
  const { settings, authenticator, logger, runsJobs = true } = deps
  // Without a database every route answers 503, so nobody calls what follows.
  const sql = deps.sql as Client
  const common = { name: 'pix', errors: { ...pixErrors, ...receiverErrors } }
  const tokens = tokenRoute({
    authenticator,
    issue: createIssue(sql),
    seconds: settings.tokenSeconds,
  })
  const all = [
    tokens,
    ...receiverRoutes(createReceiverService(sql, deps.topics)),
    ...webhookRoutes(createPixWebhookService(sql, deps.topics)),
    ...automaticWebhookRoutes(sql, deps.topics),
    ...chargingRoutes(deps, sql),
    ...recurringRoutes(deps, sql),
    ...receivedRoutes(deps, sql),
  ]
  const routes = deps.sql === undefined ? withMissingSettings(all, ['DATABASE_DSN']) : all
  const isMerchants = ({ path }: Route) => path.startsWith(pixPath) || path === tokens.path
  const beside = { name: 'pix_payloads', routes: routes.filter((one) => !isMerchants(one)) }
  const own = { listener: 'pix' as const, routes: routes.filter(isMerchants), beside }
  if (deps.sql === undefined) {
    return { ...common, ...own, receivables: undefined, recurrences: undefined }
  }
  const { locationHost: host, signingKid: kid } = settings
  const jobs = [createTokenSweep(sql, logger), ...recurringJobs(deps, sql)]
  return {
    ...common,
    ...own,
    receivables: createReceivables(deps.topics.emit, deps.calendar),
    recurrences:
      deps.ispb === undefined
        ? tellRefusals(deps.topics.emit)
        : createRecurrences(deps.topics.emit, deps.ispb),
    tokenSource: createTokenSource(sql),
    ...(host === undefined ? {} : { health: () => signingHealth(deps.signing, kid) }),
    start: async () => {
      if (runsJobs) await Promise.all(jobs.map((job) => job.start()))
    },
    drain: async () => {
      await Promise.all(jobs.map((job) => job.stop()))
    },
  }
}

/** The routes that need a host for locations, and those that also need a key to sign with. */
const chargingRoutes = (
  { settings, signing, ispb, calendar, logger, now = () => new Date() }: Parts,
  sql: Client,
): readonly Route[] => {
  const { locationHost: host, signingKid: kid } = settings
  const addresses = addressesOn(host ?? '')
  const due = createChargeService({ sql, addresses, now, wording: wordings.cobv })
  const charging = [
    ...chargeRoutes(createChargeService({ sql, addresses, now, wording: wordings.cob })),
    ...dueRoutes(due, calendar),
    ...batchRoutes(createBatchService({ sql, charges: due, now, calendar })),
    ...locationRoutes(createLocationService(sql, now, chargeLocations(addresses))),
  ]
  const sign = createSign(
    signing,
    { kid: kid ?? '', keysUrl: `https://${host}${keysPath}` },
    logger,
  )
  const payloads = payloadRoutes(
    createPayloadService({ sql, sign, ispb: ispb ?? '', now, calendar }),
    signing.keySet,
  )
  const missing = host === undefined ? ['PIX_LOCATION_HOST'] : []
  const missingToSign = [...missing, ...(kid === undefined ? ['PIX_SIGNING_KID'] : [])]
  return [
    ...(missing.length === 0 ? charging : withMissingSettings(charging, missing)),
    ...(missingToSign.length === 0 ? payloads : withMissingSettings(payloads, missingToSign)),
  ]
}

const recurringJobs = (
  { mandates: sender, topics, ispb, calendar, logger, now = () => new Date() }: Parts,
  sql: Client,
): readonly Job[] => {
  if (sender === undefined || ispb === undefined) return []
  return [createRecurringSweep({ sql, sender, emit: topics.emit, ispb, now, calendar, logger })]
}

const never = (): never => {
  throw new Error('not configured')
}

/** The routes of Pix Automático. */
const recurringRoutes = (
  { settings, ispb: ours, mandates, topics, calendar, now = () => new Date() }: Parts,
  sql: Client,
): readonly Route[] => {
  const { locationHost: host } = settings
  const { emit } = topics
  const addressOf = recurrenceAddressOn(host ?? '')
  const addresses = addressesOn(host ?? '')
  // Without them every route answers 503, so nobody calls what follows.
  const ispb = ours ?? ''
  const sender = mandates ?? { sendWithin: never }
  const sending = { sql, sender, emit, ispb, now }
  const routes = [
    ...recurrenceRoutes(createRecurrenceService({ ...sending, addresses, addressOf })),
    ...requestRoutes(createRequestService(sending)),
    ...collectionRoutes(createCollectionService({ ...sending, calendar })),
    ...recurrenceLocationRoutes(createLocationService(sql, now, recurrenceLocations(addressOf))),
  ]
  const missing = [
    ...(host === undefined ? ['PIX_LOCATION_HOST'] : []),
    ...(ours === undefined || mandates === undefined ? ['ISPB'] : []),
  ]
  return missing.length === 0 ? routes : withMissingSettings(routes, missing)
}

const receivedRoutes = (
  { refunds, now = () => new Date() }: PixDeps,
  sql: Client,
): readonly Route[] => {
  if (refunds !== undefined) return pixRoutes(createPixService({ sql, refunds, now }))
  const none = { refundWithin: never }
  const routes = pixRoutes(createPixService({ sql, refunds: none, now }))
  const isReading = ({ method }: Route): boolean => method === 'GET'
  return [
    ...routes.filter(isReading),
    ...withMissingSettings(
      routes.filter((route) => !isReading(route)),
      ['ISPB'],
    ),
  ]
}
