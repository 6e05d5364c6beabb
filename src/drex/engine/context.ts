/** Shared by the parts of one network's engine. */
import type { Client, Transaction } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { Signer } from '../custody/signer.ts'
import type { Hex } from '../evm/hex.ts'
import type { Network } from '../networks.ts'
import type { Permission } from '../permission.ts'
import type { RpcClient } from '../rpc/client.ts'
import type { Ended, TransactionError } from './transaction.ts'

export type EngineContext = {
  readonly network: Network
  readonly rpc: RpcClient
  readonly permission: Permission
  readonly sql: Client
  readonly logger: Logger
  /** @throws Error if the wallet cannot sign */
  readonly signerFor: (address: Hex) => Promise<Signer>
  /** Notifies followers; runs in the database transaction that ends them. */
  readonly onEnded: (sql: Transaction, ended: readonly Ended[]) => Promise<void>
  /** Explains a revert's payload in words. */
  readonly explainRevert: (data: string | undefined) => Promise<TransactionError['revert']>
  readonly settings: EngineSettings
}

type EngineSettings = {
  readonly pollMs: number
  /** Time without a receipt after which a transaction is sent again. */
  readonly resendMs: number
  readonly inFlightMax: number
  readonly feeMaxWei: bigint
  /** Blocks below the confirmations in which a told end is still compared with the chain. */
  readonly watchBlocks: number
}
