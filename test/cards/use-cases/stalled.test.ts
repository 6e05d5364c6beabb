import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { CardMessage } from '#codecs/iso8583'
import type { Queryable } from '#src/platform/database/index.ts'
import { insertReversals } from '../../../src/cards/reversals/index.ts'
import { createTurns } from '../../../src/cards/told.ts'
import { transactionById } from '../../../src/cards/transactions/store.ts'
import { createAbandonedSweep } from '../../../src/cards/use-cases/abandoned.ts'
import { createLateAnswers } from '../../../src/cards/use-cases/late-answers.ts'
import { createLateSweep } from '../../../src/cards/use-cases/late-sweep.ts'
import { send } from '../../../src/cards/use-cases/operation.ts'
import { testTokens } from '../../../src/simulators/card-network/index.ts'
import { payment } from '../../support/card-network.ts'
import { authorizationBody, cardsRigOfFile } from '../../support/cards-rig.ts'
import { quietLogger } from '../../support/database.ts'
import { createScriptedNetwork, type Peer } from '../../support/scripted-network.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(60_000)

/*
 * A process that stood still goes on where it was, when another has long reversed what it was at, and the network has
 * said that it knows nothing of it. What it sends now moves money that nobody waits for.
 */

const network = createScriptedNetwork()
const rig = await cardsRigOfFile({ networkA: network })

/** As another process does it, an hour later. */
const sweep = () =>
  createAbandonedSweep({
    sql: rig.database.sql,
    insertReversals,
    networks: [{ name: 'neta', timeoutMs: 0 }],
    marginMs: -3_600_000,
    logger: quietLogger,
    emission: undefined,
    now: () => new Date(),
  }).sweep()

const reversals = () => network.seen.filter(({ mti }) => mti.startsWith('04'))

/** Approves nothing by itself: the message of that type waits for the test, and reversals find nothing. */
const holding = (held: string) => {
  let waiting: Peer | undefined
  network.on((request, peer) => {
    if (request.mti === held) waiting = peer
    else if (request.mti.startsWith('04')) {
      const isThere = network.seen.some(({ mti }) => mti === held) && waiting === undefined
      peer.answer({ responseCode: isThere ? '00' : '25' })
    } else peer.answer({ responseCode: '00', authCode: 'A00001' })
  })
  return {
    there: () => until(() => waiting !== undefined),
    answer: (code: string) => {
      waiting?.answer({ responseCode: code, authCode: 'A00002' })
      waiting = undefined
    },
  }
}

/** DE 11 of what was sent as its capture. */
const captureStanOf = async (id: string): Promise<string> => {
  const [row] = await rig.database.sql`
    select data ->> 'stan' as stan from card_events
    where transaction_id = ${id} and type = 'capture_sent'`
  return String(row?.['stan'])
}

const endedAt = async (count: number) => {
  await until(() => reversals().length === count, 5_000, `${count} reversals`)
  await until(async () => {
    const open = await rig.database.sql`
      select from card_transactions where status = 'pending' or operation is not null`
    return open.length === 0
  })
}

describe('a process that stood still before it sent', () => {
  /** Sends an authorization that began so long ago. */
  const sentAfter = async (ms: number) => {
    const { id } = await rig.authorize('tok_visa_approved')
    const transaction = await transactionById(rig.database.sql, id)
    if (transaction === undefined) throw new Error('no transaction')
    const pan = testTokens.get('tok_visa_approved')!.slice()
    const before = network.seen.length
    const context = {
      logger: quietLogger,
      count: () => undefined,
      away: <T>(work: Promise<T>) => work,
      now: () => new Date(transaction.updatedAt.getTime() + ms),
    }
    const verdict = await send(
      ...([context, rig.networks.all[0]!, 'authorization', transaction, pan] as const),
      () => payment(900_000 + ms, { pan: pan.slice() }),
    )
    expect(pan).toEqual(new Uint8Array(pan.length))
    return { verdict, sent: network.seen.length - before }
  }

  test('sends nothing that others may have taken for abandoned', async () => {
    network.on((_, peer) => peer.answer({ responseCode: '00', authCode: 'A00001' }))
    expect(await sentAfter(10_000)).toMatchObject({ verdict: { kind: 'approved' }, sent: 1 })
    expect(await sentAfter(10_001)).toEqual({
      verdict: { kind: 'not_sent', why: 'too_late' },
      sent: 0,
    })
  })
})

