import type { SchemaCatalogue } from '#codecs/iso20022'
import {
  ApiError,
  httpErrors,
  mediaType,
  type RequestContext,
  type Route,
  readBytes,
  readJsonValue,
  type Violation,
} from '#src/platform/http/index.ts'
import type { Counter } from '#src/platform/telemetry/index.ts'
import { listDocument, transformDocument } from './documents.ts'
import {
  acceptedPairs,
  defaultTarget,
  isSourceFormat,
  isSupported,
  type ProjectedType,
  projectedTypes,
  projectionTargets,
  sourceFormats,
  supportedTransformations,
} from './formats.ts'
import { parseTransformRequest } from './request.ts'
import { type TransformFailure, type TransformRequest, transform } from './service.ts'

const XML = 'application/xml'
const JSON_TYPE = 'application/json'

export type TransformRoutesDeps = {
  readonly catalogue: SchemaCatalogue
  /** `spigw_transformations_total`. */
  readonly transformations: Counter<'source_type' | 'target_format' | 'status'>
}

export const transformRoutes = ({
  catalogue,
  transformations,
}: TransformRoutesDeps): readonly Route[] => {
  const handle = (declared: ProjectedType | undefined) => async (c: RequestContext) => {
    const request = await readRequest(c, declared)
    const outcome = transform(request, catalogue)
    if (!outcome.ok) {
      const { error, status } = apiError(outcome.failure)
      transformations.inc({ ...boundedLabels(request), status })
      throw error
    }
    const { sourceFormat, targetFormat, result } = outcome
    transformations.inc({
      source_type: sourceFormat,
      target_format: targetFormat,
      status: 'success',
    })
    const body = JSON.stringify({
      transformation_id: `trf_${Bun.randomUUIDv7()}`,
      source_format: sourceFormat,
      target_format: targetFormat,
      result,
      created_at: new Date().toISOString(),
    })
    return new Response(body, { headers: { 'Content-Type': JSON_TYPE } })
  }
  return [
    {
      method: 'POST',
      path: '/v1/transform',
      scope: 'spi:transform',
      accepts: [JSON_TYPE, XML],
      document: transformDocument(undefined),
      handle: handle(undefined),
    },
    ...projectedTypes.map(
      (type): Route => ({
        method: 'POST',
        path: `/v1/transform/${type.replace('.', '')}`,
        scope: 'spi:transform',
        accepts: [JSON_TYPE, XML],
        document: transformDocument(type),
        handle: handle(type),
      }),
    ),
    {
      method: 'GET',
      path: '/v1/transformations',
      scope: 'spi:transform',
      document: listDocument,
      handle: () => Response.json({ transformations: supportedTransformations }),
    },
  ]
}

const readRequest = async (
  c: RequestContext,
  declared: ProjectedType | undefined,
): Promise<TransformRequest> => {
  if (mediaType(c.req.raw.headers.get('content-type') ?? '') === XML) {
    return rawRequest(c, declared, await readBytes(c))
  }
  const parsed = parseTransformRequest(await readJsonValue(c), declared)
  if ('message' in parsed) return parsed
  throw invalid(parsed)
}

/** The XML is the body itself; what else there is to say comes as query parameters. */
const rawRequest = (
  c: RequestContext,
  declared: ProjectedType | undefined,
  message: Uint8Array,
): TransformRequest => {
  const violations: Violation[] = []
  const flag = (name: 'validate' | 'enrich'): boolean => {
    const text = c.req.query(name)
    if (text !== undefined && text !== 'true' && text !== 'false') {
      violations.push({ pointer: name, rule: 'type', message: 'must be true or false' })
    }
    return text === 'true'
  }
  const options = { validate: flag('validate'), enrich: flag('enrich') }
  const targetFormat = c.req.query('target_format')
  const view = declared && projectionTargets[declared]
  if (view !== undefined && targetFormat !== undefined && targetFormat !== view) {
    const message = 'contradicts the path'
    violations.push({ pointer: 'target_format', rule: 'const', message, expected: view })
  }
  if (violations.length > 0) throw invalid(violations)
  return {
    sourceFormat: declared ?? c.req.query('source_format'),
    targetFormat,
    message,
    options,
  }
}

