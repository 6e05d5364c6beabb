import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { createThread } from '#src/platform/runtime/index.ts'
import type { ReportedFile } from '../../reports/file.ts'
import type { Validation } from '../schemas/service.ts'
import type { ProjectedType } from '../transform/formats.ts'
import type { TransformOutcome, TransformRequest } from '../transform/service.ts'
import {
  type JsonBody,
  type ReadBody,
  readTransformBody,
  readValidateBody,
  refusalOf,
} from './json-body.ts'
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
  /** Reads the body of a transformation. @throws ApiError also for a body that is not in order */
  readonly transformBody: (
    body: Uint8Array,
    declared: ProjectedType | undefined,
  ) => Promise<TransformRequest>
  /** Reads the body of a validation. @throws ApiError also for a body that is not in order */
  readonly validateBody: (body: Uint8Array) => Promise<Uint8Array>
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
  const askBody = async (json: JsonBody): Promise<Exclude<ReadBody, { refused: unknown }>> => {
    const read = (await ask({ json })) as ReadBody
    if ('refused' in read) throw refusalOf(read.refused)
    return read
  }
  return {
    transformBody: async (body, declared) => {
      if (body.length < largeBytesMin) return readTransformBody(body, declared)
      const read = await askBody({ body, purpose: { declared } })
      return (read as { readonly transform: TransformRequest }).transform
    },
    validateBody: async (body) => {
      if (body.length < largeBytesMin) return readValidateBody(body)
      const read = await askBody({ body, purpose: 'validate' })
      return (read as { readonly validate: Uint8Array }).validate
    },
    transform: async (transform) => (await ask({ transform })) as TransformOutcome,
    validate: async (validate) => (await ask({ validate })) as Validation,
    reported: async (reported) => (await ask({ reported })) as ReportedFile,
    close: thread.close,
  }
}
