import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { createKeyring } from '../../src/jose/keyring.ts'
import { createJoseService } from '../../src/jose/service.ts'
import { keySourceOf } from '../support/jose-keys.ts'
import { pythonWith } from '../support/python-tools.ts'

const python = pythonWith('joserfc') ?? ''
const missing = python === '' || Bun.which('openssl') === null
const note = missing ? ' [skipped: no python3 with joserfc and no way to PyPI, or no openssl]' : ''
const script = join(import.meta.dir, 'python/jose_peer.py')

const peer = (key: KeyObject, request: object): string => {
  const input = JSON.stringify({ key: key.export({ format: 'jwk' }), ...request })
  const { stdout, stderr, exitCode } = Bun.spawnSync([python, script], {
    stdin: Buffer.from(input),
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return JSON.parse(stdout.toString())
}

const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const keys: Readonly<Record<string, KeyObject>> = {
  RS256: rsa(),
  RS384: rsa(),
  RS512: rsa(),
  PS256: rsa(),
  ES256: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey,
  ES384: generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey,
  'RSA-OAEP': rsa(),
  'RSA-OAEP-256': rsa(),
}
const pins = (['RS384', 'RS512', 'PS256', 'RSA-OAEP'] as const).map((name) => ({
  kid: name,
  algorithm: name,
}))

describe.skipIf(missing)(`joserfc${note}`, async () => {
  const service = createJoseService(
    createKeyring(
      missing ? { list: async () => [], readKey: async () => undefined } : await keySourceOf(keys),
      pins,
    ),
  )
  const request = (kid: string) => ({
    kid,
    algorithm: undefined,
    type: undefined,
    content: new TextEncoder().encode('olá'),
    serialization: 'compact' as const,
  })

  for (const alg of ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384']) {
    test(`${alg}: each verifies the other's`, async () => {
      const key = keys[alg]!
      const token = await service.sign(request(alg))
      expect(peer(key, { operation: 'verify', alg, token })).toBe('olá')
      const theirs = peer(key, { operation: 'sign', alg, kid: alg, text: 'tchau' })
      expect(await service.verify({ token: theirs })).toMatchObject({ valid: true, algorithm: alg })
    })
  }

  for (const alg of ['RSA-OAEP', 'RSA-OAEP-256']) {
    for (const enc of ['A128GCM', 'A256GCM'] as const) {
      test(`${alg} with ${enc}: each decrypts the other's`, async () => {
        const key = keys[alg]!
        const token = await service.encrypt({ ...request(alg), contentAlgorithm: enc })
        expect(peer(key, { operation: 'decrypt', alg, enc, token })).toBe('olá')
        const theirs = peer(key, { operation: 'encrypt', alg, enc, kid: alg, text: 'tchau' })
        const { content } = await service.decrypt({ token: theirs })
        expect(new TextDecoder().decode(content)).toBe('tchau')
      })
    }
  }
})