describe('an approval of what another process has taken back already', () => {
  test('is taken back: an authorization', async () => {
    const { there, answer } = holding('0100')
    const before = reversals().length
    const asked = rig.post('/v1/transactions/authorize', authorizationBody('tok_visa_approved'))
    await there()
    expect(await sweep()).toBe(1)
    await endedAt(before + 1)
    answer('00')
    expect((await asked).status).toBe(504)
    await endedAt(before + 2)
    expect(reversals().at(-1)?.mti).toBe('0401')
  })

  test('is taken back: a capture', async () => {
    const { there, answer } = holding('0200')
    const { id } = await rig.authorize('tok_visa_approved')
    const before = reversals().length
    const asked = rig.post(`/v1/transactions/${id}/capture`)
    await there()
    expect(await sweep()).toBe(1)
    await endedAt(before + 1)
    answer('00')
    expect((await asked).status).toBe(504)
    await endedAt(before + 2)
    expect(reversals().at(-1)?.originalData).toStartWith('0200')
    expect(await rig.settled(id)).toMatchObject({ status: 'authorized' })
  })

  test('a refusal is nothing to take back', async () => {
    const { there, answer } = holding('0100')
    const before = reversals().length
    const asked = rig.post('/v1/transactions/authorize', authorizationBody('tok_visa_approved'))
    await there()
    expect(await sweep()).toBe(1)
    await endedAt(before + 1)
    answer('51')
    expect((await asked).status).toBe(504)
    await Bun.sleep(100)
    await endedAt(before + 1)
  })

  test('a verification is nothing to take back, whatever comes', async () => {
    const { there, answer } = holding('0100')
    const before = reversals().length
    const { amount: _, ...body } = authorizationBody('tok_visa_approved')
    const asked = rig.post('/v1/transactions/verify', body)
    await there()
    expect(await sweep()).toBe(1)
    answer('00')
    const { error } = (await (await asked).json()) as { error: { message: string } }
    expect(error.message).toEndWith('; nothing is on hold.')
    await endedAt(before)
  })
})