const invalid = (violations: readonly Violation[]): ApiError => {
  const [first] = violations
  return new ApiError(
    httpErrors.validation_failed,
    `${first?.pointer || 'The body'} ${first?.message ?? 'is not valid'}${violations.length > 1 ? ` (and ${violations.length - 1} more)` : ''}.`,
    { errors: violations },
  )
}

/** What a caller is told, and the `status` label of the metric: the gRPC names in lower case. */
const apiError = (
  failure: TransformFailure,
): { readonly error: ApiError; readonly status: string } => {
  switch (failure.kind) {
    case 'unsupported_format':
      return { status: 'unsupported_format', error: unsupported(failure.source) }
    case 'malformed': {
      const { line, column, reason, code } = failure.explanation
      return {
        status: 'parse_error',
        error: new ApiError(
          httpErrors.bad_request,
          `The message is not well-formed XML: line ${line}, column ${column}: ${reason}.`,
          { details: { line, column, reason, rule: code } },
        ),
      }
    }
    case 'other_message':
      return {
        status: 'validation_error',
        error: new ApiError(
          httpErrors.message_rejected,
          `The message was declared as ${failure.declared} but is ${failure.found}.`,
        ),
      }
    case 'invalid':
      return broken(
        failure.violations.map(({ path, rule, got, expected, line }) => ({
          pointer: path,
          rule,
          message: `line ${line}`,
          got,
          expected,
        })),
      )
    case 'violations':
      return broken(
        failure.violations.map(({ path, rule, message }) => ({ pointer: path, rule, message })),
      )
    case 'problems':
      return broken(
        failure.problems.map(({ pointer, message }) => ({
          pointer: pointer || '/message',
          rule: 'json_form',
          message,
        })),
      )
    case 'not_json':
      return {
        status: 'parse_error',
        error: new ApiError(httpErrors.schema_violation, 'The message is not JSON.', {
          errors: [{ pointer: '/message', rule: 'json', message: 'must be JSON text' }],
        }),
      }
    case 'no_schema':
      return {
        status: 'validation_error',
        error: new ApiError(
          httpErrors.message_rejected,
          `There is no schema for ${failure.type} ${failure.version}.`,
        ),
      }
  }
}

const broken = (
  errors: readonly Violation[],
): { readonly error: ApiError; readonly status: string } => ({
  status: 'validation_error',
  error: new ApiError(
    httpErrors.schema_violation,
    `The message breaks its schema at ${errors.length} place(s).`,
    { errors },
  ),
})

const unsupported = (source: string): ApiError =>
  new ApiError(
    httpErrors.validation_failed,
    `There is no such transformation; the accepted pairs are ${acceptedPairs}.`,
    {
      errors: [
        isSourceFormat(source)
          ? {
              pointer: '/target_format',
              rule: 'enum',
              message: 'is not a format the source can become',
              expected: acceptedPairs,
            }
          : {
              pointer: '/source_format',
              rule: 'enum',
              message: 'is not a format that can be read',
              expected: sourceFormats.join(', '),
            },
      ],
      details: { transformations: supportedTransformations },
    },
  )

/** Labels come from a closed list, whatever a caller sends. */
const boundedLabels = ({
  sourceFormat,
  targetFormat,
}: TransformRequest): { readonly source_type: string; readonly target_format: string } => {
  if (sourceFormat === undefined || !isSourceFormat(sourceFormat)) {
    return { source_type: 'other', target_format: 'other' }
  }
  const supported = isSupported(sourceFormat, targetFormat)
  const target = supported ? (targetFormat ?? defaultTarget(sourceFormat)) : undefined
  return { source_type: sourceFormat, target_format: target ?? 'other' }
}
