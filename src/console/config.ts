import {
  boolean,
  defineSettings,
  integer,
  type SettingValues,
  setting,
} from '#src/platform/config/index.ts'

/** The console's settings. */
export const consoleSettings = defineSettings({
  isEnabled: setting('TRILHO_CONSOLE', boolean(), {
    default: 'true',
    doc: 'Serves the web console at `/console`: on the listener of `TRILHO_ADMIN_ADDR` where that is set, else on that of `HTTP_ADDR`.',
  }),
  idleMinutes: setting('TRILHO_CONSOLE_IDLE_MINUTES', integer(1, 1440), {
    default: '30',
    doc: 'Minutes without an act of its user after which a session of the console ends.',
  }),
  sessionHours: setting('TRILHO_CONSOLE_SESSION_HOURS', integer(1, 168), {
    default: '12',
    doc: 'Hours after the sign-in when a session of the console ends, whatever is done in it.',
  }),
})

export type ConsoleSettings = SettingValues<typeof consoleSettings>
