import { describe, expect, test } from 'bun:test'
import { correct } from '../../src/drex/engine/correction-store.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { expectOwnedByAccount } from '../support/app.ts'
import { benchOfFile, createBench, type TransferBody } from './support.ts'

const bench = await benchOfFile()
const ana = await bench.wallet(1_000_000n)
const bia = await bench.wallet(0n)

const request = (changes: object = {}) => ({
  from_wallet: ana,
  to_wallet: bia,
  amount: '150.00',
  reference: 'invoice-1',
  metadata: { description: 'rent' },
  ...changes,
})

const ended = (id: string): Promise<TransferBody> =>
  bench.reaches(id, ['confirmed', 'reverted', 'failed', 'cancelled'])

describe('a transfer', () => {
  test('is taken with 202, pending and without a hash, and ends confirmed', async () => {
    const { status, json } = await bench.call('POST', '/v1/drex/transfers', request())
    const created = json as TransferBody
    expect(status).toBe(202)
    expect(created).toMatchObject({
      status: 'pending',
      from_wallet: `${ana.slice(0, 6)}…${ana.slice(-4)}`,
      to_wallet: `${bia.slice(0, 6)}…${bia.slice(-4)}`,
      amount: '150.00',
      currency: 'DREX',
      tx_hash: null,
    })
    const transfer = await ended(created.transfer_id)
    expect(transfer).toMatchObject({ status: 'confirmed', error: null })
    expect(transfer.tx_hash).toMatch(/^0x[0-9a-f]{64}$/)
    expect(transfer.steps.map((step) => [step.kind, step.status])).toEqual([
      ['transfer', 'confirmed'],
    ])
    expect(await bench.balance(bia)).toBe(15_000n)
    expect(bench.events.at(-1)).toMatchObject({
      type: 'drex.transfer.confirmed',
      subject: created.transfer_id,
      data: { amount: '150.00', tx_hash: transfer.tx_hash },
    })
  })

  test('is told as of one moment: a correction between two of its statements is in none of the answer', async () => {
    const { transfer_id } = (await bench.call('POST', '/v1/drex/transfers', request()))
      .json as TransferBody
    const { block_number } = await ended(transfer_id)
    const { sql } = bench.database
    let answer: Promise<TransferBody> | undefined
    await sql.begin(async (tx) => {
      await tx`lock table drex_corrections in access exclusive mode`
      answer = bench.read(transfer_id)
      await bench.until(async () => {
        const waiting = await sql`
          select from pg_locks where not granted and relation = 'drex_corrections'::regclass`
        return waiting.count > 0
      })
      const [block] = await sql<{ hash: Hex }[]>`
        select block_hash as hash from drex_transactions where subject = ${transfer_id}`
      await correct(tx, 'drex_testnet', [{ number: block_number!, hash: block!.hash }], {
        code: 'REORGANISED',
        message: 'for this test',
      })
    })
    const { status, corrections, steps } = await answer!
    expect([status, steps.map((step) => step.status), corrections]).toEqual([
      'confirmed',
      ['confirmed'],
      [],
    ])
    await ended(transfer_id)
  })

  test('many from one wallet are in flight together and all arrive', async () => {
    const before = await bench.balance(bia)
    const created = await Promise.all(
      Array.from({ length: 120 }, () =>
        bench.call('POST', '/v1/drex/transfers', request({ amount: '0.01' })),
      ),
    )
    expect(created.every(({ status }) => status === 202)).toBe(true)
    for (const { json } of created) {
      expect((await ended((json as TransferBody).transfer_id)).status).toBe('confirmed')
    }
    expect(await bench.balance(bia)).toBe(before + 120n)
  }, 60_000)

  test('what the contract refuses fails in simulation, with its reason and without a nonce', async () => {
    const nonce = async () =>
      (await bench.chain.request('eth_getTransactionCount', [ana, 'latest'])) as { result: string }
    const before = (await nonce()).result
    const over = await bench.call('POST', '/v1/drex/transfers', request({ amount: '99999.00' }))
    const poor = await ended((over.json as TransferBody).transfer_id)
    expect(poor).toMatchObject({ status: 'failed', tx_hash: null })
    expect(poor.error).toMatchObject({
      code: 'SIMULATION_REVERTED',
      revert: { name: 'ERC20InsufficientBalance' },
    })
    const stranger = `0x${'99'.repeat(20)}`
    const denied = await bench.call('POST', '/v1/drex/transfers', request({ to_wallet: stranger }))
    expect((await ended((denied.json as TransferBody).transfer_id)).error?.revert?.name).toBe(
      'AccountNotAuthorized',
    )
    expect((await nonce()).result).toBe(before)
    expect(bench.events.at(-1)?.type).toBe('drex.transfer.failed')
  })

  test('one that only the chain refuses ends reverted, with the reason', async () => {
    const slow = await createBench({ chain: { mining: 'manual' } })
    const [rich, poor] = [await slow.wallet(100n), await slow.wallet(0n)]
    // Both pass simulation on the same state; only one can pass on the chain.
    const pay = { from_wallet: rich, to_wallet: poor, amount: '1.00' }
    for (let i = 0; i < 2; i++) await slow.call('POST', '/v1/drex/transfers', pay)
    const list = async () =>
      ((await slow.call('GET', '/v1/drex/transfers')).json as { transfers: TransferBody[] })
        .transfers
    const statuses = async () => (await list()).map((each) => each.status).sort()
    await slow.until(async () => (await statuses()).every((each) => each === 'broadcast'))
    await slow.chain.mine()
    await slow.until(async () => (await statuses()).join() === 'confirmed,reverted')
    expect((await list()).find((each) => each.status === 'reverted')?.error).toMatchObject({
      code: 'REVERTED',
      revert: { name: 'ERC20InsufficientBalance' },
    })
    expect(await slow.balance(rich)).toBe(0n)
    await slow.stop()
  })
})

