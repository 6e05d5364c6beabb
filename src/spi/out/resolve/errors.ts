import { defineErrors } from '#src/platform/http/index.ts'

export const resolveErrors = defineErrors({
  resolution_not_possible: {
    status: 409,
    title: 'Not for a person to end',
    meaning:
      'The outcome of the message is not UNKNOWN, the gateway still asks the central bank for it, or its end cannot be told so. `reason` tells: `received`, `waiting`, `ended`, `still_asked`, `several` (payments or returns: the central bank ends each by itself), `settled` (a reply: that a received payment settled, only a report tells) or `request` (of a mandate or charge: the institution of the payer may still answer).',
    remedy:
      'Read the message. In the first day after it was sent only the central bank ends it; `POST /v1/spi/messages/{id}/resend` asks it at once. For `several`, ask for reports (`POST /v1/pix/reports`), and the desk of the central bank to send the entries that are missing; for `settled`, ask for a report; for `request`, tell `ACCEPTED`: what was asked for then waits for its answer, as any other.',
  },
})
