import { type BuildableMessage, buildableVersions } from '#codecs/iso20022'
import {
  type RequestContext,
  type Route,
  readJson,
  refusedValue,
  respond,
  route,
} from '#src/platform/http/index.ts'
import { buildDocument, sendBody, sendDocument } from './documents.ts'
import type { SendService } from './service.ts'

const decoder = new TextDecoder()

export const sendRoutes = ({ build, send }: SendService): readonly Route[] => [
  route(sendDocument, async (asked) => {
    const outcome = await send(await requestOf(asked.c), asked.caller)
    if (!outcome.ok) throw refusedValue(outcome.problems)
    return respond(outcome.answered)
  }),
  route(buildDocument, async ({ c }) => {
    const outcome = await build(await requestOf(c))
    if (!outcome.ok) throw refusedValue(outcome.problems)
    const { messageType, endToEndIds, message } = outcome.built
    return Response.json({
      message_type: messageType,
      definition: message.definition,
      channel: message.channel,
      biz_msg_idr: message.bizMsgIdr,
      end_to_end_ids: endToEndIds,
      xml: decoder.decode(message.envelope.bytes),
    })
  }),
]

const requestOf = async (c: RequestContext) => {
  const { message_type: messageType, version, channel, params } = await readJson(c, sendBody)
  requireVersion(messageType, version)
  return { messageType, version, channel, params }
}

const requireVersion = (messageType: BuildableMessage, version: string | undefined): void => {
  const versions = buildableVersions(messageType)
  if (version === undefined || versions.includes(version)) return
  const message = `must be a version of ${messageType} that is known here`
  const expected = versions.join(' | ')
  throw refusedValue([{ pointer: '/version', rule: 'version', message, expected }])
}
