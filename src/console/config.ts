import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'

const web = kind.url('http', 'https')

const traceUrl: kind.Kind<string> = {
  ...web,
  expected: `${web.expected} that holds \`{trace_id}\``,
  parse: (value, file) => {
    if (!value.includes('{trace_id}')) throw new Error('does not hold {trace_id}')
    return web.parse(value, file)
  },
}

/** The console's settings. */
export const consoleSettings = defineSettings({
  isEnabled: setting('TRILHO_CONSOLE', kind.boolean(), {
    default: 'true',
    doc: 'Serves the web console at `/console`: on the listener of `TRILHO_ADMIN_ADDR` where that is set and `TRILHO_TLS_CLIENT_CA_PATH` is not, else on that of `HTTP_ADDR`.',
  }),
  idleMinutes: setting('TRILHO_CONSOLE_IDLE_MINUTES', kind.integer(1, 1440), {
    default: '30',
    doc: 'Minutes without an act of its user after which a session of the console ends.',
  }),
  traceUrl: setting('TRILHO_TRACE_URL', traceUrl, {
    doc: 'Where a trace is looked at, with `{trace_id}` in place of its id, as `https://grafana.example.com/explore?trace={trace_id}`: the console links a payment to it.',
  }),
  sessionHours: setting('TRILHO_CONSOLE_SESSION_HOURS', kind.integer(1, 168), {
    default: '12',
    doc: 'Hours after the sign-in when a session of the console ends, whatever is done in it.',
  }),
})

export type ConsoleSettings = SettingValues<typeof consoleSettings>
