import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { until } from '../support/card-network.ts'
import { authorizationBody, type CardRecord, createCardsRig } from '../support/cards-rig.ts'
import { isJposHere, type JposNetwork, startJpos } from '../support/jpos.ts'
import { temporaryDirectory } from '../support/temporary.ts'

setDefaultTimeout(180_000)

const note = isJposHere ? '' : ' [skipped: no java, no mvn or no jPOS to be had]'
/** jPOS acts on it in silence until it is repeated. */
const silent = 99_901

const messages = {
  advices: {
    operations: ['authorization', 'capture', 'refund', 'void'],
    floor_limits: { BRL: 100_000 },
  },
  reconciliation: { cut_over: 'network', wait_seconds: 0, batch_upload: 'always' },
  content: { messages: { reversal: { mti: '0420' } } },
}

describe.skipIf(!isJposHere)(`jPOS as a network that is away${note}`, () => {
  let jpos: JposNetwork
  beforeAll(async () => {
    jpos = await startJpos()
  })
  afterAll(async () => {
    expect(await jpos?.stop()).toBe(0)
  })

  test('takes our advices, each repeat as the first one, has the totals that we have, and takes the day one by one', async () => {
    const path = join(temporaryDirectory(), 'messages.json')
    await Bun.write(path, JSON.stringify(messages))
    await using rig = await createCardsRig({
      timeoutMs: 700,
      networkA: { port: () => jpos.port('advices'), stop: () => undefined },
      environment: {
        CARDGW_NETA_SIGN_ON: 'true',
        CARDGW_NETA_CONNECT_WAIT_MS: '0',
        CARDGW_NETA_MESSAGES_FILE: path,
      },
    })
    const ask = async (isAway: boolean): Promise<void> => {
      await jpos.ask('advices', isAway ? '002' : '001')
      const up = (): number | undefined => rig.networks.byName('neta')?.health().connectionsUp
      await until(() => (up() === 0) === isAway, 'the network being away or back')
    }
    const pay = async (status: number, path: string, body?: unknown): Promise<CardRecord> => {
      const response = await rig.post(`/v1/transactions/${path}`, body)
      expect([path, response.status]).toEqual([path, status])
      return (await response.json()) as CardRecord
    }
    const authorize = (amount: number, capture = false): Promise<CardRecord> =>
      pay(201, 'authorize', authorizationBody('tok_visa_approved', { amount, capture }))
    const held = await authorize(100_000)
    const sold = await authorize(100_100, true)
    await ask(true)
    await pay(202, `${held.id}/capture`, { amount: silent })
    await pay(202, `${sold.id}/refund`, { amount: silent })
    const inPlace = await authorize(silent)
    const small = await authorize(5_000, true)
    await ask(false)
    const all = [held, sold, inPlace, small]
    await Promise.all(all.map(({ id }) => rig.settled(id)))
    // The 0420 is not answered, and its repeat ends the void.
    await pay(504, `${inPlace.id}/void`)
    const records = await Promise.all(all.map(({ id }) => rig.settled(id)))
    const book = await jpos.book('advices')
    const found = records.map(({ status, rrn }) => [status, book.get(String(rrn))?.messages])
    expect(found).toEqual([
      ['captured', '0100,0220,0221'],
      ['captured', '0100,0200,0220R,0221'],
      ['voided', '0120,0121,0420,0421'],
      ['captured', '0120,0220'],
    ])
    expect(records.map(({ rrn }) => book.get(String(rrn)))).toMatchObject([
      { authorized: 100_000, captured: silent, refunded: 0 },
      { authorized: 100_100, captured: 100_100, refunded: silent },
      { authorized: silent, captured: 0, reversed: silent },
      { authorized: 5_000, captured: 5_000, reversed: 0 },
    ])
    const { sql } = rig.database
    const [open] = await sql`select to_char(day + 1, 'MMDD') as next from card_business_days`
    await jpos.ask('advices', `201:${open?.['next']}`)
    let days: readonly Readonly<Record<string, unknown>>[] = []
    for (let left = 2_000; left > 0 && days.length === 0; left--) {
      await Bun.sleep(10)
      days = await sql`
        select status, attempts, ours, theirs, upload, uploaded, uploads_refused as refused
        from card_reconciliations where ended_at is not null`
    }
    const totals = {
      debit: { count: 3, cents: String(100_100 + silent + 5_000) },
      debit_reversal: { count: 0, cents: '0' },
      credit: { count: 1, cents: String(silent) },
      credit_reversal: { count: 0, cents: '0' },
    }
    // An 0500 is not answered, and its 0501 has the same in it.
    const upload = { upload: 'done', uploaded: 4, refused: 0 }
    expect(days).toEqual([
      { status: 'balanced', attempts: 2, ours: totals, theirs: totals, ...upload },
    ])
    const uploaded = await jpos.book('advices')
    const after = records.map(({ rrn }) => uploaded.get(String(rrn))?.messages)
    // What stands of the day, once; what was not answered again under its numbers; and nothing of what was taken back.
    expect(after.map((messages, at) => messages?.slice(found[at]?.[1]?.length))).toEqual([
      ',0320,0321',
      ',0320,0320,0321',
      '',
      ',0320',
    ])
    expect(jpos.output()).not.toContain('advices failed')
  })
})
