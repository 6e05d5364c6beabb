import { defineErrors } from '#src/platform/http/index.ts'

/** The errors of webhook operations, besides those that every feature shares. */
export const webhookErrors = defineErrors({
  webhooks_full: {
    status: 409,
    title: 'Too many webhooks',
    meaning: 'The account has as many webhooks as it may, active or not.',
    remedy: 'Delete one that is no longer used, or change one with PATCH.',
  },
  webhook_endpoint_disabled: {
    status: 409,
    title: 'Endpoint disabled',
    meaning: 'The endpoint is not active, so nothing is sent to it.',
    remedy: 'Activate it with PATCH and {"active": true}.',
  },
  webhook_secret_shut: {
    status: 409,
    title: 'Secret cannot be opened',
    meaning:
      'The secret of the webhook is sealed under another master key, or it has none and WEBHOOK_SECRET is not set, so nothing can be signed.',
    remedy:
      'Give the gateway the TRILHO_MASTER_KEY that sealed it, or WEBHOOK_SECRET again, or rotate the secret.',
  },
  webhook_of_standard: {
    status: 409,
    title: 'Webhook of a standard',
    meaning: 'The webhook was set by the API Pix, which alone changes it.',
    remedy:
      'Use PUT or DELETE of what set it: /pix/v2/webhook/{chave}, /pix/v2/webhookrec or /pix/v2/webhookcobr.',
  },
})
