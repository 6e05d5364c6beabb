import { problemsTable } from '#src/platform/config/index.ts'
import { type Demo, type Feature, untilSignal } from '#src/platform/lifecycle/index.ts'
import { createLogger, LineWriter } from '#src/platform/telemetry/index.ts'
import { type Command, exitCodes } from '../command.ts'
import { buildGateway } from '../gateway.ts'
import type { Io, Program } from '../program.ts'
import { banner } from './banner.ts'
import { devEnvironment } from './environment.ts'
import { watchStarter } from './starter.ts'
import { type DevState, openDevState } from './state.ts'

const stderrDescriptor = 2
const stateDirectoryDefault = '.trilho'

/** Everything on this machine, nothing to configure. */
export const devCommand: Command = {
  name: 'dev',
  summary: 'Runs everything on this machine, with nothing to configure.',
  usage: '[--state <dir>] [--json]',
  description: `Keeps its state under ${stateDirectoryDefault}/, makes a demonstration key, does one operation of each
feature and shows it. Listens on this machine only. Variables that are set stay in force. Logs go to
stderr, from warn unless LOG_LEVEL is set.`,
  options: {
    state: { type: 'string', value: 'dir', doc: `Where to keep state; ${stateDirectoryDefault}.` },
    json: { type: 'boolean', doc: 'One line {"ready":true,"url":…,"api_key":…}, nothing else.' },
  },
  examples: ['trilho dev', 'trilho dev --json'],
  positionalsMax: 0,
  run: async (args, io, program) => {
    const lines = new LineWriter(stderrDescriptor)
    const starterGone = Promise.withResolvers<string>()
    watchStarter(() => starterGone.resolve('starter gone'))
    const ended = Promise.race([untilSignal(() => lines.flushSync()), starterGone.promise])
    const state = await openDevState(args.text('state') ?? stateDirectoryDefault)
    const code = await run(state, args.flag('json'), ended, lines, io, program)
    lines.flushSync()
    return code
  },
}

const run = async (
  state: DevState,
  asJson: boolean,
  ended: Promise<string>,
  lines: LineWriter,
  io: Io,
  program: Program,
): Promise<number> => {
  const { env, notes } = devEnvironment(io.env, state.keyFile)
  const loaded = program.load(env)
  if (loaded.problems.length > 0) {
    io.err(`${problemsTable(loaded.problems)}\n`)
    return exitCodes.config
  }
  const { platform } = loaded
  const logger = createLogger({ level: platform.logLevel, format: 'text', sink: lines })
  for (const warning of loaded.warnings) logger.warn({}, warning)
  const { gateway, features } = buildGateway(program, loaded, logger, logger)
  try {
    const urls = await gateway.start()
    const demos = await runDemos(features, { ...urls, ...state })
    const ready = { ...urls, state, notes, demos, version: program.version }
    io.out(asJson ? readyLine(urls, state) : banner(ready))
    await ended
  } catch (error) {
    await gateway.stop()
    throw error
  }
  return (await gateway.stop()) ? exitCodes.ok : exitCodes.failed
}

const runDemos = async (
  features: readonly Feature[],
  gateway: Parameters<NonNullable<Feature['demo']>>[0],
): Promise<readonly Demo[]> => {
  const demos: Demo[] = []
  for (const feature of features) {
    if (feature.demo !== undefined) demos.push(await feature.demo(gateway))
  }
  return demos
}

const readyLine = (
  { httpUrl, cardsUrl }: { readonly httpUrl: string; readonly cardsUrl: string },
  { apiKey }: DevState,
): string =>
  `${JSON.stringify({ ready: true, url: httpUrl, api_key: apiKey, cards_url: cardsUrl })}\n`
