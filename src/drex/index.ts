/** Digital currency: transfers, wallets and contracts on networks that speak Ethereum's JSON-RPC. */
import { readFileSync } from 'node:fs'
import type { Emit, EmitWithin } from '#src/events/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { ApiError, routesWithout } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import type { Sealer } from '#src/platform/security/index.ts'
import { advance, isAgreement } from './agreements/advance.ts'
import { createDeliveries } from './agreements/deliveries.ts'
import { createAgreementFollower } from './agreements/follower.ts'
import { createLiens } from './agreements/liens.ts'
import { bookOf } from './book.ts'
import { type Chain, createChains } from './chains.ts'
import { chainChecks, currencyChecks, signerChecks } from './checks.ts'
import type { DrexSettings, NetworkId } from './config.ts'
import { explainRevert } from './contracts/abi.ts'
import { type Contracts, createContracts } from './contracts/service.ts'
import { createCustody } from './custody/services.ts'
import { createAccepted } from './engine/accepted.ts'
import { nodesNeeded } from './engine/agreement.ts'
import type { EngineContext } from './engine/context.ts'
import { createEngine } from './engine/engine.ts'
import { createHeads } from './engine/heads.ts'
import { createLooks, type Looks } from './engine/looks.ts'
import { createProver } from './engine/prover.ts'
import { signerRestMs } from './engine/sign.ts'
import { createSigners } from './engine/signers.ts'
import { createSilence } from './engine/silence.ts'
import { drexErrors } from './errors.ts'
import { correctionsOf, eventsOf, heldEventsOf } from './events.ts'
import type { Hex } from './evm/hex.ts'
import { healthOf } from './health.ts'
import { createHeld } from './held.ts'
import { createLedgerFollower } from './ledger/follower.ts'
import { createStatements } from './ledger/statement.ts'
import {
  countFeeLimits,
  countUnproven,
  watchHeads,
  watchHeld,
  watchLedger,
  watchOpen,
} from './metrics.ts'
import { configuredNetworks, type Network, readNetworksFile } from './networks.ts'
import { createOperations } from './operations/service.ts'
import { createPermission } from './permission.ts'
import { createDrexRetention } from './retention.ts'
import { createRoutes } from './routes/index.ts'
import { createRpcClient, type RpcClient } from './rpc/client.ts'
import { createSandbox } from './sandbox.ts'
import { createSignatures } from './signatures/service.ts'
import { createStreamFollower } from './streams/follower.ts'
import { createStreams } from './streams/service.ts'
import { createTokens, type Tokens } from './tokens/service.ts'
import { createTransactions } from './transactions.ts'
import { createBatches } from './transfers/batches.ts'
import { createTransfers } from './transfers/service.ts'
import { lapseApprovals } from './transfers/store.ts'
import { createBalanceWatch } from './wallets/balance-watch.ts'
import { createWallets, type Wallets } from './wallets/service.ts'

export { drexSettings } from './config.ts'
export { forgetRemembered, listRemembered, type Remembered } from './remembered.ts'

export type DrexDeps = {
  readonly settings: DrexSettings
  readonly sql: Client
  /** Absent without TRILHO_MASTER_KEY: managed wallets then answer 503. */
  readonly sealer: Sealer | undefined
  /** The sealer knows a previous master key: every wallet is sealed anew at the start. */
  readonly isRotating: boolean
  /** Deletes what is past its retention. */
  readonly runsJobs?: boolean
  readonly emitEvents: Emit
  /** Asked before much is read for events that nobody takes. */
  readonly isTaken: EmitWithin['isTaken']
  readonly logger: Logger
  readonly metrics: Metrics
}

export type Drex = Feature & { readonly wallets: Wallets }

const gwei = 1_000_000_000n
/** A transaction without a receipt is looked at after this many blocks, but not too soon. */
const resendBlocks = 4
const resendMinMs = 2_000

