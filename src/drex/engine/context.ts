/** Shared by the parts of one network's engine. */
import type { Client, Transaction } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { Hex } from '../evm/hex.ts'
import type { Network } from '../networks.ts'
import type { Permission } from '../permission.ts'
import type { RpcClient } from '../rpc/client.ts'
import type { Accepted } from './accepted.ts'
import type { Corrected } from './correction-store.ts'
import type { FeeLimits } from './fees.ts'
import type { Heads } from './heads.ts'
import type { Held } from './held-store.ts'
import type { Looks } from './looks.ts'
import type { Prover } from './prover.ts'
import type { Signers } from './signers.ts'
import type { Silence } from './silence.ts'
import type { Ended, TransactionError } from './transaction.ts'

export type EngineContext = {
  readonly network: Network
  readonly rpc: RpcClient
  readonly prover: Prover
  readonly permission: Permission
  readonly sql: Client
  readonly logger: Logger
  readonly signers: Signers
  readonly heads: Heads
  readonly silence: Silence
  readonly looks: Looks
  readonly accepted: Accepted
  /**
   * Senders whose nonces this process has compared with the chain, each with the server of the database that told of its
   * lane then. What makes it doubt them is kept with the lanes.
   */
  readonly knownNonces: Map<Hex, string>
  /** Addresses where code was seen, which is not asked for again: a chain that is another than before may lack it. */
  readonly knownCode: Set<Hex>
  /** Counts a replacement or a cancellation that the limits of fees do not allow. */
  readonly onFeeLimit: () => void
  /** Notifies followers; runs in the database transaction that ends them. */
  readonly onEnded: (sql: Transaction, network: string, ended: readonly Ended[]) => Promise<void>
  /** Tells of ends that were taken back; runs in the database transaction that takes them back. */
  readonly onCorrected: (sql: Transaction, corrected: readonly Corrected[]) => Promise<void>
  /** Tells of what waits for a decision; runs in the database transaction that holds it. */
  readonly onHeld: (sql: Transaction, held: readonly Held[]) => Promise<void>
  /** Explains a revert's payload in words. */
  readonly explainRevert: (data: string | undefined) => Promise<TransactionError['revert']>
  readonly settings: EngineSettings
}

type EngineSettings = {
  /** Time without a receipt after which a transaction is sent again. */
  readonly resendMs: number
  readonly inFlightMax: number
  readonly fees: FeeLimits
  /** Blocks below the confirmations in which a told end is still compared with the chain. */
  readonly watchBlocks: number
  /** Time without a new block after which the chain counts as standing still; 0: never. */
  readonly stallMs: number
  /** Nodes that must say the same, where so many are configured. */
  readonly nodesAgreeing: number
}
