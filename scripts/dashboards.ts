import { join } from 'node:path'
import { type MetricDefinition, metricDefinitions } from './metric-definitions.ts'

/*
 * Writes the dashboards of deploy/grafana from the metrics that the program declares. The beginning of a metric's name
 * chooses its dashboard; the overview also shows what an operator looks at first.
 *
 *   bun scripts/dashboards.ts           writes them
 *   bun scripts/dashboards.ts --check   fails when they would change
 */

/** A dashboard, and the beginnings of its metrics' names: the longest match decides. */
type Dashboard = { readonly file: string; readonly title: string; readonly of: readonly string[] }

const dashboards: readonly Dashboard[] = [
  {
    file: 'spi',
    title: 'Instant payments',
    of: ['spigw_', 'trilho_spi_', 'trilho_grpc_'],
  },
  { file: 'cards', title: 'Cards', of: ['cardgw_'] },
  { file: 'drex', title: 'Digital currency', of: ['drex_'] },
  { file: 'queues', title: 'Queues', of: ['spigw_broker_', 'spigw_webhook_', 'trilho_loop_'] },
  {
    file: 'counterparties',
    title: 'Counterparties',
    of: ['spigw_link_', 'spigw_pull_', 'cardgw_network_', 'drex_head_', 'trilho_spi_send_'],
  },
  { file: 'certificates', title: 'Certificates', of: ['spigw_cert_', 'trilho_certificates_'] },
  { file: 'database', title: 'Database', of: ['spigw_db_', 'spigw_worker_batch_'] },
  { file: 'overview', title: 'Overview', of: ['http_', 'trilho_build_', 'trilho_requests_'] },
]

/** Metrics of other dashboards that tell at a glance whether money moves. */
const alsoOnOverview: ReadonlySet<string> = new Set([
  ...['spigw_messages_processed_total', 'spigw_unknown_outcomes', 'trilho_spi_messages_open'],
  ...['cardgw_operations_total', 'cardgw_reversals_pending', 'drex_transactions_open'],
  ...['spigw_broker_queue_age_seconds', 'spigw_broker_dead_letters_total', 'spigw_link_up'],
  ...['cardgw_network_connections_up', 'trilho_loop_stuck_seconds', 'spigw_db_connections_active'],
  'spigw_cert_days_until_expiry',
])

/** Labels of metrics that declare none. */
const labelsElsewhere: Readonly<Record<string, readonly string[]>> = {
  http_requests_total: ['status'],
  http_request_duration_seconds: [],
  spigw_transformations_total: ['source_type', 'status'],
  trilho_grpc_requests_total: ['method', 'code'],
  trilho_grpc_request_duration_seconds: ['method'],
}

const processPanels: readonly Panel[] = [
  {
    title: 'Processes that answer',
    unit: 'short',
    exprs: [['sum(up{job="trilho"})', 'processes']],
  },
  {
    title: 'Processor time',
    unit: 'percentunit',
    exprs: [['rate(process_cpu_seconds_total{job="trilho"}[$__rate_interval])', '{{instance}}']],
  },
  {
    title: 'Resident memory',
    unit: 'bytes',
    exprs: [['process_resident_memory_bytes{job="trilho"}', '{{instance}}']],
  },
  {
    title: 'Lag of the event loop, p99',
    unit: 's',
    exprs: [['nodejs_eventloop_lag_p99_seconds{job="trilho"}', '{{instance}}']],
  },
]

type Panel = {
  readonly title: string
  readonly unit: string
  readonly exprs: readonly (readonly [expr: string, legend: string])[]
}

/** The dashboard of a metric. @throws Error if it has none */
export const dashboardOf = (name: string): string => {
  const fitting = dashboards.flatMap(({ file, of }) =>
    of.filter((start) => name.startsWith(start)).map((start) => ({ file, length: start.length })),
  )
  const [best] = fitting.sort((one, other) => other.length - one.length)
  if (best === undefined) throw new Error(`${name} is on no dashboard: see scripts/dashboards.ts`)
  return best.file
}

