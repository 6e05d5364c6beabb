import { afterEach, describe, expect, test } from 'bun:test'
import type { Hex } from '../../src/drex/evm/hex.ts'
import type { FaultKind } from '../../src/simulators/chain/index.ts'
import { adminAddress, type Bench, createBench, type TransferBody } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const ends = ['confirmed', 'reverted', 'failed', 'cancelled']

/** Its decimals are read in the background: without them no transfer is taken while the node is away. */
const currencyKnown = () =>
  bench.until(async () => (await bench.database.sql`select 1 from drex_tokens`).length > 0)

const mineUntilConfirmed = (id: string): Promise<void> =>
  bench.until(async () => {
    await bench.chain.mine()
    await Bun.sleep(50)
    return (await bench.read(id)).status === 'confirmed'
  })

const allEnd = async (ids: readonly string[], wanted = 'confirmed'): Promise<void> => {
  for (const id of ids) {
    let last = ''
    await bench.until(async () => {
      last = (await bench.read(id)).status
      return ends.includes(last)
    }, 60_000)
    expect(last).toBe(wanted)
  }
}

describe('what a node may do wrong', () => {
  for (const kind of [
    'unavailable',
    'lost_reply',
    'rate_limited',
    'internal_error',
    'dropped',
    'known',
    'garbage',
  ] satisfies FaultKind[]) {
    test(`${kind} at every third submission: all arrive, each once`, async () => {
      bench = await createBench({ chain: { random: repeating([0.9, 0.1, 0.5]) } })
      const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
      bench.chain.faults.set([{ kind, method: 'eth_sendRawTransaction', probability: 0.3 }])
      const ids = await Promise.all(Array.from({ length: 12 }, () => bench.pay(ana, bia)))
      await Bun.sleep(300)
      bench.chain.faults.set([])
      await allEnd(ids)
      expect(await bench.balance(bia)).toBe(1_200n)
    }, 60_000)
  }

  test('a node out of reach holds transfers back and fails none', async () => {
    bench = await createBench()
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    await currencyKnown()
    bench.chain.faults.set([{ kind: 'unavailable' }])
    const id = await bench.pay(ana, bia)
    await Bun.sleep(700)
    expect((await bench.read(id)).status).toBe('pending')
    const balance = await bench.call('GET', `/v1/drex/balance/${ana}`)
    expect(balance.status).toBe(503)
    expect(balance.json as object).toMatchObject({ error: { code: 'NETWORK_UNREACHABLE' } })
    bench.chain.faults.set([])
    await allEnd([id])
  }, 60_000)
})

const repeating = (values: readonly number[]): (() => number) => {
  let at = 0
  return () => values[at++ % values.length]!
}

describe('reorganisations', () => {
  test('a mined transfer whose block is lost goes back and is mined again', async () => {
    bench = await createBench({
      chain: { mining: 'manual' },
      env: { DREX_TESTNET_CONFIRMATIONS: '3' },
    })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    await bench.chain.markFork()
    const id = await bench.pay(ana, bia)
    await bench.reaches(id, 'broadcast')
    await bench.chain.mine()
    const mined = await bench.reaches(id, 'mined')
    await bench.chain.reorg()
    await bench.chain.mine()
    await bench.chain.mine()
    // Sent again with the same bytes: the same hash, in another block.
    await bench.until(async () => (await bench.read(id)).block_number !== mined.block_number)
    await mineUntilConfirmed(id)
    const confirmed = await bench.read(id)
    expect(confirmed.status).toBe('confirmed')
    expect(confirmed.tx_hash).toBe(mined.tx_hash)
    expect(confirmed.block_number).not.toBe(mined.block_number)
    expect(await bench.balance(bia)).toBe(100n)
    expect(bench.events.filter((each) => each.type === 'drex.transfer.confirmed').length).toBe(1)
  }, 60_000)

  test('one deeper than the confirmations: the same bytes go out again with the next transfer', async () => {
    bench = await createBench({ chain: { mining: 'manual' } })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    await bench.chain.markFork()
    const first = await bench.pay(ana, bia, '1.00')
    await bench.reaches(first, 'broadcast')
    await bench.chain.mine()
    await bench.reaches(first, 'confirmed')
    await bench.chain.reorg()
    expect(await bench.balance(bia)).toBe(0n)
    const second = await bench.pay(ana, bia, '2.00')
    await bench.reaches(second, 'broadcast')
    await mineUntilConfirmed(second)
    expect(await bench.balance(bia)).toBe(300n)
  }, 60_000)

  test('a transfer is not confirmed one block too early', async () => {
    bench = await createBench({
      chain: { mining: 'manual' },
      env: { DREX_TESTNET_CONFIRMATIONS: '3' },
    })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    const id = await bench.pay(ana, bia)
    await bench.reaches(id, 'broadcast')
    await bench.chain.mine()
    await bench.chain.mine()
    await bench.reaches(id, 'mined')
    await Bun.sleep(200)
    expect((await bench.read(id)).status).toBe('mined')
    await bench.chain.mine()
    await bench.reaches(id, 'confirmed')
  })
})

