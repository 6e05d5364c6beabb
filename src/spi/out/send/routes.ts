import { type BuildableMessage, type BuildProblem, buildableVersions } from '#codecs/iso20022'
import {
  type ApiError,
  callerOf,
  type Route,
  readJson,
  refusedValue,
  respond,
} from '#src/platform/http/index.ts'
import { sendBody, sendDocument } from './documents.ts'
import type { SendService } from './service.ts'

const bodyBytesMax = 1_048_576

export const sendRoutes = (send: SendService): readonly Route[] => [
  {
    method: 'POST',
    path: '/v1/spi/send',
    scope: 'spi:send',
    accepts: ['application/json'],
    bodyBytesMax,
    document: sendDocument,
    handle: async (c) => {
      const body = await readJson(c, sendBody)
      const { message_type: messageType, version, channel, params } = body
      requireVersion(messageType, version)
      const outcome = await send({ messageType, version, channel, params }, callerOf(c))
      if (!outcome.ok) throw refused(outcome.problems)
      return respond(outcome.answered)
    },
  },
]

const requireVersion = (messageType: BuildableMessage, version: string | undefined): void => {
  const versions = buildableVersions(messageType)
  if (version === undefined || versions.includes(version)) return
  const message = `must be a version of ${messageType} that is known here`
  const expected = versions.join(' | ')
  throw refusedValue([{ pointer: '/version', rule: 'version', message, expected }])
}

const refused = (problems: readonly BuildProblem[]): ApiError =>
  refusedValue(problems.map((problem) => ({ ...problem, pointer: `/params${problem.pointer}` })))