export const createDrex = (deps: DrexDeps): Drex => {
  const { settings, sql, logger } = deps
  const custody = createCustody(settings, logger)
  const wallets = createWallets({ sql, sealer: deps.sealer, ...custody })
  const tokens = createTokens(sql)
  const tellings = createTellings(deps)
  const { onEnded } = tellings
  const { all, contexts } = openChains(deps, { wallets, tokens, tellings })
  const chains = createChains(all)
  const contextOf = (id: NetworkId) => contexts.get(id)
  watchOpen(deps, [...contexts.keys()])
  watchLedger(deps)
  watchHeads(deps, contexts)
  watchHeld(deps, [...contexts.keys()])
  const { watchBlocks, expirySeconds } = settings
  const asked = { sql, chains, wallets, tokens, expirySeconds }
  const transfers = createTransfers({ ...asked, watchBlocks, contextOf, onEnded })
  const contracts = createContracts(asked)
  const agreed = { ...asked, contextOf, onEnded }
  const engines = [...all.values()].flatMap(({ engine }) => (engine === undefined ? [] : [engine]))
  const retention = createDrexRetention(sql, settings.retentionDays, logger)
  const keys = createKeyCheck(wallets, logger)
  const stop = async () => {
    custody.stop()
    await Promise.all([retention.stop(), ...engines.map((engine) => engine.stop())])
  }
  return {
    name: 'drex',
    wallets,
    certificates: custody.certificates,
    errors: drexErrors,
    routes: createRoutes({
      chains,
      transfers,
      batches: createBatches({ ...asked, transfers }),
      wallets,
      contracts,
      tokens,
      sandbox: createSandbox(asked),
      signatures: createSignatures(asked),
      sql,
      operations: createOperations({ ...asked, contextOf }),
      deliveries: createDeliveries(agreed),
      liens: createLiens(agreed),
      streams: createStreams({ sql, chains, contracts }),
      statements: createStatements(sql, tokens),
      held: createHeld(sql, chains),
      transactions: createTransactions(sql, chains),
    }),
    start: async () => {
      if (deps.isRotating) {
        const counts = await wallets.sealed.reseal()
        logger.info({ ...counts }, 'wallets sealed with the present master key')
      }
      custody.start()
      await keys.look()
      for (const chain of all.values()) void learn(chain, tokens, contracts, logger)
      for (const engine of engines) engine.start()
      if (deps.runsJobs !== false) await retention.start()
    },
    // Draining still takes requests; the next start continues those left pending.
    drain: stop,
    stop,
    sealed: wallets.sealed,
    book: () => bookOf(sql),
    loops: () => engines.flatMap(({ loops }) => loops),
    health: () => healthOf(all, keys.canOpen()),
    checks: async () => [
      ...(await chainChecks(all.values())),
      ...(await currencyChecks([...all.values()], tokens)),
      ...(await signerChecks(sql, custody)),
    ],
  }
}

/** Every configured network with its nodes and, if this process has engines, its engine. */
const openChains = (
  { settings, sql, logger, metrics, emitEvents, isTaken }: DrexDeps,
  { wallets, tokens, tellings }: Shared,
) => {
  const unproven = countUnproven({ metrics })
  const feeLimits = countFeeLimits({ metrics })
  const contexts = new Map<NetworkId, EngineContext>()
  const all = new Map<NetworkId, Chain>()
  for (const [id, network] of configuredNetworks(settings, networksFile(settings))) {
    const rpc = rpcClient(settings, network, logger)
    const permission = createPermission(network.permissioning, rpc)
    const prover = createProver({
      network,
      rpc,
      logger,
      onUnproven: () => unproven.inc({ network: id }),
    })
    const context: EngineContext = {
      network,
      rpc,
      prover,
      permission,
      sql,
      logger,
      explainRevert,
      onFeeLimit: () => feeLimits.inc({ network: id }),
      ...tellings,
      signers: createSigners({
        signerFor: (address) =>
          wallets.signerFor(address, network.environment === 'production' ? 'live' : 'test'),
        timeoutMs: settings.signerTimeoutMs,
        restMs: signerRestMs,
        logger,
      }),
      heads: createHeads(),
      silence: createSilence(),
      looks: looksAt(settings, network),
      accepted: createAccepted(),
      knownNonces: new Map(),
      knownCode: new Set(),
      settings: engineSettings(settings, network),
    }
    contexts.set(id, context)
    const needed = nodesNeeded(context)
    const decimalsOf = (token: Hex) => followedDecimals(tokens, all.get(id)!, token)
    const followed = { ...context, emitEvents, watchBlocks: settings.watchBlocks }
    const companions = [
      createLedgerFollower({ ...followed, nodesNeeded: needed, isTaken, decimalsOf }),
      createStreamFollower(followed),
      createAgreementFollower(followed),
      createBalanceWatch({ ...followed, decimalsOf }),
    ]
    const engine = settings.engineEnabled ? createEngine(context, companions) : undefined
    all.set(id, { network, rpc, prover, permission, nodesNeeded: needed, engine })
  }
  return { all, contexts }
}

type Tellings = Pick<EngineContext, 'onEnded' | 'onCorrected' | 'onHeld'>

type Shared = {
  readonly wallets: Wallets
  readonly tokens: Tokens
  readonly tellings: Tellings
}

const agreementsOf = (steps: readonly { readonly subject: string }[]): readonly string[] =>
  steps.map(({ subject }) => subject).filter(isAgreement)

