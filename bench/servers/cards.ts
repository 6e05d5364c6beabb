import { openSync } from 'node:fs'
import { loadSettings } from '#src/platform/config/index.ts'
import { openDatabase } from '#src/platform/database/index.ts'
import { createApp, createHttpMetrics, listen } from '#src/platform/http/index.ts'
import { createLogger, createMetrics, LineWriter } from '#src/platform/observe/index.ts'
import { createAuthenticator, createKeyFileSource } from '#src/platform/security/index.ts'
import { createCards } from '../../src/cards/cards.ts'
import {
  cardSettings,
  createCardNetworks,
  networkASettings,
  networkBSettings,
  reversalSettings,
  vaultSettings,
} from '../../src/cards/index.ts'
import { emitWithin } from '../../src/webhooks/events.ts'
import { answerCpu } from './answer-cpu.ts'

const connectionsMax = 20

/** The card gateway as `serve` runs it: keys checked, every request logged, counted and timed. */
const [dsn = '', keyFile = '', settings = '{}'] = process.argv.slice(2)
const { values, problems } = loadSettings(
  {
    settings: cardSettings,
    networkA: networkASettings,
    networkB: networkBSettings,
    vault: vaultSettings,
    reversals: reversalSettings,
  },
  JSON.parse(settings) as Readonly<Record<string, string>>,
)
if (problems.length > 0) throw new Error(JSON.stringify(problems))
const { vault, reversals, ...ofNetworks } = values
const metrics = createMetrics({ version: 'bench', withProcess: false })
const logger = createLogger({ level: 'info', sink: new LineWriter(openSync('/dev/null', 'w')) })
const { sql } = openDatabase({
  dsn,
  connectionsMax: connectionsMax,
  statementTimeoutMs: 30_000,
  logger,
})
const networks = createCardNetworks({ ...ofNetworks, logger, metrics })
const cards = createCards({
  sql,
  networks,
  emission: emitWithin,
  settings: { vault, reversals },
  logger,
  metrics,
})
const app = createApp({
  routes: cards.routes ?? [],
  authenticator: createAuthenticator({
    sources: [createKeyFileSource({ path: keyFile, onProblem: console.error })],
  }),
  logger,
  metrics: createHttpMetrics(metrics),
})
await networks.feature.start?.()
await cards.start?.()
const isUp = (): boolean =>
  networks.all.every((network) => {
    const { connectionsUp, connectionsMax } = network.health()
    return connectionsUp === connectionsMax
  })
while (!isUp()) await Bun.sleep(10)
answerCpu(listen(app, { address: { host: '127.0.0.1', port: 0 }, setting: 'HTTP_ADDR' }).url)
