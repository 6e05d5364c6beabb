import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash, createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import type { PayloadForm } from '../../src/jose/domain.ts'
import type { JoseKeySource } from '../../src/jose/index.ts'
import { readKeySet } from '../../src/jose/key-set.ts'
import { createKeyring } from '../../src/jose/keyring.ts'
import { createJoseService } from '../../src/jose/service.ts'
import { classpathOf, javaProgram } from '../support/java.ts'
import { issueCertificate } from '../support/pki.ts'
import { pythonWith } from '../support/python-tools.ts'

setDefaultTimeout(60_000)

type Header = Readonly<Record<string, unknown>>
type Request = {
  readonly operation: 'sign' | 'verify' | 'encrypt' | 'decrypt'
  readonly header?: Header
  readonly text?: string
  readonly token?: string
  readonly detached?: boolean
}
/** The answers to the requests in their order; null or false for what the library refuses. */
type Peer = (requests: readonly Request[]) => readonly unknown[]

const pair = issueCertificate('99999010 QRC')
const certificate = new X509Certificate(pair.cert)
const privateKey = createPrivateKey(pair.key)
const key = privateKey.export({ format: 'jwk' })
const kid = '12345678.QRC.1'
const x5tS256 = createHash('sha256').update(certificate.raw).digest('base64url')
const thumbprint = { 'x5t#S256': x5tS256 }
const partner = generateKeyPairSync('rsa', { modulusLength: 2048 })
const text = '{"valor": {"original": "10.00"}, "nome": "João"}'

const run = (command: readonly string[], input: unknown): unknown => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
    stdin: Buffer.from(JSON.stringify(input)),
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return JSON.parse(stdout.toString())
}

const python = (library: string, interpreter = 'python3'): Peer => {
  const script = join(import.meta.dir, 'python/jose_third.py')
  return (requests) =>
    run(
      [interpreter, script],
      requests.map((request) => ({ library, key, ...request })),
    ) as readonly unknown[]
}

const nimbusFolder = join(import.meta.dir, 'java/nimbus')
const jars = await classpathOf(nimbusFolder)
const nimbus: Peer = (requests) => {
  const command = javaProgram(join(nimbusFolder, 'NimbusPeer.java'), jars)
  const input = { requests: requests.map((request) => ({ key, ...request })) }
  return (run(command, input) as { readonly answers: readonly unknown[] }).answers
}

const pyjwt = pythonWith('jwt.api_jws, cryptography')
const jwcrypto = pythonWith('jwcrypto')

const peers = [
  { name: 'PyJWT', missing: pyjwt === undefined, peer: python('PyJWT', pyjwt), encrypts: false },
  {
    name: 'jwcrypto',
    missing: jwcrypto === undefined,
    peer: python('jwcrypto', jwcrypto),
    encrypts: true,
  },
  { name: 'nimbus-jose-jwt', missing: jars === undefined, peer: nimbus, encrypts: true },
]

const source: JoseKeySource = {
  list: async () => [
    {
      kid,
      certificate: pair.cert,
      fingerprint: 'one',
      active: true,
      hasKey: true,
      signs: true,
      encrypts: true,
      isForTokens: true,
    },
  ],
  readKey: async () => new Uint8Array(privateKey.export({ format: 'der', type: 'pkcs8' })),
}
const service = createJoseService(createKeyring(source, []))
const content = new TextEncoder().encode(text)

const alg = 'RS256'
const unencoded = { b64: false, crit: ['b64'] }
/** How each peer names the key, and where it leaves the payload. */
const forms: readonly { readonly header: Header; readonly detached: boolean }[] = [
  { header: { alg, ...thumbprint }, detached: false },
  { header: { alg }, detached: false },
  { header: { alg, kid: 'theirs', ...thumbprint }, detached: true },
  { header: { alg, ...unencoded }, detached: true },
]

for (const { name, missing, peer, encrypts } of peers) {
  const note = missing ? ' [skipped: it is not on this machine]' : ''

  describe.skipIf(missing)(`${name}${note}`, () => {
    test('verifies what we sign, in the token and detached', async () => {
      const token = async (payloadForm: PayloadForm) =>
        String(
          await service.sign({
            kid,
            algorithm: undefined,
            type: undefined,
            content,
            serialization: 'compact',
            payloadForm,
          }),
        )
      const header = { alg }
      const answers = peer([
        { operation: 'verify', header, token: await token('attached') },
        {
          operation: 'verify',
          header,
          token: await token('detached_unencoded'),
          text,
          detached: true,
        },
        {
          operation: 'verify',
          header,
          token: await token('detached_unencoded'),
          text: `${text} `,
          detached: true,
        },
      ])
      expect(answers.slice(0, 2)).toEqual([text, text])
      expect([null, false]).toContain(answers[2] as null)
    })

    test('signs what we verify, however it names the key', async () => {
      // PyJWT detaches only what is not encoded.
      const used = forms.filter(
        ({ detached, header }) => name !== 'PyJWT' || !detached || 'b64' in header,
      )
      const tokens = peer(used.map((form) => ({ operation: 'sign', text, ...form })))
      for (const [i, { detached }] of used.entries()) {
        const token = String(tokens[i])
        const payload = detached ? content : undefined
        expect(await service.verify({ token, payload })).toMatchObject({ valid: true, content })
        const keys = readKeySet({ keys: [partner.publicKey.export({ format: 'jwk' })] }, 'request')
        expect((await service.verify({ token, payload, keys })).valid).toBe(false)
      }
    })

    test.skipIf(!encrypts)(
      'and we open what the other encrypts, without a kid of ours',
      async () => {
        const header = { alg: 'RSA-OAEP-256', enc: 'A256GCM' }
        const ours = await service.encrypt({
          kid,
          algorithm: undefined,
          type: undefined,
          content,
          serialization: 'compact',
          contentAlgorithm: 'A128GCM',
        })
        const [opened, named, bare] = peer([
          { operation: 'decrypt', token: String(ours) },
          { operation: 'encrypt', text, header: { ...header, ...thumbprint } },
          { operation: 'encrypt', text, header },
        ])
        expect(opened).toBe(text)
        for (const token of [named, bare].map(String)) {
          expect(await service.decrypt({ token })).toMatchObject({ kid, content })
        }
      },
    )
  })
}
