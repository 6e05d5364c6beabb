import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'

/** How we send queued messages, and how long their answers may take. */
export const outboundSettings = defineSettings({
  requestsMax: setting('SPI_SEND_REQUESTS', kind.integer(1, 6), {
    default: '4',
    doc: 'Requests with messages at once per channel. The message interface allows a participant six, so divide them among the processes that send.',
  }),
  channelFailover: setting('SPI_CHANNEL_FAILOVER', kind.boolean(), {
    default: 'true',
    doc: 'Sends over the other channel, with the same bytes, while the chosen one cannot be reached. A pacs.004, and a pacs.002 that answers one, stays on its channel.',
  }),
  settlementLimitSeconds: setting('SPI_SETTLEMENT_LIMIT', kind.integer(10, 86_400), {
    default: '60',
    doc: 'Seconds after which a payment or return without an answer is UNKNOWN and asked for again; the central bank itself decides within 40.',
  }),
  scheduledLimitSeconds: setting('SPI_SCHEDULED_SETTLEMENT_LIMIT', kind.integer(10, 86_400), {
    default: '2760',
    doc: 'The same for scheduled payments (PAGAGD); the central bank itself decides within 45 minutes.',
  }),
  syncTimeoutSeconds: setting('SPI_SYNC_TIMEOUT', kind.integer(1, 30), {
    default: '5',
    doc: 'Seconds that a send request waits for the message interface when SPI_SYNC_ENABLED is true, and before that for the signature; afterwards the queue sends the same message.',
  }),
})

export type OutboundSettings = SettingValues<typeof outboundSettings>
