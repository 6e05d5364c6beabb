import { afterAll, describe, expect, test } from 'bun:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { Wallet } from 'ethers'
import fc from 'fast-check'
import { createSealer } from '#src/platform/security/index.ts'
import {
  compactLowS,
  digestSigner,
  managedSigner,
  sealContext,
  signatureFor,
} from '../../../src/drex/custody/signer.ts'
import { web3Signer } from '../../../src/drex/custody/web3signer.ts'
import { bytesToHex, type Hex } from '../../../src/drex/evm/hex.ts'
import {
  addressOfPrivateKey,
  curveOrder,
  randomPrivateKey,
} from '../../../src/drex/evm/secp256k1.ts'
import type { UnsignedTransaction } from '../../../src/drex/evm/transaction.ts'

const sealer = createSealer(new Uint8Array(Array.from({ length: 32 }, (_, i) => i * 7)))
const transaction: UnsignedTransaction = {
  chainId: 381_660_001,
  nonce: 3,
  gasLimit: 100_000n,
  fees: { kind: 'legacy', gasPrice: 0n },
  to: `0x${'22'.repeat(20)}`,
  value: 0n,
  data: '0xa9059cbb',
}

describe('managed signer', () => {
  const context = sealContext('wal_1', `0x${'11'.repeat(20)}`)

  test('signs with the sealed key, and only in its own wallet’s place', async () => {
    const key = randomPrivateKey()
    const sealed = sealer.seal(key, context)
    const signed = await managedSigner(sealer, sealed, context).signTransaction(transaction)
    const wallet = new Wallet(bytesToHex(key))
    expect(signed.raw).toBe(
      (await wallet.signTransaction({
        chainId: transaction.chainId,
        type: 0,
        nonce: transaction.nonce,
        gasLimit: transaction.gasLimit,
        gasPrice: 0n,
        to: transaction.to!,
        data: transaction.data,
      })) as Hex,
    )
    const elsewhere = managedSigner(sealer, sealed, sealContext('wal_2', `0x${'11'.repeat(20)}`))
    expect(() => elsewhere.signTransaction(transaction)).toThrow()
    const altered = sealed.slice()
    altered[30]! ^= 1
    expect(() => managedSigner(sealer, altered, context).signTransaction(transaction)).toThrow()
    expect(Buffer.from(sealed).includes(Buffer.from(key))).toBe(false)
  })

  test('the opened key is wiped after the signature', () => {
    const opened: Uint8Array[] = []
    const watched = {
      ...sealer,
      open: (sealed: Uint8Array, where: string) => {
        const key = sealer.open(sealed, where)
        opened.push(key)
        return key
      },
    }
    const sealed = sealer.seal(randomPrivateKey(), context)
    void managedSigner(watched, sealed, context).signTransaction(transaction)
    expect(opened.map((key) => key.every((byte) => byte === 0))).toEqual([true])
  })
})

const derTag = 0x30

const der = (r: bigint, s: bigint): Uint8Array => {
  const integer = (value: bigint) => {
    let hex = value.toString(16)
    if (hex.length % 2 === 1) hex = `0${hex}`
    if (Number.parseInt(hex.slice(0, 2), 16) >= 0x80) hex = `00${hex}`
    return [0x02, hex.length / 2, ...Buffer.from(hex, 'hex')]
  }
  const body = [...integer(r), ...integer(s)]
  return new Uint8Array([derTag, body.length, ...body])
}

