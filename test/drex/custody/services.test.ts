/** Wallets whose keys are at a key management service or a Web3Signer: made by the API, and asked on the wire. */
import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { createAssignments } from '../../../src/drex/custody/assignment.ts'
import { containerCredentials } from '../../../src/drex/custody/aws-credentials.ts'
import { signAwsRequest } from '../../../src/drex/custody/aws-signature.ts'
import { crc32c } from '../../../src/drex/custody/crc32c.ts'
import { createExchange } from '../../../src/drex/custody/exchange.ts'
import {
  readServiceAccount,
  serviceAccountTokens,
} from '../../../src/drex/custody/gcp-credentials.ts'
import { addressOfPem, addressOfSpki } from '../../../src/drex/custody/public-key.ts'
import { signatureFor } from '../../../src/drex/custody/signer.ts'
import { bytesToHex, type Hex } from '../../../src/drex/evm/hex.ts'
import { testApp, testKey } from '../../support/app.ts'
import { issueCertificate } from '../../support/pki.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { createBench } from '../support.ts'
import { fakeAwsKms, fakeGcpKms, fakeKey, fakeWeb3Signer, pemOf } from './fake-services.ts'

const version = (name: string) =>
  `projects/p/locations/southamerica-east1/keyRings/r/cryptoKeys/${name}/cryptoKeyVersions/1`

