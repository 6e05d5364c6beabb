export { type WebhookSettings, webhookSettings } from './config.ts'
