import { defineErrors } from '#src/platform/http/index.ts'

export const resolveErrors = defineErrors({
  resolution_not_possible: {
    status: 409,
    title: 'Not for a person to end',
    meaning:
      'The outcome of the message is not UNKNOWN, the gateway still asks the central bank for it, or its end cannot be told so. `reason` tells: `received`, `waiting`, `ended`, `still_asked`, `settled` (a reply: that a received payment settled, only a report tells) or `request` (of a mandate or charge: the institution of the payer may still answer).',
    remedy:
      'Read the message. In the first day after it was sent only the central bank ends it; `POST /v1/spi/messages/{id}/resend` asks it at once. For `settled`, ask for a report; for `request`, tell `ACCEPTED`: what was asked for then waits for its answer, as any other.',
  },
})