const awsKeys = new Map(
  ['ana', 'bia', 'nist', 'liar', 'eva', 'fay', 'gil', 'hal', 'ivo'].map((name, i) => [
    name,
    fakeKey(i + 1),
  ]),
)
const gcpKeys = new Map([version('cai'), version('dia')].map((name, i) => [name, fakeKey(i + 21)]))
const aws = fakeAwsKms(awsKeys)
const gcp = fakeGcpKms(gcpKeys)
const authority = issueCertificate('signer authority', { authority: true })
const serverPair = issueCertificate('localhost', { issuer: authority, hosts: ['127.0.0.1'] })
const clientPair = issueCertificate('gateway', { issuer: authority })
const remote = new Wallet(`0x${'42'.repeat(32)}`)
const web3 = fakeWeb3Signer(
  async (method, [fields]) => {
    if (method === 'eth_accounts') return [remote.address]
    const { from: _, gas, nonce, ...rest } = fields as unknown as Record<string, string>
    const chainId = bench.chain.chainId
    return remote.signTransaction({
      type: 0,
      chainId,
      ...rest,
      gasLimit: gas!,
      nonce: Number(nonce),
    })
  },
  {
    cert: serverPair.cert,
    key: serverPair.key,
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: true,
  },
)
const directory = temporaryDirectory()
const inFile = (name: string, text: string) => {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

const signerEnv = {
  DREX_AWS_REGION: 'sa-east-1',
  DREX_AWS_KMS_URL: aws.url,
  // An honest service answers within it on a busy machine, and a test waits for one that hangs.
  DREX_SIGNER_TIMEOUT_MS: '4000',
  DREX_AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  DREX_AWS_SECRET_ACCESS_KEY: 'secret',
  DREX_GCP_CREDENTIALS: 'metadata',
  DREX_GCP_KMS_URL: gcp.url,
  DREX_GCP_METADATA_URL: gcp.url,
  DREX_WEB3SIGNER_URL: web3.url,
  DREX_WEB3SIGNER_CERT_PATH: inFile('cert.pem', clientPair.cert),
  DREX_WEB3SIGNER_KEY_PATH: inFile('key.pem', clientPair.key),
  DREX_WEB3SIGNER_CA_PATH: inFile('ca.pem', authority.cert),
}

const bench = await createBench({ env: signerEnv })
const paid = await bench.wallet(0n)
afterAll(async () => {
  await bench.stop()
  for (const each of [aws, gcp, web3]) each.stop()
})

const make = (type: string, fields: object) =>
  bench.call('POST', '/v1/wallets', { type, label: 'kept elsewhere', ...fields })

const fund = async (address: string) => {
  await bench.admin.currency('enableAccount', address)
  await bench.admin.currency('mint', address, 1_000n)
}

const pay = (from: string): Promise<string> => bench.pay(from as Hex, paid)

const codeOf = ({ status, json }: { status: number; json: object }) => [
  status,
  (json as { error?: { code?: string } }).error?.code,
]

test('AWS: an alias becomes the key itself, which proves itself, and signs transfers', async () => {
  const made = await make('aws_kms', { key_name: 'alias/ana' })
  const arn = 'arn:aws:kms:sa-east-1:111122223333:key/ana'
  expect([made.status, made.json as object]).toMatchObject([
    201,
    { type: 'aws_kms', key_name: arn },
  ])
  const { address } = made.json as { address: string }
  expect(address.toLowerCase()).toBe(awsKeys.get('ana')!.address)
  await fund(address)
  // The fake's signatures have a low and a high `s` in turn.
  for (let i = 0; i < 2; i++) await bench.reaches(await pay(address), 'confirmed')
  const { method, url, headers, body } = aws.asked.at(-1)!
  expect([method, new URL(url).pathname]).toEqual(['POST', '/'])
  expect(headers).toMatchObject({
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': 'TrentService.Sign',
  })
  const { Message, ...rest } = JSON.parse(body) as { Message: string }
  expect(rest as object).toEqual({
    KeyId: arn,
    MessageType: 'DIGEST',
    SigningAlgorithm: 'ECDSA_SHA_256',
  })
  expect(Buffer.from(Message, 'base64')).toHaveLength(32)
  const again = await make('aws_kms', { key_name: arn })
  expect(codeOf(again)).toEqual([409, 'WALLET_EXISTS'])
})

test('Google: a version of a key, by the token of the machine', async () => {
  const made = await make('gcp_kms', { key_name: version('cai') })
  const { address } = made.json as { address: string }
  expect(address?.toLowerCase()).toBe(gcpKeys.get(version('cai'))!.address)
  await fund(address)
  await bench.reaches(await pay(address), 'confirmed')
  const { method, url, headers, body } = gcp.asked.at(-1)!
  expect([method, url, headers['authorization']]).toEqual([
    ...['POST', `${gcp.url}/v1/${version('cai')}:asymmetricSign`, 'Bearer of-the-machine'],
  ])
  const { digest, digestCrc32c } = JSON.parse(body) as { digest: object; digestCrc32c: string }
  expect([Object.keys(digest), digestCrc32c]).toEqual([['sha256'], expect.stringMatching(/^\d+$/)])
  // One token for all that was asked.
  expect(gcp.asked.filter(({ url: each }) => each.includes('computeMetadata'))).toHaveLength(1)
})

test('Web3Signer by client certificate; without one, or for a key that it lacks, there is no wallet', async () => {
  const made = await make('web3signer', { address: remote.address })
  expect(made.status).toBe(201)
  await fund(remote.address)
  await bench.reaches(await pay(remote.address), 'confirmed')
  const missing = await make('web3signer', { address: `0x${'31'.repeat(20)}` })
  expect(codeOf(missing)).toEqual([422, 'KEY_UNUSABLE'])
  const { DREX_WEB3SIGNER_CERT_PATH: _, DREX_WEB3SIGNER_KEY_PATH: __, ...bare } = signerEnv
  const stranger = await createBench({ engine: false, env: bare })
  const body = { type: 'web3signer', label: 'x', address: remote.address }
  const refused = await stranger.call('POST', '/v1/wallets', body)
  expect(codeOf(refused)).toEqual([503, 'SIGNER_UNREACHABLE'])
  await stranger.stop()
})

describe('a key and two accounts', () => {
  afterAll(() => bench.restart())

  /** A gateway of its own, for two accounts, with keys of its own at the same services. */
  const gateway = async (env: Readonly<Record<string, string>>) => {
    await bench.restart({ ...signerEnv, ...env })
    const other = testKey('*')
    Object.assign(other.record, { account: 'acme' })
    const app = testApp(bench.drex().routes ?? [], { keys: [other.record] })
    return async (type: string, fields: object) => {
      const body = { type, label: 'taken', ...fields }
      const response = await app.call('POST', '/v1/wallets', { key: other.key, body })
      return { status: response.status, json: (await response.json()) as object }
    }
  }
  const eva = () => awsKeys.get('eva')!.address
  const arn = (name: string) => `arn:aws:kms:sa-east-1:111122223333:key/${name}`

  test('what is assigned to nobody is not another account’s, and no service is asked for it', async () => {
    const claim = await gateway({})
    const asked = aws.asked.length + gcp.asked.length
    for (const [type, fields] of [
      ['aws_kms', { key_name: 'alias/eva' }],
      ['gcp_kms', { key_name: version('dia') }],
      ['web3signer', { address: remote.address }],
    ] as const) {
      expect(codeOf(await claim(type, fields))).toEqual([403, 'FORBIDDEN'])
    }
    expect(aws.asked.length + gcp.asked.length).toBe(asked)
    expect((await claim('managed', {})).status).toBe(201)
    expect((await claim('external', { address: `0x${'51'.repeat(20)}` })).status).toBe(201)
  })

  test('what is assigned is that account’s alone, under every name; others may watch it', async () => {
    const fay = awsKeys.get('fay')!.address
    const claim = await gateway({
      DREX_CUSTODY_KEYS: `acme=${arn('eva')},acme=${eva()},default=${fay}`,
    })
    const body = { type: 'aws_kms', label: 'mine', key_name: 'alias/eva' }
    expect(codeOf(await bench.call('POST', '/v1/wallets', body))).toEqual([403, 'FORBIDDEN'])
    const watched = { type: 'external', label: 'mine', address: eva() }
    expect((await bench.call('POST', '/v1/wallets', watched)).status).toBe(201)
    expect(codeOf(await claim('aws_kms', { key_name: 'alias/fay' }))).toEqual([403, 'FORBIDDEN'])
    expect((await claim('external', { address: fay })).status).toBe(201)
    expect(codeOf(await claim('aws_kms', { key_name: 'alias/gil' }))).toEqual([403, 'FORBIDDEN'])
    expect((await claim('aws_kms', { key_name: 'alias/eva' })).status).toBe(201)
    expect((await make('aws_kms', { key_name: 'alias/gil' })).status).toBe(201)
  })

  test('what another account watches takes nobody’s place, also where a former version kept it so', async () => {
    const claim = await gateway({})
    const { address } = awsKeys.get('ivo')!
    const sql = bench.database.sql
    await sql`
      insert into drex_wallets (id, address, type, label, metadata, account, created_by)
      values ('wal_former', ${address}, 'external', 'former', '{}', 'acme', 'k')`
    const own = await make('aws_kms', { key_name: 'alias/ivo' })
    expect([own.status, own.json as object]).toEqual([201, expect.anything()])
    await fund(address)
    await bench.reaches(await pay(address), 'confirmed')
    const again = await claim('external', { address })
    expect(codeOf(again)).toEqual([409, 'WALLET_EXISTS'])
    expect([
      ...(await sql`select id, label, account from drex_watches where address = ${address}`),
    ]).toEqual([{ id: 'wal_former', label: 'former', account: 'acme' }])
  })

  test('a wallet that was made before its key was assigned to another signs no more', async () => {
    const { address } = (await make('aws_kms', { key_name: 'alias/hal' })).json as { address: Hex }
    await fund(address)
    await gateway({ DREX_CUSTODY_KEYS: `acme=${address}`, DREX_EXPIRY_SECONDS: '1' })
    const signed = () =>
      aws.asked.filter(
        ({ headers, body }) =>
          body.includes('"Message"') &&
          body.includes('key/hal') &&
          headers['x-amz-target'] === 'TrentService.Sign',
      ).length
    const before = signed()
    const id = await pay(address)
    await bench.reaches(id, 'failed')
    expect(signed()).toBe(before)
  })

  test('one key for two accounts: the gateway does not start', () => {
    expect(() => createAssignments(['a=0xAB', 'b=0xAB'])).toThrow('assigned to a and to b')
    const twice = [`a=0x${'AB'.repeat(20)}`, `b=0x${'ab'.repeat(20)}`]
    expect(() => createAssignments(twice)).toThrow('assigned to a and to b')
  })
})

describe('no wallet of a key that', () => {
  const cases: readonly (readonly [string, string, string, number, string])[] = [
    ['is not there', 'aws_kms', 'alias/nobody', 422, 'KEY_UNUSABLE'],
    ['may not be used', 'aws_kms', 'denied', 422, 'KEY_UNUSABLE'],
    ['is of another curve', 'aws_kms', 'nist', 422, 'KEY_UNUSABLE'],
    ['is busy now', 'aws_kms', 'busy', 503, 'SIGNER_UNREACHABLE'],
    ['is not there, at Google', 'gcp_kms', version('nobody'), 422, 'KEY_UNUSABLE'],
    [
      'is no version',
      'gcp_kms',
      version('cai').replace(/\/cryptoKeyVersions.*/, ''),
      422,
      'KEY_UNUSABLE',
    ],
    ['leads elsewhere', 'gcp_kms', `../${version('cai')}`, 422, 'KEY_UNUSABLE'],
  ]
  for (const [what, type, name, status, code] of cases) {
    test(what, async () => {
      expect(codeOf(await make(type, { key_name: name }))).toEqual([status, code])
    })
  }

  test('signs with another key than it tells of, answers nonsense or nothing', async () => {
    const key = awsKeys.get('bia')!
    for (const [manner, status] of [
      ...([
        ['lies', 422],
        ['garbles', 422],
        ['hangs', 503],
      ] as const),
    ]) {
      key.manner = manner
      expect([manner, (await make('aws_kms', { key_name: 'bia' })).status]).toEqual([
        manner,
        status,
      ])
    }
    key.manner = 'honest'
  })

  test('has fields of another type, or is at a service without settings', async () => {
    for (const bad of [
      { type: 'aws_kms' },
      { type: 'aws_kms', key_name: 'bia', address: remote.address },
      { type: 'managed', key_name: 'bia' },
      { type: 'external', address: remote.address, key_name: 'bia' },
      { type: 'gcp_kms', key_name: '\u0000' },
    ]) {
      const { status } = await bench.call('POST', '/v1/wallets', { label: 'x', ...bad })
      expect(status).toBe(400)
    }
    const bare = await createBench({ engine: false })
    for (const wanted of [
      { type: 'aws_kms', key_name: 'ana' },
      { type: 'gcp_kms', key_name: version('cai') },
      { type: 'web3signer', address: remote.address },
    ]) {
      const refused = await bare.call('POST', '/v1/wallets', { label: 'x', ...wanted })
      expect(codeOf(refused)).toEqual([422, 'CUSTODY_NOT_CONFIGURED'])
    }
    await bare.stop()
  })
})

test('a key that lies or hangs later costs its own wallet time, and no other of the same service', async () => {
  const made = [
    await make('aws_kms', { key_name: 'liar' }),
    await make('aws_kms', { key_name: 'bia' }),
    await make('gcp_kms', { key_name: version('dia') }),
  ]
  const [liar, honest, hung] = made.map(({ json }) => (json as { address: string }).address)
  for (const each of [liar!, honest!, hung!]) await fund(each)
  awsKeys.get('liar')!.manner = 'lies'
  gcpKeys.get(version('dia'))!.manner = 'hangs'
  const waiting = [await pay(liar!), await pay(hung!)]
  await bench.reaches(await pay(honest!), 'confirmed')
  for (const id of waiting) {
    await bench.until(async () => (await bench.read(id)).error?.code === 'SIGNER_FAILED')
    expect((await bench.read(id)).status).toBe('pending')
  }
  await bench.reaches(await pay(honest!), 'confirmed')
})

test('the doctor asks each service for the keys of its wallets', async () => {
  const checks = async () =>
    new Map((await bench.drex().checks!()).map(({ name, status }) => [name, status]))
  const names = ['AWS KMS', 'Google Cloud KMS', 'Web3Signer']
  const found = await checks()
  expect(names.map((name) => found.get(name))).toEqual(['ok', 'ok', 'ok'])
  await bench.database.sql`update drex_wallets set address = ${`0x${'77'.repeat(20)}`}
    where address = ${awsKeys.get('ana')!.address}`
  await bench.database.sql`update drex_wallets set address = ${`0x${'78'.repeat(20)}`}
    where type = 'web3signer'`
  const other = await checks()
  expect(names.map((name) => other.get(name))).toEqual(['failed', 'ok', 'failed'])
})

test('tokens of a service account: signed by its key, kept until shortly before their end', async () => {
  const nowMs = 1_700_000_000_000
  let tickMs = 0
  const account = readServiceAccount(gcp.accountFile)
  const token = serviceAccountTokens(
    createExchange(1_000),
    account,
    () => nowMs,
    () => tickMs,
  )
  expect(await token()).toBe('of-the-account')
  const { headers, body } = gcp.asked.at(-1)!
  expect(headers['content-type']).toBe('application/x-www-form-urlencoded')
  const form = new URLSearchParams(body)
  expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
  const [head, claims] = (form.get('assertion') ?? '')
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object)
  expect(head).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' })
  expect(claims).toEqual({
    iss: 'gateway@example.iam',
    aud: `${gcp.url}/token`,
    iat: 1_700_000_000,
    exp: 1_700_003_600,
    scope: 'https://www.googleapis.com/auth/cloudkms',
  })
  const asked = gcp.asked.length
  tickMs += 3_538_000
  await token()
  expect(gcp.asked).toHaveLength(asked)
  tickMs += 1_001
  await token()
  expect(gcp.asked).toHaveLength(asked + 1)
  for (const bad of ['{', '{}', gcp.accountFile.replace('service_account', 'authorized_user')]) {
    expect(() => readServiceAccount(bad)).toThrow('DREX_GCP_CREDENTIALS')
  }
})

