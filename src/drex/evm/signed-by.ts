/** What a wallet signed: the one thing of a transaction that no node can invent. */
import type { SignedTransaction } from '../rpc/methods.ts'
import type { Hex } from './hex.ts'

type Signatory = { readonly sender: Hex; readonly nonce: number; readonly chainId: number }

export const isSignedBy = async (
  transaction: SignedTransaction,
  signatory: Signatory,
): Promise<boolean> => (await bytesSignedBy(transaction, signatory)) !== undefined

/** The same as {@link isSignedBy}, with the signed bytes. */
export const bytesSignedBy = async (
  transaction: SignedTransaction,
  { sender, nonce, chainId }: Signatory,
): Promise<Hex | undefined> => {
  if (transaction.nonce !== nonce) return undefined
  const signed = await signatureOf(transaction, chainId)
  return signed?.sender === sender ? signed.raw : undefined
}

/**
 * Builds the bytes that the hash is of and recovers who signed them.
 *
 * @returns undefined if they have another hash, and also for a type of transaction that is not known here: what cannot
 *   be checked proves nothing
 */
export const signatureOf = async (
  transaction: SignedTransaction,
  chainId: number,
): Promise<{ readonly sender: Hex; readonly raw: Hex } | undefined> => {
  const { Signature, Transaction } = await import('ethers')
  const { type, nonce, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas, to, value, v, r, s } =
    transaction
  if (type > feeMarketType) return undefined
  try {
    const word = (part: bigint): string => `0x${part.toString(16).padStart(64, '0')}`
    const built = Transaction.from({
      type,
      nonce,
      to,
      value,
      gasLimit: gas,
      data: transaction.input,
      // A legacy transaction tells its chain in `v`, or, as before EIP-155, tells none.
      chainId: type === 0 && v < firstChainV ? 0 : (transaction.chainId ?? chainId),
      ...(type === feeMarketType
        ? { maxFeePerGas: maxFeePerGas ?? null, maxPriorityFeePerGas: maxPriorityFeePerGas ?? null }
        : { gasPrice: gasPrice ?? null }),
      ...(type === 0
        ? {}
        : {
            accessList: [...transaction.accessList].map((each) => ({
              ...each,
              storageKeys: [...each.storageKeys],
            })),
          }),
      signature: Signature.from({ r: word(r), s: word(s), v }),
    })
    if (built.hash !== transaction.hash || built.from === null) return undefined
    return { sender: built.from.toLowerCase() as Hex, raw: built.serialized as Hex }
  } catch {
    return undefined
  }
}

const feeMarketType = 2
/** EIP-155: twice the chain id and 35 or 36. */
const firstChainV = 35n
