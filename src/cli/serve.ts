import { untilSignal } from '#src/platform/lifecycle/index.ts'
import { createLogger, LineWriter } from '#src/platform/observe/index.ts'
import { type Command, demandSettings, exitCodes } from './command.ts'
import { buildGateway, namedUrls } from './gateway.ts'

const stdoutDescriptor = 1

/** Runs what is configured until a signal ends it. */
export const serveCommand: Command = {
  name: 'serve',
  summary: 'Runs the gateway with the settings of the environment.',
  usage: '',
  description:
    'Logs JSON lines to stdout. SIGTERM ends it in order after TRILHO_DRAIN_SECONDS, SIGINT without them; one more, a second later, at once.',
  options: {},
  examples: ['HTTP_ADDR=127.0.0.1:8080 API_KEYS_FILE=keys.json trilho serve'],
  run: async (_args, io, program) => {
    const loaded = demandSettings(program.load(io.env))
    const { platform } = loaded
    const lines = new LineWriter(stdoutDescriptor)
    const logger = createLogger({ level: platform.logLevel, sink: lines })
    const cardsLogger = createLogger({
      level: platform.cardgwLogLevel,
      format: platform.cardgwLogFormat,
      sink: lines,
    })
    for (const warning of loaded.warnings) logger.warn({}, warning)
    const { gateway } = buildGateway(program, loaded, logger, cardsLogger)
    const ended = untilSignal(() => lines.flushSync())
    let code: number = exitCodes.ok
    try {
      const urls = await gateway.start()
      const { version } = program
      logger.info({ http_url: urls.httpUrl, ...namedUrls(urls), version }, 'listening')
      const signal = await ended
      logger.info({ signal, drain_seconds: platform.drainSeconds }, 'stopping')
      // SIGINT comes from a person at a terminal: no load balancer is to notice.
      code = (await gateway.stop(signal === 'SIGINT')) ? exitCodes.ok : exitCodes.failed
      logger.info({ in_order: code === exitCodes.ok }, 'stopped')
    } catch (error) {
      logger.error({ err: error }, 'start failed')
      code = exitCodes.failed
    }
    lines.flushSync()
    return code
  },
}