test('credentials of a container’s role are kept until shortly before their end', async () => {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const seen: (string | null)[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      seen.push(request.headers.get('authorization'))
      return Response.json({
        AccessKeyId: 'ASIA',
        SecretAccessKey: 's',
        Token: 't',
        Expiration: '2026-01-01T01:00:00Z',
      })
    },
  })
  const file = inFile('token', 'of the pod\n')
  const url = String(server.url)
  const source = containerCredentials(createExchange(1_000), url, file, () => nowMs)
  const expected = { accessKeyId: 'ASIA', secretAccessKey: 's', sessionToken: 't' }
  expect([await source(), await source(), seen]).toEqual([expected, expected, ['of the pod']])
  nowMs = Date.parse('2026-01-01T00:55:00Z')
  await source()
  expect(seen).toHaveLength(2)
  await server.stop(true)
})

test('what gives out credentials is asked past any proxy, the key services through it', async () => {
  const asked = { directly: [] as string[], byProxy: [] as string[] }
  const machine = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      asked.directly.push(new URL(url).pathname)
      return Response.json({
        access_token: 'token',
        expires_in: 3_600,
        AccessKeyId: 'ASIA',
        SecretAccessKey: 's',
        Token: 't',
        Expiration: '2126-01-01T00:00:00Z',
      })
    },
  })
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      asked.byProxy.push(new URL(url).host)
      return new Response('', { status: 500 })
    },
  })
  const settings = {
    signerTimeoutMs: 5_000,
    gcpCredentials: 'metadata',
    gcpMetadataUrl: machine.url.origin,
    gcpKmsUrl: 'http://gcp.invalid',
    awsRegion: 'sa-east-1',
    awsKmsUrl: 'http://aws.invalid',
    awsCredentialsUrl: `${machine.url.origin}/role`,
  }
  const program = `
    import { createCustody } from '${import.meta.dir}/../../../src/drex/custody/services.ts'
    const { keyServices } = createCustody(${JSON.stringify(settings)}, console)
    for (const each of keyServices.values()) await each.sign('x', new Uint8Array(32)).catch(() => {})`
  const child = Bun.spawn([process.execPath, '-e', program], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { http_proxy: proxy.url.origin },
  })
  expect(await child.exited).toBe(0)
  expect(asked.directly.toSorted()).toEqual([
    '/computeMetadata/v1/instance/service-accounts/default/token',
    '/role',
  ])
  expect(asked.byProxy.toSorted()).toEqual(['aws.invalid', 'gcp.invalid'])
  await Promise.all([machine.stop(true), proxy.stop(true)])
})

