import { createPrivateKey, sign } from 'node:crypto'
import type { RsaProvider } from './provider.ts'

/** The runtime's own RSA; with a callback it works on the thread pool. */
export const nodeProvider: RsaProvider = {
  name: 'node:crypto',
  open: async (pkcs8) => {
    const key = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
    return {
      sign: (bytes) =>
        new Promise((resolve, reject) => {
          sign('sha256', bytes, key, (error, signature) => {
            if (error) reject(error)
            else resolve(signature)
          })
        }),
      close: () => {},
    }
  },
}
