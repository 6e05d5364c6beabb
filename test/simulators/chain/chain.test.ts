import { afterAll, describe, expect, test } from 'bun:test'
import { Transaction, Wallet } from 'ethers'
import {
  batchCallsMax,
  type Chain,
  createChain,
  pilotChainId,
} from '../../../src/simulators/chain/index.ts'

const wallet = new Wallet(`0x${'11'.repeat(32)}`)

const chain = await createChain({ mining: 'manual' })
afterAll(() => chain.stop())

type Reply = { id: unknown; result?: unknown; error?: { code: number; message: string } }

const post = async (body: unknown): Promise<Response> =>
  fetch(chain.url, { method: 'POST', body: JSON.stringify(body) })

const call = async (method: string, ...params: unknown[]): Promise<Reply> =>
  (await post({ jsonrpc: '2.0', id: 9, method, params })).json() as Promise<Reply>

const signed = (nonce: number, changes: object = {}) =>
  wallet.signTransaction({
    type: 0,
    chainId: pilotChainId,
    nonce,
    to: `0x${'22'.repeat(20)}`,
    gasLimit: 21_000n,
    gasPrice: 0n,
    ...changes,
  })

const nonce = async () => Number((await call('eth_getTransactionCount', wallet.address)).result)

describe('embedded chain', () => {
  test('is the pilot’s network: chain id, gas price zero, loopback only', async () => {
    expect(await call('eth_chainId')).toEqual({
      jsonrpc: '2.0',
      id: 9,
      result: '0x16bfab61',
    } as never)
    expect((await call('eth_gasPrice')).result).toBe('0x0')
    expect(new URL(chain.url).hostname).toBe('127.0.0.1')
  })

  test('an unknown method is told as Besu tells it', async () => {
    expect((await call('eth_fooBar')).error).toEqual({ code: -32601, message: 'Method not found' })
    // Callers make up names without end: they are counted as one.
    const before = chain.calls()['refused'] ?? 0
    await post(['eth_foo', 'evm_foo'].map((method) => ({ jsonrpc: '2.0', id: 1, method })))
    expect(chain.calls()['refused']).toBe(before + 2)
    expect(Object.keys(chain.calls()).filter((name) => /foo/.test(name))).toEqual([])
  })

  test('a wallet without native coin transacts; the block’s receipts come together', async () => {
    const hash = (await call('eth_sendRawTransaction', await signed(await nonce()))).result
    expect((await call('eth_getTransactionReceipt', hash)).result).toBeNull()
    await chain.mine()
    const receipts = (await call('eth_getBlockReceipts', 'latest')).result as {
      transactionHash: string
    }[]
    expect(receipts.map((each) => each.transactionHash)).toEqual([String(hash)])
  })

  test('batches keep order and ids, up to the limit and not one more', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' }))
    const replies = (await (await post(many(batchCallsMax))).json()) as Reply[]
    expect(replies.map((each) => each.id)).toEqual(Array.from(many(batchCallsMax), (_, i) => i))
    const refused = (await (await post(many(batchCallsMax + 1))).json()) as Reply
    expect(refused.error?.code).toBe(-32005)
    expect(((await (await post([])).json()) as Reply).error?.code).toBe(-32005)
  })

  test('what is not JSON-RPC gets the standard’s error', async () => {
    const broken = await fetch(chain.url, { method: 'POST', body: '{' })
    expect(((await broken.json()) as Reply).error?.code).toBe(-32700)
    expect(((await (await post({ id: 1 })).json()) as Reply).error?.code).toBe(-32600)
    expect((await fetch(chain.url)).status).toBe(405)
  })

  test('refuses transactions with the codes of the real network’s client', async () => {
    const next = await nonce()
    const send = async (raw: string) => (await call('eth_sendRawTransaction', raw)).error
    const raw = await signed(next)
    await call('eth_sendRawTransaction', raw)
    expect(await send(raw)).toEqual({ code: -32000, message: 'Known transaction' })
    await chain.mine()
    expect((await send(await signed(next)))?.code).toBe(-32001)
    expect(await send(await signed(next + 1, { chainId: 1 }))).toEqual({
      code: -32000,
      message: 'Wrong chainId',
    })
    expect((await send(await signed(next + 1, { gasLimit: 20_999n })))?.code).toBe(-32003)
    expect((await send(await signed(next + 1, { value: 1n })))?.code).toBe(-32004)
  })

  test('of transactions sent together each is answered as if it came alone', async () => {
    const next = await nonce()
    const known = await signed(next)
    await call('eth_sendRawTransaction', known)
    const raws = [
      await signed(next + 1),
      known,
      await signed(next + 2, { gasLimit: 20_999n }),
      await signed(next + 2),
    ]
    const send = async (ids: readonly number[]) =>
      (await (
        await post(
          ids.map((id) => ({
            jsonrpc: '2.0',
            id,
            method: 'eth_sendRawTransaction',
            params: [raws[id]],
          })),
        )
      ).json()) as Reply[]
    const hash = (id: number) => String(Transaction.from(raws[id]!).hash)
    const told = (replies: readonly Reply[]) =>
      replies.map(({ result, error }) => result ?? error?.message)
    const refusal = 'Intrinsic gas exceeds gas limit'
    expect(told(await send([0, 1, 2, 3]))).toEqual([hash(0), 'Known transaction', refusal, hash(3)])
    expect(told(await send([0, 3]))).toEqual(['Known transaction', 'Known transaction'])
    await chain.mine()
    expect(await nonce()).toBe(next + 3)
  })

  test('a nonce ahead of the account waits in the pool', async () => {
    const next = await nonce()
    await call('eth_sendRawTransaction', await signed(next + 1))
    await chain.mine()
    expect(await nonce()).toBe(next)
    await call('eth_sendRawTransaction', await signed(next))
    await chain.mine()
    expect(await nonce()).toBe(next + 2)
  })

  test('a reorganisation drops the transaction and changes the hashes', async () => {
    await chain.markFork()
    const hash = (await call('eth_sendRawTransaction', await signed(await nonce()))).result
    await chain.mine()
    const before = (await call('eth_getBlockByNumber', 'latest', false)).result as {
      hash: string
      number: string
    }
    expect((await call('eth_getTransactionReceipt', hash)).result).not.toBeNull()
    await chain.reorg()
    expect((await call('eth_getTransactionReceipt', hash)).result).toBeNull()
    const after = (await call('eth_getBlockByNumber', before.number, false)).result
    expect((after as { hash: string }).hash).not.toBe(before.hash)
    await chain.mine()
    expect((await call('eth_getTransactionReceipt', hash)).result).toBeNull()
  })
})

