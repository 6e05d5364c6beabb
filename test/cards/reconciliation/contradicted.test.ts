import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { CardMessage } from '#codecs/iso8583'
import { DailyTotals } from '../../../src/simulators/card-network/daily-totals.ts'
import { cardsRigOfFile } from '../../support/cards-rig.ts'
import {
  createScriptedNetwork,
  type Peer,
  type ScriptedNetwork,
} from '../../support/scripted-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

setDefaultTimeout(60_000)

/*
 * A network that declines a capture, and books it all the same. Nobody can know of it who never hears it say so; the
 * day's end tells. What is heard is taken back, and both books have it so.
 */

const cents = 4_000
const currency = '986'

let network: ScriptedNetwork
/** What the network has booked. */
let days: DailyTotals
network = createScriptedNetwork()
const path = join(temporaryDirectory(), 'messages.json')
await Bun.write(path, JSON.stringify({ reconciliation: { cut_over: '00:00', wait_seconds: 0 } }))
const rig = await cardsRigOfFile({
  timeoutMs: 300,
  windowMs: 500,
  networkA: network,
  environment: { CARDGW_NETA_MESSAGES_FILE: path },
})

const answerTotals = (request: CardMessage, { answer }: Peer): void => {
  const totals = new CardMessage()
  days.answer(request, totals)
  const { responseCode, settlementDate, more } = totals
  answer({ mti: '0510', responseCode, settlementDate, ...(more === undefined ? {} : { more }) })
}

/** @returns says what the network has done */
const declineCapture = async (): Promise<{ readonly id: string; readonly tell: () => void }> => {
  let tell = (): void => undefined
  network.on((request, peer) => {
    if (request.mti === '0500') answerTotals(request, peer)
    else if (request.mti === '0400') {
      days.book('debitReversals', currency, cents)
      peer.answer({ responseCode: '00' })
    } else if (request.mti === '0200') {
      days.book('debits', currency, cents)
      tell = () => peer.answer({ responseCode: '00', authCode: 'A00001' })
      peer.answer({ responseCode: '05' })
    } else peer.answer({ responseCode: '00', authCode: 'A00001' })
  })
  const { id } = await rig.authorize('tok_visa_approved')
  const response = await rig.post(`/v1/transactions/${id}/capture`, { amount: cents })
  expect(response.status).toBe(422)
  await response.body?.cancel()
  return { id, tell }
}

type Reconciliation = {
  readonly day: string
  readonly status: string
  readonly difference: Readonly<Record<string, unknown>>
}

/** The day that is open is over, as if it had begun a day before. */
const dayEnded = async (): Promise<Reconciliation> => {
  const { sql } = rig.database
  await sql`update card_movements set day = day - 1`
  const [{ day } = { day: '' }] = await sql<{ day: string }[]>`
    update card_business_days set day = day - 1 where network = 'neta' returning day::text`
  for (const endMs = performance.now() + 40_000; ; await Bun.sleep(10)) {
    const path = '/v1/transactions/reconciliations'
    const response = await rig.app.call('GET', path, { key: rig.adminKey })
    const { reconciliations } = (await response.json()) as { reconciliations: Reconciliation[] }
    const found = reconciliations.find((one) => one.day === day && one.status !== 'pending')
    if (found !== undefined) return found
    if (performance.now() > endMs) throw new Error(`waited for the end of ${day}`)
  }
}

const none = { number: 0, amount: 0 }

test.each([
  ['different', false, { debit: { number: -1, amount: -cents }, debit_reversal: none }],
  ['balanced', true, { debit: none, debit_reversal: none }],
] as const)(
  'the day is %s where the approval that follows is heard: %p',
  async (status, isHeard, difference) => {
    days = new DailyTotals()
    await rig.database.sql`truncate card_reconciliations, card_movements`
    const { id, tell } = await declineCapture()
    if (isHeard) {
      const { length } = network.seen
      tell()
      while (network.seen.length === length) await Bun.sleep(5)
      expect(await rig.settled(id)).toMatchObject({ status: 'authorized' })
    }
    expect(await dayEnded()).toMatchObject({ status, difference })
  },
)
