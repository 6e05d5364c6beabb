/** Messages and typed data signed with wallets: judged by ethers and by the standard's own example. */
import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { keccak256, SigningKey, toUtf8Bytes, verifyMessage, verifyTypedData, Wallet } from 'ethers'
import { generateKey, type KeyRecord } from '#src/platform/security/index.ts'
import { bytesToHex } from '../../src/drex/evm/hex.ts'
import { encodeTypedData, messageDigest } from '../../src/drex/signatures/typed-data.ts'
import { testApp } from '../support/app.ts'
import { createBench } from './support.ts'

const chainId = 381_660_001
const remote = new Wallet(`0x${'42'.repeat(32)}`)
let lies = false
const web3signer = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { id, method, params } = (await request.json()) as {
      id: number
      method: string
      params: [string, string]
    }
    const by = lies ? new Wallet(`0x${'43'.repeat(32)}`) : remote
    const answers: Readonly<Record<string, () => unknown>> = {
      eth_accounts: () => [remote.address],
      eth_sign: () => by.signMessage(Buffer.from(params[1].slice(2), 'hex')),
      eth_signTypedData: () => {
        // It takes the text of a JSON object, which declares the type of its domain.
        const { domain, types, message } = JSON.parse(params[1])
        if (types.EIP712Domain === undefined) throw new Error('no type of the domain')
        const { EIP712Domain: _, ...own } = types
        return by.signTypedData(domain, own, message)
      },
    }
    return Response.json({ jsonrpc: '2.0', id, result: await answers[method]?.() })
  },
})

const idOf = async (address: string): Promise<string> => {
  const [row] = await bench.database.sql<{ id: string }[]>`
    select id from drex_wallets where address = ${address.toLowerCase()}`
  return row?.id ?? ''
}

const bench = await createBench({ env: { DREX_WEB3SIGNER_URL: String(web3signer.url) } })
const address = await bench.wallet()
const ana = { address, id: await idOf(address) }
const stranger = bytesToHex(randomBytes(20))
afterAll(async () => {
  await bench.stop()
  await web3signer.stop(true)
})

type Answer = { digest: string; signature: string; address: string; error: { code: string } }

const callerWith = (...grants: string[]) => {
  const { key, id, hash } = generateKey('test')
  const record: KeyRecord = {
    id,
    name: 'test',
    account: 'default',
    hash,
    grants,
    environment: 'test',
    expiresAt: undefined,
    revokedAt: undefined,
  }
  const app = testApp(bench.drex().routes ?? [], { keys: [record] })
  return async (what: string, body: object, wallet = ana.id) => {
    const response = await app.call('POST', `/v1/wallets/${wallet}/sign-${what}`, { key, body })
    return { status: response.status, json: (await response.json()) as Answer }
  }
}

