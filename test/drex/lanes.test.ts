/** What holds up a wallet's nonces: told of by its lane, and sent again at once when a person asks for it. */
import { expect, test } from 'bun:test'
import { benchOfFile } from './support.ts'

const bench = await benchOfFile()

type Lane = Readonly<Record<string, unknown>> & { readonly sender: string }

test('what no node has kept is sent again at once, once for one Idempotency-Key, with an audit entry each', async () => {
  const { sql } = bench.database
  const [from, to] = [await bench.wallet(10_000n), await bench.wallet(0n)]
  bench.chain.faults.set([{ kind: 'dropped', method: 'eth_sendRawTransaction' }])
  const id = await bench.pay(from, to)
  await bench.reaches(id, 'broadcast')
  // As if the engine were to look at it much later only; where it looks right now, it sets its own time afterwards.
  await bench.until(async () => {
    await sql`update drex_transactions set due_at = now() + interval '1 day' where subject = ${id}`
    await Bun.sleep(500)
    const [row] = await sql<{ isLater: boolean }[]>`
      select due_at > now() + interval '1 hour' as "isLater" from drex_transactions where subject = ${id}`
    return row?.isLater === true
  })
  bench.chain.faults.set([])
  const { json } = await bench.call('GET', '/v1/drex/lanes')
  const lane = (json as { lanes: Lane[] }).lanes.find(
    ({ sender }) => sender.toLowerCase() === from.toLowerCase(),
  )
  expect(lane).toMatchObject({
    open: 1,
    oldest_status: 'broadcast',
    oldest_kind: 'transfer',
    oldest_subject: id,
  })
  await Bun.sleep(500)
  expect((await bench.read(id)).status).toBe('broadcast')

  const wallet = String(lane?.['wallet_id'])
  const resend = () =>
    bench.call('POST', `/v1/wallets/${wallet}/resend`, undefined, { 'Idempotency-Key': 'again' })
  const answers = [await resend(), await resend()]
  for (const { status, json: told } of answers) {
    expect({ status, told }).toEqual({
      status: 202,
      told: { wallet_id: wallet, resent: 1 } as never,
    })
  }
  await bench.until(async () => (await bench.read(id)).status === 'confirmed')
  expect(await bench.balance(to)).toBe(100n)
  const acts = await sql`select object, outcome from audit_log where action = 'drex.resend'`
  expect([...acts]).toEqual([{ object: wallet, outcome: 'resent 1' }])
  // Nothing is in flight by now.
  const last = await bench.call('POST', `/v1/wallets/${wallet}/resend`)
  expect(last.json).toEqual({ wallet_id: wallet, resent: 0 } as never)
  expect((await bench.call('POST', '/v1/wallets/none/resend')).status).toBe(404)
}, 60_000)
