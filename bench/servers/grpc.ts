import { openSync } from 'node:fs'
import { loadSettings } from '#src/platform/config/index.ts'
import { createLogger, createMetrics, LineWriter } from '#src/platform/observe/index.ts'
import { createAuthenticator, createKeyFileSource } from '#src/platform/security/index.ts'
import { createGrpc, createTransform, grpcSettings } from '#src/spi/index.ts'
import { answerCpu } from './answer-cpu.ts'

/** Our gRPC server as `serve` runs it: keys checked, every call logged, counted and timed. */
const [keyFile = ''] = process.argv.slice(2)
const metrics = createMetrics({ version: 'bench', withProcess: false })
const grpc = createGrpc({
  settings: loadSettings({ grpc: grpcSettings }, { GRPC_ADDR: '127.0.0.1:0' }).values.grpc,
  run: createTransform({ metrics }).run,
  authenticator: createAuthenticator({
    sources: [createKeyFileSource({ path: keyFile, onProblem: console.error })],
  }),
  logger: createLogger({ level: 'info', sink: new LineWriter(openSync('/dev/null', 'w')) }),
  metrics,
  stopTimeoutMs: 1_000,
})
await grpc.start?.()
answerCpu(grpc.url?.() ?? '')
