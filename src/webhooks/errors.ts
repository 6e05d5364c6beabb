import { defineErrors } from '#src/platform/http/index.ts'

/** The errors of webhook operations, besides those that every feature shares. */
export const webhookErrors = defineErrors({
  webhook_endpoint_disabled: {
    status: 409,
    title: 'Endpoint disabled',
    meaning: 'The endpoint is not active, so nothing is sent to it.',
    remedy: 'Activate it with PATCH and {"active": true}.',
    pt: {
      title: 'Endpoint desativado',
      meaning: 'O endpoint não está ativo, por isso nada lhe é enviado.',
      remedy: 'Ative-o com PATCH e {"active": true}.',
    },
    retryable: false,
  },
})
