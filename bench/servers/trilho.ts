import { openSync } from 'node:fs'
import { createApp, createHttpMetrics, listen } from '#src/platform/http/index.ts'
import { createLogger, createMetrics, LineWriter } from '#src/platform/observe/index.ts'
import { startTracing } from '#src/platform/observe/tracing/start.ts'
import { createAuthenticator, createKeyFileSource } from '#src/platform/security/index.ts'
import { createTransform } from '#src/spi/index.ts'
import { answerCpu } from './answer-cpu.ts'

/**
 * Our transform routes as `serve` runs them: keys checked, every request logged, counted and timed; given a collector's
 * address, every request is traced too.
 */
const [keyFile = '', endpoint] = process.argv.slice(2)
if (endpoint !== undefined) {
  startTracing({ endpoint, serviceName: 'bench', serviceVersion: '1', samplingRatio: 1 })
}
const metrics = createMetrics({ version: 'bench', withProcess: false })
const app = createApp({
  routes: createTransform({ metrics }).routes ?? [],
  authenticator: createAuthenticator({
    sources: [createKeyFileSource({ path: keyFile, onProblem: console.error })],
  }),
  logger: createLogger({ level: 'info', sink: new LineWriter(openSync('/dev/null', 'w')) }),
  metrics: createHttpMetrics(metrics),
})
answerCpu(listen(app, { address: { host: '127.0.0.1', port: 0 }, setting: 'HTTP_ADDR' }).url)
