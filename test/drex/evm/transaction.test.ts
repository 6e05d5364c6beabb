import { describe, expect, test } from 'bun:test'
import { encodeRlp, getAddress, getCreateAddress, Interface, Transaction, Wallet } from 'ethers'
import fc from 'fast-check'
import { abbreviateAddress, checksumAddress, parseAddress } from '../../../src/drex/evm/address.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../../src/drex/evm/hex.ts'
import { type RlpItem, rlpEncode, rlpInteger } from '../../../src/drex/evm/rlp.ts'
import {
  addressOfPrivateKey,
  ecdsaBackend,
  loadNativeBackend,
  nobleBackend,
  randomPrivateKey,
  recoverAddress,
} from '../../../src/drex/evm/secp256k1.ts'
import {
  encodeAddTarget,
  encodeApprove,
  encodeAuthorizedAccounts,
  encodeBalanceOf,
  encodeExecuteSwap,
  encodeFrozenBalanceOf,
  encodeTransfer,
} from '../../../src/drex/evm/token-call.ts'
import {
  assemble,
  createdAddress,
  signingDigest,
  type UnsignedTransaction,
} from '../../../src/drex/evm/transaction.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const privateKey = bytes(32).filter((key) => key.some((byte) => byte !== 0) && key[0]! < 0xff)
const address = bytes(20).map(bytesToHex)
const wei = fc.bigInt({ min: 0n, max: 2n ** 70n })

const unsigned: fc.Arbitrary<UnsignedTransaction> = fc.record({
  chainId: fc.integer({ min: 1, max: 2 ** 40 }),
  nonce: fc.nat(2 ** 31 - 1),
  gasLimit: fc.bigInt({ min: 21_000n, max: 2n ** 50n }),
  fees: fc.oneof(
    wei.map((gasPrice) => ({ kind: 'legacy' as const, gasPrice })),
    wei.chain((tip) =>
      wei.map((extra) => ({
        kind: 'eip1559' as const,
        maxPriorityFeePerGas: tip,
        maxFeePerGas: tip + extra,
      })),
    ),
  ),
  to: fc.option(address, { nil: undefined }),
  value: wei,
  data: fc.uint8Array({ maxLength: 300 }).map(bytesToHex),
})

const oracle = (transaction: UnsignedTransaction): Transaction => {
  const { fees } = transaction
  return Transaction.from({
    chainId: transaction.chainId,
    nonce: transaction.nonce,
    gasLimit: transaction.gasLimit,
    to: transaction.to ?? null,
    value: transaction.value,
    data: transaction.data,
    ...(fees.kind === 'legacy'
      ? { type: 0, gasPrice: fees.gasPrice }
      : {
          type: 2,
          maxFeePerGas: fees.maxFeePerGas,
          maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
        }),
  })
}

describe('transactions', () => {
  test('digest, raw bytes and hash equal those of ethers', async () => {
    await fc.assert(
      fc.asyncProperty(unsigned, privateKey, async (transaction, key) => {
        const expected = oracle(transaction)
        const digest = signingDigest(transaction)
        expect(bytesToHex(digest)).toBe(expected.unsignedHash as Hex)
        const signed = assemble(transaction, ecdsaBackend().sign(digest, key))
        const wallet = new Wallet(bytesToHex(key))
        expect(signed.raw).toBe((await wallet.signTransaction(expected)) as Hex)
        expect(signed.hash).toBe(Transaction.from(signed.raw).hash as Hex)
      }),
      { numRuns: 60 },
    )
  })

  test('RLP equals that of ethers, across the length boundaries', () => {
    for (const length of [0, 1, 55, 56, 255, 256, 65_535, 65_536]) {
      const item: RlpItem = [new Uint8Array(length).fill(0x7f), [new Uint8Array(length)], []]
      const expected = encodeRlp([
        bytesToHex(item[0] as Uint8Array),
        [bytesToHex(new Uint8Array(length))],
        [],
      ])
      expect(bytesToHex(rlpEncode(item))).toBe(expected as Hex)
    }
    expect(rlpInteger(0n).length).toBe(0)
    expect(bytesToHex(rlpInteger(256))).toBe('0x0100')
  })

  test('a created contract’s address is predicted', () => {
    fc.assert(
      fc.property(address, fc.nat(), (from, nonce) => {
        expect(createdAddress(from, nonce)).toBe(
          getCreateAddress({ from, nonce }).toLowerCase() as Hex,
        )
      }),
    )
  })
})