/** Decides which events tell of a change, and to whom, in the database transaction of the change. */
const createTellings = (deps: DrexDeps): Tellings => {
  const endings = deps.metrics.counter(
    'drex_transactions_ended_total',
    'Tracked transactions that have ended, by kind and how.',
    ['network', 'kind', 'status'],
  )
  return {
    async onEnded(tx, network, ended) {
      for (const { kind, status } of ended) endings.inc({ network, kind, status })
      await lapseApprovals(tx, ended)
      const events = await eventsOf(tx, ended, deps.isTaken)
      if (events.length > 0) await deps.emitEvents(tx, events)
      await advance(tx, deps.emitEvents, agreementsOf(ended))
    },
    async onCorrected(tx, corrected) {
      const events = await correctionsOf(tx, corrected)
      if (events.length > 0) await deps.emitEvents(tx, events)
      await advance(tx, deps.emitEvents, agreementsOf(corrected))
    },
    async onHeld(tx, held) {
      if (held.length > 0) await deps.emitEvents(tx, await heldEventsOf(tx, held))
    },
  }
}

/** Whether the master key is the one that wallet keys were sealed with; looked at until the database has told it. */
const createKeyCheck = (wallets: Wallets, logger: Logger) => {
  let canOpen: boolean | undefined
  let isLooking = false
  const look = async (): Promise<void> => {
    isLooking = true
    try {
      canOpen = await wallets.canOpen()
      if (!canOpen)
        logger.error({ setting: 'TRILHO_MASTER_KEY' }, 'wallet keys were sealed with another key')
    } catch (err) {
      logger.warn({ err }, 'wallet keys cannot be looked at yet')
    } finally {
      isLooking = false
    }
  }
  return {
    look,
    canOpen: () => {
      if (canOpen === undefined && !isLooking) void look()
      return canOpen ?? true
    },
  }
}

/**
 * The kept decimals count, whatever the contract tells now; the currency is followed all the same.
 * @returns undefined if it has never told any, or none that is known while no node answers
 */
const followedDecimals = async (
  tokens: Tokens,
  chain: Chain,
  token: Hex,
): Promise<number | undefined> => {
  try {
    return await tokens.decimalsOf(chain, token)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return tokens.keptDecimals(chain, token)
  }
}

/** Reads the currency before it is needed, so that transfers are taken also while no node answers, and says which are none. */
const learn = async (
  chain: Chain,
  tokens: Tokens,
  contracts: Contracts,
  logger: Logger,
): Promise<void> => {
  const { id, token } = chain.network
  try {
    for (const { name, status, detail, fix } of await currencyChecks([chain], tokens)) {
      if (status === 'failed') logger.error({ network: id, fix }, `${name} ${detail}`)
    }
    await contracts.registerCurrency(chain)
    await tokens.decimalsOf(chain, token)
  } catch (err) {
    logger.warn({ network: id, err }, 'the currency cannot be read yet')
  }
}

/** The same endpoints without a database; each answers which setting it needs. */
export const createDrexWithoutDatabase = (): Feature => ({
  name: 'drex',
  errors: drexErrors,
  routes: routesWithout(['DATABASE_DSN'], createRoutes),
})

const networksFile = (settings: DrexSettings) => {
  const { networksFile } = settings
  return networksFile === undefined ? {} : readNetworksFile(readFileSync(networksFile, 'utf8'))
}

const rpcClient = (settings: DrexSettings, network: Network, logger: Logger): RpcClient =>
  createRpcClient({
    urls: network.rpcUrls,
    chainId: network.chainId,
    timeoutMs: settings.rpcTimeoutMs,
    attemptsMax: settings.rpcAttempts,
    batchCallsMax: settings.rpcBatchMax,
    onWrongChain: (node, reason) => {
      logger.error({ network: network.id, node, reason }, 'a node is on another chain: not used')
    },
  })

/** A time that the user sets also holds at rest. */
const looksAt = ({ pollMs }: DrexSettings, { blockTimeMs }: Network): Looks =>
  pollMs === undefined
    ? createLooks(Math.max(10, Math.floor(blockTimeMs / 4)))
    : createLooks(pollMs, pollMs)

const engineSettings = (settings: DrexSettings, network: Network): EngineContext['settings'] => ({
  resendMs: settings.resendMs ?? Math.max(resendMinMs, network.blockTimeMs * resendBlocks),
  inFlightMax: settings.inFlightMax,
  fees: {
    feeMax: BigInt(settings.feeMaxGwei) * gwei,
    tipMax: BigInt(settings.tipMaxGwei) * gwei,
    totalMax: BigInt(settings.transactionFeeMaxGwei) * gwei,
  },
  watchBlocks: settings.watchBlocks,
  stallMs: settings.stallSeconds * 1_000,
  nodesAgreeing: settings.nodesAgreeing,
})
