import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import {
  createCardNetwork,
  findDialect,
  findFraming,
} from '../../../src/simulators/card-network/index.ts'
import { cardsRigOfFile } from '../../support/cards-rig.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(60_000)

/* Where authorizations are sales, what raises one moves money with it, in both books. */

const [dialect, framing] = [findDialect('ascii'), findFraming('binary-2')]
if (dialect === undefined || framing === undefined) throw new Error('no such dialect or framing')
const network = createCardNetwork({ dialect, framing, lateMs: 600 })
network.start()
const path = join(temporaryDirectory(), 'messages.json')
const content = { messages: { authorization: { mti: '0200' } } }
const reconciliation = { cut_over: 'network', wait_seconds: 0, batch_upload: 'always' }
await Bun.write(path, JSON.stringify({ content, reconciliation }))
const rig = await cardsRigOfFile({
  timeoutMs: 300,
  windowMs: 0,
  networkA: network,
  environment: { CARDGW_NETA_MESSAGES_FILE: path },
})

const increment = async (token: string, status: number): Promise<string> => {
  const { id } = await rig.authorize(token)
  const response = await rig.post(`/v1/transactions/${id}/increment`, { amount: 2_000 })
  expect(response.status).toBe(status)
  await rig.settled(id)
  return id
}

type Reconciliation = Readonly<Record<string, unknown>>

const dayEnded = async (): Promise<Reconciliation> => {
  const { sql } = rig.database
  const open = async () =>
    (
      await sql<{ day: string; next: string }[]>`
    select to_char(day, 'MMDD') as day, to_char(day + 1, 'MMDD') as next from card_business_days`
    )[0]
  await until(async () => (await open()) !== undefined)
  const { day = '', next = '' } = (await open()) ?? {}
  network.endDay(day, next)
  for (const endMs = performance.now() + 40_000; ; await Bun.sleep(10)) {
    const path = '/v1/transactions/reconciliations'
    const response = await rig.app.call('GET', path, { key: rig.adminKey })
    const { reconciliations } = (await response.json()) as { reconciliations: Reconciliation[] }
    const found = reconciliations.find((one) => one['ended_at'] !== null)
    if (found !== undefined) return found
    if (performance.now() > endMs) throw new Error('the day was not compared')
  }
}

test('a day of raised sales is balanced: one that stands, one that is voided, one that nobody answered', async () => {
  await increment('tok_visa_approved', 200)
  const voided = await increment('tok_visa_approved', 200)
  expect((await rig.post(`/v1/transactions/${voided}/void`)).status).toBe(200)
  await increment('tok_visa_increment_timeout', 504)
  await increment('tok_visa_increment_declined', 422)
  expect(await dayEnded()).toMatchObject({
    status: 'balanced',
    ours: {
      debit: { number: 7, amount: 46_000 },
      debit_reversal: { number: 2, amount: 14_000 },
    },
    upload: { status: 'done', taken: 3, refused: 0 },
  })
})
