/** What was charged before the last key of a company was removed. */
import { afterAll, expect, test } from 'bun:test'
import { until } from '../support/until.ts'
import { startAutomatic } from './automatic.ts'
import { chargeBody, freshTxid } from './support.ts'

const { pix, key, other, call, right, approved, scheduledCharge, pay, settle, now } =
  await startAutomatic()
afterAll(() => pix.database.close())

const instant = (endToEndId: string, txid: string) =>
  pix.sql.begin(async (tx) => {
    const payment = {
      endToEndId,
      txid,
      amountCents: 3_700n,
      localInstrument: 'QRDN',
      creditorDocument: '12345678000195',
      creditorKey: key,
      debtorDocument: '15231470190',
      text: null,
      withdrawal: null,
    }
    return (await pix.receivables?.receive(tx, [payment], now()))?.get(endToEndId) ?? 'accepted'
  })

test('is paid once, or refused, as before', async () => {
  const txid = freshTxid()
  await right('PUT', `/cob/${txid}`, chargeBody(key))
  const open = await scheduledCharge(await approved())
  const cancelled = await scheduledCharge(await approved())
  await right('PATCH', `/cobr/${cancelled.txid}`, { status: 'CANCELADA' })
  const removed = await pix.call('DELETE', `/v1/pix/receivers/${key}`, { token: pix.operator })
  expect(removed.status).toBeLessThan(300)

  expect(await pay(cancelled.endToEndId)).toBe('CN01')
  expect(await pay(open.endToEndId)).toBe('accepted')
  await settle(open.endToEndId)
  expect(await right('GET', `/cobr/${open.txid}`)).toMatchObject({
    status: 'CONCLUIDA',
    tentativas: [{ status: 'PAGA' }],
    pix: [{ endToEndId: open.endToEndId }],
  })
  expect(await pay(open.endToEndId)).toBe('accepted')

  const first = 'E1234567820260302120000000000001'
  expect(await instant(first, txid)).toBe('accepted')
  await settle(first)
  expect(await right('GET', `/cob/${txid}`)).toMatchObject({
    status: 'CONCLUIDA',
    pix: [{ endToEndId: first }],
  })
  expect(await instant('E1234567820260302120000000000002', txid)).toBe('DUPL')
})

test('gets no webhook that would stay behind it', async () => {
  const path = `/webhook/${other.key}`
  const put = () => call('PUT', path, { webhookUrl: 'http://127.0.0.1/told' }, other.token)
  const refused = await pix.sql.begin(async (tx) => {
    await tx`delete from pix_receivers where key = ${other.key}`
    const asked = put()
    await until(async () => {
      const { count } = await pix.sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      return count === 1
    })
    return { asked }
  })
  expect((await refused.asked).status).toBe(400)
  expect((await call('GET', path, undefined, other.token)).status).toBe(404)
})
