/** The time that a directory takes makes no room smaller: whoever pays by key is refused nothing for it. */
import { expect, test } from 'bun:test'
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { requestsMin } from '#src/platform/http/limits/congestion.ts'
import { createPayments } from '#src/spi/index.ts'
import { testApp, testKey } from '../../support/app.ts'
import { timedRooms } from '../../support/timed-rooms.ts'

const many = requestsMin + 16

test('a directory that takes five seconds has many wait, and refuses nobody', async () => {
  let waiting = 0
  const gate = Promise.withResolvers<void>()
  const { rooms, pass } = timedRooms('spi')
  const payee = async (): Promise<never> => {
    waiting++
    await gate.promise
    throw new ApiError(httpErrors.not_found, 'Nobody has this key.')
  }
  const unused = (): never => {
    throw new Error('nothing is paid here')
  }
  const broker = { publishIn: unused }
  const sql = unused as never
  const payments = createPayments({
    ispb: '12345678',
    sql,
    broker,
    revision: '5.11.1',
    payees: { payee, missing: [], errors: [], readCode: unused },
  })
  const { key, record } = testKey('spi:send')
  const app = testApp(payments.routes ?? [], { keys: [record], roomsFor: () => rooms })
  const debtor = {
    name: 'Maria Souza',
    document: '12345678909',
    account_num: '500100',
    account_type: 'CACC',
  }
  const body = { key: 'joao@example.com', amount: 1_050, debtor }
  const pay = () => app.call('POST', '/v1/pix/payments', { key, body })
  const asked = Array.from({ length: many }, pay)
  while (waiting < many) await Bun.sleep(1)
  pass(5_000)
  const another = pay()
  while (waiting < many + 1) await Bun.sleep(1)
  gate.resolve()
  const statuses = (await Promise.all([...asked, another])).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([404]))
})
