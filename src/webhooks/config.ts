import { defineSettings, type SettingValues, secret, setting } from '#src/platform/config/index.ts'

/** How events are delivered to subscribers. */
export const webhookSettings = defineSettings({
  secret: setting('WEBHOOK_SECRET', secret(), {
    doc: 'Secret for HMAC-SHA256 signing of webhooks that have none of their own.',
  }),
})

export type WebhookSettings = SettingValues<typeof webhookSettings>
