import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync, sign } from 'node:crypto'
import { chooseRsaKey } from '../../../../src/platform/security/rsa/choose-provider.ts'
import { createLibcryptoProvider } from '../../../../src/platform/security/rsa/libcrypto-provider.ts'
import { nodeProvider } from '../../../../src/platform/security/rsa/node-provider.ts'
import type { RsaProvider } from '../../../../src/platform/security/rsa/provider.ts'

const content = new TextEncoder().encode('<ds:SignedInfo/>')
const pkcs8 = () =>
  new Uint8Array(
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
      format: 'der',
      type: 'pkcs8',
    }),
  )

/** Whether this machine has a libcrypto at all; where not, the provider must only refuse. */
const libcrypto = await createLibcryptoProvider(undefined, 2)
  .open(pkcs8())
  .catch(() => undefined)
libcrypto?.close()
const note = libcrypto === undefined ? ' [skipped: no libcrypto on this machine]' : ''

describe('providers of RSA', () => {
  test.skipIf(libcrypto === undefined)(
    `libcrypto gives the runtime's signatures${note}`,
    async () => {
      const der = pkcs8()
      const [one, two] = [await nodeProvider.open(der), await createLibcryptoProvider().open(der)]
      const inputs = Array.from({ length: 64 }, (_, i) => new Uint8Array(i * 37).fill(i))
      const expected = await Promise.all(inputs.map((bytes) => one.sign(bytes)))
      const given = await Promise.all(inputs.map((bytes) => two.sign(bytes)))
      given.forEach((signature, i) => {
        expect(Buffer.from(signature).equals(expected[i]!)).toBe(true)
      })
      two.close()
      expect(two.sign(content)).rejects.toThrow('closed')
    },
  )

  test.skipIf(libcrypto === undefined)(`closing lets signatures under way end${note}`, async () => {
    const key = await createLibcryptoProvider().open(pkcs8())
    const underWay = Array.from({ length: 50 }, () => key.sign(content))
    await Promise.resolve()
    key.close()
    expect((await Promise.all(underWay)).length).toBe(50)
  })

  test('a missing library is no more than a refusal', async () => {
    const missing = createLibcryptoProvider(['libno-such-thing.so.9'])
    expect(missing.open(pkcs8())).rejects.toThrow('no libcrypto')
    const chosen = await chooseRsaKey(pkcs8(), nodeProvider, missing)
    expect(chosen.provider).toBe('node:crypto')
    expect((await chosen.sign(content)).length).toBe(256)
  })

  test('a library without the functions is no more than a refusal', async () => {
    const wrong = createLibcryptoProvider(['libc.so.6', 'libm.so.6'], 1)
    expect((await chooseRsaKey(pkcs8(), nodeProvider, wrong)).provider).toBe('node:crypto')
  })

  test('an optional provider that signs differently is never used', async () => {
    const liar: RsaProvider = {
      name: 'libcrypto',
      open: async () => ({ sign: async () => new Uint8Array(256), close: () => {} }),
    }
    expect((await chooseRsaKey(pkcs8(), nodeProvider, liar)).provider).toBe('node:crypto')
  })

  test('what counts is the work of a signature, not how long a busy machine takes over it', async () => {
    const der = pkcs8()
    const good = await nodeProvider.open(der)
    const known = new Map<string, Promise<Uint8Array>>()
    const delayed: RsaProvider = {
      name: 'libcrypto',
      open: async () => ({
        sign: async (bytes) => {
          const name = Buffer.from(bytes).toString()
          if (!known.has(name)) known.set(name, good.sign(bytes))
          // Longer than the other takes for all of a round.
          await Bun.sleep(30)
          return known.get(name)!
        },
        close: () => {},
      }),
    }
    expect((await chooseRsaKey(der, nodeProvider, delayed)).provider).toBe('libcrypto')
  })

  test('an optional provider that breaks later is replaced signature by signature', async () => {
    const der = pkcs8()
    const good = await nodeProvider.open(der)
    let broken = false
    const known = new Map<string, Promise<Uint8Array>>()
    const fragile: RsaProvider = {
      name: 'libcrypto',
      open: async () => ({
        // Instant after the first time, so that it wins the comparison.
        sign: (bytes) => {
          if (broken) return Promise.reject(new Error('gone'))
          const name = Buffer.from(bytes).toString()
          if (!known.has(name)) known.set(name, good.sign(bytes))
          return known.get(name)!
        },
        close: () => {},
      }),
    }
    const chosen = await chooseRsaKey(der, nodeProvider, fragile)
    expect(chosen.provider).toBe('libcrypto')
    broken = true
    const privateKey = { key: Buffer.from(der.slice()), format: 'der', type: 'pkcs8' } as const
    expect(new Uint8Array(await chosen.sign(content))).toEqual(
      new Uint8Array(sign('sha256', content, privateKey)),
    )
  })
})
