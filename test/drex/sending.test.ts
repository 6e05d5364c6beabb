/** One batch is simulated while the one before is sent. */
import { afterEach, expect, test } from 'bun:test'
import { encodeApprove } from '../../src/drex/evm/token-call.ts'
import { adminAddress, type Bench, createBench, type TransferBody } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const isConfirmed = async (id: string): Promise<boolean> =>
  ((await bench.call('GET', `/v1/drex/transfers/${id}`)).json as TransferBody).status ===
  'confirmed'

/** Holds the first transaction back until it is released, and tells what the node is asked meanwhile. */
const holdFirst = () => {
  const asked: string[] = []
  const release = Promise.withResolvers<void>()
  let isFirst = true
  bench.node.lie(async ({ method }, answer) => {
    if (method === 'eth_call' || method === 'eth_sendRawTransaction') asked.push(method)
    if (method === 'eth_sendRawTransaction' && isFirst) {
      isFirst = false
      await release.promise
    }
    return answer()
  })
  const count = (wanted: string) => asked.filter((method) => method === wanted).length
  return { count, release: release.resolve }
}

test('a wallet’s second transfer is simulated while the first is sent, and sent after it', async () => {
  bench = await createBench({ isLying: true })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const node = holdFirst()
  const first = await bench.pay(ana, bia)
  await bench.until(async () => node.count('eth_sendRawTransaction') === 1)
  const simulated = node.count('eth_call')
  const second = await bench.pay(ana, bia)
  await bench.until(async () => node.count('eth_call') > simulated)
  await Bun.sleep(100)
  expect(node.count('eth_sendRawTransaction')).toBe(1)
  node.release()
  await bench.until(async () => (await isConfirmed(first)) && (await isConfirmed(second)))
})

test('a batch that could not be sent is told, and holds up none behind it', async () => {
  bench = await createBench({ isLying: true })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  let isAway = false
  bench.node.lie(({ method }, answer) => {
    isAway ||= method === 'eth_call'
    return answer()
  })
  bench.node.refuse(() => (isAway ? new Response('away', { status: 503 }) : undefined))
  const first = await bench.pay(ana, bia)
  await bench.until(async () => isAway)
  await Bun.sleep(300)
  bench.node.refuse(undefined)
  isAway = false
  bench.node.lie(undefined)
  const second = await bench.pay(ana, bia)
  await bench.until(async () => (await isConfirmed(first)) && (await isConfirmed(second)))
})

/** What ends before it is signed, and in which status. */
const unsigned: Readonly<Record<string, readonly [string, (of: string) => Promise<unknown>]>> = {
  'its time ran out': [
    'failed',
    (id) => bench.database.sql`
      update drex_transactions set expires_at = now() - interval '1 hour' where subject = ${id}`,
  ],
  'there is nothing to take back': [
    'cancelled',
    (id) => bench.database.sql`
      update drex_transactions set kind = 'revoke', data = ${encodeApprove(adminAddress, 0n)}
      where subject = ${id}`,
  ],
}
for (const [why, [status, end]] of Object.entries(unsigned)) {
  test(`an end that cannot be stored holds up nothing else: ${why}`, async () => {
    bench = await createBench()
    const { sql } = bench.database
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    await bench.restart({ DREX_ENGINE_ENABLED: 'false' })
    const [bad, good, sent] = [
      await bench.pay(ana, bia),
      await bench.pay(ana, bia),
      await bench.pay(ana, bia),
    ]
    for (const id of [bad, good]) await end(id)
    await sql`
      alter table drex_transactions add constraint not_stored
      check (status <> ${sql.unsafe(`'${status}' or subject <> '${bad}'`)}) not valid`
    await bench.restart()
    await bench.until(() => isConfirmed(sent))
    const ends = await sql`
      select subject from drex_transactions where status = ${status}`
    expect(ends.map(({ subject }) => subject)).toEqual([good])
  })
}
