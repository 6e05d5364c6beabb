import { escapeStep, type Violation } from '#src/platform/http/index.ts'
import { type ProjectedType, projectionTargets } from './formats.ts'
import type { TransformOptions, TransformRequest } from './service.ts'

const encoder = new TextEncoder()

const members = ['source_format', 'target_format', 'message', 'options'] as const
const optionMembers = ['validate', 'enrich'] as const

/**
 * Reads the transformation request of a JSON body. We check it by hand, not with its zod schema: this is the hot path,
 * and we check a thousand messages for every time that somebody reads the schema's document.
 *
 * @param declared the type that the path names; then the body may omit `source_format` and `target_format`
 */
export const parseTransformRequest = (
  body: unknown,
  declared: ProjectedType | undefined,
): TransformRequest | readonly Violation[] => {
  if (!isObject(body)) return [violation('', 'type', 'must be an object')]
  const violations: Violation[] = []
  tellUnknown('', body, members, violations)
  const sourceFormat = format(body, 'source_format', declared, violations)
  const targetFormat = format(
    body,
    'target_format',
    declared === undefined ? undefined : projectionTargets[declared],
    violations,
  )
  const { message } = body
  if (typeof message !== 'string') {
    violations.push(
      message === undefined
        ? violation('/message', 'required', 'is missing')
        : violation('/message', 'type', 'must be a string holding the document'),
    )
  }
  const options = parseOptions(body['options'], violations)
  if (violations.length > 0 || typeof message !== 'string') return violations
  return { sourceFormat, targetFormat, message: encoder.encode(message), options }
}

const format = (
  body: Readonly<Record<string, unknown>>,
  name: 'source_format' | 'target_format',
  declared: string | undefined,
  violations: Violation[],
): string => {
  const value = body[name]
  if (typeof value === 'string') {
    if (declared !== undefined && value !== declared) {
      violations.push({
        ...violation(`/${name}`, 'const', 'contradicts the path'),
        expected: declared,
      })
    }
    return value
  }
  if (value === undefined && declared !== undefined) return declared
  violations.push(
    value === undefined
      ? violation(`/${name}`, 'required', 'is missing')
      : violation(`/${name}`, 'type', 'must be a string'),
  )
  return ''
}

const parseOptions = (options: unknown, violations: Violation[]): TransformOptions => {
  const parsed = { validate: false, enrich: false }
  if (options === undefined) return parsed
  if (!isObject(options)) {
    violations.push(violation('/options', 'type', 'must be an object'))
    return parsed
  }
  tellUnknown('/options', options, optionMembers, violations)
  for (const name of optionMembers) {
    const value = options[name]
    if (typeof value === 'boolean') parsed[name] = value
    else if (value !== undefined) {
      violations.push(violation(`/options/${name}`, 'type', 'must be true or false'))
    }
  }
  return parsed
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const violation = (pointer: string, rule: string, message: string): Violation => ({
  pointer,
  rule,
  message,
})

/** An answer that lists what nobody reads is larger than the request. */
export const unknownMembersShown = 50

const tellUnknown = (
  parent: string,
  object: Readonly<Record<string, unknown>>,
  known: readonly string[],
  violations: Violation[],
): void => {
  let shown = 0
  for (const name in object) {
    if (known.includes(name)) continue
    violations.push(unknownMember(parent, name))
    if (++shown === unknownMembersShown) return
  }
}

const unknownMember = (parent: string, name: string): Violation =>
  violation(`${parent}/${escapeStep(name)}`, 'unknown', 'is not a member of this request')