describe('digest signer', () => {
  test('low and high s, either parity, lead to what the key itself would sign', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(10_000), fc.boolean(), async (nonce, high) => {
        const key = randomPrivateKey()
        const unsigned = { ...transaction, nonce }
        const address = addressOfPrivateKey(key)
        const signer = digestSigner('aws_kms', address, async (digest) => {
          const compact = secp256k1.sign(digest, key, { prehash: false })
          const r = BigInt(bytesToHex(compact.subarray(0, 32)))
          const s = BigInt(bytesToHex(compact.subarray(32)))
          return der(r, high ? curveOrder - s : s)
        })
        const direct = managedSigner(sealer, sealer.seal(key, 'w'), 'w')
        expect(await signer.signTransaction(unsigned)).toEqual(
          await direct.signTransaction(unsigned),
        )
      }),
      { numRuns: 25 },
    )
  })

  test('a signature by another key is refused', async () => {
    const signer = digestSigner(
      'aws_kms',
      addressOfPrivateKey(randomPrivateKey()),
      async (digest) => {
        const compact = secp256k1.sign(digest, randomPrivateKey(), { prehash: false })
        return der(
          BigInt(bytesToHex(compact.subarray(0, 32))),
          BigInt(bytesToHex(compact.subarray(32))),
        )
      },
    )
    expect(signer.signTransaction(transaction)).rejects.toThrow('another key')
  })

  test('DER is read strictly', () => {
    const good = der(5n, 7n)
    expect(compactLowS(good)[31]).toBe(5)
    expect(bytesToHex(compactLowS(der(1n, curveOrder - 9n)).subarray(32))).toBe(
      `0x${'00'.repeat(31)}09`,
    )
    for (const bad of [
      [],
      [0x31, 6, 2, 1, 5, 2, 1, 7],
      [0x30, 7, 2, 1, 5, 2, 1, 7],
      [0x30, 6, 2, 1, 5, 2, 1],
      [0x30, 7, 2, 1, 5, 2, 1, 7, 0],
      [0x30, 6, 3, 1, 5, 2, 1, 7],
      [0x30, 6, 2, 1, 0x85, 2, 1, 7],
      [0x30, 7, 2, 2, 0, 5, 2, 1, 7],
      [0x30, 5, 2, 0, 2, 1, 7],
    ]) {
      expect(() => compactLowS(new Uint8Array(bad))).toThrow()
    }
    expect(() => compactLowS(der(curveOrder, 1n))).toThrow()
    expect(() => signatureFor(`0x${'11'.repeat(20)}`, new Uint8Array(32), good)).toThrow()
  })
})

describe('web3signer', () => {
  const wallet = new Wallet(`0x${'42'.repeat(32)}`)
  const address = wallet.address.toLowerCase() as Hex
  let reply: (params: Record<string, string>) => Promise<unknown> = async () => null
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const call = (await request.json()) as { params: [Record<string, string>] }
      return Response.json({ jsonrpc: '2.0', id: 1, result: await reply(call.params[0]) })
    },
  })
  afterAll(() => server.stop(true))
  const signer = web3Signer(address, async (method, params) => {
    const response = await fetch(server.url, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return ((await response.json()) as { result: unknown }).result
  })
  const honest = (fields: Record<string, string>, changes: object = {}) =>
    wallet.signTransaction({
      chainId: transaction.chainId,
      type: 0,
      to: fields['to']!,
      nonce: Number(fields['nonce']),
      gasLimit: fields['gas']!,
      gasPrice: fields['gasPrice']!,
      value: fields['value']!,
      data: fields['data']!,
      ...changes,
    })

  test('gives what the key itself would sign', async () => {
    reply = honest
    const direct = managedSigner(sealer, sealer.seal(Buffer.from('42'.repeat(32), 'hex'), 'w'), 'w')
    expect(await signer.signTransaction(transaction)).toEqual(
      await direct.signTransaction(transaction),
    )
  })

  test('whatever differs from what was asked is refused', async () => {
    for (const changes of [
      { nonce: 4 },
      { value: 1n },
      { to: `0x${'33'.repeat(20)}` },
      { gasLimit: 100_001n },
      { gasPrice: 1n },
      { data: '0x' },
      { chainId: 1 },
    ]) {
      reply = (fields) => honest(fields, changes)
      await expect(signer.signTransaction(transaction)).rejects.toThrow('another transaction')
    }
    reply = async () => 'nonsense'
    await expect(signer.signTransaction(transaction)).rejects.toThrow('did not answer')
    const thief = new Wallet(`0x${'43'.repeat(32)}`)
    reply = async (fields) =>
      thief.signTransaction({
        chainId: transaction.chainId,
        type: 0,
        to: fields['to']!,
        nonce: 3,
        gasLimit: 100_000n,
        gasPrice: 0n,
        data: fields['data']!,
      })
    await expect(signer.signTransaction(transaction)).rejects.toThrow('another key')
  })
})
