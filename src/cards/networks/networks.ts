import type { Client } from '#src/platform/database/index.ts'
import { type HealthCheck, roundTrip } from '#src/platform/http/index.ts'
import type { Check, Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import { createFileMaterial, type Sealer, usedFiles } from '#src/platform/security/index.ts'
import type { CardSettings, NetworkSettings } from '../config.ts'
import {
  createLinkKeyStores,
  createSecurityModule,
  type SecurityModule,
} from '../security/index.ts'
import { definitionsOf, type NetworkDefinition } from './definitions.ts'
import { dial } from './dial.ts'
import { createNetworkMetrics } from './metrics.ts'
import { createNetwork } from './network.ts'
import type { NetworkOptions } from './options.ts'
import { createRouting } from './routing.ts'
import type { LateAnswer, Network, TakeAdvice, TakeCutOver } from './types.ts'

const checkMs = 3_000

export type CardNetworksDeps = {
  readonly settings: CardSettings
  readonly networkA: NetworkSettings
  readonly networkB: NetworkSettings
  readonly logger: Logger
  readonly metrics: Metrics
  /** Where exchanged keys are kept; undefined: each process has its own, until it ends. */
  readonly keeping?: { readonly sql: Client; readonly sealer: Sealer } | undefined
}

/** All card networks of the process; they open with the feature's `start` and drain in its `stop`. */
export type CardNetworks = {
  readonly feature: Feature
  readonly all: readonly Network[]
  /** Finds a network by the name that is stored with a transaction. */
  readonly byName: (name: string) => Network | undefined
  /** The network of a card number, ASCII digits; undefined when no network takes it. */
  readonly networkFor: (pan: Uint8Array) => Network | undefined
  /** Sets the one listener for connections that begin to take requests. */
  readonly onUp: (listener: () => void) => void
  /** Sets the one listener for late answers. */
  readonly onLateAnswer: (listener: (answer: LateAnswer) => void) => void
  /** Sets the one listener for advices. */
  readonly onAdvice: (listener: TakeAdvice) => void
  /** Sets the one listener for cut-overs. */
  readonly onCutOver: (listener: TakeCutOver) => void
}

/** @throws Error for a networks file that cannot be used and for networks that claim the same cards */
export const createCardNetworks = (deps: CardNetworksDeps): CardNetworks => {
  const { settings, networkA, networkB, logger } = deps
  const definitions = definitionsOf(settings, networkA, networkB)
  const metrics = createNetworkMetrics(deps.metrics)
  const module = createSecurityModule(settings, logger)
  const { sql, sealer } = deps.keeping ?? {}
  const keyStores = sql && sealer && createLinkKeyStores(sql, sealer, logger)
  let up = (): void => undefined
  let listener: (answer: LateAnswer) => void = () => undefined
  let takeAdvice: TakeAdvice = async () => undefined
  let takeCutOver: TakeCutOver = async () => false
  const made = definitions.map((definition) => {
    const options = {
      ...definition,
      tls: materialOf(definition, logger),
      logger,
      metrics,
      module,
      keyStore: definition.security?.exchange && keyStores?.of(definition.name),
      onUp: () => up(),
      onLateAnswer: (answer: LateAnswer) => listener(answer),
      onAdvice: (advice: Parameters<TakeAdvice>[0]) => takeAdvice(advice),
      onCutOver: (date: string | undefined) => takeCutOver(definition.name, date),
    }
    return { options, network: createNetwork(options), prefixes: definition.prefixes }
  })
  const byName = new Map(made.map(({ network }) => [network.name, network]))
  const all = made.map(({ network }) => network)
  const exchanging = definitions.filter(({ security }) => security?.exchange !== undefined)
  return {
    all,
    byName: (name) => byName.get(name),
    networkFor: createRouting(made),
    onUp: (told) => {
      up = told
    },
    onLateAnswer: (told) => {
      listener = told
    },
    onAdvice: (told) => {
      takeAdvice = told
    },
    onCutOver: (told) => {
      takeCutOver = told
    },
    feature: {
      name: 'card_networks',
      certificates: [
        ...made.flatMap(({ options }) => usedFiles(`card_network_${options.name}`, options.tls)),
        ...usedFiles('security_module', module?.tls),
      ],
      ...(keyStores === undefined ? {} : { sealed: keyStores.sealed }),
      start: async () => {
        module?.start()
        if (exchanging.length > 0) {
          await keyStores?.start((told) =>
            Promise.all(
              exchanging
                .filter(({ name }) => told === undefined || name === told)
                .map(({ name }) => byName.get(name)?.keys?.look()),
            ),
          )
        }
        for (const network of all) network.start()
      },
      stop: async () => {
        await Promise.all(all.map((network) => network.stop()))
        await keyStores?.stop()
        module?.stop()
      },
      health: () => healthOf(all),
      checks: async () => [
        ...(await Promise.all(made.map(({ options }) => check(options)))),
        ...(module === undefined ? [] : [await checkModule(module)]),
        ...(keyStores === undefined ? exchanging.map(unkept) : []),
      ],
    },
  }
}

const materialOf = ({ name, tls }: NetworkDefinition, logger: Logger) =>
  tls === undefined
    ? undefined
    : createFileMaterial(tls, (err) =>
        logger.error({ network: name, err }, 'the new TLS files of a card network cannot be used'),
      )

const healthOf = (networks: readonly Network[]): HealthCheck => {
  const healths = networks.map((network) => network.health())
  const isWhole = healths.every(
    ({ connectionsUp, connectionsMax }) => connectionsUp === connectionsMax,
  )
  const isDown = healths.some(({ connectionsUp }) => connectionsUp === 0)
  return {
    status: isDown ? 'down' : isWhole ? 'ok' : 'degraded',
    // A network that is away does not take this process out of service: the others go on.
    ready: true,
    detail: Object.fromEntries(
      healths.map(({ name, connectionsUp, connectionsMax, inFlight, inFlightMax, lastEcho }) => [
        name,
        {
          connections_up: connectionsUp,
          connections_max: connectionsMax,
          in_flight: inFlight,
          in_flight_max: inFlightMax,
          last_echo_at: lastEcho?.at.toISOString() ?? null,
          round_trip_ms: roundTrip(lastEcho?.roundTripMs),
        },
      ]),
    ),
  }
}

const unkept = ({ name }: NetworkDefinition): Check => ({
  name: `keys of card network ${name}`,
  status: 'warning',
  detail: 'keys that it sends are forgotten with this process, and other processes have others',
  fix: 'set DATABASE_DSN and TRILHO_MASTER_KEY: they are kept there, sealed',
})

const checkModule = async (module: SecurityModule): Promise<Check> => {
  const name = 'security module'
  try {
    return { name, status: 'ok', detail: await module.describe() }
  } catch (error) {
    const detail = (error as Error).message
    return { name, status: 'failed', detail, fix: 'check CARDGW_SECURITY_MODULE and its place' }
  }
}

const check = async (options: NetworkOptions): Promise<Check> => {
  const name = `card network ${options.name}`
  const nothing = () => undefined
  try {
    const socket = await dial(options, checkMs, {
      open: nothing,
      data: nothing,
      drain: nothing,
      close: nothing,
    })
    socket.end()
    return { name, status: 'ok', detail: `${options.host}:${options.port} takes connections` }
  } catch (error) {
    return {
      name,
      status: 'failed',
      detail: `${options.host}:${options.port}: ${(error as Error).message}`,
      fix: 'check host, port, firewall and, with TLS, the certificates',
    }
  }
}
