import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'

/** How we fetch received messages. */
export const pullSettings = defineSettings({
  streams: setting('SPI_PULL_STREAMS', kind.integer(1, 6), {
    default: '2',
    doc: 'Read streams per channel. The message interface allows a participant six in all, so divide them among the processes that pull.',
  }),
})

export type PullSettings = SettingValues<typeof pullSettings>
