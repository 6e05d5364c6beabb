import { defineErrors } from '#src/platform/http/index.ts'

/** Errors of reading a code, besides those that every feature shares. */
export const qrcodeErrors = defineErrors({
  brcode_invalid: {
    status: 422,
    title: 'Not a valid code',
    meaning: 'The payload breaks a rule; errors names the tag path, its byte offset and the rule.',
    remedy: 'Scan the code again, or ask its producer for a correct one.',
    retryable: false,
  },
})
