import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { CodecError } from '#codecs/bytes'
import { CardMessage, dialects } from '#codecs/iso8583'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createContent } from '../../../src/cards/content/index.ts'
import { answerCodes1987, createAnswerRules } from '../../../src/cards/networks/answers.ts'
import { type ExchangeOutcome, parseNetwork } from '../../../src/cards/networks/index.ts'
import { createReconciliation } from '../../../src/cards/reconciliation/index.ts'
import { VaultUnavailableError } from '../../../src/cards/vault/index.ts'
import { testTokens } from '../../../src/simulators/card-network/index.ts'
import { type CardsRig, createCardsRig } from '../../support/cards-rig.ts'
import { quietLogger } from '../../support/database.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(60_000)

/* Each transaction of a business day is sent where the network asks for it, before totals are compared again. */

const rigWith = async (batchUpload: string): Promise<CardsRig> => {
  const file = join(temporaryDirectory(), 'messages.json')
  const reconciliation = { cut_over: 'network', wait_seconds: 0, batch_upload: batchUpload }
  await Bun.write(file, JSON.stringify({ reconciliation }))
  const rig = await createCardsRig({ environment: { CARDGW_NETA_MESSAGES_FILE: file } })
  await until(async () => (await rig.database.sql`select from card_business_days`).length === 1)
  return rig
}

/** Three sales, of which one is taken back, and a refund. @returns the id of the first */
const trade = async (rig: CardsRig): Promise<string> => {
  const post = async (id: string, path: string, body?: object) =>
    expect((await rig.post(`/v1/transactions/${id}/${path}`, body)).status).toBe(200)
  const ids: string[] = []
  for (const amount of [1_000, 2_000, 3_000]) {
    ids.push((await rig.authorize('tok_visa_approved', { amount, capture: true })).id)
  }
  await post(ids[1]!, 'void')
  await rig.settled(ids[1]!)
  await post(ids[2]!, 'refund', { amount: 500 })
  return ids[0]!
}

/** A sale that our book has and the network's has not. */
const add = (rig: CardsRig, id: string) => rig.database.sql`
  insert into card_movements (network, day, currency, kind, amount_cents, transaction_id, stan, transmission)
  select network, day, currency, kind, 700, transaction_id, '777777', transmission
  from card_movements where transaction_id = ${id}`

type Json = Readonly<Record<string, unknown>>

/** Ends the day. @returns what is shown of it once it is over */
const ended = async (rig: CardsRig): Promise<Json> => {
  const [open] = await rig.database.sql`
    select to_char(day, 'MMDD') as day, to_char(day + 1, 'MMDD') as next from card_business_days`
  rig.simulators[0].endDay(String(open?.['day']), String(open?.['next']))
  for (;;) {
    const response = await rig.app.call('GET', '/v1/transactions/reconciliations', {
      key: rig.adminKey,
    })
    const { reconciliations } = (await response.json()) as { reconciliations: readonly Json[] }
    const [day] = reconciliations
    if (day !== undefined && day['ended_at'] !== null) return day
    await Bun.sleep(10)
  }
}
const received = (rig: CardsRig) => {
  const { received: all } = rig.simulators[0].statistics()
  return [all['0500'], all['0320'], all['0321']]
}

test('a day that differs is uploaded, what stands of it only, and compared again', async () => {
  await using rig = await rigWith('different')
  await add(rig, await trade(rig))
  expect(await ended(rig)).toMatchObject({
    status: 'balanced',
    upload: { status: 'done', taken: 4, refused: 0 },
    ours: { debit: { number: 4, amount: 6_700 }, credit: { number: 1, amount: 500 } },
    theirs: { debit: { number: 4, amount: 6_700 }, credit: { number: 1, amount: 500 } },
  })
  expect(received(rig)).toEqual([2, 4, undefined])
})

test('what the network refuses of it is counted, and the day stays different', async () => {
  await using rig = await rigWith('different')
  const id = await trade(rig)
  await rig.database.sql`
    update card_movements set amount_cents = 1_001 where transaction_id = ${id}`
  expect(await ended(rig)).toMatchObject({
    status: 'different',
    upload: { status: 'done', taken: 2, refused: 1 },
  })
})

