/** The same feature against go-ethereum, where it is installed. Elsewhere these tests are shown as skipped. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { findGeth, type Geth, startGeth } from '../support/geth.ts'
import { createNodeBench, type NodeBench } from './node-bench.ts'
import { adminAddress, createAdmin } from './support.ts'

const path = findGeth()
const batchCallsMax = 12
const tenGwei = 10_000_000_000n

describe.skipIf(path === undefined)('geth (GETH_PATH)', () => {
  let geth: Geth
  let node: NodeBench

  beforeAll(async () => {
    geth = await startGeth(String(path), batchCallsMax)
    await geth.fund(adminAddress)
    node = await createNodeBench({
      node: geth,
      fund: geth.fund,
      cents: 10_000n,
      admin: await createAdmin(geth, tenGwei, true),
      env: { DREX_TESTNET_GAS_POLICY: 'eip1559', DREX_STALL_SECONDS: '0' },
    })
  }, 60_000)
  afterAll(async () => {
    await node.bench.stop()
    await geth.stop()
  })

  test('more transfers at once than it takes calls: all confirmed, by the proofs of its blocks', async () => {
    const { balance, bench, bia, demand, pay, reached, read } = node
    const ids = await Promise.all(Array.from({ length: 3 * batchCallsMax }, () => pay()))
    for (const id of ids) await reached(id, 'confirmed')
    expect(await balance(bia)).toBe(BigInt(ids.length) * 100n)
    const { tx_hash } = await read(ids[0]!)
    expect(await demand('eth_getTransactionByHash', [tx_hash])).toMatchObject({ type: '0x2' })
    const wallets = (await bench.call('GET', '/v1/wallets')).json as {
      wallets: { wallet_id: string; address: string }[]
    }
    const { wallet_id } = wallets.wallets.find(({ address }) => address.toLowerCase() === bia)!
    await bench.until(async () => {
      const { json } = await bench.call('GET', `/v1/wallets/${wallet_id}/statement`)
      return (json as { closing_balance?: string }).closing_balance === '36.00'
    })
  }, 60_000)

  test('its blocks are taken back: what was confirmed is sent again, and confirmed once', async () => {
    const { admin, balance, bench, bia, demand, pay, reached, read } = node
    const before = await balance(bia)
    const id = await pay()
    await reached(id, 'confirmed')
    const { tx_hash, block_number } = await read(id)
    await demand('debug_setHead', [`0x${(block_number! - 1).toString(16)}`])
    expect(await balance(bia)).toBe(before)
    // Another block in its place, which has not got the transfer.
    await admin.currency('enableAccount', `0x${'44'.repeat(20)}`)
    await bench.until(async () => {
      const { status, corrections } = await read(id)
      return status === 'confirmed' && corrections.length > 0
    })
    // The same bytes, or those of a raised fee under the same nonce: it counts as stalled after no time at all.
    const [sent] = await bench.database.sql<{ hashes: string[] }[]>`
      select array(select hash from drex_attempts where transaction_id = t.id) || t.hash as hashes
      from drex_transactions t where subject = ${id}`
    expect(sent?.hashes).toContain(tx_hash!)
    expect(sent?.hashes).toContain((await read(id)).tx_hash!)
    expect(await balance(bia)).toBe(before + 100n)
  }, 60_000)

  test('what it had mined already is known for mined when it is sent again', async () => {
    const { balance, bench, bia, pay, reached } = node
    const id = await pay()
    await reached(id, 'confirmed')
    const before = await balance(bia)
    const [sent] = await bench.database.sql<{ raw: Hex }[]>`
      select raw from drex_transactions where subject = ${id}`
    expect(await geth.request('eth_sendRawTransaction', [sent!.raw])).toMatchObject({
      error: { message: expect.stringContaining('nonce too low') },
    })
    await bench.database.sql`
      update drex_transactions set status = 'broadcast', due_at = now(), block_number = null,
        block_hash = null, mined_hash = null, succeeded = null, settled_at = null
      where subject = ${id}`
    await reached(id, 'confirmed')
    expect(await balance(bia)).toBe(before)
  }, 60_000)
})
