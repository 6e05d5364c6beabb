import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { createThread } from '#src/platform/runtime/index.ts'
import type { ReportedFile } from '../../reports/file.ts'
import type { Validation } from '../schemas/service.ts'
import type { TransformOutcome, TransformRequest } from '../transform/service.ts'
import type { LargeAnswer, LargeRequest, LargeSetup } from './large-document-worker.ts'

/**
 * Bytes from which on a document is read in a thread of its own: a smaller one is read before the loop would have
 * missed a turn, a larger one not, whatever is wrong with it.
 */
export const largeBytesMin = 64 * 1024

/** Documents that may wait for the one being read; they use one core and a bounded memory. */
export const largeWaitingMax = 16

const idleMs = 60_000

/** Reads large documents beside the event loop. */
export type LargeDocuments = {
  /** @throws ApiError 503 when too many wait */
  readonly transform: (request: TransformRequest) => Promise<TransformOutcome>
  /** @throws ApiError 503 when too many wait */
  readonly validate: (message: Uint8Array) => Promise<Validation>
  /** @throws ApiError 503 when too many wait */
  readonly reported: (message: Uint8Array) => Promise<ReportedFile>
  readonly close: () => void
}

/** @param setup - with the same schemas as the process has */
export const createLargeDocuments = (setup: LargeSetup): LargeDocuments => {
  const thread = createThread<LargeSetup, LargeRequest, LargeAnswer>(
    // The build puts the thread's entry under this name, beside the program's.
    () => new Worker(new URL('./large-document-worker.ts', import.meta.url)),
    () => setup,
    idleMs,
  )
  const ask = (request: LargeRequest): Promise<LargeAnswer> => {
    if (thread.waiting() > largeWaitingMax) {
      const told = `${largeWaitingMax} large documents wait to be read.`
      throw new ApiError(httpErrors.overloaded, told, { headers: { 'Retry-After': '1' } })
    }
    return thread.ask(request)
  }
  return {
    transform: async (transform) => (await ask({ transform })) as TransformOutcome,
    validate: async (validate) => (await ask({ validate })) as Validation,
    reported: async (reported) => (await ask({ reported })) as ReportedFile,
    close: thread.close,
  }
}