describe('a late approval whose process was killed before it could see to it', () => {
  const lateSweep = () =>
    createLateSweep({
      sql: rig.database.sql,
      networks: rig.networks,
      onReversals: () => undefined,
      emission: undefined,
      logger: quietLogger,
      now: () => new Date(),
      secondsMin: 0,
    })
  /** As it is kept, of the transaction and nothing more. */
  const keep = (id: string, mti: string, stan: string, sql: Queryable = rig.database.sql) => sql`
    insert into card_events (transaction_id, type, data, at)
    values (${id}, 'late_answer', ${JSON.stringify({ mti, stan, response_code: '00' })}::text::jsonb,
      now() - interval '1 second')`

  test('is taken back once by whoever comes next, and one that counts is not', async () => {
    network.on(({ mti }, peer) =>
      peer.answer({ responseCode: mti === '0200' ? '51' : '00', authCode: 'A00001' }),
    )
    const { id } = await rig.authorize('tok_visa_approved')
    const refused = await rig.post(`/v1/transactions/${id}/capture`)
    expect(refused.status).toBe(422)
    const [row] = await rig.database.sql`select stan from card_transactions where id = ${id}`
    const stan = await captureStanOf(id)
    // The second answer to what was approved, and the approval of what was refused.
    await keep(id, '0110', String(row?.['stan']))
    await keep(id, '0210', stan)
    const sweeps = [lateSweep(), lateSweep()] as const
    expect(await sweeps[0].sweep()).toBe(1)
    expect(await rig.settled(id)).toMatchObject({ status: 'authorized' })
    expect(reversals().at(-1)?.originalData).toStartWith(`0200${stan}`)
    const sent = reversals().length
    for (const one of [...sweeps, lateSweep()]) expect(await one.sweep()).toBe(0)
    await rig.settled(id)
    expect(reversals().length).toBe(sent)
  })

  test('waits for what is under way', async () => {
    const { there, answer } = holding('0200')
    const { id } = await rig.authorize('tok_visa_approved')
    const asked = rig.post(`/v1/transactions/${id}/capture`)
    await there()
    await keep(id, '0210', await captureStanOf(id))
    const { sweep: look } = lateSweep()
    expect(await look()).toBe(0)
    answer('51')
    expect((await asked).status).toBe(422)
    expect(await look()).toBe(1)
    expect(await rig.settled(id)).toMatchObject({ status: 'authorized' })
  })

  test('is found where it is committed after a younger one', async () => {
    network.on(({ mti }, peer) =>
      peer.answer({ responseCode: mti === '0200' ? '51' : '00', authCode: 'A00001' }),
    )
    const ids: string[] = []
    for (let left = 2; left > 0; left--) {
      const { id } = await rig.authorize('tok_visa_approved')
      expect((await rig.post(`/v1/transactions/${id}/capture`)).status).toBe(422)
      ids.push(id)
    }
    const [first = '', second = ''] = ids
    const { sweep: look } = lateSweep()
    const [inserted, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const committed = rig.database.sql.begin(async (tx) => {
      await keep(first, '0210', await captureStanOf(first), tx)
      inserted.resolve()
      await commit.promise
    })
    await inserted.promise
    await keep(second, '0210', await captureStanOf(second))
    expect(await look()).toBe(1)
    commit.resolve()
    await committed
    expect(await look()).toBe(1)
    for (const id of ids) expect(await rig.settled(id)).toMatchObject({ status: 'authorized' })
  })

  test('is kept at the time of the database, whatever the clock of its process says', async () => {
    network.on((_, peer) => peer.answer({ responseCode: '00', authCode: 'A00001' }))
    const { id, rrn, stan } = await rig.authorize('tok_visa_approved')
    const { sql } = rig.database
    const take = createLateAnswers({
      sql,
      networks: rig.networks,
      onReversals: () => undefined,
      inTurn: createTurns(),
      emission: undefined,
      logger: quietLogger,
      now: () => new Date(),
    })
    const response = new CardMessage()
    Object.assign(response, { mti: '0110', stan, rrn, responseCode: '00' })
    await take({ network: 'neta', response, receivedAt: new Date(Date.now() + 600_000) })
    expect(
      await sql`
        select abs(extract(epoch from now() - at)) < 60 as "isNow" from card_events
        where transaction_id = ${id} and type = 'late_answer'`,
    ).toMatchObject([{ isNow: true }])
  })
})

test('a capture that turns up after the void is taken back, and then the hold beneath it', async () => {
  network.on(({ mti }, peer) =>
    peer.answer({ responseCode: mti === '0200' ? '05' : '00', authCode: 'A00001' }),
  )
  const { id } = await rig.authorize('tok_visa_approved')
  expect((await rig.post(`/v1/transactions/${id}/capture`)).status).toBe(422)
  const [row] = await rig.database.sql`select rrn from card_transactions where id = ${id}`
  expect((await rig.post(`/v1/transactions/${id}/void`)).status).toBe(200)
  const sent = reversals().length
  network.tell({
    mti: '0210',
    stan: await captureStanOf(id),
    rrn: String(row?.['rrn']),
    responseCode: '00',
    terminalId: 'TERM01',
  })
  await until(() => reversals().length === sent + 2, 5_000, 'two reversals')
  expect(await rig.settled(id)).toMatchObject({ status: 'voided' })
  expect(
    reversals()
      .slice(sent)
      .map(({ originalData = '' }) => originalData.slice(0, 4)),
  ).toEqual(['0200', '0100'])
})
