import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { CardMessage, createFieldSetter, dialects } from '#codecs/iso8583'
import { createContent } from '../../../src/cards/content/index.ts'
import { createTotals } from '../../../src/cards/reconciliation/index.ts'
import { createTurns } from '../../../src/cards/told.ts'
import { until } from '../../support/card-network.ts'
import { cardsRigOfFile } from '../../support/cards-rig.ts'
import { quietLogger } from '../../support/database.ts'
import { createScriptedNetwork, type ScriptedNetwork } from '../../support/scripted-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

setDefaultTimeout(60_000)

/* Totals that a network tells of its own accord are compared, kept, and answered with ours. */

const network: ScriptedNetwork = createScriptedNetwork()
let day = ''
const path = join(temporaryDirectory(), 'messages.json')
await Bun.write(path, JSON.stringify({ reconciliation: { cut_over: '00:00' } }))
const rig = await cardsRigOfFile({
  networkA: network,
  environment: { CARDGW_NETA_MESSAGES_FILE: path },
})
await rig.authorize('tok_visa_approved', { amount: 1_200, capture: true })
const [row] = await rig.database.sql`select to_char(day, 'MMDD') as day from card_movements`
day = String(row?.['day'])

/** Tells the totals, and waits for the answer. */
const told = async (
  mti: CardMessage['mti'],
  stan: string,
  fields: Readonly<Record<number, string>>,
  settlementDate: string | undefined = day,
) => {
  const more = new Map(
    Object.entries({ 50: '986', ...fields }).map(([de, text]) => [Number(de), text]),
  )
  const before = network.answers.length
  network.tell({ mti, stan, settlementDate, transmissionDateTime: '1123120000', more })
  await until(() => network.answers.length > before, 'the answer')
  return network.answers.at(-1)
}

const kept = () => rig.database.sql`
  select status, theirs -> 'debit' as debit, resolved_at from card_reconciliations`

const sale = { 76: '0000000001', 88: '0000000000001200' }

test('those that agree are balanced, and what comes later and differs opens the day again', async () => {
  const answer = await told('0520', '000001', sale)
  expect(answer).toMatchObject({ mti: '0530', stan: '000001', responseCode: '00' })
  expect(Object.fromEntries(answer?.more ?? [])).toMatchObject({
    66: '1',
    50: '986',
    ...sale,
    74: '0000000000',
  })
  expect(await kept()).toMatchObject([{ status: 'balanced', debit: { count: 1, cents: '1200' } }])
  expect(await told('0521', '000001', sale)).toMatchObject({ mti: '0530', responseCode: '00' })
  const other = await told('0500', '000002', { ...sale, 88: '0000000000001300' })
  expect(other).toMatchObject({ mti: '0510', responseCode: '95' })
  expect(other?.more?.get(66)).toBe('2')
  expect(await kept()).toMatchObject([{ status: 'different', debit: { cents: '1300' } }])
  await rig.database.sql`update card_reconciliations set resolved_at = now()`
  await told('0501', '000002', { ...sale, 88: '0000000000001300' })
  expect((await kept())[0]?.['resolved_at']).not.toBeNull()
})

test('without a day, a currency or totals they say nothing', async () => {
  expect(await told('0520', '000003', sale, '9999')).toMatchObject({ responseCode: '30' })
  expect(await told('0520', '000004', { ...sale, 50: '392' })).toMatchObject({ responseCode: '30' })
  expect(await told('0520', '000005', {})).toMatchObject({ responseCode: '30' })
  expect(await kept()).toHaveLength(1)
})

test('whether its day is over the database’s clock says, and not that of a process', async () => {
  const { sql } = rig.database
  const now = new Date()
  const on = (days: number) => new Date(now.getTime() + days * 86_400_000)
  const [today, tomorrow] = [on(0), on(1)].map((at) => at.toISOString().slice(0, 10)) as [
    string,
    string,
  ]
  await sql`insert into card_business_days (network, day) values ('netz', ${tomorrow})`
  // Then it is about noon.
  const cutOver = { minutes: 0, offsetMinutes: (12 - now.getUTCHours()) * 60 }
  const rules = { isByNetwork: true, cutOver, waitSeconds: 0, expiryHours: 24 }
  const netz = {
    name: 'netz',
    reconciliation: { ...rules, batchUpload: 'never' as const },
    content: createContent(dialects['ascii']!, undefined, true, false, true),
  }
  const take = createTotals({
    sql,
    inTurn: createTurns(),
    networks: [netz],
    logger: quietLogger,
    now: () => on(1),
  })
  const message = new CardMessage()
  message.mti = '0520'
  message.settlementDate = today.slice(5).replace('-', '')
  for (const [de, text] of Object.entries({ 50: '986', ...sale })) {
    createFieldSetter(Number(de))(message, text)
  }
  await take({ network: 'netz', message })
  const [row] = await sql`
    select extract(epoch from next_attempt_at - now())::float8 / 3600 as hours
    from card_reconciliations where network = 'netz'`
  expect(Number(row?.['hours'])).toBeCloseTo(24, 1)
})