describe('faults on demand', () => {
  test('each kind does what it says', async () => {
    const raw = await signed(await nonce())
    const strike = (kind: Parameters<Chain['faults']['set']>[0][number]['kind']) =>
      chain.faults.set([{ kind, method: 'eth_sendRawTransaction', times: 1 }])
    const submit = () =>
      post({ jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [raw] })

    strike('unavailable')
    expect((await submit()).status).toBe(503)
    strike('rate_limited')
    expect((await submit()).status).toBe(429)
    strike('internal_error')
    expect(((await (await submit()).json()) as Reply).error?.code).toBe(-32603)
    strike('dropped')
    const dropped = (await (await submit()).json()) as Reply
    await chain.mine()
    expect((await call('eth_getTransactionReceipt', dropped.result)).result).toBeNull()

    strike('lost_reply')
    expect((await submit()).status).toBe(504)
    await chain.mine()
    // The caller learnt nothing, yet it happened: the same hash is there.
    expect((await call('eth_getTransactionReceipt', dropped.result)).result).not.toBeNull()
  })

  test('garbage and known', async () => {
    const raw = await signed(await nonce())
    chain.faults.set([{ kind: 'known', method: 'eth_sendRawTransaction', times: 1 }])
    expect((await call('eth_sendRawTransaction', raw)).error?.message).toBe('Known transaction')
    await chain.mine()
    chain.faults.set([{ kind: 'garbage', times: 1 }])
    await expect(call('eth_chainId')).rejects.toThrow()
    expect((await call('eth_chainId')).result).toBe('0x16bfab61')
  })

  test.each([
    ['unavailable', 503],
    ['rate_limited', 429],
  ] as const)('a batch that is answered %s was not done in part', async (kind, status) => {
    const before = await nonce()
    const raws = [await signed(before), await signed(before + 1)]
    const { faults } = chain
    faults.set([{ kind, method: 'eth_chainId', times: 1 }])
    const methods = [...raws.map((raw) => ['eth_sendRawTransaction', raw]), ['eth_chainId']]
    const calls = methods.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }))
    expect((await post(calls)).status).toBe(status)
    await chain.mine()
    expect(await nonce()).toBe(before)
  })

  test.each(['dropped', 'known'] as const)('%s strikes what is sent, no question', async (kind) => {
    chain.faults.set([{ kind }])
    expect((await call('eth_chainId')).result).toBe('0x16bfab61')
    expect((await call('eth_sendRawTransaction', '0x01')).error === undefined).toBe(
      kind === 'dropped',
    )
    chain.faults.set([])
  })

  test('chance is repeatable when its source is', async () => {
    const seeded = await createChain({ mining: 'manual', random: () => 0.3 })
    seeded.faults.set([{ kind: 'unavailable', probability: 0.3 }])
    expect(seeded.faults.strike('eth_chainId')).toBeUndefined()
    seeded.faults.set([{ kind: 'unavailable', probability: 0.31 }])
    expect(seeded.faults.strike('eth_chainId')).toBe('unavailable')
    await seeded.stop()
  })
})
