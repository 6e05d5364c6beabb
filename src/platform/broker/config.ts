import { defineSettings, integer, type SettingValues, setting } from '../config/index.ts'

/** The embedded broker, which keeps its topics in the shared database. */
export const brokerSettings = defineSettings({
  retentionDays: setting('TRILHO_BROKER_RETENTION_DAYS', integer(1, 365), {
    default: '7',
    doc: 'Days a message is kept by the embedded broker, read or not.',
  }),
})

export type BrokerSettings = SettingValues<typeof brokerSettings>
