import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { root } from './program.ts'
import { temporaryDirectory } from './temporary.ts'
import { until } from './until.ts'

/** The end of a skipped test's name. */
export const noPrometheus = Bun.which('prometheus') === null ? ' [skipped: no prometheus]' : ''

type Sample = { readonly metric: Readonly<Record<string, string>>; readonly values: unknown }

export type TestPrometheus = AsyncDisposable & {
  /** What a panel would show of the last ten minutes. @throws Error with what Prometheus says of a query that it does not take */
  readonly query: (expr: string) => Promise<readonly Sample[]>
  /** What it says of each rule: `ok`, or the error of its last evaluation. */
  readonly ruleHealth: () => Promise<Readonly<Record<string, string>>>
  /** The names of the alerts that fire now. */
  readonly firing: () => Promise<readonly string[]>
}

const shownSeconds = 600

/**
 * A real one that scrapes an address every second, or as often as told, and evaluates the rules of deploy/. A scrape may
 * take as long as the time between two.
 */
export const startPrometheus = async (target: string, every = '1s'): Promise<TestPrometheus> => {
  const directory = temporaryDirectory()
  const config = join(directory, 'prometheus.yaml')
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: every, scrape_timeout: every, evaluation_interval: every },
      rule_files: [join(root, 'deploy/prometheus/alerts.yaml')],
      scrape_configs: [{ job_name: 'trilho', static_configs: [{ targets: [target] }] }],
    }),
  )
  const address = `127.0.0.1:${freePort()}`
  const server = Bun.spawn(
    [
      ...[
        'prometheus',
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
      ],
      `--web.listen-address=${address}`,
    ],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://${address}/api/v1/${path}`)
    const { data, error } = (await response.json()) as { readonly data: T; readonly error?: string }
    if (error !== undefined) throw new Error(`${path}: ${error}`)
    return data
  }
  await until(async () => {
    const ready = await fetch(`http://${address}/-/ready`).catch(() => undefined)
    return ready?.ok === true
  })
  return {
    query: async (expr) => {
      const now = Math.floor(Date.now() / 1_000)
      const range = `start=${now - shownSeconds}&end=${now}&step=1`
      const path = `query_range?query=${encodeURIComponent(expr)}&${range}`
      return (await ask<{ result: Sample[] }>(path)).result
    },
    ruleHealth: async () => {
      type Rule = { readonly name: string; readonly health: string; readonly lastError?: string }
      const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('rules')
      const rules = groups.flatMap(({ rules: some }) => some)
      return Object.fromEntries(rules.map((rule) => [rule.name, rule.lastError ?? rule.health]))
    },
    firing: async () => {
      type Alert = { readonly labels: { readonly alertname: string }; readonly state: string }
      const { alerts } = await ask<{ alerts: Alert[] }>('alerts')
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname)
    },
    [Symbol.asyncDispose]: async () => {
      server.kill('SIGKILL')
      await server.exited
    },
  }
}

/** Every query of deploy/grafana, as Grafana would ask it of a scrape each second. */
export const dashboardQueries = async (): Promise<readonly string[]> => {
  const queries = new Set<string>()
  const glob = new Bun.Glob('*.json')
  const directory = join(root, 'deploy/grafana/dashboards')
  for await (const file of glob.scan(directory)) {
    const { panels } = (await Bun.file(join(directory, file)).json()) as {
      readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
    }
    for (const { targets } of panels) for (const { expr } of targets) queries.add(expr)
  }
  return [...queries].map((expr) => expr.replaceAll('$__rate_interval', '1m'))
}
