import { defineErrors } from '#src/platform/http/index.ts'

export const catalogueErrors = defineErrors({
  message_interface_unavailable: {
    status: 502,
    title: 'Message interface unavailable',
    meaning: 'The central bank could not be asked, or answered something else.',
    remedy: 'Try again, and see `trilho doctor`.',
    retryable: true,
  },
})
