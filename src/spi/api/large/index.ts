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

export type LargeDocuments = ReturnType<typeof createLargeDocuments>

/**
 * Reads large documents beside the event loop. What it returns throws an ApiError 503 when too many wait.
 *
 * @param setup - with the same schemas as the process has
 */
export const createLargeDocuments = (setup: LargeSetup) => {
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
    /** Reads the body of a transformation. @throws ApiError also for a body that is not in order */
    transformBody: async (body: Uint8Array, declared: ProjectedType | undefined) => {
      if (body.length < largeBytesMin) return readTransformBody(body, declared)
      const read = await askBody({ body, purpose: { declared } })
      return (read as { readonly transform: TransformRequest }).transform
    },
    /** Reads the body of a validation. @throws ApiError also for a body that is not in order */
    validateBody: async (body: Uint8Array) => {
      if (body.length < largeBytesMin) return readValidateBody(body)
      const read = await askBody({ body, purpose: 'validate' })
      return (read as { readonly validate: Uint8Array }).validate
    },
    transform: async (transform: TransformRequest) =>
      (await ask({ transform })) as TransformOutcome,
    validate: async (validate: Uint8Array) => (await ask({ validate })) as Validation,
    reported: async (reported: Uint8Array) => (await ask({ reported })) as ReportedFile,
    close: thread.close,
  }
}
