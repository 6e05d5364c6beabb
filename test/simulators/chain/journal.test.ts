import { expect, test } from 'bun:test'
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { demand } from '../../../src/simulators/chain/engine.ts'
import {
  createIssuer,
  createKeptChain,
  type KeptChain,
} from '../../../src/simulators/chain/index.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/until.ts'

const wallets = [1, 2, 3].map((n) => `0x${String(n).repeat(40)}`)

/** Everything that a gateway could have kept of a chain. A block that holds nothing may be made behind it at any time. */
const historyOf = async (chain: KeptChain) => {
  const head = Number(await demand(chain, 'eth_blockNumber'))
  const blocks: unknown[] = []
  for (let number = 0; number <= head; number++) {
    const block = (await demand(
      chain,
      'eth_getBlockByNumber',
      `0x${number.toString(16)}`,
      true,
    )) as { transactions: readonly { hash: string }[] }
    const receipts = await Promise.all(
      block.transactions.map(({ hash }) => demand(chain, 'eth_getTransactionReceipt', hash)),
    )
    blocks.push({ block, receipts })
  }
  return blocks
}

test('a chain goes on where it ended, block by block the same', async () => {
  const path = join(temporaryDirectory(), 'chain.jsonl')
  const first = await createKeptChain({ path, blockTimeMs: 20 })
  expect(first.isContinued).toBe(false)
  const issuer = await createIssuer(first)
  for (const [i, wallet] of wallets.entries()) await issuer.fund(wallet, BigInt(i + 1))
  await first.mine()
  const history = await historyOf(first)
  await first.stop()

  // A process that was killed while it wrote leaves half a line.
  appendFileSync(path, '{"at":17000')
  const second = await createKeptChain({ path, blockTimeMs: 20 })
  expect(second.isContinued).toBe(true)
  expect((await historyOf(second)).slice(0, history.length)).toEqual(history)
  const again = await createIssuer(second)
  expect(again.token).toBe(issuer.token)
  expect(await Promise.all(wallets.map(again.balanceOf))).toEqual([1n, 2n, 3n])
  await again.fund(wallets[0]!, 10n)
  // Several at once, one of which is refused.
  const sender = new Wallet(`0x${'33'.repeat(32)}`)
  const raws = await Promise.all(
    [0, 1, 7].map((nonce) =>
      sender.signTransaction({
        type: 0,
        chainId: second.chainId,
        nonce,
        to: sender.address,
        gasPrice: 0n,
        gasLimit: nonce === 7 ? 1n : 21_000n,
      }),
    ),
  )
  const outcomes = await second.send(raws)
  expect(outcomes.map((each) => 'result' in each)).toEqual([true, true, false])
  await second.mine()
  const longer = await historyOf(second)
  await second.stop()

  const third = await createKeptChain({ path, blockTimeMs: 20 })
  expect((await historyOf(third)).slice(0, longer.length)).toEqual(longer)
  await third.stop()
})

test('a block holds what was written down for it, however much comes while it is mined', async () => {
  const path = join(temporaryDirectory(), 'chain.jsonl')
  const first = await createKeptChain({ path, blockTimeMs: 1 })
  const issuer = await createIssuer(first)
  const funding = Array.from({ length: 40 }, (_, i) =>
    issuer.fund(wallets[i % wallets.length]!, 1n),
  )
  const mining = Array.from({ length: 20 }, () => first.mine())
  await Promise.all([...funding, ...mining])
  const history = await historyOf(first)
  await first.stop()
  const second = await createKeptChain({ path, blockTimeMs: 1 })
  const again = await historyOf(second)
  expect(again.slice(0, history.length)).toEqual(history)
  await second.stop()
})

test('what is sent is mined soon after, and is there after a stop', async () => {
  const path = join(temporaryDirectory(), 'chain.jsonl')
  const chain = await createKeptChain({ path, blockTimeMs: 10 })
  await demand(chain, 'hardhat_setBalance', wallets[0]!, '0xff')
  const height = async () => Number(await demand(chain, 'eth_blockNumber'))
  await until(async () => (await height()) > 0)
  // What was not sent makes no block.
  expect(await height()).toBe(1)
  await demand(chain, 'hardhat_setBalance', wallets[1]!, '0xfe')
  await chain.stop()
  const next = await createKeptChain({ path, blockTimeMs: 10 })
  expect(await demand(next, 'eth_getBalance', wallets[1]!, 'latest')).toBe('0xfe')
  await next.stop()
})