describe('secp256k1', () => {
  test('native and noble sign alike, and the address is recovered', () => {
    const native = loadNativeBackend()
    if (process.platform === 'linux' && process.arch === 'x64') expect(native).toBeDefined()
    fc.assert(
      fc.property(bytes(32), privateKey, (digest, key) => {
        const signature = nobleBackend.sign(digest, key)
        if (native !== undefined) {
          const other = native.sign(digest, key)
          expect(bytesToHex(other.compact)).toBe(bytesToHex(signature.compact))
          expect(other.yParity).toBe(signature.yParity)
        }
        expect(recoverAddress(digest, signature)).toBe(addressOfPrivateKey(key))
      }),
      { numRuns: 50 },
    )
  })

  test('the native backend refuses what is not 32 bytes, and a key of zero', () => {
    const backend = ecdsaBackend()
    const digest = new Uint8Array(32)
    expect(() => backend.sign(digest.subarray(1), randomPrivateKey())).toThrow()
    expect(() => backend.sign(digest, new Uint8Array(31))).toThrow()
    expect(() => backend.sign(digest, new Uint8Array(32))).toThrow()
  })

  test('an address is derived as ethers does', () => {
    const key = randomPrivateKey()
    expect(checksumAddress(addressOfPrivateKey(key))).toBe(new Wallet(bytesToHex(key)).address)
  })
})

describe('addresses', () => {
  test('the checksum equals that of ethers and is demanded of mixed case', () => {
    fc.assert(
      fc.property(address, (lower) => {
        const mixed = checksumAddress(lower)
        expect(mixed).toBe(getAddress(lower))
        expect(parseAddress(mixed)).toEqual({ address: lower })
        expect(parseAddress(lower)).toEqual({ address: lower })
        expect(parseAddress(`0x${lower.slice(2).toUpperCase()}`)).toEqual({ address: lower })
      }),
    )
    expect(parseAddress('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')).not.toBeString()
    expect(parseAddress('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'.replace('aA', 'Aa'))).toBe(
      'checksum',
    )
    for (const bad of ['', '0x', `0x${'1'.repeat(39)}`, `0x${'1'.repeat(41)}`, '1'.repeat(40)]) {
      expect(parseAddress(bad)).toBe('form')
    }
  })

  test('responses show six and four characters', () => {
    expect(abbreviateAddress('0x1234567890123456789012345678901234abcd00')).toBe('0x1234…cd00')
  })
})

test('calls of the transfer path are encoded as the ABI says', () => {
  const abi = new Interface([
    'function transfer(address,uint256)',
    'function approve(address,uint256)',
    'function balanceOf(address)',
    'function frozenBalanceOf(address)',
    'function authorizedAccounts(address)',
    'function executeSwap(address,address,address,uint256)',
    'function addTarget(address)',
  ])
  const [a, b, c] = ['11', '22', '33'].map((each) => `0x${each.repeat(20)}` as Hex) as [
    Hex,
    Hex,
    Hex,
  ]
  const same = (name: string, args: readonly unknown[], actual: Hex) =>
    expect(actual).toBe(abi.encodeFunctionData(name, args) as Hex)
  same('transfer', [a, 12_345n], encodeTransfer(a, 12_345n))
  same('approve', [a, 2n ** 255n], encodeApprove(a, 2n ** 255n))
  same('balanceOf', [a], encodeBalanceOf(a))
  same('frozenBalanceOf', [a], encodeFrozenBalanceOf(a))
  same('authorizedAccounts', [a], encodeAuthorizedAccounts(a))
  same('executeSwap', [a, b, c, 7n], encodeExecuteSwap(a, b, c, 7n))
  same('addTarget', [a], encodeAddTarget(a))
})

test('hexadecimal refuses what it is not', () => {
  expect(() => hexToBytes('0x1')).toThrow()
  expect(() => hexToBytes('0xzz')).toThrow()
  expect(hexToBytes('0xFF00')).toEqual(new Uint8Array([255, 0]))
})
