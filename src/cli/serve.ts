import { outliveHangUps, untilSignal } from '#src/platform/lifecycle/index.ts'
import { createLogger, LineWriter } from '#src/platform/observe/index.ts'
import { type Command, demandSettings, exitCodes } from './command.ts'
import { buildGateway, namedUrls } from './gateway.ts'
import { joinCrew } from './workers/crew.ts'
import { workerVariable } from './workers/messages.ts'
import { serveByWorkers, workersMax } from './workers/serve.ts'

const stdoutDescriptor = 1

/** Runs what is configured until a signal ends it. */
export const serveCommand: Command = {
  name: 'serve',
  summary: 'Runs the gateway with the settings of the environment.',
  usage: '[--workers <count>]',
  description:
    'Logs JSON lines to stdout. SIGTERM ends it in order after TRILHO_DRAIN_SECONDS, SIGINT without them; one more, a second later, at once. SIGHUP ends nothing.',
  options: {
    workers: {
      value: 'count',
      doc: `Processes that serve together, at most ${workersMax}; 1 if not given.`,
    },
  },
  examples: [
    'HTTP_ADDR=127.0.0.1:8080 API_KEYS_FILE=keys.json trilho serve',
    'trilho serve --workers 4',
  ],
  run: async (args, io, program) => {
    const count = args.integer('workers', 1, workersMax) ?? 1
    if (count > 1) return serveByWorkers(count, io, program)
    const { [workerVariable]: worker, ...env } = io.env
    const crew = worker === undefined ? undefined : joinCrew(Number(worker))
    const loaded = demandSettings(program.load(env))
    const { platform } = loaded
    const lines = new LineWriter(stdoutDescriptor)
    const logger = createLogger({ level: platform.logLevel, sink: lines })
    const cardsLogger = createLogger({
      level: platform.cardgwLogLevel,
      format: platform.cardgwLogFormat,
      sink: lines,
    })
    outliveHangUps(logger)
    if (crew === undefined) for (const warning of loaded.warnings) logger.warn({}, warning)
    const { gateway } = buildGateway(program, loaded, logger, cardsLogger, crew)
    const signal = untilSignal(() => lines.flushSync())
    const ended = Promise.race([signal, ...(crew === undefined ? [] : [crew.abandoned])])
    let code: number = exitCodes.ok
    try {
      // A start may wait for another that migrates, or for a database that says nothing.
      const urls = await Promise.race([gateway.start(), ended.then(() => undefined)])
      if (urls !== undefined) {
        const { version } = program
        const shown = { http_url: urls.httpUrl, ...namedUrls(urls) }
        if (crew === undefined) logger.info({ ...shown, version }, 'listening')
        crew?.listening(shown)
      }
      const signal = await ended
      logger.info({ signal, drain_seconds: platform.drainSeconds }, 'stopping')
      // SIGINT comes from a person, and an abandoned worker from nobody: no load balancer needs to notice.
      const isAtOnce = signal !== 'SIGTERM' || urls === undefined
      code = (await gateway.stop(isAtOnce)) ? exitCodes.ok : exitCodes.failed
      logger.info({ in_order: code === exitCodes.ok }, 'stopped')
    } catch (error) {
      // Logged before the rest stops, which may take long: if somebody ends the process meanwhile, the reason is known.
      logger.error({ err: error }, 'start failed')
      code = exitCodes.failed
      await gateway.stop(true)
    }
    lines.flushSync()
    return code
  },
}
