/** Key management services and a Web3Signer on this machine, which keep what they were asked, byte by byte. */
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex } from '../../../src/drex/evm/hex.ts'
import { addressOfPrivateKey, curveOrder } from '../../../src/drex/evm/secp256k1.ts'

type Asked = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a key does when it is asked to sign. */
type Manner = 'honest' | 'hangs' | 'lies' | 'garbles'

export type FakeKey = {
  readonly secret: Uint8Array
  readonly address: string
  manner: Manner
  /** Every second signature has a high `s`, as a service may choose. */
  signatures: number
}

export const fakeKey = (fill: number): FakeKey => {
  const secret = new Uint8Array(32).fill(fill)
  return { secret, address: addressOfPrivateKey(secret), manner: 'honest', signatures: 0 }
}

const der = (r: bigint, s: bigint): Buffer => {
  const integer = (value: bigint) => {
    let hex = value.toString(16)
    if (hex.length % 2 === 1) hex = `0${hex}`
    if (Number.parseInt(hex.slice(0, 2), 16) >= 0x80) hex = `00${hex}`
    return Buffer.from([0x02, hex.length / 2, ...Buffer.from(hex, 'hex')])
  }
  const body = Buffer.concat([integer(r), integer(s)])
  return Buffer.concat([Buffer.from([0x30, body.length]), body])
}

const signatureOf = async (key: FakeKey, digest: Uint8Array): Promise<Buffer> => {
  if (key.manner === 'hangs') await new Promise(() => {})
  if (key.manner === 'garbles') return Buffer.from('nonsense')
  const secret = key.manner === 'lies' ? new Uint8Array(32).fill(99) : key.secret
  const compact = secp256k1.sign(digest, secret, { prehash: false })
  const [r, s] = [0, 32].map((at) => BigInt(bytesToHex(compact.subarray(at, at + 32))))
  return der(r!, key.signatures++ % 2 === 0 ? s! : curveOrder - s!)
}

const spkiHead = '3056301006072a8648ce3d020106052b8104000a034200'
const spkiOf = ({ secret }: FakeKey): Buffer =>
  Buffer.concat([Buffer.from(spkiHead, 'hex'), secp256k1.getPublicKey(secret, false)])

export const pemOf = (key: FakeKey): string =>
  `-----BEGIN PUBLIC KEY-----\n${spkiOf(key)
    .toString('base64')
    .replace(/(.{64})/g, '$1\n')}\n-----END PUBLIC KEY-----\n`

/** Bit by bit, and not by a table as ours. */
const slowCrc32c = (bytes: Uint8Array): string => {
  let sum = 0xffffffffn
  for (const byte of bytes) {
    sum ^= BigInt(byte)
    for (let bit = 0; bit < 8; bit++) sum = sum & 1n ? (sum >> 1n) ^ 0x82f63b78n : sum >> 1n
  }
  return String(sum ^ 0xffffffffn)
}

const keeping = (
  asked: Asked[],
  answer: (request: Asked) => Promise<Response>,
  tls?: Bun.TLSOptions,
) =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    ...(tls && { tls }),
    async fetch(request) {
      const kept: Asked = {
        method: request.method,
        url: request.url,
        body: await request.text(),
        headers: Object.fromEntries(request.headers),
      }
      asked.push(kept)
      return answer(kept)
    },
  })

export type FakeService = {
  readonly url: string
  readonly asked: Asked[]
  readonly stop: () => void
}

const serviceOf = (asked: Asked[], server: Bun.Server<unknown>): FakeService => ({
  url: server.url.origin,
  asked,
  stop: () => void server.stop(true),
})

const arnHead = 'arn:aws:kms:sa-east-1:111122223333:key/'