test('a day that is balanced is uploaded only where it always is', async () => {
  for (const [asked, upload, messages] of [
    ['always', { status: 'done', taken: 3, refused: 0 }, [2, 3, undefined]],
    ['different', null, [1, undefined, undefined]],
    ['never', null, [1, undefined, undefined]],
  ] as [string, object | null, unknown[]][]) {
    await using rig = await rigWith(asked)
    await trade(rig)
    expect(await ended(rig)).toMatchObject({ status: 'balanced', upload })
    expect(received(rig)).toEqual(messages as never)
  }
})

test('answers that are lost are asked for again, and each transaction counts once', async () => {
  await using rig = await rigWith('always')
  await add(rig, await trade(rig))
  rig.simulators[0].setFaults({ drop_after: 0.3, drop_before: 0.2 })
  expect(await ended(rig)).toMatchObject({
    status: 'balanced',
    upload: { status: 'done', taken: 4, refused: 0 },
  })
})

test('a content without it cannot be asked for it', () => {
  const entry = { name: 'elo', brand: 'elo', host: '127.0.0.1', prefixes: ['6362'] }
  const reconciliation = { cut_over: 'network', batch_upload: 'always' }
  const content = { messages: { batch_upload: null } }
  expect(() => parseNetwork({ ...entry, content, reconciliation })).toThrow('no batch_upload')
  expect(() =>
    parseNetwork({ ...entry, content, reconciliation: { cut_over: 'network' } }),
  ).not.toThrow()
})

/** The engine of a process of its own, whose network is a function. */
const engineOf = (
  rig: CardsRig,
  answer: (request: CardMessage) => Promise<ExchangeOutcome>,
  everyMs = 5,
  stanBefore = 800_000,
) => {
  const sent: string[] = []
  let stan = stanBefore
  const vault = { away: false }
  const network = {
    name: 'neta',
    timeoutMs: 100,
    isPending: () => false,
    answers: createAnswerRules(answerCodes1987),
    content: createContent(dialects['ascii']!, undefined, true, false, true),
    reconciliation: {
      isByNetwork: true,
      cutOver: { minutes: 0, offsetMinutes: 0 },
      waitSeconds: 0,
      expiryHours: 24,
      batchUpload: 'always' as const,
    },
    health: () => ({
      name: 'neta',
      connectionsUp: 1,
      connectionsMax: 1,
      inFlight: 0,
      inFlightMax: 1,
      lastEcho: undefined,
    }),
    exchange: async (request: CardMessage) => {
      sent.push(
        `${request.mti} ${request.stan} ${Number(request.amount)} ${request.settlementDate}`,
      )
      return answer(request)
    },
  }
  const engine = createReconciliation({
    sql: rig.database.sql,
    networks: [network],
    logger: quietLogger,
    now: () => new Date(),
    metrics: createMetrics({ version: 'test', withProcess: false }),
    vault: {
      resolve: async () => {
        if (vault.away) throw new VaultUnavailableError('unreachable')
        return { pan: testTokens.get('tok_visa_approved')!.slice(), expiry: undefined }
      },
    },
    vaultTimeoutMs: 0,
    merchants: new Map(),
    nextStan: async () => ({ stan: String(++stan), rrn: '', transmission: '1123020000' }),
    timing: { everyMs, backoffBaseMs: 5 },
  })
  return { ...engine, sent, vault }
}

const answered = (responseCode: string, { mti }: CardMessage): ExchangeOutcome => {
  const response = new CardMessage()
  response.mti = mti.startsWith('05') ? '0510' : '0330'
  response.responseCode = responseCode
  return { kind: 'answered', response }
}

/** As a network throws it before the first byte. */
const unpackable = new CodecError('iso8583_format', 0, 'no place')

