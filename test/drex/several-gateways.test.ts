/** Several gateway processes on one database and one chain. */
import { expect, test } from 'bun:test'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { createWallets } from '../../src/drex/wallets/service.ts'
import { benchOfFile, noCustody, sealer, type TransferBody } from './support.ts'

const senderCount = 4
const each = 30

const bench = await benchOfFile()

type NonceRow = { readonly sender: Hex; readonly nonce: bigint; readonly status: string }

const rows = () =>
  bench.database.sql<NonceRow[]>`
    select sender, nonce, status from drex_transactions order by sender, nonce`

test('share the wallets: every nonce once, none missing, and one may end at any time', async () => {
  const peers = [bench.peer(), bench.peer()]
  const calls = [bench.call, ...peers.map(({ call }) => call)]
  const senders: Hex[] = []
  while (senders.length < senderCount) senders.push(await bench.wallet())
  const receiver = await bench.wallet(0n)
  const requests = Array.from({ length: senderCount * each }, (_, i) => ({
    call: calls[i % calls.length] ?? bench.call,
    headers: { 'Idempotency-Key': `shared-${i}` },
    body: { from_wallet: senders[i % senderCount], to_wallet: receiver, amount: '1.00' },
  }))
  const pay = async ({ call, headers, body }: (typeof requests)[number]) => {
    const answer = await call('POST', '/v1/drex/transfers', body, headers)
    expect(answer.status).toBe(202)
    return (answer.json as TransferBody).transfer_id
  }
  const ids = await Promise.all(requests.map(pay))
  // One ends while much is under way; each request is then repeated at another gateway.
  await peers[0]?.stop()
  const again = await Promise.all(requests.map((each) => pay({ ...each, call: bench.call })))
  expect(again).toEqual(ids)
  await bench.until(async () => (await rows()).every(({ status }) => status === 'confirmed'))
  await peers[1]?.stop()

  const sent = await rows()
  expect(sent.length).toBe(senderCount * each)
  for (const sender of senders) {
    const nonces = sent.filter((row) => row.sender === sender).map(({ nonce }) => Number(nonce))
    expect(nonces).toEqual(Array.from({ length: each }, (_, i) => i))
    expect(await bench.balance(sender)).toBe(100_000n - BigInt(each) * 100n)
  }
  expect(await bench.balance(receiver)).toBe(BigInt(senderCount * each) * 100n)
  // Whoever settles a transfer tells of it, and nobody else does.
  expect(bench.events.length).toBe(senderCount * each)
  expect(new Set(bench.events.map(({ subject }) => subject)).size).toBe(senderCount * each)
}, 60_000)

test('make one wallet for deployments, however many need it first', async () => {
  const { sql } = bench.database
  const gateways = Array.from({ length: 5 }, () => createWallets({ sql, sealer, ...noCustody }))
  const made = await Promise.all(
    gateways.map((wallets) =>
      wallets.deployer({
        owner: 'default',
        keyId: 'key',
        environment: 'test' as const,
        restrictions: {},
      }),
    ),
  )
  expect(new Set(made.map(({ id }) => id)).size).toBe(1)
})
