/** What the caller is told where the directory does not do what is asked. */
import { ApiError } from '#src/platform/http/index.ts'
import { dictErrors } from './errors.ts'
import type { DirectoryAwayError } from './exchange.ts'

/** @param code the directory's name for why */
export const refused = (code: string, status?: number): ApiError =>
  new ApiError(
    dictErrors.dict_refused,
    `The directory answers ${[status, code].join(' ').trim()}.`,
    { details: { directory_code: code } },
  )

export const unavailable = ({ reason, message }: DirectoryAwayError): ApiError =>
  new ApiError(dictErrors.dict_unavailable, `The directory: ${message}.`, { details: { reason } })