/** Three captured sales of a day that is due. */
const tradedDay = async (rig: CardsRig): Promise<void> => {
  const { sql } = rig.database
  for (const amount of [1_000, 2_000, 3_000]) {
    await rig.authorize('tok_visa_approved', { amount, capture: true })
    const [row] =
      await sql`select id, capture_stan, capture_transmission from card_transactions order by id desc limit 1`
    await sql`
      insert into card_movements (network, day, currency, kind, amount_cents, transaction_id, stan, transmission)
      values ('neta', '2026-11-22', 'BRL', 'debit', ${amount}, ${row?.['id']}, ${row?.['capture_stan']}, ${row?.['capture_transmission']})`
  }
  await sql`
    insert into card_reconciliations (network, day, currency, next_attempt_at)
    values ('neta', '2026-11-22', 'BRL', now())`
}

test('a transaction that cannot be told is counted as refused, and keeps no other from it', async () => {
  await using rig = await createCardsRig()
  const { sql } = rig.database
  await tradedDay(rig)
  const engine = engineOf(rig, async (request) => {
    if (request.mti === '0320' && Number(request.amount) === 2_000) throw unpackable
    return answered('00', request)
  })
  await engine.job.start()
  const day = async () =>
    (await sql`select status, uploaded, uploads_refused from card_reconciliations`)[0]
  await until(async () => (await day())?.['status'] === 'balanced')
  await engine.job.stop()
  expect(await day()).toMatchObject({ uploaded: 2, uploads_refused: 1 })
})

test('another process goes on where the first one was killed, in order, and waits for the vault', async () => {
  await using rig = await createCardsRig()
  const { sql } = rig.database
  await tradedDay(rig)
  let left = 3
  // It is killed with the fourth message, the third transaction but one, on the wire.
  const first = engineOf(rig, async (request) =>
    left-- > 0 ? answered('00', request) : new Promise<never>(() => undefined),
  )
  void first.job.start()
  await until(() => first.sent.length === 4)
  await sql`update card_reconciliations set lease_until = now()`
  const second = engineOf(rig, async (request) => answered('00', request))
  second.vault.away = true
  await second.job.start()
  await Bun.sleep(50)
  expect(second.sent).toEqual([])
  second.vault.away = false
  const status = async () => (await sql`select status from card_reconciliations`)[0]?.['status']
  await until(async () => (await status()) === 'balanced')
  await second.job.stop()
  expect(first.sent.map((text) => text.slice(0, 4))).toEqual(['0500', '0320', '0320', '0320'])
  expect(second.sent).toEqual([
    first.sent[3]!.replace('0320', '0321'),
    expect.stringMatching(/^0500 /),
  ])
  expect(
    await sql`select upload, uploaded, uploads_refused from card_reconciliations`,
  ).toMatchObject([{ upload: 'done', uploaded: 3, uploads_refused: 0 }])
})

test.each([
  ['was taken back', 3_000],
  ['is less by now', 1_500],
] as const)('what has begun and %s lends its numbers to nothing else', async (what, amount) => {
  await using rig = await createCardsRig()
  const { sql } = rig.database
  await tradedDay(rig)
  const first = engineOf(rig, async (request) => {
    if (Number(request.amount) === 2_000) return { kind: 'connection_lost' }
    return answered('00', request)
  })
  void first.job.start()
  await until(() => first.sent.some((text) => text.startsWith('0321')))
  await first.job.stop()
  if (what === 'is less by now') {
    await sql`update card_movements set amount_cents = 1500 where amount_cents = 2000`
  } else {
    await sql`
      insert into card_movements (network, day, currency, kind, amount_cents, transaction_id, stan, transmission)
      select network, day, currency, 'debit_reversal', amount_cents, transaction_id, stan, transmission
      from card_movements where amount_cents = 2000`
  }
  await sql`update card_reconciliations set lease_until = null, next_attempt_at = now()`
  const second = engineOf(rig, async (request) => answered('00', request), 5, 802_000)
  await second.job.start()
  const status = async () => (await sql`select status from card_reconciliations`)[0]?.['status']
  await until(async () => (await status()) === 'balanced')
  await second.job.stop()
  expect(second.sent[0]).toBe(`0320 802001 ${amount} 1122`)
})

