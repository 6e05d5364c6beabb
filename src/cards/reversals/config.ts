import { defineSettings, integer, type SettingValues, setting } from '#src/platform/config/index.ts'

/** How long and how often reversals are sent. */
export const reversalSettings = defineSettings({
  expiryHours: setting('CARDGW_REVERSAL_EXPIRY_HOURS', integer(1, 720), {
    default: '24',
    doc: 'Hours after which a reversal that no network confirmed is given up and needs attention.',
  }),
  attemptsMax: setting('CARDGW_REVERSAL_ATTEMPTS_MAX', integer(1, 100_000), {
    default: '1000',
    doc: 'Times a reversal is sent before it is given up; a network that is down uses none.',
  }),
  backoffMaxSeconds: setting('CARDGW_REVERSAL_BACKOFF_MAX_SECONDS', integer(1, 3_600), {
    default: '300',
    doc: 'Longest time between two attempts of one reversal, seconds.',
  }),
  inFlightMax: setting('CARDGW_REVERSAL_IN_FLIGHT', integer(1, 1_024), {
    default: '16',
    doc: 'Reversals that one process sends to one network at the same time.',
  }),
})

export type ReversalSettings = SettingValues<typeof reversalSettings>