test('what is mined over RPC is kept too; what would not be is refused', async () => {
  const path = join(temporaryDirectory(), 'chain.jsonl')
  const chain = await createKeptChain({ path, blockTimeMs: 60_000 })
  const call = async (method: string, ...params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await fetch(chain.url, { method: 'POST', body })
    return (await answer.json()) as { result?: unknown; error?: { code: number } }
  }
  await call('hardhat_setBalance', wallets[0]!, '0xff')
  const snapshot = await call('evm_snapshot')
  expect(await call('evm_mine')).toMatchObject({ result: '0' })
  await call('evm_mine')
  for (const [method, ...params] of [
    ['evm_revert', snapshot.result ?? '0x1'],
    ['evm_increaseTime', 60],
    ['evm_setNextBlockTimestamp', 4_000_000_000],
    ['evm_setAutomine', true],
    ['evm_setIntervalMining', 10],
    ['evm_mine', 4_000_000_000],
    ['hardhat_mine', '0x5'],
    ['hardhat_setNonce', wallets[0], '0x5'],
    ['hardhat_reset'],
    ['hardhat_dropTransaction', `0x${'0'.repeat(64)}`],
  ] as const) {
    expect([method, await call(method, ...params)]).toMatchObject([
      method,
      { error: { code: -32604 } },
    ])
  }
  const history = await historyOf(chain)
  expect(history).toHaveLength(3)
  await chain.stop()
  const next = await createKeptChain({ path, blockTimeMs: 60_000 })
  expect([next.isContinued, (await historyOf(next)).slice(0, 3)]).toEqual([true, history])
  await next.stop()
})

const genesis = 1_700_000_000
const linesOf = (...lines: readonly object[]) =>
  lines.map((each) => `${JSON.stringify(each)}\n`).join('')
const begin = { journal: 1, genesis }

test('a file that cannot be run again is set aside', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'chain.jsonl')
  const impossible = { at: 2_000_000_000, sent: [['eth_sendRawTransaction', ['0x01']]] }
  // A process that was killed at its first write leaves the last three.
  const cut = ['{', '{"jour', '{"journal":1,"genesis":17']
  const contents = [linesOf(begin, impossible), linesOf(begin, {}), ...cut]
  for (const content of contents) {
    writeFileSync(path, content)
    const chain = await createKeptChain({ path, blockTimeMs: 10 })
    expect(chain.isContinued).toBe(false)
    expect(Number(await demand(chain, 'eth_blockNumber'))).toBe(0)
    expect(readFileSync(path, 'utf8').split('\n').length).toBe(2)
    expect(readFileSync(chain.setAside ?? '', 'utf8')).toBe(content)
    await chain.stop()
  }
  expect(readdirSync(directory)).toHaveLength(contents.length + 1)
})

test('a chain whose first line lacks its line break goes on, again and again', async () => {
  const path = join(temporaryDirectory(), 'chain.jsonl')
  writeFileSync(path, linesOf(begin).trimEnd())
  for (const height of [0, 1]) {
    const chain = await createKeptChain({ path, blockTimeMs: 10 })
    expect(chain.isContinued).toBe(true)
    expect(Number(await demand(chain, 'eth_blockNumber'))).toBe(height)
    await chain.mine()
    await chain.stop()
  }
  expect(readFileSync(path, 'utf8')).toStartWith(linesOf(begin))
})

test('a file that is no chain stays as it is; one without content is none', async () => {
  const path = join(temporaryDirectory(), 'notes.txt')
  const others = ['nothing\n', 'nothing', '{"journal":2}\n', '\n', '{"journal":2', '{"jour\n', '17']
  for (const content of others) {
    writeFileSync(path, content)
    await expect(createKeptChain({ path, blockTimeMs: 10 })).rejects.toThrow('notes.txt')
    expect(readFileSync(path, 'utf8')).toBe(content)
  }
  writeFileSync(path, '')
  const chain = await createKeptChain({ path, blockTimeMs: 10 })
  expect([chain.isContinued, chain.setAside]).toEqual([false, undefined])
  await chain.stop()
})

test('a chain that nothing was sent to for weeks goes on', async () => {
  const path = join(temporaryDirectory(), 'chain.jsonl')
  const empty = Array.from({ length: 60_000 }, (_, i) => ({ at: genesis + 30 * (i + 1), sent: [] }))
  writeFileSync(path, linesOf(begin, ...empty))
  const chain = await createKeptChain({ path, blockTimeMs: 10 })
  expect(chain.isContinued).toBe(true)
  expect(Number(await demand(chain, 'eth_blockNumber'))).toBe(empty.length)
  await chain.stop()
}, 120_000)
