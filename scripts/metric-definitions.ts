import { Registry } from 'prom-client'
import { buildGateway } from '../src/cli/gateway.ts'
import { program } from '../src/main.ts'
import { createHttpMetrics } from '../src/platform/http/metrics.ts'
import { createLogger, createMetrics } from '../src/platform/observe/index.ts'

/** A metric as the program declares it. */
export type MetricDefinition = {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Undefined: not declared, as they come with the values. */
  readonly labels: readonly string[] | undefined
}

const nowhere = 'http://127.0.0.1:1'

/** Configures everything, but starts nothing. */
const everything = {
  DATABASE_DSN: 'postgres://nobody:nobody@127.0.0.1:1/nothing',
  BROKER_ADDRESSES: '127.0.0.1:1',
  ISPB: '12345678',
  SPI_PRIMARY_URL: nowhere,
  SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND',
  CARDGW_NETA_HOST: '127.0.0.1',
  CARDGW_NETA_PORT: '1',
  CARDGW_VAULT_URL: nowhere,
  CARDGW_VAULT_TOKEN: 'a token of nobody',
  DREX_TESTNET_RPC_URLS: nowhere,
  DREX_TESTNET_TOKEN: `0x${'11'.repeat(20)}`,
}

type Registered = {
  readonly name: string
  readonly labelNames?: readonly string[]
  readonly get: () => Promise<{ readonly help: string; readonly type: MetricDefinition['type'] }>
}

/** The metrics that the features declare, without those of the runtime. */
export const metricDefinitions = async (): Promise<readonly MetricDefinition[]> => {
  const registered: Registered[] = []
  const { registerMetric } = Registry.prototype
  Registry.prototype.registerMetric = function (this: Registry, metric) {
    registered.push(metric as unknown as Registered)
    registerMetric.call(this, metric)
  }
  try {
    const logger = createLogger({ level: 'error', format: 'text', sink: { write: () => true } })
    buildGateway(program, program.load({ ...everything, METRICS_ENABLED: 'false' }), logger, logger)
    createHttpMetrics(createMetrics({ version: '', withProcess: false }))
  } finally {
    Registry.prototype.registerMetric = registerMetric
  }
  const byName = new Map(registered.map((metric) => [metric.name, metric]))
  return Promise.all(
    [...byName.values()].map(async (metric) => {
      // A gauge may read its values from a database, which does not exist here.
      const own = metric as unknown as Partial<MetricDefinition>
      const { help, type } =
        own.help === undefined ? await metric.get() : { help: own.help, type: typeOf(metric) }
      return { name: metric.name, help, type, labels: metric.labelNames }
    }),
  )
}

const typeOf = (metric: object): MetricDefinition['type'] =>
  metric.constructor.name.toLowerCase() as MetricDefinition['type']
