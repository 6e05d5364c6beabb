/**
 * Consensys Web3Signer (`eth1` mode) behind the signer port. It signs whole transactions, so we decode its answer and
 * compare every field before sending it.
 */
import { firstCharacters } from '#src/platform/runtime/index.ts'
import { bytesToHex, type Hex, hexToBytes, quantity } from '../evm/hex.ts'
import { signingDigest, type UnsignedTransaction } from '../evm/transaction.ts'
import { type Exchange, jsonObject, SignerError } from './exchange.ts'
import { requireSigned, type Signer } from './signer.ts'

const messageMax = 200
/** r, s, and v as 0, 1, 27 or 28. */
const signatureForm = /^0x[0-9a-f]{128}(00|01|1b|1c)$/i

export type RpcCall = (method: string, params: readonly unknown[]) => Promise<unknown>

/** JSON-RPC to one Web3Signer; a refusal throws its message. */
export const createWeb3SignerCall =
  (exchange: Exchange, url: string): RpcCall =>
  async (method, params) => {
    const { text } = await exchange({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = jsonObject(text)
    if (error === undefined || error === null) return result
    const { message } = error as { readonly message?: unknown }
    throw new SignerError(
      `Web3Signer refuses: ${firstCharacters(String(message), messageMax)}`,
      false,
    )
  }

/** @throws SignerError if it does not answer, or has no key of this address */
export const requireWeb3SignerKey = async (call: RpcCall, address: Hex): Promise<void> => {
  const accounts = await call('eth_accounts', [])
  if (!Array.isArray(accounts)) throw new SignerError('Web3Signer tells no accounts', true)
  if (accounts.some((each) => String(each).toLowerCase() === address)) return
  throw new SignerError('Web3Signer has no key of this address', false)
}

/** @param call JSON-RPC to the signer, with time-outs; refusals throw */
export const web3Signer = (address: Hex, call: RpcCall): Signer => ({
  kind: 'web3signer',
  async signTransaction(transaction) {
    const raw = await call('eth_signTransaction', [requestFor(address, transaction)])
    if (typeof raw !== 'string' || !/^0x[0-9a-f]+$/i.test(raw)) {
      throw new Error('the signer did not answer a transaction')
    }
    return verified(address, transaction, raw as Hex)
  },
  async sign({ digest, remote }) {
    const answer = await call(remote.method, [address, remote.argument])
    if (typeof answer !== 'string' || !signatureForm.test(answer)) {
      throw new SignerError('the signer did not answer a signature', true)
    }
    const bytes = hexToBytes(answer)
    const yParity = bytes[64] === 1 || bytes[64] === 28 ? 1 : 0
    return requireSigned(address, digest, { compact: bytes.subarray(0, 64), yParity })
  },
})

const requestFor = (address: Hex, transaction: UnsignedTransaction): Record<string, unknown> => {
  const { fees } = transaction
  const price =
    fees.kind === 'legacy'
      ? { gasPrice: quantity(fees.gasPrice) }
      : {
          maxFeePerGas: quantity(fees.maxFeePerGas),
          maxPriorityFeePerGas: quantity(fees.maxPriorityFeePerGas),
        }
  return {
    from: address,
    ...(transaction.to === undefined ? {} : { to: transaction.to }),
    gas: quantity(transaction.gasLimit),
    nonce: quantity(transaction.nonce),
    value: quantity(transaction.value),
    data: transaction.data,
    ...price,
  }
}

/** The decoder is loaded on first use: a gateway without this signer never needs it. */
const verified = async (
  address: Hex,
  transaction: UnsignedTransaction,
  raw: Hex,
): Promise<{ raw: Hex; hash: Hex }> => {
  const { Transaction } = await import('ethers')
  const decoded = Transaction.from(raw)
  // The digest covers every field: equal digests mean an equal transaction.
  const expected = bytesToHex(signingDigest(transaction))
  if (decoded.unsignedHash !== expected) {
    throw new Error('the signer signed another transaction than asked')
  }
  if (decoded.from?.toLowerCase() !== address || decoded.hash === null) {
    throw new Error('the signer signed with another key than the wallet’s')
  }
  return { raw: bytesToHex(hexToBytes(raw)), hash: decoded.hash as Hex }
}
