import { CodecError } from '#codecs/bytes'
import { bytesOfHex, parseTlvWithin } from '#codecs/iso8583'
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import type { Secrets } from '../content/index.ts'

/** Card number, track 2, holder's name, track data: they go in no field of ours. */
const refusedTags: ReadonlySet<string> = new Set(['57', '5A', '5F20', '56', '9F1F', '9F20', '9F6B'])

/** Whether it is BER-TLV without card data, in templates too. */
const isIccData = (hex: string): boolean => {
  try {
    const bytes = bytesOfHex(hex)
    return bytes !== undefined && parseTlvWithin(bytes).every(({ tag }) => !refusedTags.has(tag))
  } catch (error) {
    if (error instanceof CodecError) return false
    throw error
  }
}

/** @throws ApiError for chip data that no message may have */
export const checkIcc = ({ icc }: Secrets): void => {
  if (icc === undefined || isIccData(icc)) return
  throw new ApiError(
    httpErrors.value_refused,
    'icc_data must be BER-TLV without card number, tracks and name.',
    { details: { field: 'icc_data', value: null } },
  )
}
