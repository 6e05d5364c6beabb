import { OverloadedError } from '#src/platform/database/index.ts'
import { ApiError, type ErrorDefinition } from './errors.ts'

/** For `catch`, behind a gatherer: tells callers that they may come again soon, where too many wait. */
export const refuseWhenBusy =
  (definition: ErrorDefinition, message: string) =>
  (error: unknown): never => {
    if (!(error instanceof OverloadedError)) throw error
    throw new ApiError(definition, message, { headers: { 'Retry-After': '1' } })
  }
