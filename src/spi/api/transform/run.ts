import { type GenericProblem, type SchemaViolation, violationsMax } from '#codecs/iso20022'
import {
  ApiError,
  httpErrors,
  invalid,
  refusedValue,
  type Violation,
} from '#src/platform/http/index.ts'
import type { Metrics } from '#src/platform/observe/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import { tooLarge, unreadable } from '../message-body.ts'
import {
  acceptedPairs,
  defaultTarget,
  isSourceFormat,
  isSupported,
  sourceFormats,
  supportedTransformations,
} from './formats.ts'
import { createTransformationCounter, type TransformationStatus } from './metrics.ts'
import type { TransformFailure, TransformOutcome, TransformRequest } from './service.ts'

type FailureStatus = Exclude<TransformationStatus, 'success'>

/** The answer of every interface, before each gives it its own form. */
export type TransformRun =
  | {
      readonly ok: true
      readonly transformationId: string
      readonly sourceFormat: string
      readonly targetFormat: string
      /** JSON. */
      readonly result: string
      /** The schema's violations in a message that we turned into JSON all the same; otherwise empty. */
      readonly violations: readonly Violation[]
    }
  | { readonly ok: false; readonly status: FailureStatus; readonly error: ApiError }

/**
 * Answers small messages at once, and large ones by a promise.
 *
 * @param broken what becomes of a message that breaks its schema and can be json all the same: a result with its
 * violations, or a failure
 */
export type RunTransform = (
  request: TransformRequest,
  broken: BrokenMessage,
) => TransformRun | Promise<TransformRun>

type BrokenMessage = 'shown' | 'refused'

/** Transforms and counts. */
export const createRunTransform = (
  transform: (request: TransformRequest) => TransformOutcome | Promise<TransformOutcome>,
  metrics: Metrics,
): RunTransform => {
  const count = createTransformationCounter(metrics)
  const failed = (source: string, target: string, { error, status }: Told): TransformRun => {
    count(source, target, status)
    return { ok: false, status, error }
  }
  const counted = (
    request: TransformRequest,
    outcome: TransformOutcome,
    broken: BrokenMessage,
  ): TransformRun => {
    if (!outcome.ok) {
      const { source, target } = boundedLabels(request)
      return failed(source, target, apiError(outcome.failure))
    }
    const { sourceFormat, targetFormat, result } = outcome
    const violations = (outcome.violations ?? []).map(told)
    if (violations.length > 0 && broken === 'refused') {
      return failed(sourceFormat, targetFormat, breaksSchema(violations))
    }
    count(sourceFormat, targetFormat, 'success')
    const transformationId = `trf_${newUuid()}`
    return { ok: true, transformationId, sourceFormat, targetFormat, result, violations }
  }
  return (request, broken) => {
    const outcome = transform(request)
    return outcome instanceof Promise
      ? outcome.then((late) => counted(request, late, broken))
      : counted(request, outcome, broken)
  }
}

type Told = { readonly error: ApiError; readonly status: FailureStatus }

/** What we tell the caller. */
const apiError = (failure: TransformFailure): Told => {
  switch (failure.kind) {
    case 'unsupported_format':
      return { status: 'unsupported_format', error: unsupported(failure.source) }
    case 'malformed':
      return { status: 'parse_error', error: unreadable(failure.explanation) }
    case 'other_message':
      return rejected(`The message was declared as ${failure.declared} but is ${failure.found}.`)
    case 'contradiction':
      return rejected(
        `AppHdr/MsgDefIdr is ${failure.definition}, but the namespace is that of ${failure.expected}.`,
      )
    case 'invalid':
      return breaksSchema(failure.violations.map(told))
    case 'violations':
      return breaksSchema(
        failure.violations.map(({ path, rule, message }) => ({ pointer: path, rule, message })),
      )
    case 'problems':
      return brokenForm(failure.problems)
    case 'unwritable':
      return unwritable(failure)
    case 'not_json':
      return {
        status: 'parse_error',
        error: new ApiError(httpErrors.schema_violation, 'The message is not JSON.', {
          errors: [{ pointer: '/message', rule: 'json', message: 'must be JSON text' }],
        }),
      }
    case 'no_schema':
      return rejected(`There is no schema for ${failure.type} ${failure.version}.`)
  }
}

const brokenForm = (problems: readonly GenericProblem[]): Told =>
  breaksSchema(
    problems.map(({ pointer, message }) => ({
      pointer: pointer || '/message',
      rule: 'json_form',
      message,
    })),
  )

type Unwritable = Extract<TransformFailure, { readonly kind: 'unwritable' }>

const unwritable = ({ code, reason }: Unwritable): Told => {
  if (!tooLarge.has(code)) return brokenForm([{ pointer: '', message: reason }])
  const told = `The XML of the message is too large: ${reason}.`
  const error = new ApiError(httpErrors.body_too_large, told, { details: { reason, rule: code } })
  return { status: 'validation_error', error }
}

const told = ({ path, rule, got, expected, line }: SchemaViolation): Violation => ({
  pointer: path,
  rule,
  message: `line ${line}`,
  got,
  expected,
})

const rejected = (detail: string): Told => ({
  status: 'validation_error',
  error: new ApiError(httpErrors.message_rejected, detail),
})

/** The refusal of a message for what its schema has against it. */
const breaksSchema = (errors: readonly Violation[]): Told => {
  // The validator lists no more than this.
  const count = errors.length < violationsMax ? `${errors.length} place(s)` : 'many places'
  const rest = errors.length < violationsMax ? '' : `; the first ${violationsMax} are listed`
  return {
    status: 'validation_error',
    error: new ApiError(
      httpErrors.schema_violation,
      `The message breaks its schema at ${count}${rest}.`,
      { errors },
    ),
  }
}

const unsupported = (source: string): ApiError =>
  isSourceFormat(source)
    ? refusedValue(
        [
          {
            pointer: '/target_format',
            rule: 'pair',
            message: `is not a format the source can become; the accepted pairs are ${acceptedPairs}`,
            expected: acceptedPairs,
          },
        ],
        { transformations: supportedTransformations },
      )
    : invalid([
        {
          pointer: '/source_format',
          rule: 'enum',
          message: 'is not a format that can be read',
          expected: sourceFormats.join(', '),
        },
      ])

/** Labels come from a closed list, whatever a caller sends. */
const boundedLabels = ({
  sourceFormat,
  targetFormat,
}: TransformRequest): { readonly source: string; readonly target: string } => {
  if (sourceFormat === undefined || !isSourceFormat(sourceFormat)) {
    return { source: 'other', target: 'other' }
  }
  const supported = isSupported(sourceFormat, targetFormat)
  const target = supported ? (targetFormat ?? defaultTarget(sourceFormat)) : undefined
  return { source: sourceFormat, target: target ?? 'other' }
}