const mail = {
  types: {
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallet', type: 'address' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person' },
      { name: 'contents', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  domain: {
    name: 'Ether Mail',
    version: '1',
    chainId: 1,
    verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
  },
  message: {
    from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
    to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
    contents: 'Hello, Bob!',
  },
}

const here = (changes: object = {}, domain: object = {}) => ({
  typed_data: {
    ...mail,
    domain: { ...mail.domain, chainId, verifyingContract: stranger, ...domain },
    ...changes,
  },
})

const permit = (token: string) => ({
  typed_data: {
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    domain: { name: 'Real Digital', version: '1', chainId, verifyingContract: token },
    message: {
      owner: ana.address,
      spender: stranger,
      value: '1000000000000000000000',
      nonce: 0,
      deadline: '2000000000',
    },
  },
})

test('the example of EIP-712: digest and signature are those that it prints', async () => {
  const digest = bytesToHex((await encodeTypedData(mail)).digest)
  expect(digest).toBe('0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2')
  const { r, s, v } = new SigningKey(keccak256(toUtf8Bytes('cow'))).sign(digest)
  expect([r, s, v]).toEqual([
    ...(['0x4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d'] as const),
    ...(['0x07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b91562', 28] as const),
  ] as never)
  // "hello world", as every wallet signs it.
  expect(bytesToHex(messageDigest(toUtf8Bytes('hello world')))).toBe(
    '0xd9eba16ed0ecae432b71fe008c98cc872bb4cc214d3220a36f365326cf807d68',
  )
})

test('a message, with line ends and as bytes; the audit tells of it', async () => {
  const sign = callerWith('signatures:make')
  const text = 'example.com wants you to sign in\n\nNonce: 32891756 — ção'
  const signed = await sign('message', { message: text })
  expect(signed.status).toBe(200)
  expect(verifyMessage(text, signed.json.signature).toLowerCase()).toBe(ana.address)
  const bytes = await sign('message', { message: '0x00ff', encoding: 'hex' })
  const by = verifyMessage(new Uint8Array([0, 255]), bytes.json.signature)
  expect(by.toLowerCase()).toBe(ana.address)
  const acts = await bench.database.sql`
    select action, outcome from audit_log where object = ${ana.id} and action = 'wallets.sign'
    order by id`
  expect([...acts]).toEqual([
    { action: 'wallets.sign', outcome: `message ${signed.json.digest}` },
    { action: 'wallets.sign', outcome: `message ${bytes.json.digest}` },
  ] as never)
  expect((await sign('message', { message: 'xyz', encoding: 'hex' })).status).toBe(400)
})

test('typed data, as ethers verifies it, whether the domain’s type is declared or not', async () => {
  const sign = callerWith('signatures:make')
  const request = here()
  const { types, domain, message } = request.typed_data
  const EIP712Domain = [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ]
  for (const body of [request, here({ types: { ...types, EIP712Domain } })]) {
    const signed = await sign('typed-data', body)
    expect(signed.status).toBe(200)
    const by = verifyTypedData(domain, types, message, signed.json.signature)
    expect(by.toLowerCase()).toBe(ana.address)
  }
  // A domain that shows more than is hashed, and other things that do not fit together.
  for (const bad of [
    here({ types: { ...types, EIP712Domain: EIP712Domain.slice(0, 1) } }),
    here({ primaryType: 'Person' }),
    here({ message: { ...message, contents: 12 } }),
    here({ message: {} }),
    here({ types: { ...types, Other: [{ name: 'x', type: 'uint8' }] } }),
    here({ types: { Mail: [{ name: 'mail', type: 'Mail' }] } }),
    here({ types: { Mail: [{ name: 'n', type: 'uint256' }] }, message: { n: 1e21 } }),
    here({}, { chainId: 1 }),
    here({}, { chainId: '0x1' }),
  ]) {
    expect((await sign('typed-data', bad)).status).toBe(400)
  }
  const bare = here()
  const { chainId: _, ...unbound } = bare.typed_data.domain
  const anyChain = { typed_data: { ...bare.typed_data, domain: unbound } }
  expect((await sign('typed-data', anyChain)).status).toBe(400)
})

describe('what lets somebody move money', () => {
  test('needs the right to transfer beside the right to sign', async () => {
    const limited = callerWith('signatures:make')
    const full = callerWith('signatures:make', 'drex:transfer')
    const atToken = here({}, { verifyingContract: bench.admin.token })
    const noContract = here({}, { verifyingContract: undefined })
    for (const body of [permit(bench.admin.token), permit(stranger), atToken, noContract]) {
      expect((await limited('typed-data', body)).status).toBe(403)
      expect((await full('typed-data', body)).status).toBe(200)
    }
    for (const primaryType of [
      ...['TransferWithAuthorization', 'ReceiveWithAuthorization', 'PermitSingle', 'SafeTx'],
      ...['PermitBatchTransferFrom', 'Order', 'ForwardRequest', 'SwapApproval'],
    ]) {
      const types = { [primaryType]: [{ name: 'value', type: 'uint256' }] }
      const body = here({ types, primaryType, message: { value: 1 } })
      expect([primaryType, (await limited('typed-data', body)).status]).toEqual([primaryType, 403])
    }
    const refusals = await bench.database.sql`
      select outcome from audit_log where object = ${ana.id} and outcome like 'refused%'`
    expect(refusals).toHaveLength(12)
  })

  test('is not signed with a wallet whose policy limits what it moves', async () => {
    const full = callerWith('signatures:make', 'drex:transfer')
    const path = `/v1/wallets/${ana.id}`
    await bench.call('PATCH', path, { policy: { day_max: '1000.00' } })
    const refused = await full('typed-data', permit(bench.admin.token))
    expect([refused.status, refused.json.error]).toMatchObject([
      422,
      { code: 'POLICY_REFUSED', details: { rule: 'signatures' } },
    ])
    expect((await full('typed-data', here())).status).toBe(200)
    await bench.call('PATCH', path, { policy: {}, status: 'disabled' })
    expect((await full('message', { message: 'x' })).status).toBe(422)
    await bench.call('PATCH', path, { status: 'active' })
  })
})

test('a scope of its own, and only the account’s wallets, with the keys of their policies', async () => {
  const all = callerWith('wallets:*', 'drex:*', 'contracts:*')
  expect((await all('message', { message: 'x' })).status).toBe(403)
  const sign = callerWith('signatures:make')
  expect((await sign('message', { message: 'x' }, 'wal_none')).status).toBe(404)
  await bench.call('PATCH', `/v1/wallets/${ana.id}`, { policy: { keys: ['nobody'] } })
  expect((await sign('message', { message: 'x' })).status).toBe(403)
  await bench.call('PATCH', `/v1/wallets/${ana.id}`, { policy: {} })
  const watched = await bench.call('POST', '/v1/wallets', {
    type: 'external',
    label: 'x',
    address: stranger,
  })
  const { wallet_id: id } = watched.json as { wallet_id: string }
  expect((await sign('message', { message: 'x' }, id)).status).toBe(422)
})

test('a Web3Signer signs both, and what it signs with another key is not handed out', async () => {
  const body = { type: 'web3signer', label: 'remote', address: remote.address }
  const made = (await bench.call('POST', '/v1/wallets', body)).json as { wallet_id: string }
  const sign = callerWith('signatures:make')
  const message = await sign('message', { message: 'x' }, made.wallet_id)
  expect(verifyMessage('x', message.json.signature)).toBe(remote.address)
  const request = here()
  const typed = await sign('typed-data', request, made.wallet_id)
  const { domain, types, message: data } = request.typed_data
  expect(verifyTypedData(domain, types, data, typed.json.signature)).toBe(remote.address)
  lies = true
  for (const [what, asked] of [
    ['message', { message: 'x' }],
    ['typed-data', request],
  ] as const) {
    const refused = await sign(what, asked, made.wallet_id)
    expect([refused.status, refused.json.error.code]).toEqual([503, 'SIGNER_UNREACHABLE'])
  }
})
