export { namedType } from './accept.ts'
export {
  type ActivityRows,
  activityQuery,
  activityRowsMax,
  activitySchema,
  readActivity,
} from './activity.ts'
export { type App, createApp } from './app.ts'
export { type Asked, route } from './asked.ts'
export { type Acts, createActs, type RecordAct } from './audit/acts.ts'
export { type Exported, exportAudit } from './audit/chain/export.ts'
export { exportLinks } from './audit/chain/lines.ts'
export { type Anchor, type Verification, verifyAudit } from './audit/chain/verify.ts'
export { type ArchiveVerification, verifyArchive } from './audit/chain/verify-archive.ts'
export type { Actor, AuditEntry } from './audit/domain.ts'
export { createAudit, ensureAuditPartitions } from './audit/feature.ts'
export { auditInsert, commandActor, listAudit, writeAudit } from './audit/store.ts'
export {
  acceptable,
  bodyBytesMaxDefault,
  contentCodingOf,
  mediaType,
  readBytes,
  readEncodedBytes,
  readJson,
  readJsonValue,
  readQuery,
  readText,
  validated,
} from './body.ts'
export { refuseWhenBusy } from './busy.ts'
export { actorOf, type Caller, callerOf } from './caller.ts'
export {
  ApiError,
  defineErrors,
  type ErrorCatalogue,
  type ErrorDefinition,
  httpErrors,
  invalid,
  refusedValue,
  type Violation,
} from './errors.ts'
export { readyHeaders } from './headers.ts'
export { createIdempotencySweep } from './idempotency/feature.ts'
export type { IdempotencyKey } from './idempotency/key.ts'
export {
  type Answer,
  type Answered,
  answerKey,
  answerRows,
  claimKey,
  claimRows,
  firstOfEachKey,
  freeRows,
  orReplay,
  repetitionOf,
  replayOf,
  respond,
  runOnce,
  settleKey,
} from './idempotency/protocol.ts'
export { jsonMembers, jsonOnce, jsonValue, parseJson, RepeatedMemberError } from './json.ts'
export { type Language, languageOf } from './language.ts'
export {
  type Callers,
  callerMsMax,
  type GiveUpReason,
  type Waiting,
} from './limits/callers.ts'
export {
  type Away,
  createBound,
  createRailRooms,
  createRooms,
  type Rail,
  type RailRooms,
  type Rooms,
  retryAfterMs,
} from './limits/concurrency.ts'
export { type Allowance, countRequest, createRateLimits, type RateLimits } from './limits/rate.ts'
export { type DrawTokens, sharedBuckets, sharedOrOwn } from './limits/store.ts'
export { away } from './limits/work.ts'
export { freePort, type ListenAt, type Listener, listen, notListening } from './listen.ts'
export { logLevelRoutes } from './log-level.ts'
export { createHttpMetrics } from './metrics.ts'
export { type EventDocument, openApiDocument } from './openapi.ts'
export { railOf } from './openapi-tags.ts'
export { allowEntry, outsideSettings } from './outside/config.ts'
export { failureClassOf, firstAnswer } from './outside/first-answer.ts'
export { createOutsideReader, OutsideError, type ReadOutside } from './outside/reader.ts'
export {
  type AllowList,
  allowListOf,
  checkUrl,
  type LookUp,
  resolveTarget,
  type Target,
  TargetError,
} from './outside/target.ts'
export {
  cursor,
  cursorOf,
  nextCursor,
  pageOf,
  pageQuery,
  pageResponse,
  pageResponses,
  requireDay,
} from './page.ts'
export { forwardedFor } from './peer.ts'
export {
  type Lookups,
  portugueseOf,
  portugueseViolation,
  startLookups,
} from './portuguese/index.ts'
export { detailOf, type ErrorRenderer, problemBody, problemContentType } from './render.ts'
export { requestIdOf } from './request-id.ts'
export { restrictedBy } from './restricted.ts'
export {
  type RequestContext,
  type Route,
  type RouteContract,
  type RouteDocument,
  routesWithout,
  withMissingSettings,
} from './route.ts'
export {
  catalogueRoutes,
  type HealthCheck,
  type HealthReport,
  roundTrip,
  systemRoutes,
} from './system.ts'
export { escapeStep, id, idParams, instant, text, traceId, whole } from './text.ts'