describe('after a stop', () => {
  test('what was signed but never sent is sent, and nothing is signed anew', async () => {
    bench = await createBench({ chain: { mining: 'manual' } })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    bench.chain.faults.set([{ kind: 'dropped', method: 'eth_sendRawTransaction' }])
    const ids = [await bench.pay(ana, bia), await bench.pay(ana, bia)]
    for (const id of ids) await bench.reaches(id, 'broadcast')
    const hashes = await Promise.all(ids.map(async (id) => (await bench.read(id)).tx_hash))
    bench.chain.faults.set([])
    await bench.restart()
    await mineUntilConfirmed(ids[1]!)
    await allEnd(ids)
    expect(await Promise.all(ids.map(async (id) => (await bench.read(id)).tx_hash))).toEqual(hashes)
    expect(await bench.balance(bia)).toBe(200n)
  }, 60_000)

  test('what was mined meanwhile is found by its hash', async () => {
    bench = await createBench({ chain: { mining: 'manual' } })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    const id = await bench.pay(ana, bia)
    await bench.reaches(id, 'broadcast')
    await bench.drex().stop?.()
    for (let i = 0; i < 3; i++) await bench.chain.mine()
    await bench.restart()
    await bench.reaches(id, 'confirmed')
  })

  test('receipts that no node tells are asked for in turns, and the others are found', async () => {
    bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    const id = await bench.pay(ana, bia)
    const { tx_hash } = await bench.reaches(id, 'broadcast')
    await bench.drex().stop?.()
    await bench.chain.mine()
    bench.node.lie(({ method, params }) =>
      method === 'eth_getTransactionReceipt' && params[0] === tx_hash
        ? { result: { transactionHash: tx_hash } }
        : undefined,
    )
    const { sql } = bench.database
    await sql`update drex_transactions set due_at = now() - interval '1 second' where hash = ${tx_hash!}`
    await bench.restart({ DREX_RESEND_MS: '60000' })
    // Due transactions come first, so one that cannot be read now is put off.
    await bench.until(async () => {
      const [row] = await sql`
        select due_at > now() as is_later from drex_transactions where hash = ${tx_hash!}`
      return row!['is_later'] === true
    })
    bench.node.lie(undefined)
    await bench.restart()
    await mineUntilConfirmed(id)
  }, 60_000)

  test('missing nonces are filled, so that those after them are mined', async () => {
    bench = await createBench()
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    await allEnd([await bench.pay(ana, bia)])
    await bench.database
      .sql`update drex_lanes set next_nonce = next_nonce + 3 where sender = ${ana}`
    const id = await bench.pay(ana, bia)
    await allEnd([id])
    const filled = await bench.database.sql`
      select status from drex_transactions where kind = 'gap_fill' and sender = ${ana}`
    expect(filled.length).toBe(3)
  }, 60_000)

  test('a nonce that somebody else used is known for lost: signed again, and the next transfers go on', async () => {
    bench = await createBench({ chain: { mining: 'manual' } })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    bench.chain.faults.set([{ kind: 'dropped', method: 'eth_sendRawTransaction' }])
    const lost = await bench.pay(ana, bia)
    await bench.reaches(lost, 'broadcast')
    const wallet = (await bench.drex().wallets.find(ana))!
    const signer = await bench.drex().wallets.signerFor(wallet.address, 'test')
    const { raw } = await signer.signTransaction({
      chainId: bench.chain.chainId,
      nonce: 0,
      gasLimit: 21_000n,
      fees: { kind: 'legacy', gasPrice: 0n },
      to: adminAddress,
      value: 0n,
      data: '0x',
    })
    await bench.chain.request('eth_sendRawTransaction', [raw])
    await bench.chain.mine()
    bench.chain.faults.set([])
    // Nothing of it can be mined any more: it is signed again, with the next nonce.
    await bench.until(async () => {
      const [row] = await bench.database.sql<{ nonce: bigint | null }[]>`
        select nonce from drex_transactions where subject = ${lost}`
      return row?.nonce === 1n
    })
    await bench.reaches(lost, 'broadcast')
    const next = await bench.pay(ana, bia)
    await bench.reaches(next, 'broadcast')
    await bench.chain.mine()
    await bench.reaches(lost, 'confirmed')
    await bench.reaches(next, 'confirmed')
    expect(await bench.balance(bia)).toBe(200n)
    const told = await bench.database.sql`
      select from_status, to_status, reason ->> 'code' as code from drex_corrections`
    expect([...told]).toEqual([
      { from_status: 'broadcast', to_status: 'pending', code: 'NONCE_TAKEN' },
    ])
  }, 60_000)

  test('another genesis block stops a network that should last', async () => {
    bench = await createBench()
    await bench.until(async () => {
      const rows = await bench.database.sql`select 1 from drex_network_state`
      return rows.length === 1
    })
    const other = `0x${'ab'.repeat(32)}`
    await bench.database.sql`update drex_network_state set genesis_hash = ${other}`
    await bench.restart()
    await bench.until(async () => (await bench.networkStatus()) === 'wrong_network')
  })
})

