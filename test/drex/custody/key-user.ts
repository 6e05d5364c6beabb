/** A process that makes keys, seals, opens and signs with them, prints them sealed, and waits: another reads its memory. */
import { createSealer } from '#src/platform/security/index.ts'
import { managedSigner } from '../../../src/drex/custody/signer.ts'
import { addressOfPrivateKey, randomPrivateKey } from '../../../src/drex/evm/secp256k1.ts'

const sealer = createSealer(new Uint8Array(32).fill(3))
const context = 'key'
const sealedKeys = Array.from({ length: 2 }, () => {
  const key = randomPrivateKey()
  try {
    addressOfPrivateKey(key)
    return sealer.seal(key, context)
  } finally {
    key.fill(0)
  }
})
for (const sealed of sealedKeys) {
  const signer = managedSigner(sealer, sealed, context)
  for (let i = 0; i < 60; i++) {
    await signer.sign({
      digest: new Uint8Array(32).fill(i + 1),
      remote: { method: '', argument: '' },
    })
  }
}
process.stdout.write(`${JSON.stringify(sealedKeys.map((sealed) => sealed.toHex()))}\n`)
setInterval(() => {}, 1_000)
