import {
  ApiError,
  type ErrorDefinition,
  invalid,
  parseJson,
  type Violation,
  validated,
} from '#src/platform/http/index.ts'
import { validateBody } from '../schemas/documents.ts'
import type { ProjectedType } from '../transform/formats.ts'
import { parseTransformRequest } from '../transform/request.ts'
import type { TransformRequest } from '../transform/service.ts'

/** A request whose body holds the document within JSON. */
export type JsonBody = {
  readonly body: Uint8Array
  /** `validate`, or the transformation that the path names. */
  readonly purpose: 'validate' | { readonly declared: ProjectedType | undefined }
}

/** What an {@link ApiError} is made of: errors lose their class between threads. */
type Refusal = {
  readonly definition: ErrorDefinition
  readonly message: string
  readonly errors: readonly Violation[]
  readonly details: Readonly<Record<string, unknown>>
}

export type ReadBody =
  | { readonly transform: TransformRequest }
  | { readonly validate: Uint8Array }
  | { readonly refused: Refusal }

/** @throws ApiError */
export const readTransformBody = (
  body: Uint8Array,
  declared: ProjectedType | undefined,
): TransformRequest => {
  const parsed = parseTransformRequest(parseJson(body), declared)
  if ('message' in parsed) return parsed
  throw invalid(parsed)
}

/** @throws ApiError */
export const readValidateBody = (body: Uint8Array): Uint8Array =>
  new TextEncoder().encode(validated(validateBody, parseJson(body), '').message)

/** Within the thread. */
export const readBody = ({ body, purpose }: JsonBody): ReadBody => {
  try {
    return purpose === 'validate'
      ? { validate: readValidateBody(body) }
      : { transform: readTransformBody(body, purpose.declared) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { definition, message, errors, details } = error
    return { refused: { definition, message, errors, details } }
  }
}

/** Outside of it. */
export const refusalOf = ({ definition, message, errors, details }: Refusal): ApiError =>
  new ApiError(definition, message, { errors, details })
