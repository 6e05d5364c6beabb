/**
 * Signatures of what is no transaction. Rights follow the effect here too: a typed message that lets somebody move money
 * needs the right to transfer, and a wallet whose policy limits it signs none.
 */
import type { Client } from '#src/platform/database/index.ts'
import {
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  refusedValue,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { Chain } from '../chains.ts'
import type { NetworkId } from '../config.ts'
import { isMoney, mayTake } from '../contracts/rights.ts'
import type { ServiceDeps } from '../creation.ts'
import { SignerError } from '../custody/exchange.ts'
import type { Signable } from '../custody/signer.ts'
import { drexErrors } from '../errors.ts'
import { bytesToHex, type Hex } from '../evm/hex.ts'
import type { Signature } from '../evm/transaction.ts'
import { limitsMoney } from '../wallets/policy.ts'
import type { Wallets } from '../wallets/service.ts'
import type { Wallet } from '../wallets/store.ts'
import {
  domainChainId,
  encodeTypedData,
  messageDigest,
  movesByName,
  type TypedData,
  verifyingContract,
} from './typed-data.ts'

export type Signed = {
  readonly wallet: Wallet
  readonly digest: Hex
  /** r, s and 27 or 28, as contracts and libraries take it. */
  readonly signature: Hex
}

export const createSignatures = (deps: ServiceDeps) => {
  const { wallets, chains } = deps
  const signing = async (id: string, caller: Caller): Promise<Wallet> => {
    const { address } = await wallets.get(id, caller)
    return wallets.requireSigning(address, 'wallet', caller)
  }
  return {
    /** EIP-191, version 0x45. */
    async signMessage(id: string, message: Uint8Array, caller: Caller) {
      const wallet = await signing(id, caller)
      const digest = messageDigest(message)
      const remote = { method: 'eth_sign', argument: bytesToHex(message) }
      return sign(deps, wallet, { digest, remote }, caller, 'message')
    },
    /** EIP-712. @throws ApiError if it is for another chain, or moves money and the caller may not */
    async signTypedData(
      id: string,
      { data, network }: { readonly data: TypedData; readonly network: NetworkId | undefined },
      caller: Caller,
    ) {
      const wallet = await signing(id, caller)
      const chain = chains.require(network, caller.environment)
      if (domainChainId(data) !== BigInt(chain.network.chainId)) {
        const message = `must be that of ${chain.network.id}: ${chain.network.chainId}`
        throw refusedValue([{ pointer: '/typed_data/domain/chainId', rule: 'chain_id', message }])
      }
      const { digest, json } = await encodeTypedData(data)
      const what = `typed data ${data.primaryType}`
      await requireRight(deps, chain, wallet, data, caller, what)
      const remote = { method: 'eth_signTypedData', argument: json }
      return sign(deps, wallet, { digest, remote }, caller, what)
    },
  }
}

export type Signatures = ReturnType<typeof createSignatures>

const requireRight = async (
  { sql, tokens }: ServiceDeps,
  chain: Chain,
  { id, address, policy }: Wallet,
  data: TypedData,
  caller: Caller,
  what: string,
): Promise<void> => {
  const hasRight = caller.scopes.has('drex:transfer')
  if (hasRight && !limitsMoney(policy)) return
  const contract = verifyingContract(data)
  const moves =
    movesByName(data) ||
    // Without a contract it may be meant for any.
    contract === undefined ||
    (await isMoney({ sql, tokens }, chain, contract)) ||
    (await mayTake(chain, address, contract))
  if (!moves) return
  await audit(sql, caller, id, `refused: ${what}`)
  if (hasRight) {
    throw new ApiError(
      drexErrors.policy_refused,
      'The wallet’s policy limits what it moves: it signs nothing that lets others move money.',
      { details: { rule: 'signatures', wallet: address } },
    )
  }
  throw new ApiError(
    httpErrors.forbidden,
    `The API key lacks the scope drex:transfer: ${data.primaryType} may let somebody move money.`,
  )
}

const sign = async (
  { sql, wallets }: ServiceDeps,
  wallet: Wallet,
  signable: Signable,
  caller: Caller,
  what: string,
): Promise<Signed> => {
  const digest = bytesToHex(signable.digest)
  const signature = await signedBy(wallets, wallet, signable, caller)
  // Told before the signature leaves: nobody has one that the audit does not know of.
  await audit(sql, caller, wallet.id, `${what} ${digest}`)
  return { wallet, digest, signature: encoded(signature) }
}

const signedBy = async (
  wallets: Wallets,
  { address }: Wallet,
  signable: Signable,
  { environment }: Caller,
): Promise<Signature> => {
  try {
    return await (await wallets.signerFor(address, environment)).sign(signable)
  } catch (error) {
    if (error instanceof ApiError) throw error
    const told = error instanceof SignerError ? error.message : 'it did not sign'
    throw new ApiError(drexErrors.signer_unreachable, `The wallet’s signer failed: ${told}.`, {
      cause: error,
    })
  }
}

const audit = (sql: Client, caller: Caller, object: string, outcome: string): Promise<void> =>
  sql.begin((tx) =>
    writeAudit(tx, { actor: actorOf(caller), action: 'wallets.sign', object, outcome }),
  )

const legacyRecovery = 27

const encoded = ({ compact, yParity }: Signature): Hex =>
  bytesToHex(Buffer.concat([compact, Buffer.from([legacyRecovery + yParity])]))
