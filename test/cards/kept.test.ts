import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testTokens } from '../../src/simulators/card-network/index.ts'
import { authorizationBody, cardsRigOfFile, createCardsRig } from '../support/cards-rig.ts'
import { dumpOf } from '../support/database-dump.ts'
import { approvalOf, createRawPeer, looseFrameOf } from '../support/raw-peer.ts'
import { temporaryDirectory } from '../support/temporary.ts'

setDefaultTimeout(60_000)

/* What was kept of an approval, and no message can carry now, holds no money. */

const file = join(temporaryDirectory(), 'messages.json')
const fields = { 33: { from: 'kept.trace' } }
const content = { keep: { trace: { field: 32 } }, messages: { reversal: { fields } } }
writeFileSync(file, JSON.stringify({ content }))
const rig = await cardsRigOfFile({ environment: { CARDGW_NETA_MESSAGES_FILE: file } })

const keep = (id: string, trace: string) => rig.database.sql`
  update card_transactions set details = ${JSON.stringify({ kept: { trace } })}::text::jsonb where id = ${id}`

test.each(['12345', 'no digits', '123456789012'])(
  'a void goes out with what was kept, or without: %s',
  async (trace) => {
    const { id } = await rig.authorize('tok_visa_approved')
    await keep(id, trace)
    const response = await rig.post(`/v1/transactions/${id}/void`)
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { status: 'voided', network_data: { trace } },
    ])
    const events = await rig.database.sql<{ sent: string }[]>`
      select exchange::text as sent from card_events where transaction_id = ${id} and type = 'voided'`
    expect(events[0]?.sent.includes('12345')).toBe(trace === '12345')
  },
)

test('a card number that the network repeats there is in no answer and in no table', async () => {
  const number = new TextDecoder().decode(testTokens.get('tok_visa_approved'))
  const file = join(temporaryDirectory(), 'messages.json')
  const keep = { card: { field: 63 }, trace: { field: 62 } }
  writeFileSync(file, JSON.stringify({ content: { keep } }))
  const peer = createRawPeer(({ send }, message) => {
    const answer = approvalOf(message)
    if (message.mti !== '0800') {
      answer.more = new Map([
        [62, 'TRACE'],
        [63, `CARD ${number}`],
      ])
    }
    send(looseFrameOf(answer))
  })
  await using one = await createCardsRig({
    networkA: { port: () => peer.port, stop: () => peer[Symbol.dispose]() },
    environment: { CARDGW_NETA_MESSAGES_FILE: file },
  })
  const body = authorizationBody('tok_visa_approved')
  const response = await one.post('/v1/transactions/authorize', body, { 'Idempotency-Key': 'k1' })
  const text = await response.text()
  expect([response.status, text.includes('"network_data":{"trace":"TRACE"}')]).toEqual([201, true])
  expect(text).not.toContain(number)
  const dump = await dumpOf(one.database)
  expect([...dump.keys()].filter((table) => dump.get(table)?.includes(number))).toEqual([])
})
