import { type ChosenKey, chooseRsaKey } from './choose-provider.ts'
import { createLibcryptoProvider } from './libcrypto-provider.ts'
import { nodeProvider } from './node-provider.ts'

export type { ChosenKey } from './choose-provider.ts'

/**
 * Opens a private key that signs off the event loop and on all cores.
 *
 * @param pkcs8 - the key in DER; nothing keeps a reference to it
 * @param provider - `auto` measures the system's libcrypto and takes it where it is cheaper, `node` never does
 * @throws when the key cannot be used
 */
export const openRsaKey = (
  pkcs8: Uint8Array,
  provider: 'auto' | 'node' = 'auto',
): Promise<ChosenKey> =>
  chooseRsaKey(pkcs8, nodeProvider, provider === 'auto' ? createLibcryptoProvider() : undefined)
