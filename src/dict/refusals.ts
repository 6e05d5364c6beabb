/** What the caller is told where the directory does not do what is asked. */
import { ApiError } from '#src/platform/http/index.ts'
import { dictErrors } from './errors.ts'
import { DirectoryAwayError } from './exchange.ts'
import { askedLater, isForLater, type Refused } from './wire.ts'

/** @param code the directory's name for why */
export const refused = (code: string, status?: number): ApiError =>
  new ApiError(
    dictErrors.dict_refused,
    `The directory answers ${[status, code].join(' ').trim()}.`,
    { details: { directory_code: code } },
  )

export const unavailable = ({ reason, message }: DirectoryAwayError): ApiError =>
  new ApiError(dictErrors.dict_unavailable, `The directory: ${message}.`, { details: { reason } })

export const refusedBy = (answer: Refused): ApiError =>
  isForLater(answer) ? unavailable(askedLater(answer)) : refused(answer.code, answer.status)

/** @throws ApiError where the directory does not answer */
export const orUnavailable = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((error: unknown) => {
    throw error instanceof DirectoryAwayError ? unavailable(error) : error
  })
