/** The wallets' signers, bounded: one that hangs or fails costs its own wallet time, and no other. */

import type { Logger } from '#src/platform/observe/index.ts'
import { inTime } from '#src/platform/runtime/index.ts'
import type { Signer } from '../custody/signer.ts'
import type { Hex } from '../evm/hex.ts'
import type { SignedTransaction, UnsignedTransaction } from '../evm/transaction.ts'
import { createRests } from './rests.ts'

export type SignersOptions = {
  /** @throws Error if the wallet cannot sign */
  readonly signerFor: (sender: Hex) => Promise<Signer>
  readonly timeoutMs: number
  readonly restMs: number
  readonly logger: Logger
}

export const createSigners = ({ signerFor, timeoutMs, restMs, logger }: SignersOptions) => {
  const rests = createRests(restMs)
  return {
    /** The wallet's own key, which signs at once; undefined if another program signs, or nobody does. */
    async local(sender: Hex): Promise<Signer | undefined> {
      const signer = await signerFor(sender).catch(() => undefined)
      return signer?.kind === 'managed' ? signer : undefined
    },
    /** What kind of signer a wallet has; undefined if none. */
    kind: async (sender: Hex) => (await signerFor(sender).catch(() => undefined))?.kind,
    /** @throws Error if the signer does not sign in time, or failed a moment ago */
    async sign(sender: Hex, unsigned: UnsignedTransaction): Promise<SignedTransaction> {
      if (rests.has(sender)) throw new Error('the signer failed a moment ago')
      try {
        const signed = signerFor(sender).then((signer) => signer.signTransaction(unsigned))
        return await inTime(signed, timeoutMs)
      } catch (error) {
        rests.begin(sender)
        logger.warn({ sender, err: error }, 'signing failed')
        throw error
      }
    },
    /** Wallets whose signer has failed: they are left alone for a while. */
    resting: rests.senders,
  }
}

export type Signers = ReturnType<typeof createSigners>