test('an ephemeral network that began anew: what was signed is lost, the rest goes on', async () => {
  bench = await createBench({ chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const signed = await bench.pay(ana, bia)
  await bench.reaches(signed, 'broadcast')
  await bench.drex().stop?.()
  const waiting = await bench.pay(ana, bia, '2.00')
  // Out of the way, as on a network that is new: nothing is mined from here on.
  await bench.chain.mine()
  await bench.database.sql`update drex_network_state set genesis_hash = ${`0x${'ab'.repeat(32)}`}`
  const file = `${process.env['TMPDIR'] ?? '/tmp'}/drex-networks-${process.pid}.json`
  await Bun.write(file, JSON.stringify({ drex_testnet: { ephemeral: true } }))
  await bench.restart({ DREX_NETWORKS_FILE: file })
  expect((await bench.reaches(signed, 'failed')).error?.code).toBe('NETWORK_RESET')
  await bench.reaches(waiting, 'broadcast')
  await Bun.file(file).delete()
})

describe('taking a transfer back', () => {
  test('before it is signed: at once; after: never without fees', async () => {
    bench = await createBench({ chain: { mining: 'manual' } })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    await currencyKnown()
    bench.chain.faults.set([{ kind: 'unavailable', method: 'eth_call' }])
    const pending = await bench.pay(ana, bia)
    const cancelled = await bench.call('POST', `/v1/drex/transfers/${pending}/cancel`)
    expect([cancelled.status, (cancelled.json as TransferBody).status]).toEqual([200, 'cancelled'])
    expect(bench.events.map((each) => each.type)).toEqual(['drex.transfer.cancelled'])
    bench.chain.faults.set([])
    const sent = await bench.pay(ana, bia)
    await bench.reaches(sent, 'broadcast')
    const refused = await bench.call('POST', `/v1/drex/transfers/${sent}/cancel`)
    expect(refused.status).toBe(409)
    expect((await bench.call('POST', '/v1/drex/transfers/trf_none/cancel')).status).toBe(404)
    await bench.chain.mine()
    await bench.reaches(sent, 'confirmed')
    expect((await bench.call('POST', `/v1/drex/transfers/${sent}/cancel`)).status).toBe(409)
  })

  test('an unsigned transfer expires; nothing is sent', async () => {
    bench = await createBench({ env: { DREX_EXPIRY_SECONDS: '1' } })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    await currencyKnown()
    bench.chain.faults.set([{ kind: 'unavailable', method: 'eth_call' }])
    const id = await bench.pay(ana, bia)
    const failed = await bench.reaches(id, 'failed')
    expect(failed.error?.code).toBe('EXPIRED')
    expect(failed.tx_hash).toBeNull()
  })
})

describe('networks with fees', () => {
  const fees = {
    chain: {
      mining: 'manual' as const,
      gasPrice: 1_000n,
      balances: { [adminAddress]: 10n ** 20n },
    },
    env: { DREX_TESTNET_GAS_POLICY: 'legacy' },
  }

  async function funded(cents?: bigint): Promise<Hex> {
    const wallet = await bench.wallet(cents)
    await bench.chain.request('hardhat_setBalance', [wallet, '0x8ac7230489e80000'])
    return wallet
  }

  test('one without a receipt is replaced for at least a tenth more, and counts once', async () => {
    bench = await createBench(fees)
    const [ana, bia] = [await funded(), await funded(0n)]
    const id = await bench.pay(ana, bia)
    const first = await bench.reaches(id, 'broadcast')
    // It is sent again as it is, since no block was made that a fee could have brought it into.
    await bench.until(async () => {
      const [row] = await bench.database.sql<{ attempts: number }[]>`
        select attempts from drex_transactions where subject = ${id}`
      return (row?.attempts ?? 0) > 2
    })
    expect((await bench.database.sql`select 1 from drex_attempts`).length).toBe(0)
    // Nothing that is sent again comes back into the pool before the replacement is there.
    bench.chain.faults.set([{ kind: 'dropped', method: 'eth_sendRawTransaction' }])
    await bench.chain.request('hardhat_dropTransaction', [first.tx_hash])
    const bumps = () => bench.database.sql<{ hash: string; max_fee: string }[]>`
      select hash, max_fee from drex_attempts where kind = 'bump'`
    // What was sent again after a block is replaced only when there is another.
    await bench.until(async () => {
      await bench.chain.mine()
      return (await bumps()).length > 0
    })
    bench.chain.faults.set([])
    let maxFee = 0n
    await bench.until(async () => {
      // It is written down before it is sent: only in the pool does it take the place of the first.
      for (const { hash, max_fee } of await bumps()) {
        const pooled = await bench.chain.request('eth_getTransactionByHash', [hash])
        if ('result' in pooled && pooled.result !== null) maxFee = BigInt(max_fee)
      }
      return maxFee > 0n
    })
    expect(maxFee).toBeGreaterThanOrEqual(1_100n)
    await bench.chain.mine()
    const confirmed = await bench.reaches(id, 'confirmed')
    expect(confirmed.tx_hash).not.toBe(first.tx_hash)
    expect(await bench.balance(bia)).toBe(100n)
  }, 60_000)

  test('a signed transfer is cancelled by a transaction that does nothing', async () => {
    bench = await createBench(fees)
    const [ana, bia] = [await funded(), await funded(0n)]
    const id = await bench.pay(ana, bia)
    await bench.reaches(id, 'broadcast')
    const answer = await bench.call('POST', `/v1/drex/transfers/${id}/cancel`)
    expect(answer.status).toBe(200)
    await bench.chain.mine()
    await bench.reaches(id, 'cancelled')
    expect(await bench.balance(bia)).toBe(0n)
    expect(bench.events.at(-1)?.type).toBe('drex.transfer.cancelled')
  })
})
