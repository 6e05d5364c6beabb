import {
  createAuthenticator,
  createKeyFileSource,
  type KeySource,
} from '#src/platform/auth/index.ts'
import { type PlatformSettings, problemsTable } from '#src/platform/config/index.ts'
import { createGateway, type Gateway, untilSignal } from '#src/platform/lifecycle/index.ts'
import {
  createLogger,
  createMetrics,
  LineWriter,
  type Logger,
} from '#src/platform/telemetry/index.ts'
import { type Command, exitCodes } from './command.ts'
import type { LoadedProgram, Program } from './program.ts'

const stdoutDescriptor = 1

/** Runs what is configured until a signal ends it. */
export const serveCommand: Command = {
  name: 'serve',
  summary: 'Runs the gateway with the settings of the environment.',
  usage: '',
  description:
    'Logs JSON lines to stdout. SIGTERM or SIGINT ends it in order; a second one at once.',
  options: {},
  examples: ['HTTP_ADDR=127.0.0.1:8080 API_KEYS_FILE=keys.json trilho serve'],
  positionalsMax: 0,
  run: async (_args, io, program) => {
    const loaded = program.load(io.env)
    if (loaded.problems.length > 0) {
      io.err(`${problemsTable(loaded.problems)}\n`)
      return exitCodes.config
    }
    const lines = new LineWriter(stdoutDescriptor)
    const logger = createLogger({ level: loaded.platform.logLevel, sink: lines })
    for (const warning of loaded.warnings) logger.warn({}, warning)
    const gateway = buildGateway(program, loaded, logger, lines)
    let code: number = exitCodes.ok
    try {
      const urls = await gateway.start()
      logger.info({ ...urls, version: program.version }, 'listening')
      const signal = await untilSignal(() => lines.flushSync())
      logger.info({ signal }, 'stopping')
      code = (await gateway.stop()) ? exitCodes.ok : exitCodes.failed
      logger.info({ in_order: code === exitCodes.ok }, 'stopped')
    } catch (error) {
      logger.error({ err: error }, 'start failed')
      code = exitCodes.failed
    }
    lines.flushSync()
    return code
  },
}

const buildGateway = (
  program: Program,
  loaded: LoadedProgram,
  logger: Logger,
  lines: LineWriter,
): Gateway => {
  const { platform } = loaded
  const cardsLogger = createLogger({
    level: platform.cardgwLogLevel,
    format: platform.cardgwLogFormat,
    sink: lines,
  })
  const metrics = createMetrics({ version: program.version, withProcess: platform.metricsEnabled })
  return createGateway({
    version: program.version,
    features: loaded.createFeatures({ logger, cardsLogger, metrics, version: program.version }),
    authenticator: createAuthenticator({ sources: keySources(platform, logger) }),
    logger,
    cardsLogger,
    metrics,
    metricsEnabled: platform.metricsEnabled,
    http: platform.httpAddr,
    cards: { host: platform.httpAddr.host, port: platform.cardgwPort },
    stopTimeoutMs: platform.stopTimeoutSeconds * 1000,
  })
}

const keySources = (platform: PlatformSettings, logger: Logger): readonly KeySource[] => {
  if (platform.apiKeysFile === undefined) {
    logger.warn({}, 'no source of API keys is configured: every protected endpoint answers 401')
    return []
  }
  return [
    createKeyFileSource({
      path: platform.apiKeysFile,
      onProblem: (err) => logger.error({ err }, 'the key file cannot be read'),
    }),
  ]
}