const unitOf = (name: string): string => {
  if (/_seconds(_total)?$/.test(name)) return 's'
  return name.endsWith('_bytes') ? 'bytes' : 'short'
}

const panelOf = ({ name, help, type, labels }: MetricDefinition): Panel => {
  const by = labelsElsewhere[name] ?? labels ?? []
  const legend = by.map((label) => `{{${label}}}`).join(' ')
  const title = help.replace(/\.$/, '')
  const grouped = (aggregate: string, of: string, more: readonly string[] = []): string => {
    const all = [...more, ...by]
    return all.length === 0 ? `${aggregate}(${of})` : `${aggregate} by (${all.join(', ')}) (${of})`
  }
  if (type === 'counter') {
    const expr = grouped('sum', `rate(${name}[$__rate_interval])`)
    return { title: `${title}, a second`, unit: 'short', exprs: [[expr, legend || 'all']] }
  }
  if (type === 'gauge') {
    return { title, unit: unitOf(name), exprs: [[grouped('max', name), legend || 'all']] }
  }
  const buckets = grouped('sum', `rate(${name}_bucket[$__rate_interval])`, ['le'])
  return {
    title,
    unit: unitOf(name),
    exprs: [0.5, 0.99].map((share) => [
      `histogram_quantile(${share}, ${buckets})`,
      `p${share * 100} ${legend}`.trimEnd(),
    ]),
  }
}

const columns = 3
const width = 24 / columns
const height = 7

const documentOf = ({ file, title }: Dashboard, panels: readonly Panel[]): object => ({
  uid: `trilho-${file}`,
  title: `Trilho: ${title.toLowerCase()}`,
  tags: ['trilho'],
  schemaVersion: 39,
  editable: true,
  time: { from: 'now-1h', to: 'now' },
  refresh: '10s',
  templating: {
    list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
  },
  links: [{ type: 'dashboards', tags: ['trilho'], title: 'Trilho', asDropdown: true }],
  panels: panels.map(({ title: name, unit, exprs }, at) => ({
    id: at + 1,
    type: 'timeseries',
    title: name,
    datasource: { type: 'prometheus', uid: '$datasource' },
    gridPos: {
      x: (at % columns) * width,
      y: Math.floor(at / columns) * height,
      w: width,
      h: height,
    },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: exprs.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      expr,
      legendFormat,
    })),
  })),
})

/** The files of deploy/grafana/dashboards by name. */
export const dashboardFiles = (
  definitions: readonly MetricDefinition[],
): ReadonlyMap<string, string> => {
  const sorted = [...definitions].sort((one, other) => (one.name < other.name ? -1 : 1))
  return new Map(
    dashboards.map((dashboard) => {
      const isOverview = dashboard.file === 'overview'
      const metrics = sorted.filter(
        ({ name }) =>
          dashboardOf(name) === dashboard.file || (isOverview && alsoOnOverview.has(name)),
      )
      const panels = [...(isOverview ? processPanels : []), ...metrics.map(panelOf)]
      return [
        `${dashboard.file}.json`,
        `${JSON.stringify(documentOf(dashboard, panels), undefined, 2)}\n`,
      ]
    }),
  )
}

if (import.meta.main) {
  const directory = join(import.meta.dir, '../deploy/grafana/dashboards')
  const isCheck = process.argv.includes('--check')
  for (const [name, text] of dashboardFiles(await metricDefinitions())) {
    const path = join(directory, name)
    if (!isCheck) await Bun.write(path, text)
    else if (
      (await Bun.file(path)
        .text()
        .catch(() => '')) !== text
    ) {
      console.error(`${path} is not what the metrics say: bun scripts/dashboards.ts`)
      process.exitCode = 1
    }
  }
  // Opened drivers would keep the process alive.
  process.exit()
}
