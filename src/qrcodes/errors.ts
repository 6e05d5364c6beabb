import { defineErrors } from '#src/platform/http/index.ts'

/** Errors of reading a code, besides those that every feature shares. */
export const qrcodeErrors = defineErrors({
  brcode_invalid: {
    status: 422,
    title: 'Not a valid code',
    meaning: 'The payload breaks a rule; errors names the tag path, its byte offset and the rule.',
    remedy: 'Scan the code again, or ask its producer for a correct one.',
  },
  qrcode_without_location: {
    status: 422,
    title: 'Code without a location',
    meaning: 'The code is static, or of another kind: there is no payload elsewhere.',
    remedy: 'Read it with POST /v1/qrcodes/parse; of a composite code say which location.',
  },
  qrcode_location_refused: {
    status: 422,
    title: 'Location refused',
    meaning: 'The location in the code leads to an address that is not public, or is none.',
    remedy:
      'Do not pay by this code; a host of your own network goes into TRILHO_FETCH_ALLOWED_TARGETS.',
  },
  qrcode_gone: {
    status: 422,
    title: 'Charge gone',
    meaning: 'The location answers that there is no such charge, or none any more (404, 410).',
    remedy: 'Ask the receiver for a new code.',
  },
  qrcode_not_payable: {
    status: 422,
    title: 'Code not payable',
    meaning:
      'There is nothing to pay by the code now; reason says why: untrusted, no_charge, static_withdrawal, status, expired or malformed. Nothing was paid.',
    remedy: 'Ask the receiver for a new code.',
  },
  qrcode_location_unavailable: {
    status: 502,
    title: 'Location unavailable',
    meaning:
      'The location gave no payload: no connection, no whole answer in time, too many bytes, a redirect, or another status; reason says which.',
    remedy: 'Try again; what stays so is a fault of the receiver\u2019s institution.',
    retryable: true,
  },
})
