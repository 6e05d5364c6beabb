import type { PlatformSettings } from '#src/platform/config/index.ts'
import { freePort } from '#src/platform/http/index.ts'
import { outliveHangUps, untilSignal } from '#src/platform/lifecycle/index.ts'
import {
  createLogger,
  createMetrics,
  LineWriter,
  type Logger,
} from '#src/platform/observe/index.ts'
import { demandSettings, exitCodes } from '../command.ts'
import type { Io, Program } from '../program.ts'
import { environmentOf, type Ports } from './environment.ts'
import { createSupervisor, type Supervisor, WorkerEndedError } from './supervisor.ts'

export const workersMax = 64

const stdoutDescriptor = 1
/** The time beyond what a worker itself takes to end. */
const stopMarginMs = 5_000

/** Runs the gateway as several processes that share its addresses, under this one, which serves nothing itself. */
export const serveByWorkers = async (count: number, io: Io, program: Program): Promise<number> => {
  const loaded = demandSettings(program.load(io.env))
  const { platform } = loaded
  const lines = new LineWriter(stdoutDescriptor)
  const logger = createLogger({ level: platform.logLevel, sink: lines })
  outliveHangUps(logger)
  for (const warning of loaded.warnings) logger.warn({}, warning)
  // Refuses what the roles do not allow before a port is looked at.
  const of = (ports: Ports) => (number: number) =>
    environmentOf(io.env, platform, { number, count, ports })
  const nowhere = { http: 0, cards: 0, admin: undefined, pix: undefined }
  for (let number = 1; number <= count; number++) of(nowhere)(number)
  const ended = untilSignal(() => {
    supervisor?.kill()
    lines.flushSync()
  })
  let supervisor: Supervisor | undefined
  let code: number = exitCodes.ok
  try {
    const ports = await portsOf(platform)
    supervisor = createSupervisor({
      count,
      logger,
      command: workerCommand(),
      environmentOf: of(ports),
      onLines: (text) => lines.write(text),
      metrics: createMetrics({ version: program.version, withProcess: false }),
      stallMs: platform.stallSeconds * 1_000,
      stopMs: (platform.drainSeconds + platform.stopTimeoutSeconds) * 1_000 + stopMarginMs,
    })
    const started = supervisor.start()
    const first = await Promise.race([started, ended])
    if (typeof first !== 'string') {
      logger.info({ ...first, workers: count, version: program.version }, 'listening')
    }
    const signal = await ended
    logger.info({ signal, drain_seconds: platform.drainSeconds }, 'stopping')
    code = (await stopAll(supervisor, signal, started)) ? exitCodes.ok : exitCodes.failed
    logger.info({ in_order: code === exitCodes.ok }, 'stopped')
  } catch (error) {
    code = await failed(error, supervisor, logger)
  }
  lines.flushSync()
  return code
}

const stopAll = (
  supervisor: Supervisor,
  signal: NodeJS.Signals,
  started: Promise<unknown>,
): Promise<boolean> => {
  // A worker that ends because of the signal has not failed to start.
  started.catch(() => {})
  return supervisor.stop(signal)
}

const failed = async (
  error: unknown,
  supervisor: Supervisor | undefined,
  logger: Logger,
): Promise<number> => {
  logger.error({ err: error }, 'start failed')
  await supervisor?.stop('SIGINT')
  return error instanceof WorkerEndedError && error.code !== 0 ? error.code : exitCodes.failed
}

const portsOf = async ({
  httpAddr,
  cardgwPort,
  adminAddr,
  pixAddr,
}: PlatformSettings): Promise<Ports> => {
  const http = await freePort({ address: httpAddr, setting: 'HTTP_ADDR' })
  const cardsAddress = { host: httpAddr.host, port: cardgwPort }
  const isOne = cardgwPort === httpAddr.port
  const cards = isOne ? http : await freePort({ address: cardsAddress, setting: 'CARDGW_PORT' })
  const admin = adminAddr && (await freePort({ address: adminAddr, setting: 'TRILHO_ADMIN_ADDR' }))
  const pix = pixAddr && (await freePort({ address: pixAddr, setting: 'PIX_API_ADDR' }))
  return { http, cards, admin, pix }
}

/** This program again: the executable, or the runtime with the file that it was started with. */
const workerCommand = (): readonly string[] => {
  const isExecutable = Bun.main.includes('$bunfs')
  return [process.execPath, ...(isExecutable ? [] : [...process.execArgv, Bun.main]), 'serve']
}
