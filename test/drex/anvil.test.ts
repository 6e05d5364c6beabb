/**
 * The same feature against another node: anvil, where it is built for the platform. Elsewhere these tests are shown as
 * skipped.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Anvil, findAnvil, startAnvil } from '../support/anvil.ts'
import { createNodeBench, type NodeBench } from './node-bench.ts'
import { createAdmin, hostileCode } from './support.ts'

const path = findAnvil()

describe.skipIf(path === undefined)('anvil', () => {
  let anvil: Anvil
  let node: NodeBench

  beforeAll(async () => {
    anvil = await startAnvil(String(path))
    const admin = await createAdmin(anvil)
    const env = { DREX_TESTNET_CONFIRMATIONS: '2' }
    node = await createNodeBench({ node: anvil, admin, env, cents: 1_000n })
  }, 60_000)
  afterAll(async () => {
    await node.bench.stop()
    await anvil.stop()
  })

  test('a transfer from the request to its confirmation', async () => {
    const { balance, bia, demand, pay, reached } = node
    const id = await pay()
    await reached(id, 'broadcast')
    await demand('evm_mine')
    await reached(id, 'mined')
    await demand('evm_mine')
    await reached(id, 'confirmed')
    expect(await balance(bia)).toBe(100n)
  })

  test('a reorganisation drops the transaction: the same bytes are mined in another block', async () => {
    const { balance, bench, bia, demand, pay, reached, read } = node
    const id = await pay()
    await reached(id, 'broadcast')
    await demand('evm_mine')
    await reached(id, 'mined')
    const { tx_hash } = await read(id)
    await demand('anvil_reorg', [1, []])
    expect(await balance(bia)).toBe(100n)
    await bench.until(async () => {
      await demand('evm_mine')
      return (await read(id)).status === 'confirmed'
    }, 60_000)
    expect((await read(id)).tx_hash).toBe(tx_hash)
    expect(await balance(bia)).toBe(200n)
  }, 60_000)

  test('a call that reverts in its block with text nobody can store: the transfers beside it are confirmed', async () => {
    const { admin, ana, bench, demand, pay, reached } = node
    const hostile = (await admin.send(undefined, hostileCode))!
    const abi = [
      { type: 'function', name: 'poke', inputs: [], outputs: [], stateMutability: 'nonpayable' },
    ]
    const registered = await bench.call('POST', '/v1/contracts', { address: hostile, abi })
    expect(registered.status).toBe(201)
    const called = await bench.call('POST', `/v1/contracts/${hostile}/call`, {
      function: 'poke',
      params: [],
      signer_wallet: ana,
    })
    const { transaction_id: call } = called.json as { readonly transaction_id: string }
    const rowOf = async () => {
      const [row] = await bench.database.sql<
        { status: string; error: { revert?: object } | null }[]
      >`
        select status, error from drex_transactions where id = ${call}`
      return row!
    }
    await bench.until(async () => (await rowOf()).status === 'broadcast')
    const id = await pay()
    await reached(id, 'broadcast')
    // What was simulated well is refused by the time it is mined.
    await demand('anvil_setStorageAt', [hostile, `0x${'0'.repeat(64)}`, `0x${'0'.repeat(63)}1`])
    await demand('evm_mine')
    await demand('evm_mine')
    await reached(id, 'confirmed')
    await bench.until(async () => (await rowOf()).status === 'reverted')
    expect((await rowOf()).error?.revert).toEqual({ name: 'Error', args: ['a\ufffdb'] })
  }, 60_000)

  test('a token that answers true and moves nothing: never confirmed', async () => {
    const { admin, bench, demand, pay, reached, read } = node
    const token = (await admin.send(undefined, hostileCode))!
    await bench.restart({ DREX_TESTNET_TOKEN: token })
    const id = await pay()
    await reached(id, 'broadcast')
    await demand('evm_mine')
    await demand('evm_mine')
    await reached(id, 'failed')
    expect((await read(id)).error?.code).toBe('TRANSFER_MISMATCH')
    await bench.restart()
  }, 60_000)

  test('confirmed, then reorganised out: taken back, sent again, and confirmed in another block', async () => {
    const { balance, bench, bia, demand, pay, reached, read } = node
    const before = await balance(bia)
    const id = await pay()
    await reached(id, 'broadcast')
    await demand('evm_mine')
    await demand('evm_mine')
    await reached(id, 'confirmed')
    const { tx_hash } = await read(id)
    await demand('anvil_reorg', [2, []])
    expect(await balance(bia)).toBe(before)
    // Both are read at once: the event is seen here before the change that it tells of is committed.
    await bench.until(async () => {
      await demand('evm_mine')
      const { status, corrections } = await read(id)
      return status === 'confirmed' && corrections.length > 0
    })
    expect(bench.events.map(({ type }) => type).slice(-2)).toEqual([
      ...['drex.transfer.corrected', 'drex.transfer.confirmed'],
    ] as never)
    expect((await read(id)).tx_hash).toBe(tx_hash)
    expect(await balance(bia)).toBe(before + 100n)
  }, 60_000)
})