test('known answers: SigV4 as botocore signs it, a high `s`, a checksum, a public key', () => {
  const credentials = {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    sessionToken: undefined,
  }
  const request = {
    url: new URL('https://kms.sa-east-1.amazonaws.com'),
    region: 'sa-east-1',
    service: 'kms',
    body: '{"KeyId":"alias/ana"}',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'TrentService.GetPublicKey',
    },
  }
  const at = new Date('2026-01-31T23:59:59.123Z')
  const signatureOf = (sessionToken: string | undefined) =>
    /Signature=(\w+)$/.exec(
      signAwsRequest(request, { ...credentials, sessionToken }, at)['authorization'] ?? '',
    )?.[1]
  expect([signatureOf(undefined), signatureOf('for/a+time==')]).toEqual([
    'c94c5362f88301e1c375d686eb1bcc23294f9d3653f6bb0b810dcbf25d4a5326',
    '9eda473f04293d6591bed8e48ce6d498ff869fc8aded3bb1361e41feabd98f7b',
  ])

  const digest = Buffer.from(
    '6e235a2f6eec361aabad95206ec9bd05ae3a0df3de819feca6793dcbd5f3ba45',
    'hex',
  )
  const der = Buffer.from(
    '304502201adc6bafbc2b63de1f317562f295e0288dd827d6141b6cded09268ab700f97870221009bc486a2545508d44a30fe83733b414d387af048b89c3d6d0db09bf72aa0eadd',
    'hex',
  )
  const signature = signatureFor('0x873db9e02603277c7e23bb99b2d22ec32008e5ab', digest, der)
  expect([bytesToHex(signature.compact.subarray(32)), signature.yParity]).toEqual([
    ...(['0x643b795dabaaf72bb5cf017c8cc4beb18233ec9df6ac62ceb221c295a5955664', 1] as const),
  ])
  expect([crc32c(digest), crc32c(Buffer.from('123456789'))]).toEqual([2274716182, 0xe3069283])
  const ana = awsKeys.get('ana')!
  expect(addressOfPem(pemOf(ana))).toBe(ana.address as Hex)
  for (const bad of ['', 'x', pemOf(ana).replace('MFYw', 'MFYx'), pemOf(ana) + pemOf(ana)]) {
    expect(() => addressOfPem(bad)).toThrow()
  }
  expect(() => addressOfSpki(new Uint8Array(88))).toThrow('curve')
})
