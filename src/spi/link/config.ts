import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'

/** How we speak to the message interface. */
export const interfaceSettings = defineSettings({
  sendTimeoutSeconds: setting('SPI_SEND_TIMEOUT', kind.integer(1, 120), {
    default: '15',
    doc: 'Seconds within which a request with messages is answered; afterwards the same messages are sent again.',
  }),
  sendAttemptsMax: setting('SPI_SEND_ATTEMPTS', kind.integer(1, 10), {
    default: '3',
    doc: 'How often a request with messages is made when its answer is a 5xx or does not come.',
  }),
  pullTimeoutSeconds: setting('SPI_PULL_TIMEOUT', kind.integer(5, 120), {
    default: '45',
    doc: 'Seconds within which a read is answered; the message interface holds it until there is a message. One that is unanswered for 4 seconds (up to 5.25, where the interface is seen to hold reads: a quarter of a second longer than it does) is asked again beside the first, over another connection, and either may answer; so is the request that opens a stream. After 9 seconds both are given up and the read begins anew; of three in a row the last waits in full, as all do where the interface held the last read for longer.',
  }),
  gzipPrimary: setting('SPI_PRIMARY_GZIP', kind.boolean(), {
    default: 'true',
    doc: 'Compresses what is sent on the primary channel; on the secondary one compression is mandatory.',
  }),
  pacingEnabled: setting('SPI_PACING_ENABLED', kind.boolean(), {
    default: 'true',
    doc: 'Sends no faster than the token buckets of the message interface refill. All processes on one database share them.',
  }),
  pacingShare: setting('SPI_PACING_SHARE', kind.decimal(0.01, 1), {
    default: '1',
    doc: 'Share of those buckets that this gateway may use: less than 1 where another program sends for the same institution, or processes that share no database.',
  }),
})

export type InterfaceSettings = SettingValues<typeof interfaceSettings>
