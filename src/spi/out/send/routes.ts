import { type BuildableMessage, type BuildProblem, buildableVersions } from '#codecs/iso20022'
import {
  ApiError,
  callerOf,
  httpErrors,
  type Route,
  readBytes,
  respond,
  validated,
} from '#src/platform/http/index.ts'
import { sendBody, sendDocument } from './documents.ts'
import type { SendService } from './service.ts'

const bodyBytesMax = 1_048_576
const decoder = new TextDecoder('utf-8', { fatal: true })

export const sendRoutes = (send: SendService): readonly Route[] => [
  {
    method: 'POST',
    path: '/v1/spi/send',
    scope: 'spi:send',
    accepts: ['application/json'],
    bodyBytesMax,
    document: sendDocument,
    handle: async (c) => {
      const bytes = await readBytes(c)
      const body = validated(sendBody, parse(bytes), '')
      const { message_type: messageType, version, channel, params } = body
      requireVersion(messageType, version)
      const outcome = await send({ messageType, version, channel, params }, callerOf(c, bytes))
      if (!outcome.ok) throw refused(outcome.problems)
      return respond(outcome.answered)
    },
  },
]

const parse = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch (cause) {
    // The parser's message quotes the input; it stays inside.
    throw new ApiError(httpErrors.bad_request, 'The body is not JSON.', { cause })
  }
}

const requireVersion = (messageType: BuildableMessage, version: string | undefined): void => {
  const versions = buildableVersions(messageType)
  if (version === undefined || versions.includes(version)) return
  const message = `must be a version of ${messageType} that is known here`
  const expected = versions.join(' | ')
  throw new ApiError(httpErrors.validation_failed, `/version: ${message}: ${expected}`, {
    errors: [{ pointer: '/version', rule: 'version', message, expected }],
  })
}

const refused = (problems: readonly BuildProblem[]): ApiError => {
  const errors = problems.map((problem) => ({ ...problem, pointer: `/params${problem.pointer}` }))
  const [first] = errors
  return new ApiError(
    httpErrors.validation_failed,
    `${first?.pointer ?? '/params'}: ${first?.message ?? 'is not valid'}`,
    { errors },
  )
}
