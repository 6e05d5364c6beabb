import { join } from 'node:path'
import type { Environment } from '#src/platform/config/index.ts'
import {
  demandDatabase,
  NoPostgresError,
  startEmbeddedPostgres,
} from '#src/platform/database/index.ts'
import { type Feature, type GatewayUrls, untilSignal } from '#src/platform/lifecycle/index.ts'
import { createLogger, LineWriter } from '#src/platform/observe/index.ts'
import { type Command, demandSettings, exitCodes } from '../command.ts'
import { buildGateway, namedUrls } from '../gateway.ts'
import type { Io, Program } from '../program.ts'
import { banner } from './banner.ts'
import { cardDemos, type DevCardNetworks, startDevCardNetworks } from './card-network.ts'
import {
  type DevCentralBank,
  devRoles,
  receivedDemos,
  sentDemo,
  startDevCentralBank,
} from './central-bank.ts'
import { type DevChain, startDevChain, transferDemo } from './chain.ts'
import { chargeDemo } from './charge.ts'
import { type Demonstration, demonstrate, notShown } from './demonstrations.ts'
import { type DevDirectory, keyDemo, startDevDirectory } from './directory.ts'
import { devEnvironment, isSet, whilePortsAreTaken } from './environment.ts'
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
    state: { value: 'dir', doc: `Where to keep state; ${stateDirectoryDefault}.` },
    json: { doc: 'One line {"ready":true,"url":…,"api_key":…}, nothing else.' },
  },
  examples: ['trilho dev', 'trilho dev --json'],
  run: async (args, io, program) => {
    const lines = new LineWriter(stderrDescriptor)
    const starterGone = Promise.withResolvers<string>()
    watchStarter(() => starterGone.resolve('starter gone'))
    const ended = Promise.race([untilSignal(() => lines.flushSync()), starterGone.promise])
    const state = await openDevState(args.text('state') ?? stateDirectoryDefault)
    const [database, chain, bank, directory] = await Promise.all([
      startDevDatabase(io.env, state.directory),
      startDevChain(io.env, state.directory),
      startDevCentralBank(io.env),
      startDevDirectory(io.env),
    ])
    const cards = startDevCardNetworks(io.env)
    const machine = { state, database, chain, bank, directory, cards, ended, lines }
    try {
      return await run(machine, args.flag('json'), io, program)
    } finally {
      await cards.stop()
      await bank.stop()
      await directory.stop()
      await chain.stop()
      await database.stop()
      lines.flushSync()
    }
  },
}

type DevDatabase = {
  /** Undefined when dev started none. */
  readonly url: string | undefined
  /** Tells the user why there is none. */
  readonly notes: readonly string[]
  /** Resolves when the server ends; never if there is no server. */
  readonly exited: Promise<void>
  readonly stop: () => Promise<void>
}

const none = (notes: readonly string[]): DevDatabase => ({
  url: undefined,
  notes,
  exited: new Promise(() => {}),
  stop: async () => {},
})

/** A PostgreSQL of `dev`'s own, unless the user named one or none is to be found on this machine. */
const startDevDatabase = async (env: Environment, state: string): Promise<DevDatabase> => {
  for (const name of ['DATABASE_DSN', 'CARDGW_DATABASE_URL']) {
    if (isSet(env, name)) await demandDatabase(name, env[name] ?? '')
  }
  if (isSet(env, 'DATABASE_DSN') || isSet(env, 'DATABASE_DSN_FILE')) return none([])
  try {
    const server = await startEmbeddedPostgres({ directory: join(state, 'postgres') })
    return { ...server, notes: [] }
  } catch (error) {
    if (!(error instanceof NoPostgresError)) throw error
    return none([`${error.message} Until then, what needs a database answers 503.`])
  }
}

type Machine = {
  readonly state: DevState
  readonly database: DevDatabase
  readonly chain: DevChain
  readonly bank: DevCentralBank
  readonly directory: DevDirectory
  readonly cards: DevCardNetworks
  /** Resolves when the user, or what started us, wants the end. */
  readonly ended: Promise<string>
  readonly lines: LineWriter
}

/** Builds and starts the gateway. */
const open = async (machine: Machine, io: Io, program: Program) => {
  const { state, database, chain, bank, directory, cards, lines, ended } = machine
  const { env, notes } = devEnvironment(io.env, state, database.url)
  const roles = devRoles(env, database.url)
  const all = { ...env, ...chain.env, ...bank.env, ...directory.env, ...cards.env, ...roles }
  const loaded = demandSettings(program.load(all))
  const logger = createLogger({ level: loaded.platform.logLevel, format: 'text', sink: lines })
  for (const warning of loaded.warnings) logger.warn({}, warning)
  const { cardgwLogLevel: level, cardgwLogFormat: format } = loaded.platform
  const cardsLogger = createLogger({ level, format, sink: lines })
  const { gateway, features } = buildGateway(program, loaded, logger, cardsLogger)
  const asksForCertificate = loaded.platform.clientCa !== undefined
  // Undefined where the end came first: a start may wait for another that migrates.
  const starting = Promise.race([gateway.start(), ended.then(() => undefined)])
  const urls = await starting.catch(async (error: unknown) => {
    await gateway.stop(true)
    throw error
  })
  return { gateway, features, notes, asksForCertificate, urls }
}

