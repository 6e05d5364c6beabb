import { scrubFields } from '../security/sensitive/index.ts'
import { timestamp } from './timestamp.ts'

/** One handled request, for its log line. */
export type RequestFields = {
  /** As `requestIdOf` gives it: nothing in it must be escaped or hidden. */
  readonly requestId: string
  readonly method: string
  /** The route's pattern. */
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly keyId: string | undefined
  /** The id of the active trace. */
  readonly traceId?: string | undefined
  /** Ids the handler adds; never personal data, scrubbed all the same. */
  readonly more: Readonly<Record<string, string | number | boolean>> | undefined
}

const plainWord = /^[A-Z]{1,16}$/
const usual: ReadonlySet<string> = new Set(['GET', 'POST'])

const shownMethod = (method: string): string =>
  usual.has(method) || plainWord.test(method) ? method : 'OTHER'

/**
 * The same JSON that the logger would write. We build it by hand because we write this line for every request,
 * and the general serializer and scrubber would cost more than the rest of the HTTP chain. We escape and
 * scrub here what a caller controls (method, added fields).
 */
export const requestLine = (fields: RequestFields): string => {
  const method = shownMethod(fields.method)
  const key = fields.keyId === undefined ? '' : `","key_id":"${fields.keyId}`
  const trace = fields.traceId === undefined ? '' : `"trace_id":"${fields.traceId}",`
  const more =
    fields.more === undefined ? '' : `,${JSON.stringify(scrubFields(fields.more)).slice(1, -1)}`
  const duration = Math.round(fields.durationMs * 1000) / 1000
  return `{"level":"info","ts":"${timestamp()}",${trace}"request_id":"${fields.requestId}","method":"${method}","path":"${fields.path}${key}","status":${fields.status},"duration_ms":${duration}${more},"msg":"request"}\n`
}
