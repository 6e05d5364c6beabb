import { defineErrors } from '#src/platform/http/index.ts'

export const resolveErrors = defineErrors({
  resolution_not_possible: {
    status: 409,
    title: 'Not for a person to end',
    meaning:
      'The outcome of the message is not UNKNOWN, or the gateway still asks the central bank for it. `reason` tells: `received`, `waiting`, `ended` or `still_asked`.',
    remedy:
      'Read the message. In the first day after it was sent only the central bank ends it; `POST /v1/spi/messages/{id}/resend` asks it at once.',
  },
})
