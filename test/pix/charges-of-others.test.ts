/** Charges that the institution sends itself, beside those of the API Pix. */
import { afterAll, expect, test } from 'bun:test'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { attemptsAmong } from '../../src/pix/index.ts'
import { createSend } from '../../src/spi/index.ts'
import { testApp, testKey } from '../support/app.ts'
import { quietLogger } from '../support/database.ts'
import { startAutomatic } from './automatic.ts'

const { pix, call, violated, approved, sent, scheduledCharge, ofCharge, right } =
  await startAutomatic()
afterAll(() => pix.database.close())
const { sql, database } = pix
const operator = testKey('spi:send')
const send = createSend({
  ispb: '12345678',
  sql,
  broker: createPostgresBroker({ sql, dsn: database.dsn, logger: quietLogger }),
  revision: '5.11.1',
  logger: quietLogger,
  attemptsAmong,
})
const app = testApp(send.routes ?? [], { keys: [operator.record] })

test('an attempt that was refused is not asked for again behind its charge', async () => {
  const { endToEndId, txid } = await scheduledCharge(await approved())
  const [draft] = sent()
  await ofCharge(endToEndId, 'refused', 'AB10')
  const post = async (path: string, id: string) => {
    const { params } = draft ?? {}
    const [{ ultimate_debtor: _, ...one }] = params.charges
    const debtor = { ...one.debtor, document: '52998224725' }
    const charges = [{ ...one, debtor, end_to_end_id: id }]
    const body = { message_type: 'PAIN013', params: { charges } }
    return app.call('POST', path, { key: operator.key, body })
  }
  for (const path of ['/v1/spi/send', '/v1/spi/build']) {
    const refused = await post(path, endToEndId)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      errors: [{ pointer: '/params/charges/0/end_to_end_id', rule: 'unique' }],
    })
  }
  expect((await right('GET', `/cobr/${txid}`)).tentativas).toMatchObject([{ status: 'REJEITADA' }])
  const own = `${endToEndId.slice(0, -1)}${endToEndId.endsWith('A') ? 'B' : 'A'}`
  expect((await post('/v1/spi/send', own)).status).toBe(202)
})

test('charges of a debtor with more recurrences than are read are asked for by recurrence', async () => {
  const idRec = await approved()
  await scheduledCharge(idRec)
  const list = (query: string) =>
    call('GET', `/cobr?inicio=2026-03-01T00:00:00Z&fim=2026-03-03T00:00:00Z&${query}`)
  const ofDebtor = await list('cpf=45164632481')
  expect([ofDebtor.status, ofDebtor.json.parametros?.cpf]).toEqual([200, '45164632481'])
  // Made by a process whose clock is ahead of the one that makes its charges.
  await sql`update pix_recurrences set created_at = '2026-03-04T00:00:00Z' where id = ${idRec}`
  await sql`update pix_collections set created_at = '2026-03-02T00:00:00Z' where recurrence_id = ${idRec}`
  const { cobsr } = (await list('cpf=45164632481')).json
  expect(cobsr.map((one: { idRec: string }) => one.idRec)).toContain(idRec)
  await sql`
    insert into pix_recurrences (id, account, tax_id, receiver_name, debtor_tax_id, terms, history,
      created_at)
    select 'R' || n, account, tax_id, receiver_name, debtor_tax_id, terms, history, created_at
    from pix_recurrences cross join generate_series(1, 1000) n where id = ${idRec}`
  expect(violated(await list('cpf=45164632481'))).toEqual([400, 'CobRConsultaInvalida', 'cpf'])
  expect((await list(`cpf=45164632481&idRec=${idRec}`)).status).toBe(200)
})
