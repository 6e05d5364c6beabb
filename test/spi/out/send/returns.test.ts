/** Who gets the money of a return whose caller does not say. */
import { expect, test } from 'bun:test'
import { insertMessages } from '#src/spi/messages/index.ts'
import { createSend } from '#src/spi/out/send/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { runningBroker } from '../../../support/broker.ts'
import { createTestDatabase, quietLogger } from '../../../support/database.ts'
import { endToEndId } from '../../../support/messages.ts'
import { message } from '../../messages/support.ts'

const database = await createTestDatabase()
const { sql } = database
const broker = await runningBroker(database)

const ispb = '12345678'
const { key, record } = testKey('spi:send')
const { routes = [] } = createSend({
  ispb,
  sql,
  broker,
  revision: '5.11.1',
  logger: quietLogger,
})
const app = testApp(routes, { keys: [record] })

type Parties = { readonly debtorIspb?: string | undefined; readonly creditorIspb?: string }

const received = async (
  id: string,
  { debtorIspb = undefined, creditorIspb = ispb }: Parties,
  over: Parameters<typeof message>[0] = {},
): Promise<void> => {
  const whole = { instructionId: undefined, amountCents: 100n, status: undefined }
  const transactions = [{ endToEndId: id, debtorIspb, creditorIspb, ...whole }]
  await insertMessages(sql, [message({ ...over, transactions })])
}

const build = (params: object) =>
  app.call('POST', '/v1/spi/build', { key, body: { message_type: 'PACS004', params } })

/** DbtrAgt and CdtrAgt of each return. */
const partiesOf = async (params: object): Promise<readonly string[]> => {
  const { xml } = (await (await build(params)).json()) as { readonly xml: string }
  return [...xml.matchAll(/<MmbId>(.*?)<\/MmbId>/g)].map(([, id]) => id ?? '')
}

const giveBack = (id: string, more: object = {}) => ({
  original_end_to_end_id: id,
  amount: 100,
  return_reason: 'MD06',
  ...more,
})

test('the institution that paid gets the money back, whoever made the id of its payment', async () => {
  const [charged, initiated, indirect] = [
    endToEndId(1),
    'E5555555520260302140500000000001',
    endToEndId(3),
  ]
  await received(charged, { debtorIspb: '87654321' })
  await received(initiated, { debtorIspb: '22222222' })
  await received(indirect, { debtorIspb: '33333333', creditorIspb: '44444444' })
  expect(await partiesOf(giveBack(charged))).toEqual([ispb, '87654321'])
  expect(
    await partiesOf({
      transactions: [charged, initiated, indirect, charged].map((id) => giveBack(id)),
    }),
  ).toEqual([ispb, '87654321', ispb, '22222222', '44444444', '33333333', ispb, '87654321'])
})

test('whoever is named gets it', async () => {
  const id = endToEndId(4)
  await received(id, { debtorIspb: '87654321' })
  const named = { receiving_ispb: '22222222', returning_ispb: '33333333' }
  expect(await partiesOf(giveBack(id, named))).toEqual(['33333333', '22222222'])
})

test('without the payment, the institution in its id gets it, unless that is the one that returns', async () => {
  const other = 'E6666666620260302140500000000001'
  expect(await partiesOf(giveBack(other))).toEqual([ispb, '66666666'])
  // What nobody of those who may has signed says nothing, nor what was sent, nor another message.
  await received(other, { debtorIspb: '11111111' }, { signature: 'INVALID' })
  await received(other, { debtorIspb: '11111111' }, { direction: 'OUTBOUND' })
  await received(other, { debtorIspb: '11111111' }, { type: 'pacs.004' })
  expect(await partiesOf(giveBack(other))).toEqual([ispb, '66666666'])
  await received(other, {})
  expect(await partiesOf(giveBack(other))).toEqual([ispb, '66666666'])
  const response = await build(giveBack(endToEndId(9)))
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { errors: [{ pointer: '/params/receiving_ispb', rule: 'settlement' }] },
  ])
})