type Opened = Awaited<ReturnType<typeof open>>

const run = async (
  machine: Machine,
  asJson: boolean,
  io: Io,
  program: Program,
): Promise<number> => {
  const { database, ended } = machine
  const start = () => open(machine, io, program)
  const isGiven = isSet(io.env, 'HTTP_ADDR') && isSet(io.env, 'GRPC_ADDR')
  const opened = await (isGiven ? start() : whilePortsAreTaken(start))
  const { gateway, urls } = opened
  const databaseLost = database.exited.then(() => {
    throw new Error('the database ended by itself; its log is beside its data')
  })
  const end = Promise.race([ended.then(() => undefined), databaseLost])
  try {
    const shown = await Promise.race([end, urls && shownOf(machine, opened, urls, asJson, program)])
    if (shown !== undefined) {
      for (const note of shown.notes) io.err(`trilho dev: ${note}\n`)
      io.out(shown.text)
    }
    await end
  } catch (error) {
    await gateway.stop(true)
    throw error
  }
  return (await gateway.stop(true)) ? exitCodes.ok : exitCodes.failed
}

/** Does the demonstrations, and gives all that the user is to see. */
const shownOf = async (
  machine: Machine,
  { features, notes, asksForCertificate }: Opened,
  urls: GatewayUrls,
  asJson: boolean,
  { version }: Program,
): Promise<{ readonly text: string; readonly notes: readonly string[] }> => {
  const { state, database, chain, bank } = machine
  // Wallets are rows: without a database there are none to fund.
  const hasDatabase = features.some(({ name }) => name === 'database')
  const isAsked = hasDatabase && !asksForCertificate
  const untold = asksForCertificate ? [noDemos] : []
  const wallets = isAsked
    ? await chain.fundWallets(urls.httpUrl, state.apiKey).catch((error: unknown) => {
        untold.push(notShown('transfers of digital currency', error))
        return []
      })
    : []
  const { demos, notes: failed } = await demonstrate(
    asksForCertificate ? [] : demonstrationsOf(machine, features, urls, wallets),
  )
  const allNotes = [...notes, ...database.notes, ...chain.notes, ...untold, ...failed]
  if (asJson) return { text: readyLine(urls, state, wallets, bank), notes: allNotes }
  const hasConsole = features.some(({ name, routes }) => name === 'console' && routes?.length)
  const { httpUrl, adminUrl = httpUrl } = urls
  const consoleAt = asksForCertificate ? httpUrl : adminUrl
  const told = {
    ...urls,
    databaseUrl: database.url,
    centralBankUrl: bank.url,
    consoleUrl: hasConsole ? `${consoleAt}/console` : undefined,
    state,
  }
  return { text: banner({ ...told, notes: allNotes, demos, version }), notes: [] }
}

const noDemos =
  'clients need a certificate (TRILHO_TLS_CLIENT_CA_PATH): nothing is shown here, and no wallet has money'

/** One operation of each feature. */
const demonstrationsOf = (
  { state, bank, directory, cards }: Machine,
  features: readonly Feature[],
  urls: GatewayUrls,
  wallets: readonly string[],
): readonly Demonstration[] => {
  const gateway = { ...urls, ...state }
  return [
    ...features.flatMap(({ name, demo }) =>
      demo === undefined ? [] : [{ name, show: async () => [await demo(gateway)] }],
    ),
    { name: 'transfers of digital currency', show: () => transferDemo(gateway, wallets) },
    { name: 'payments sent', show: () => sentDemo(gateway, bank, features) },
    { name: 'payments received', show: () => receivedDemos(gateway, bank, features) },
    { name: 'payments to a Pix key', show: () => keyDemo(gateway, bank, directory, features) },
    { name: 'charges', show: () => chargeDemo(gateway, bank, features) },
    { name: 'card payments', show: () => cardDemos(gateway, cards, features) },
  ]
}

const readyLine = (
  urls: GatewayUrls,
  { apiKey }: DevState,
  wallets: readonly string[],
  bank: DevCentralBank,
): string =>
  `${JSON.stringify({
    ready: true,
    url: urls.httpUrl,
    api_key: apiKey,
    ...namedUrls(urls),
    wallets,
    ispb: bank.ispb,
    ...(bank.url === undefined ? {} : { central_bank_url: bank.url }),
  })}\n`
