import type { Client } from '#src/platform/database/index.ts'
import { withMissingSettings } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/telemetry/index.ts'
import { createAbandonedSweep } from './abandoned.ts'
import { cardErrors } from './errors.ts'
import { createLateAnswers } from './late-answers.ts'
import type { CardNetworks } from './networks/index.ts'
import type { InsertReversals } from './reversals/types.ts'
import { cardRoutes } from './routes.ts'
import { createCardService } from './service.ts'
import { createStanAllocator } from './stan.ts'
import type { Vault } from './vault/index.ts'
import { createCardWriter } from './writer.ts'

export type CardsDeps = {
  /** Undefined: the endpoints answer 503. */
  readonly sql: Client | undefined
  readonly vault: Vault | undefined
  readonly networks: CardNetworks
  readonly insertReversals: InsertReversals
  readonly logger: Logger
  readonly metrics: Metrics
  readonly now?: () => Date
}

/** The card authorization gateway, above its networks. */
export const createCards = (deps: CardsDeps): Feature => {
  const { sql, vault, networks, logger, now = () => new Date() } = deps
  const outcomes = deps.metrics.counter(
    'cardgw_operations_total',
    'What became of messages to card networks.',
    ['operation', 'network', 'outcome'],
  )
  // Without its settings nothing below is ever called: every route answers before.
  const client = sql as Client
  const service = createCardService({
    sql: client,
    networks,
    vault: vault as Vault,
    stans: createStanAllocator({ sql: client, now }),
    writer: createCardWriter(client, deps.insertReversals),
    logger,
    now,
    count: (operation, network, outcome) => outcomes.inc({ operation, network, outcome }),
  })
  const routes = cardRoutes(service)
  const missing = missingOf(deps)
  const common = { name: 'cards', listener: 'cards', errors: cardErrors } as const
  if (missing.length > 0) return { ...common, routes: withMissingSettings(routes, missing) }
  const sweep = createAbandonedSweep({
    sql: client,
    insertReversals: deps.insertReversals,
    timeoutMs: Math.max(...networks.all.map(({ timeoutMs }) => timeoutMs)),
    logger,
    now,
  })
  networks.onLateAnswer(createLateAnswers(client, logger))
  return { ...common, routes, start: sweep.start, drain: sweep.stop }
}

const missingOf = ({ sql, vault, networks }: CardsDeps): readonly string[] => [
  ...(sql === undefined ? ['CARDGW_DATABASE_URL'] : []),
  ...(networks.all.length === 0 ? ['CARDGW_NETA_HOST'] : []),
  ...(vault === undefined ? ['CARDGW_VAULT_URL'] : []),
]
