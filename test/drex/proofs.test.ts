/** One node that lies about receipts: no end and no money is told that its own blocks do not prove. */
import { afterEach, describe, expect, test } from 'bun:test'
import { computeAddress, encodeRlp, keccak256, SigningKey, toBeHex } from 'ethers'
import { proveBlock } from '../../src/drex/evm/block-proof.ts'
import { isHeaderOf, isSealedBy } from '../../src/drex/evm/header.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { decodeRlp, rlpEncode } from '../../src/drex/evm/rlp.ts'
import { addressOfPrivateKey, sign } from '../../src/drex/evm/secp256k1.ts'
import { assemble, signingDigest } from '../../src/drex/evm/transaction.ts'
import { listRoot } from '../../src/drex/evm/trie.ts'
import { type Receipt, readResult } from '../../src/drex/rpc/methods.ts'
import { createChain } from '../../src/simulators/chain/index.ts'
import type { Lie } from './lying-node.ts'
import { type Bench, createBench } from './support.ts'

let bench: Bench

type Told = { readonly transactionHash: Hex; readonly status: string; readonly logs: ToldLog[] }
type ToldLog = { readonly topics: Hex[]; readonly data: Hex; readonly address: Hex }

describe('a node that lies about what was mined', () => {
  afterEach(() => bench.stop())

  const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`

  /** Alters every receipt that the node tells, however it is asked for. */
  const receipts =
    (alter: (receipt: Told) => unknown, count: () => void): Lie =>
    async ({ method, params }, answer) => {
      if (method === 'eth_getTransactionReceipt') {
        const outcome = await answer()
        if (!('result' in outcome) || outcome.result === null) return outcome
        count()
        return { result: alter(outcome.result as Told) }
      }
      if (method !== 'eth_getBlockReceipts') return undefined
      const block = await bench.chain.request('eth_getBlockByHash', [params[0], false])
      if (!('result' in block) || block.result === null) return { result: null }
      count()
      const all = await Promise.all(
        (block.result as { transactions: Hex[] }).transactions.map(async (hash) => {
          const outcome = await bench.chain.request('eth_getTransactionReceipt', [hash])
          return 'result' in outcome ? alter(outcome.result as Told) : undefined
        }),
      )
      return { result: all }
    }

  const forgeries: readonly (readonly [string, (receipt: Told) => unknown])[] = [
    ['a revert where it succeeded', (told) => ({ ...told, status: '0x0', logs: [] })],
    [
      'an event of a larger amount',
      (told) => ({ ...told, logs: told.logs.map((log) => ({ ...log, data: word(77_700n) })) }),
    ],
    ['no event at all', (told) => ({ ...told, logs: [] })],
    [
      'an event more',
      (told) => ({
        ...told,
        logs: [...told.logs, ...told.logs.map((log) => ({ ...log, logIndex: '0x1' }))],
      }),
    ],
    ['another amount of gas', (told) => ({ ...told, cumulativeGasUsed: '0x1' })],
  ]

  test('forged receipts and events: nothing is told until they are the block’s', async () => {
    bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    /** Beside what ana was given at the beginning, which may be told at any time. */
    const received = () =>
      bench.incoming
        .map(({ data }) => (data as { amount: string }).amount)
        .filter((amount) => amount !== '1000.00')
    for (const [name, alter] of forgeries) {
      const told = [bench.events.length, received().length]
      const id = await bench.pay(ana, bia)
      await bench.reaches(id, 'broadcast')
      let lies = 0
      bench.node.lie(receipts(alter, () => lies++))
      await bench.chain.mine()
      await bench.until(async () => lies >= 3)
      expect([name, (await bench.read(id)).status]).toEqual([name, 'broadcast'])
      expect([name, bench.events.length, received().length]).toEqual([name, ...told] as never)
      bench.node.lie(undefined)
      await bench.reaches(id, 'confirmed')
      await bench.until(async () => received().length > told[1]!)
    }
    expect(bench.events.map(({ type }) => type)).toEqual(
      forgeries.map(() => 'drex.transfer.confirmed'),
    )
    expect(received()).toEqual(forgeries.map(() => '1.00'))
    expect(await bench.scrape()).toMatch(/drex_blocks_unproven_total\{network="drex_testnet"\} \d/)
  })

  test('receipts of two transactions exchanged: each gets its own end', async () => {
    bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
    const [ana, bia, eva] = [await bench.wallet(), await bench.wallet(0n), await bench.wallet(100n)]
    const ids = [await bench.pay(ana, bia), await bench.pay(eva, bia, '1.00')]
    await bench.until(async () => {
      const all = await Promise.all(ids.map(bench.read))
      return all.every(({ status }) => status === 'broadcast')
    })
    const hashes = (await Promise.all(ids.map(bench.read))).map(({ tx_hash }) => tx_hash as Hex)
    const other = (hash: Hex): Hex => {
      if (hash === hashes[0]) return hashes[1]!
      return hash === hashes[1] ? hashes[0]! : hash
    }
    let lies = 0
    bench.node.lie(async ({ method, params }) => {
      if (method !== 'eth_getTransactionReceipt') return undefined
      const outcome = await bench.chain.request(method, [other(params[0] as Hex)])
      if (!('result' in outcome) || outcome.result === null) return outcome
      lies++
      return { result: { ...outcome.result, transactionHash: params[0] } }
    })
    await bench.chain.mine()
    await bench.until(async () => lies >= 4)
    expect(bench.events).toEqual([])
    bench.node.lie(undefined)
    for (const [i, id] of ids.entries()) {
      await bench.reaches(id, 'confirmed')
      expect((await bench.read(id)).tx_hash).toBe(hashes[i]!)
    }
  })

  test('a header made to fit forged receipts has another hash: nothing is told', async () => {
    bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    const id = await bench.pay(ana, bia)
    await bench.reaches(id, 'broadcast')
    let lies = 0
    const lie = receipts(
      (told) => ({ ...told, status: '0x0', logs: [], logsBloom: `0x${'00'.repeat(256)}` }),
      () => {},
    )
    bench.node.lie(async (call, answer) => {
      const { method } = call
      if (!method.startsWith('eth_getBlockBy')) return lie(call, answer)
      const outcome = await answer()
      if (!('result' in outcome) || outcome.result === null) return outcome
      lies++
      return { result: { ...outcome.result, receiptsRoot: word(1n) } }
    })
    await bench.chain.mine()
    await bench.until(async () => lies >= 6)
    expect([(await bench.read(id)).status, bench.events]).toEqual(['broadcast', []])
    bench.node.lie(undefined)
    await bench.reaches(id, 'confirmed')
  })

  test('money that never came, told in ranges and in blocks: no statement and no event has it', async () => {
    bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
    const ana = await bench.wallet(100n)
    const [{ wallet_id }] = (
      (await bench.call('GET', '/v1/wallets')).json as { wallets: [{ wallet_id: string }] }
    ).wallets
    const page = async () =>
      (await bench.call('GET', `/v1/wallets/${wallet_id}/statement`)).json as {
        closing_balance: string
        as_of_block: number
      }
    await bench.until(async () => (await page()).closing_balance === '1.00')
    const topic: Hex = `0x${ana.slice(2).padStart(64, '0')}`
    let lies = 0
    const forged = (log: ToldLog): ToldLog => ({
      ...log,
      data: word(999_900n),
      topics: log.topics.with(2, topic),
    })
    const lie = receipts(
      (told) => ({ ...told, logs: told.logs.map(forged) }),
      () => lies++,
    )
    bench.node.lie(async (call, answer) => {
      if (call.method !== 'eth_getLogs') return lie(call, answer)
      const outcome = await answer()
      if (!('result' in outcome)) return outcome
      lies++
      return { result: (outcome.result as ToldLog[]).map(forged) }
    })
    const told = bench.incoming.length
    // Someone else's: once near the head, and once so far below it that it is read by range.
    await bench.admin.currency('mint', bench.admin.token, 0n).catch(() => {})
    await bench.wallet(50n)
    await bench.until(async () => lies >= 4)
    await bench.drex().stop?.()
    await bench.wallet(50n)
    for (let i = 0; i < 80; i++) await bench.chain.mine()
    await bench.restart()
    await bench.until(async () => lies >= 8)
    expect(bench.incoming.length).toBe(told)
    expect((await page()).closing_balance).toBe('1.00')
    bench.node.lie(undefined)
    await bench.until(async () => (await page()).as_of_block >= 80)
    expect((await page()).closing_balance).toBe('1.00')
  })
})

describe('what a header proves', () => {
  test('a block of two hundred transactions of every type that the engine makes', async () => {
    const chain = await createChain({ mining: 'manual' })
    const keys = Array.from({ length: 40 }, (_, i) => new Uint8Array(32).fill(i + 1))
    for (const [i, key] of keys.entries()) {
      for (let nonce = 0; nonce < 5; nonce++) {
        const unsigned = {
          chainId: chain.chainId,
          nonce,
          gasLimit: 100_000n,
          value: 0n,
          data: '0x00' as const,
          to: nonce === 4 ? undefined : addressOfPrivateKey(keys[(i + 1) % 40]!),
          fees:
            nonce % 2 === 0
              ? { kind: 'legacy' as const, gasPrice: 0n }
              : { kind: 'eip1559' as const, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
        }
        const { raw } = assemble(unsigned, sign(signingDigest(unsigned), key))
        await chain.request('eth_sendRawTransaction', [raw])
      }
    }
    await chain.mine()
    const told = await chain.request('eth_getBlockByNumber', ['latest', true])
    const block = readResult('eth_getBlockByNumber', (told as { result: unknown }).result)!
    const receipts: Receipt[] = []
    for (const each of block.transactions) {
      const { hash } = each as { hash: Hex }
      const outcome = await chain.request('eth_getTransactionReceipt', [hash])
      const { result } = outcome as { result: unknown }
      receipts.push(readResult('eth_getTransactionReceipt', result)!)
    }
    await chain.stop()
    expect(receipts.length).toBe(200)
    const proven = proveBlock(block, receipts, [])
    expect([...(proven?.receipts.values() ?? [])]).toEqual(receipts)
    const [first, second] = receipts
    const lies: readonly (readonly Receipt[])[] = [
      receipts.slice(1),
      [...receipts, first!],
      receipts.with(0, { ...first!, succeeded: false }),
      receipts.with(0, { ...first!, type: 2 }),
      receipts.with(0, { ...first!, cumulativeGasUsed: 1 }),
      receipts.with(0, { ...first!, logsBloom: undefined }),
      receipts.with(0, second!).with(1, first!),
    ]
    for (const lie of lies) expect(proveBlock(block, lie, [])).toBeUndefined()
    const [one, two] = block.transactions
    const exchanged = block.transactions.with(0, two!).with(1, one!)
    expect(proveBlock({ ...block, transactions: exchanged }, receipts, [])).toBeUndefined()
    const { header } = block
    for (const name of Object.keys(header!)) {
      const value = header![name as 'number' | 'miner' | 'requestsHash']
      const last = String(value).endsWith('e') ? 'f' : 'e'
      const altered =
        typeof value === 'bigint' ? value + 1n : `${(value ?? '0x00').slice(0, -1)}${last}`
      const lie = { ...block, header: { ...header!, [name]: altered } }
      expect([name, proveBlock(lie, receipts, [])]).toEqual([name, undefined])
    }
  })

  test('an empty list has the root that the Yellow Paper names', () => {
    expect(listRoot([])).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
  })

  test('what is not one item in its shortest form is not read', () => {
    const texts = ['', '81', '8101', 'b801ff', 'c1', 'c281', '0000', 'f800', 'bfffffffffffffffff']
    for (const text of texts) expect(decodeRlp(Buffer.from(text, 'hex'))).toBeUndefined()
    const deep = Buffer.from(`${'c8c7c6c5c4c3c2c1c0'}`, 'hex')
    expect(decodeRlp(deep)).toBeDefined()
    expect(decodeRlp(Buffer.concat([Buffer.from('c9', 'hex'), deep]))).toBeUndefined()
    const item = [Buffer.alloc(60, 7), [Buffer.from([1]), []], new Uint8Array(0)]
    expect(rlpEncode(decodeRlp(rlpEncode(item))!)).toEqual(rlpEncode(item))
  })

  /** The vector that the authors of QBFT publish for those who implement it (Consensys/qbft-tests, ef13cdbf). */
  const qbft = () => {
    const seals = [
      '2d98a30d2844aa05b4fcf3abcd333e195d4ad365726a7b9a5bc19744dcec0ad42d129ad2890b86c32a969a9b511d8c1c846f7eb694455bb29b7365ab260a188100',
      '6e65e1097c802f12fe12048871f228fc394fb005cbf5c55225adbff7e82c94d352fc83967effa3a777a9d50e677108b732258c7ef6e1a3e8fc34919b90e0f34e00',
      'b8462060df24936c7da7413fbf8ac706775d06ba052831075fd2059458ca91e971f35a7a90ec5225328fe25d6dec51de3a2d71e81a581ceb98acdafd5bcd12f801',
      'be1cb71a2525013ae8ac676505597229265960b4d34654dc88249d1bc7e07a324f44b16542adad19bddade1785ac9687b656cbf64685a2e6e6b4f04d9aad23cd00',
    ]
    const address = (digit: number) => `94${String(digit).padStart(40, '0')}`
    const vanity = 'a0000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'
    const extraData = (round: string, ...sealed: readonly string[]): Hex =>
      `0xf90178${vanity}ea${address(1)}${address(2)}d7${address(3)}81ff${round}f9010c${sealed.map((each) => `b841${each}`).join('')}`
    const empty: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
    const header = {
      parentHash: '0xa7762d3307dbf2ae6a1ae1b09cf61c7603722b2379731b6b90409cdb8c8288a0' as Hex,
      sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347' as Hex,
      stateRoot: '0xca07595b82f908822971b7e848398e3395e59ee52565c7ef3603df1a1fa7bc80' as Hex,
      transactionsRoot: empty,
      receiptsRoot: empty,
      miner: `0x${'00'.repeat(20)}` as Hex,
      logsBloom: `0x${'00'.repeat(256)}` as Hex,
      difficulty: 1n,
      number: 1n,
      gasLimit: 4_704_588n,
      gasUsed: 0n,
      timestamp: 1_530_674_616n,
      mixHash: '0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365' as Hex,
      nonce: '0x0000000000000000' as Hex,
      baseFeePerGas: undefined,
      withdrawalsRoot: undefined,
      blobGasUsed: undefined,
      excessBlobGas: undefined,
      parentBeaconBlockRoot: undefined,
      requestsHash: undefined,
    }
    const hash: Hex = '0x8d8736980278155e486cf0543c0a53cd3a3c961c3b976c6a4ac7dc5310dad88d'
    return { header, hash, extraData, seals }
  }

  test('a QBFT block has the hash that the authors of QBFT publish, whatever its round and seals', () => {
    const { header, hash, extraData, seals } = qbft()
    const told = extraData('8400fedcba', ...seals)
    expect(isHeaderOf({ ...header, extraData: told }, hash)).toBe(true)
    // Neither is part of what is hashed: validators seal the hash, in whatever round they agree.
    const other = extraData('8400fedcbb', ...seals.toReversed())
    expect(isHeaderOf({ ...header, extraData: other }, hash)).toBe(true)
    const wrong = told.replace('0000000002d7', '0000000009d7') as Hex
    expect(wrong).not.toBe(told)
    expect(isHeaderOf({ ...header, extraData: wrong }, hash)).toBe(false)
    expect(isHeaderOf({ ...header, extraData: told, gasUsed: 1n }, hash)).toBe(false)
    // Another consensus hashes all of it.
    expect(isHeaderOf({ ...header, extraData: told, mixHash: hash }, hash)).toBe(false)
  })

  test('a block is sealed if two thirds of the trusted validators signed it, in the round that it tells', () => {
    const keys = [1, 2, 3, 4].map((digit) => new SigningKey(`0x${String(digit).repeat(64)}`))
    const validators = keys.map((key) => computeAddress(key).toLowerCase() as Hex)
    const { header } = qbft()
    const vanity = `0x${'00'.repeat(32)}`
    // Made by another library, as the authors of Besu describe it: the seals of QBFT empty, of IBFT 2.0 left out.
    const digestOf = (extra: readonly unknown[]) => {
      const number = (value: bigint) => (value === 0n ? '0x' : toBeHex(value))
      const { parentHash, sha3Uncles, miner, stateRoot, transactionsRoot, receiptsRoot } = header
      const { difficulty, gasLimit, gasUsed, timestamp, logsBloom, mixHash, nonce } = header
      return keccak256(
        encodeRlp([
          parentHash,
          sha3Uncles,
          miner,
          stateRoot,
          transactionsRoot,
          receiptsRoot,
          logsBloom,
          ...[difficulty, header.number, gasLimit, gasUsed, timestamp].map(number),
          encodeRlp(extra as never),
          mixHash,
          nonce,
        ]),
      )
    }
    const round = '0x02'
    const sealed = (by: readonly SigningKey[], empty: readonly unknown[], told = round) => {
      const digest = digestOf([vanity, validators, '0x', round, ...empty])
      const seals = by.map((key) => {
        const { r, s, yParity } = key.sign(digest)
        return `${r}${s.slice(2)}0${yParity}`
      })
      const extraData = encodeRlp([vanity, validators, '0x', told, seals] as never) as Hex
      return { ...header, extraData }
    }
    for (const empty of [[[]], []]) {
      expect(isSealedBy(sealed(keys.slice(1), empty), validators)).toBe(true)
      expect(isSealedBy(sealed(keys.slice(2), empty), validators)).toBe(false)
      // One that seals twice is one, and strangers are none, whomever the header names.
      const [, , third, fourth] = keys as [SigningKey, SigningKey, SigningKey, SigningKey]
      expect(isSealedBy(sealed([third, third, fourth], empty), validators)).toBe(false)
      const strangers = [`0x${'77'.repeat(20)}`, `0x${'78'.repeat(20)}`] as const
      expect(isSealedBy(sealed(keys, empty), strangers)).toBe(false)
      expect(isSealedBy(sealed(keys, empty, '0x03'), validators)).toBe(false)
      expect(isSealedBy({ ...sealed(keys, empty), gasUsed: 1n }, validators)).toBe(false)
    }
    expect(isSealedBy({ ...header, extraData: '0x' }, validators)).toBe(false)
    expect(isSealedBy({ ...header, extraData: qbft().extraData('80') }, validators)).toBe(false)
  })

  test('where validators are named, blocks without their seals tell no end', async () => {
    const bench = await createBench({
      env: { DREX_TESTNET_VALIDATORS: `0x${'77'.repeat(20)}` },
    })
    try {
      const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
      const id = await bench.pay(ana, bia)
      await bench.until(async () => (await bench.balance(bia)) === 100n)
      await Bun.sleep(500)
      expect(['signed', 'broadcast']).toContain((await bench.read(id)).status)
      await bench.restart({ DREX_TESTNET_VALIDATORS: '' })
      await bench.reaches(id, 'confirmed')
    } finally {
      await bench.stop()
    }
  }, 60_000)

  test('a header of an unknown form proves nothing', () => {
    const hash: Hex = `0x${'00'.repeat(32)}`
    const bloom: Hex = `0x${'00'.repeat(256)}`
    const roots = { parentHash: hash, sha3Uncles: hash, stateRoot: hash, transactionsRoot: hash }
    const counts = { difficulty: 1n, number: 1n, gasLimit: 1n, gasUsed: 0n, timestamp: 1n }
    const later = { withdrawalsRoot: undefined, blobGasUsed: undefined, excessBlobGas: undefined }
    const header = {
      ...roots,
      ...counts,
      ...later,
      receiptsRoot: hash,
      logsBloom: bloom,
      miner: `0x${'00'.repeat(20)}` as Hex,
      nonce: '0x0000000000000000' as Hex,
      baseFeePerGas: undefined,
      parentBeaconBlockRoot: undefined,
      requestsHash: undefined,
      mixHash: '0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365' as Hex,
    }
    for (const extraData of ['0x', '0xc0', `0x${'c1'.repeat(5_000)}`] as const) {
      expect(isHeaderOf({ ...header, extraData }, hash)).toBe(false)
    }
  })
})
