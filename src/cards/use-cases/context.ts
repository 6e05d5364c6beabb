import type { EmitWithin } from '#src/events/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import type { Answer, Answered, Away } from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { Merchants } from '../merchants.ts'
import type { CardNetworks } from '../networks/index.ts'
import type { LimitedLog } from '../networks/limited-log.ts'
import type { InTurn } from '../told.ts'
import type { StartedOperation } from '../transactions/domain.ts'
import type { StanAllocator } from '../transactions/stan.ts'
import type { CardWriter } from '../transactions/writer.ts'
import type { Vault } from '../vault/index.ts'
import type { Verdict } from './exchange.ts'

export type OperationName = 'authorization' | 'verification' | StartedOperation

/** The services that the use cases need. */
export type CardContext = {
  readonly sql: Client
  readonly networks: Pick<CardNetworks, 'byName' | 'networkFor'>
  readonly vault: Vault
  readonly stans: StanAllocator
  readonly merchants: Merchants
  readonly writer: CardWriter
  readonly emission: EmitWithin | undefined
  /** Waits for the vault and the networks, which do not tell how much there is to do here. */
  readonly away: Away
  readonly logger: Logger
  readonly now: () => Date
  /** Counts outcomes, by operation. */
  readonly count: (operation: OperationName, network: string, outcome: Verdict['kind']) => void
}

export const fresh = (answer: Answer): Answered => ({ ...answer, isReplay: false })

/** What the listeners to networks need. */
export type ListenerDeps = Pick<CardContext, 'sql' | 'emission' | 'now'> & {
  readonly networks: Pick<CardNetworks, 'byName'>
  readonly logger: LimitedLog
  readonly inTurn: InTurn
  /** Called after a commit with reversals. */
  readonly onReversals: () => void
}
