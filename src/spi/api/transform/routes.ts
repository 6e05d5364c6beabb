import {
  invalid,
  type RequestContext,
  type Route,
  readyHeaders,
  route,
  type Violation,
} from '#src/platform/http/index.ts'
import { timestamp } from '#src/platform/observe/index.ts'
import type { LargeDocuments } from '../large/index.ts'
import { isXml, readMessageBody } from '../message-body.ts'
import { listDocument, transformDocument } from './documents.ts'
import {
  type ProjectedType,
  projectedTypes,
  projectionTargets,
  supportedTransformations,
} from './formats.ts'
import type { RunTransform } from './run.ts'
import type { TransformRequest } from './service.ts'

const jsonType = 'application/json'
const headers = readyHeaders(jsonType)

export const transformRoutes = (
  run: RunTransform,
  readBody: LargeDocuments['transformBody'],
): readonly Route[] => {
  const handle = async (c: RequestContext, declared: ProjectedType | undefined) => {
    const given = await readMessageBody(c)
    const request = isXml(c) ? rawRequest(c, declared, given) : await readBody(given, declared)
    const running = run(request, 'shown')
    const outcome = running instanceof Promise ? await running : running
    if (!outcome.ok) throw outcome.error
    const { transformationId, sourceFormat, targetFormat, result, violations } = outcome
    const beside = violations.length === 0 ? '' : `"violations":${JSON.stringify(violations)},`
    // We write this by hand: the result is JSON already, and the other fields have no character to escape.
    const body = `{"transformation_id":"${transformationId}","source_format":"${sourceFormat}","target_format":"${targetFormat}","result":${result},${beside}"created_at":"${timestamp()}"}`
    return new Response(body, { headers })
  }
  return [
    ...[undefined, ...projectedTypes].map((type) =>
      route(transformDocument(type), ({ c }) => handle(c, type)),
    ),
    route(listDocument, () => Response.json({ transformations: supportedTransformations })),
  ]
}

/** The body is the XML itself; query parameters carry the rest of the request. */
const rawRequest = (
  c: RequestContext,
  declared: ProjectedType | undefined,
  message: Uint8Array,
): TransformRequest => {
  const violations: Violation[] = []
  const query = c.req.query()
  const flag = (name: 'validate' | 'enrich'): boolean => {
    const text = query[name]
    if (text !== undefined && text !== 'true' && text !== 'false') {
      violations.push({ pointer: name, rule: 'type', message: 'must be true or false' })
    }
    return text === 'true'
  }
  const options = { validate: flag('validate'), enrich: flag('enrich') }
  const targetFormat = query['target_format']
  const view = declared && projectionTargets[declared]
  if (view !== undefined && targetFormat !== undefined && targetFormat !== view) {
    const message = 'contradicts the path'
    violations.push({ pointer: 'target_format', rule: 'const', message, expected: view })
  }
  if (violations.length > 0) throw invalid(violations)
  return {
    sourceFormat: declared ?? query['source_format'],
    targetFormat,
    message,
    options,
  }
}
