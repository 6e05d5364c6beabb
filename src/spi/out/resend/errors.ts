import { defineErrors } from '#src/platform/http/index.ts'

export const resendErrors = defineErrors({
  resend_not_possible: {
    status: 409,
    title: 'Not to be sent again',
    meaning:
      'The outcome of the message is not UNKNOWN, or the central bank no longer recognises a repetition of it. `reason` tells: `received`, `waiting`, `ended` or `too_old`.',
    remedy:
      'Read the message. While it waits, wait with it. What is older than a day is found with `POST /v1/pix/reports`, which asks the central bank what it has settled, and ended with `POST /v1/spi/messages/{id}/resolve`.',
  },
})