test('an older version goes on between, and what it has begun is told again as a repeat', async () => {
  await using rig = await createCardsRig()
  const { sql } = rig.database
  await tradedDay(rig)
  const first = engineOf(rig, async (request) => {
    if (Number(request.amount) === 2_000) return { kind: 'connection_lost' }
    return answered('00', request)
  })
  void first.job.start()
  await until(() => first.sent.some((text) => text.startsWith('0321')))
  await first.job.stop()
  // As it writes them: the answer for the second, and the third on the wire, of which it stores the numbers alone.
  await sql`
    update card_reconciliations set uploaded_to = uploading_id, uploaded = uploaded + 1, attempts = 1,
      stan = '900001', transmission = '1123020000', lease_until = null, next_attempt_at = now()`
  const second = engineOf(rig, async (request) => answered('00', request), 5, 802_000)
  await second.job.start()
  const day = async () => (await sql`select status, uploaded from card_reconciliations`)[0]
  await until(async () => (await day())?.['status'] === 'balanced')
  await second.job.stop()
  expect(second.sent[0]).toBe('0321 900001 3000 1122')
  expect(await day()).toMatchObject({ uploaded: 3 })
})

test('one whose exchange fails by itself is told again as a repeat', async () => {
  await using rig = await createCardsRig()
  const { sql } = rig.database
  await tradedDay(rig)
  const first = engineOf(rig, async (request) => {
    if (request.mti === '0320') throw new Error('cut short')
    return answered('00', request)
  })
  await first.job.start()
  await until(() => first.sent.length === 2)
  await first.job.stop()
  await sql`update card_reconciliations set lease_until = now()`
  const second = engineOf(rig, async (request) => answered('00', request))
  await second.job.start()
  const day = async () =>
    (await sql`select status, uploaded, uploads_refused from card_reconciliations`)[0]
  await until(async () => (await day())?.['status'] === 'balanced')
  await second.job.stop()
  expect(await day()).toMatchObject({ uploaded: 3, uploads_refused: 0 })
  expect(second.sent[0]).toBe(first.sent[1]!.replace('0320', '0321'))
})

test.each([
  ['cannot be told', unpackable, 0],
  ['is cut short', new Error('cut short'), 1],
] as const)('a day that %s keeps no other from it', async (_, fault, attempts) => {
  await using rig = await createCardsRig()
  const { sql } = rig.database
  await sql`
    insert into card_reconciliations (network, day, currency, next_attempt_at)
    values ('neta', '2026-11-21', 'BRL', now()), ('neta', '2026-11-22', 'BRL', now())`
  const answer = async (request: CardMessage) => {
    if (request.settlementDate === '1121') throw fault
    return answered('95', request)
  }
  const engine = engineOf(rig, answer, 600_000)
  await engine.job.start()
  const days = () => sql`select status, upload, attempts from card_reconciliations order by day`
  await until(async () => (await days())[1]?.['status'] === 'different')
  await engine.job.stop()
  expect(await days()).toMatchObject([{ status: 'pending', attempts }, { attempts: 1 }])
})

test('a currency that is first booked during the wait after the end of its day is compared too', async () => {
  await using rig = await createCardsRig()
  const { sql } = rig.database
  await tradedDay(rig)
  await sql`update card_movements set currency = 'USD' where amount_cents = 3000`
  await sql`
    insert into card_movements (network, day, currency, kind, amount_cents, transaction_id, stan, transmission)
    select network, '2026-11-21', 'USD', kind, amount_cents, transaction_id, 'later', transmission
    from card_movements limit 1`
  const engine = engineOf(rig, async (request) => answered('00', request))
  await engine.job.start()
  const days = () => sql`
    select day::text, currency, status, uploaded from card_reconciliations order by id`
  await until(async () => (await days()).every(({ status }) => status === 'balanced'))
  await engine.job.stop()
  expect(await days()).toMatchObject([
    { day: '2026-11-22', currency: 'BRL', status: 'balanced', uploaded: 2 },
    { day: '2026-11-22', currency: 'USD', status: 'balanced', uploaded: 1 },
  ])
})
