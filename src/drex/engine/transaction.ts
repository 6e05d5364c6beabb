/** A tracked transaction as the engine handles it. */
import type { TransactionStatus } from '../domain.ts'
import type { Hex } from '../evm/hex.ts'
import { encodeAddTarget } from '../evm/token-call.ts'
import { createdAddress } from '../evm/transaction.ts'

const transactionKinds = [
  'transfer',
  'approve',
  'swap',
  /** Takes back the allowance of a swap that did not come about. */
  'revoke',
  'deploy',
  /** Adds a deployed contract to the network's account rules. */
  'permit',
  'call',
  /** Puts into a contract what the steps before it allow, until another accepts. */
  'propose',
  /** Accepts what was proposed; only what the contract tells says whether it came in time. */
  'accept',
  /** Lets a contract take what a delivery costs, or the bonds; takes that back. */
  'allow',
  'disallow',
  /** Our side’s word to a contract for deliveries. */
  'command',
  /** Puts tokens under a lien. */
  'pledge',
  /** Native coin from the funding wallet of a sandbox network, for a wallet to pay its gas with. */
  'gas',
  /** Sends zero to the sender itself, so that a missing nonce no longer blocks those after it. */
  'gap_fill',
] as const

export type TransactionKind = (typeof transactionKinds)[number]

export type NewTransaction = {
  readonly id: string
  readonly network: string
  readonly sender: Hex
  readonly kind: TransactionKind
  /** Id of the transfer, contract or call it belongs to. */
  readonly subject: string
  readonly recipient: Hex | undefined
  readonly data: Hex
  /** Native coin that goes along, in wei; none if absent. */
  readonly value?: bigint | undefined
  readonly afterId: string | undefined
  /** Which attempt of its transfer this is; the first if absent. */
  readonly requestAttempt?: number | undefined
  readonly createdBy: string
  readonly expiresAt: Date
}

export type OpenTransaction = {
  readonly id: string
  readonly sender: Hex
  readonly kind: TransactionKind
  readonly subject: string
  readonly status: TransactionStatus
  readonly recipient: Hex | undefined
  readonly data: Hex
  readonly value: bigint
  readonly nonce: number | undefined
  readonly hash: Hex | undefined
  readonly raw: Hex | undefined
  readonly gasLimit: bigint | undefined
  readonly maxFee: bigint | undefined
  readonly tip: bigint | undefined
  readonly blockNumber: number | undefined
  readonly blockHash: Hex | undefined
  readonly minedHash: Hex | undefined
  readonly gasUsed: number | undefined
  readonly succeeded: boolean | undefined
  /** What has moved by the receipt, where that differs from what was asked. */
  readonly mismatch: string | undefined
  readonly attempts: number
}

/** The deployment that a permit follows, once it has a nonce. */
export type Following = {
  readonly deployment?: { readonly sender: Hex; readonly nonce: number } | null | undefined
}

/** Completes the call of a permit: it names the contract, whose address depends on the deployment's nonce. */
export const withCall = <T extends { readonly data: Hex }>({
  deployment,
  ...transaction
}: T & Following): Omit<T, keyof Following> =>
  deployment
    ? { ...transaction, data: encodeAddTarget(createdAddress(deployment.sender, deployment.nonce)) }
    : transaction

/** Why a transaction failed or waits, as the API shows it. Never holds keys or raw bytes. */
export type TransactionError = {
  readonly code:
    | 'SIMULATION_REVERTED'
    | 'REVERTED'
    | 'NOT_PERMITTED'
    | 'INSUFFICIENT_FUNDS'
    | 'INVALID_TRANSACTION'
    | 'EXPIRED'
    | 'NONCE_TAKEN'
    | 'FOUND_ON_CHAIN'
    | 'MAY_BE_SENT'
    | 'NO_CONTRACT'
    | 'TOKEN_REFUSED'
    | 'TRANSFER_MISMATCH'
    | 'FEE_TOO_HIGH'
    | 'REORGANISED'
    | 'STEP_FAILED'
    | 'NETWORK_RESET'
    | 'SIGNER_FAILED'
  readonly message: string
  /** A decoded custom error. */
  readonly revert?: { readonly name: string; readonly args: readonly string[] }
}

const textCharactersMax = 300
const argsMax = 16
/** They cannot be shown, and the database cannot store all of them. */
const controlCharacters = /\p{Cc}/gu

/** A contract's words are a stranger's: they are cut, and made text that everybody can store and show. */
export const shown = (text: string): string =>
  text.slice(0, textCharactersMax).toWellFormed().replace(controlCharacters, '\ufffd')

/** An error as JSON for its column. */
export const errorColumn = (error: TransactionError | undefined): string | null => {
  if (error === undefined) return null
  const { code, message, revert } = error
  return JSON.stringify({
    code,
    message: shown(message),
    ...(revert && {
      revert: { name: shown(revert.name), args: revert.args.slice(0, argsMax).map(shown) },
    }),
  })
}

export type Ended = {
  readonly id: string
  readonly kind: TransactionKind
  readonly subject: string
  readonly status: TransactionStatus
  readonly hash: Hex | undefined
}
