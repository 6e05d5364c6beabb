import { defineErrors } from '#src/platform/http/index.ts'

export const messageErrors = defineErrors({
  payment_sent_already: {
    status: 409,
    title: 'Sent already',
    meaning:
      'A payment or charge with this EndToEndId, or a return with this RtrId, was sent before and is not refused. Nothing was sent; `message_id` is the message that has it.',
    remedy:
      'Read what became of that message. A new payment, charge or return needs an id of its own.',
  },
})