describe('a bad request', () => {
  const cases: readonly (readonly [string, object, string])[] = [
    ['from_wallet', { from_wallet: '0x1' }, 'from_wallet'],
    ['checksum', { from_wallet: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD' }, 'from_wallet'],
    ['same wallet', { to_wallet: undefined }, 'to_wallet'],
    ['amount form', { amount: '150' }, 'amount'],
    ['amount zero', { amount: '0.00' }, 'amount'],
    ['amount number', { amount: 150 }, 'amount'],
    ['reference', { reference: 'x'.repeat(141) }, 'reference'],
    ['metadata', { metadata: { note: 'x'.repeat(4_096) } }, 'metadata'],
    ['network', { network: 'ethereum' }, 'network'],
  ]
  for (const [name, changes, field] of cases) {
    test(name, async () => {
      const { status, json } = await bench.call('POST', '/v1/drex/transfers', request(changes))
      expect(status).toBe(400)
      expect(json as object).toMatchObject({
        error: {
          code: expect.stringMatching(/^(VALIDATION_FAILED|VALUE_REFUSED)$/),
          details: { field },
        },
      })
    })
  }

  test('limits are reached, not passed: reference of 140, a transfer to oneself', async () => {
    const long = await bench.call(
      'POST',
      '/v1/drex/transfers',
      request({ reference: 'x'.repeat(140), amount: '0.01' }),
    )
    expect(long.status).toBe(202)
    const self = await bench.call('POST', '/v1/drex/transfers', request({ to_wallet: ana }))
    expect(self.status).toBe(400)
  })

  test('an unknown or merely watched wallet, and a network that is not configured', async () => {
    const unknown = `0x${'77'.repeat(20)}`
    const a = await bench.call('POST', '/v1/drex/transfers', request({ from_wallet: unknown }))
    expect([a.status, (a.json as { error: { code: string } }).error.code]).toEqual([
      404,
      'WALLET_NOT_FOUND',
    ])
    await bench.call('POST', '/v1/wallets', { type: 'external', label: 'w', address: unknown })
    const b = await bench.call('POST', '/v1/drex/transfers', request({ from_wallet: unknown }))
    expect([b.status, (b.json as { error: { code: string } }).error.code]).toEqual([
      422,
      'WALLET_CANNOT_SIGN',
    ])
    const c = await bench.call('POST', '/v1/drex/transfers', request({ network: 'drex_mainnet' }))
    expect(c.status).toBe(422)
    expect(c.json as object).toMatchObject({
      error: {
        code: 'NETWORK_NOT_CONFIGURED',
        details: { settings: ['DREX_MAINNET_RPC_URLS', 'DREX_MAINNET_TOKEN'] },
      },
    })
    expect((await bench.call('GET', '/v1/drex/transfers/trf_none')).status).toBe(404)
  })
})

describe('idempotency', () => {
  test('the same key and body: the same bytes, one movement, however many at once', async () => {
    const receiver = await bench.wallet(0n)
    const headers = { 'Idempotency-Key': 'pay-1' }
    const body = JSON.stringify(request({ to_wallet: receiver, amount: '1.00' }))
    const post = () => bench.call('POST', '/v1/drex/transfers', body, headers)
    const first = await Promise.all(Array.from({ length: 20 }, post))
    const later = await post()
    const ids = [...first, later].map(({ json }) => (json as TransferBody).transfer_id)
    expect(new Set(ids).size).toBe(1)
    expect(later.headers.get('Idempotent-Replayed')).toBe('true')
    const replayed = first.filter((each) => each.headers.has('Idempotent-Replayed'))
    expect(replayed.length).toBe(19)
    await ended(ids[0]!)
    expect(await bench.balance(receiver)).toBe(100n)
  })

  test('the same key with another body is refused', async () => {
    const headers = { 'Idempotency-Key': 'pay-2' }
    await bench.call('POST', '/v1/drex/transfers', request({ amount: '0.01' }), headers)
    const other = await bench.call(
      'POST',
      '/v1/drex/transfers',
      request({ amount: '0.02' }),
      headers,
    )
    expect(other.status).toBe(422)
  })
})

describe('lists and balances', () => {
  test('newest first, in pages, by wallet, status and reference', async () => {
    const one = (await bench.call('GET', `/v1/drex/transfers?wallet=${bia}&limit=3`)).json as {
      transfers: TransferBody[]
      next_cursor: string
    }
    expect(one.transfers.length).toBe(3)
    const two = (await bench.call('GET', `/v1/drex/transfers?limit=200&cursor=${one.next_cursor}`))
      .json as { transfers: TransferBody[]; next_cursor: string | null }
    const ids = [...one.transfers, ...two.transfers].map((each) => each.transfer_id)
    expect(ids).toEqual(ids.toSorted().toReversed())
    expect(new Set(ids).size).toBe(ids.length)
    const failed = (await bench.call('GET', '/v1/drex/transfers?status=failed')).json as {
      transfers: TransferBody[]
    }
    expect(failed.transfers.length).toBeGreaterThan(0)
    expect(failed.transfers.every((each) => each.status === 'failed')).toBe(true)
    const signed = (await bench.call('GET', '/v1/drex/transfers?status=confirmed&limit=1'))
      .json as {
      transfers: TransferBody[]
    }
    const [{ tx_hash: hash, transfer_id: id } = { tx_hash: '', transfer_id: '' }] = signed.transfers
    for (const written of [hash, hash?.toUpperCase().replace('0X', '0x')]) {
      const found = (await bench.call('GET', `/v1/drex/transfers?tx_hash=${written}`)).json as {
        transfers: TransferBody[]
      }
      expect(found.transfers.map((each) => each.transfer_id)).toEqual([id])
    }
    const within = async (query: string) =>
      (
        (await bench.call('GET', `/v1/drex/transfers?limit=200&${query}`)).json as {
          transfers: TransferBody[]
        }
      ).transfers.map((each) => each.transfer_id)
    const all = await within('')
    const [, , third = ''] = all
    // An id begins with its moment in milliseconds.
    const moment = new Date(Number.parseInt(third.slice('trf_'.length, 'trf_'.length + 12), 16))
    const older = await within(`to=${moment.toISOString()}`)
    const newer = await within(`from=${moment.toISOString()}`)
    expect(newer).toContain(third)
    expect([...newer, ...older]).toEqual(all)
    expect(await within(`from=${moment.toISOString()}&to=${moment.toISOString()}`)).toEqual([])
    const { json } = await bench.call('GET', `/v1/drex/transfers/${third}`)
    const { amount } = json as TransferBody
    const day = `from=${new Date(moment.getTime() - 3_600_000).toISOString()}&to=${new Date(moment.getTime() + 3_600_000).toISOString()}`
    expect(await within(`amount=${amount}&${day}`)).toContain(third)
    expect(await within(`amount=${amount}0&${day}`)).toContain(third)
    expect(await within(`amount_from=${amount}1&${day}`)).not.toContain(third)
    expect(await within(`amount_to=${amount}&amount_from=${amount}&${day}`)).toContain(third)
    const bad = [
      `amount=${amount}`,
      `amount=-1&${day}`,
      'from=yesterday',
      'limit=0',
      'limit=201',
      'cursor=x',
      'status=gone',
      'wallet=1',
      'other=1',
      'tx_hash=1',
    ]
    for (const query of bad) {
      expect((await bench.call('GET', `/v1/drex/transfers?${query}`)).status).toBe(400)
    }
  })

  test('a balance: total, frozen, available, authorised', async () => {
    const caio = await bench.wallet(50_000n)
    await bench.admin.currency('increaseFrozenBalance', caio, 12_345n)
    const { json } = await bench.call('GET', `/v1/drex/balance/${caio}`)
    expect(json as object).toMatchObject({
      balance: '500.00',
      total: '500.00',
      frozen: '123.45',
      available: '376.55',
      authorised: true,
      currency: 'DREX',
      network: 'drex_testnet',
    })
    expect(((json as { wallet: string }).wallet as string).toLowerCase()).toBe(caio)
    const nobody = (await bench.call('GET', `/v1/drex/balance/0x${'12'.repeat(20)}`)).json
    expect(nobody as object).toMatchObject({ balance: '0.00', authorised: false })
    expect((await bench.call('GET', '/v1/drex/balance/0x12')).status).toBe(400)
  })

  test('metrics count what ended and what waits', async () => {
    const text = await bench.scrape()
    expect(text).toMatch(
      /drex_transactions_ended_total\{network="drex_testnet",kind="transfer",status="confirmed"\} \d+/,
    )
    expect(text).toMatch(
      /drex_transactions_ended_total\{network="drex_testnet",kind="transfer",status="failed"\} 2/,
    )
    expect(text).toContain('# TYPE drex_transactions_open gauge')
  })

  test('networks say what is configured and what is dead', async () => {
    const { networks } = (await bench.call('GET', '/v1/drex/networks')).json as {
      networks: { id: string; configured: boolean; deprecated: boolean; replaced_by: string }[]
    }
    expect(networks.map((each) => [each.id, each.configured])).toEqual([
      ['drex_testnet', true],
      ['drex_mainnet', false],
      ['eth_sepolia', false],
      ['polygon_amoy', false],
      ['polygon_mumbai', false],
    ])
    expect(networks.at(-1)).toMatchObject({ deprecated: true, replaced_by: 'polygon_amoy' })
  })
})

test('a transfer belongs to the account: a rotated API key does not pay twice', async () => {
  const answerTo = async (
    path: string,
    body: object,
    headers: Readonly<Record<string, string>>,
  ) => {
    const { status, json, headers: sent } = await bench.call('POST', path, body, headers)
    return Response.json(json, { status, headers: sent })
  }
  let calls = 0
  await expectOwnedByAccount(async (headers) => {
    const pay = request({ to_wallet: `0x${'22'.repeat(20)}` })
    calls++
    if (calls < 3) return answerTo('/v1/drex/transfers', pay, headers)
    // The third call is another account's, which has no right to the first one's wallet.
    const { Authorization } = headers as { Authorization: string }
    const wallet = { type: 'managed', label: 'other' }
    const made = await answerTo('/v1/wallets', wallet, { Authorization })
    const { address } = (await made.json()) as { address: string }
    return answerTo('/v1/drex/transfers', { ...pay, from_wallet: address }, headers)
  })
})