/** @param keys by their ids; `alias/<id>` stands for each */
export const fakeAwsKms = (keys: ReadonlyMap<string, FakeKey>): FakeService => {
  const asked: Asked[] = []
  const refused = (status: number, type: string) =>
    Response.json({ __type: `com.amazonaws.kms#${type}`, message: 'no' }, { status })
  const server = keeping(asked, async ({ headers, body }) => {
    const operation = headers['x-amz-target']
    const input = JSON.parse(body) as Record<string, string>
    const id = (input['KeyId'] ?? '').replace(arnHead, '').replace('alias/', '')
    const key = keys.get(id)
    if (id === 'denied') return refused(400, 'AccessDeniedException')
    if (id === 'busy') return refused(400, 'ThrottlingException')
    if (key === undefined) return refused(400, 'NotFoundException')
    if (operation === 'TrentService.GetPublicKey') {
      const spec = id === 'nist' ? 'ECC_NIST_P256' : 'ECC_SECG_P256K1'
      return Response.json({
        KeyId: arnHead + id,
        KeySpec: spec,
        KeyUsage: 'SIGN_VERIFY',
        PublicKey: spkiOf(key).toString('base64'),
      })
    }
    if (operation !== 'TrentService.Sign' || input['MessageType'] !== 'DIGEST') {
      return refused(400, 'ValidationException')
    }
    const signed = await signatureOf(key, Buffer.from(input['Message'] ?? '', 'base64'))
    return Response.json({ KeyId: arnHead + id, Signature: signed.toString('base64') })
  })
  return serviceOf(asked, server)
}

export type FakeGcp = FakeService & {
  /** Key file of a service account that the fake knows. */
  readonly accountFile: string
}

/** Google's KMS, token endpoint and metadata server in one. @param keys by the names of their versions */
export const fakeGcpKms = (keys: ReadonlyMap<string, FakeKey>): FakeGcp => {
  const asked: Asked[] = []
  const account = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const token = (name: string) =>
    Response.json({ access_token: name, expires_in: 3599, token_type: 'Bearer' })
  const server = keeping(asked, async ({ url, headers, body }) => {
    const { pathname } = new URL(url)
    if (pathname === '/computeMetadata/v1/instance/service-accounts/default/token') {
      return headers['metadata-flavor'] === 'Google'
        ? token('of-the-machine')
        : new Response('', { status: 403 })
    }
    if (pathname === '/token') {
      const assertion = new URLSearchParams(body).get('assertion') ?? ''
      const [head = '', claims = '', signature = ''] = assertion.split('.')
      const key = createPublicKey(account.publicKey.export({ format: 'pem', type: 'spki' }))
      const bytes = Buffer.from(`${head}.${claims}`)
      const isSigned = verify('sha256', bytes, key, Buffer.from(signature, 'base64url'))
      return isSigned ? token('of-the-account') : new Response('', { status: 401 })
    }
    if (!/^Bearer of-the-(machine|account)$/.test(headers['authorization'] ?? '')) {
      return new Response('', { status: 401 })
    }
    const [, name = '', operation = ''] =
      /^\/v1\/(.+?)(\/publicKey|:asymmetricSign)$/.exec(pathname) ?? []
    const key = keys.get(name)
    if (key === undefined) return new Response('', { status: 404 })
    if (operation === '/publicKey') {
      const pem = pemOf(key)
      const algorithm = 'EC_SIGN_SECP256K1_SHA256'
      return Response.json({ name, algorithm, pem, pemCrc32c: slowCrc32c(Buffer.from(pem)) })
    }
    const input = JSON.parse(body) as { digest: { sha256: string }; digestCrc32c: string }
    const digest = Buffer.from(input.digest.sha256, 'base64')
    const signed = await signatureOf(key, digest)
    return Response.json({
      name,
      signature: signed.toString('base64'),
      signatureCrc32c: slowCrc32c(signed),
      verifiedDigestCrc32c: input.digestCrc32c === slowCrc32c(digest),
    })
  })
  const service = serviceOf(asked, server)
  const accountFile = JSON.stringify({
    type: 'service_account',
    client_email: 'gateway@example.iam',
    private_key_id: 'key-1',
    private_key: account.privateKey.export({ format: 'pem', type: 'pkcs8' }),
    token_uri: `${service.url}/token`,
  })
  return { ...service, accountFile }
}

/** @param answer the result of a method */
export const fakeWeb3Signer = (
  answer: (method: string, params: readonly never[]) => Promise<unknown>,
  tls: Bun.TLSOptions,
): FakeService => {
  const asked: Asked[] = []
  const server = keeping(
    asked,
    async ({ body }) => {
      const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: [] }
      return Response.json({ jsonrpc: '2.0', id, result: await answer(method, params) })
    },
    tls,
  )
  return serviceOf(asked, server)
}
