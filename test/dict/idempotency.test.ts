/** What is asked of the directory under an Idempotency-Key is asked once, and told again byte for byte. */
import { afterAll, describe, expect, test } from 'bun:test'
import { ispb, other, startDisputes } from './disputes-support.ts'
import type { Json } from './support.ts'

const disputes = await startDisputes()
afterAll(disputes.stop)
const { dict, sql, infractions, refunds } = disputes
const { directory } = dict
const owner = { tax_id: '98765432100', name: 'Ana Souza' }

let serial = 0
const account = () => ({
  number: String(++serial),
  type: 'CACC',
  opened_at: '2020-01-10T03:00:00Z',
})
const post = async (path: string, body: object | undefined, key: string) => {
  const options = { key: dict.key, headers: { 'Idempotency-Key': key } }
  const given = body === undefined ? options : { ...options, body }
  const response = await dict.app.call('POST', `/v1/dict/${path}`, given)
  const isReplay = response.headers.get('Idempotent-Replayed')
  return { status: response.status, text: await response.text(), isReplay }
}
const find = async (path: string): Promise<Json> =>
  (await dict.call('GET', `/v1/dict/${path}`)).json

const ownKey = async (): Promise<string> => {
  const key = `ana${++serial}@example.com`
  const entry = { key_type: 'EMAIL', key, owner, account: account() }
  expect((await dict.call('POST', '/v1/dict/entries', entry)).status).toBe(201)
  return key
}
/** @returns the path of a claim against us */
const against = async (): Promise<string> => {
  const key = await ownKey()
  directory.claim({
    type: 'PORTABILITY',
    key,
    key_type: 'EMAIL',
    ...owner,
    ispb: other,
    account: '777',
    account_type: 'CACC',
  })
  dict.passThere(6_000)
  await dict.poll()
  const { claims } = await find(`claims?key=${encodeURIComponent(key)}`)
  return `claims/${claims[0].id}`
}
const claimBody = (on_claim?: 'confirm') => {
  const key = `eva${++serial}@example.com`
  directory.register({
    key_type: 'EMAIL',
    key,
    ...owner,
    ispb: other,
    account: '1',
    account_type: 'CACC',
    on_claim,
  })
  return { type: 'PORTABILITY', key, key_type: 'EMAIL', account: account(), claimer: owner }
}
const scam = { reason: 'REFUND_REQUEST', situation: 'SCAM' }
const flaw = { reason: 'OPERATIONAL_FLAW', details: 'Pago duas vezes' }
/** @returns the path of a report about a payment to us */
const reported = async (): Promise<string> => {
  const transactionId = await disputes.received()
  infractions.create({ ...scam, transactionId, details: undefined, contact: undefined }, other)
  await disputes.poll()
  const found = await find(`infraction-reports?transaction_id=${transactionId}`)
  return `infraction-reports/${found.infraction_reports[0].id}`
}
const made = async (path: string, body: object): Promise<string> => {
  const { text } = await post(path, body, `made${++serial}`)
  return `${path}/${JSON.parse(text).id}`
}
const askedBack = async (): Promise<string> => {
  const transactionId = await disputes.received()
  refunds.create({ ...flaw, transactionId, amountCents: 100n }, other)
  await disputes.poll()
  const found = await find(`refunds?transaction_id=${transactionId}`)
  return `refunds/${found.refunds[0].id}`
}
const compared = async (): Promise<string> => {
  const path = await made('comparisons', { key_type: 'EMAIL', method: 'file' })
  await sql`
    insert into dict_differences (comparison_id, key)
    values (${path.split('/')[1] ?? ''}, 'nobody@example.com')`
  await sql`update dict_comparisons set status = 'done'`
  return path
}
const paid = async (more: object) => ({ transaction_id: await disputes.paid(), ...more })

type Asked = readonly [path: string, body?: object]
const asks: readonly (readonly [name: string, ask: () => Promise<Asked>])[] = [
  ['an entry', async () => ['entries', { key_type: 'EVP', owner, account: account() }]],
  ['a claim', async () => ['claims', claimBody()]],
  ['the acknowledgement of a claim', async () => [`${await against()}/acknowledge`]],
  ['the confirmation of a claim', async () => [`${await against()}/confirm`, {}]],
  ['the end of a claim', async () => [`${await against()}/cancel`, { reason: 'FRAUD' }]],
  ['a report', async () => ['infraction-reports', await paid(scam)]],
  ['the acknowledgement of a report', async () => [`${await reported()}/acknowledge`, {}]],
  [
    'the end of a report',
    async () => [`${await made('infraction-reports', await paid(scam))}/cancel`, {}],
  ],
  ['a refund request', async () => ['refunds', await paid({ ...flaw, amount: 100 })]],
  [
    'the end of a refund request',
    async () => [`${await made('refunds', await paid({ ...flaw, amount: 100 }))}/cancel`, {}],
  ],
  [
    'the answer to a refund request',
    async () => [
      `${await askedBack()}/close`,
      { result: 'REJECTED', rejection_reason: 'NO_BALANCE' },
    ],
  ],
  ['a comparison', async () => ['comparisons', { key_type: 'CPF', method: 'file' }]],
  [
    'the end of a difference',
    async () => [`${await compared()}/mend`, { key: 'nobody@example.com', keep: 'theirs' }],
  ],
]

test.each(asks)('%s', async (_, ask) => {
  const [path, body] = await ask()
  const key = `once${++serial}`
  const first = await post(path, body, key)
  expect([first, first.status < 300]).toEqual([{ ...first, isReplay: null }, true])
  expect(await post(path, body, key)).toEqual({ ...first, isReplay: 'true' })
  const elsewhere = await post('comparisons', { key_type: 'CNPJ', method: 'file' }, key)
  expect([elsewhere.status, JSON.parse(elsewhere.text).code]).toEqual([422, 'idempotency_mismatch'])
})

describe('a repetition', () => {
  test('gets the first answer, whatever has become of it since', async () => {
    const path = await reported()
    const first = await post(`${path}/acknowledge`, {}, 'first')
    expect(JSON.parse(first.text).status).toBe('acknowledged')
    const closing = { result: 'DISAGREED' }
    expect((await post(`${path}/close`, closing, 'second')).status).toBe(200)
    expect(await post(`${path}/acknowledge`, {}, 'first')).toEqual({ ...first, isReplay: 'true' })
  })

  test('of what the directory refused is refused again, and asks nobody', async () => {
    const path = await reported()
    expect((await post(`${path}/acknowledge`, {}, 'before')).status).toBe(200)
    const { directory_id: id } = await find(path)
    infractions.cancel(id, other)
    const closing = { result: 'DISAGREED' }
    const refused = async () => {
      const { status, text } = await post(`${path}/close`, closing, 'refused')
      return [status, JSON.parse(text).directory_code]
    }
    expect(await refused()).toEqual([422, 'InfractionReportOperationInvalid'])
    expect(await refused()).toEqual([422, 'InfractionReportOperationInvalid'])
    expect((await find(path)).status).toBe('cancelled')
  })

  test('of what was refused stays refused, whatever has come about since', async () => {
    const path = await reported()
    expect((await post(`${path}/acknowledge`, {}, 'known')).status).toBe(200)
    const there = infractions.find((await find(path)).directory_id, ispb)
    infractions.put({ ...there, status: 'OPEN' })
    const agree = () =>
      post(`${path}/close`, { result: 'AGREED', fraud_type: 'MULE_ACCOUNT' }, 'agree')
    const { status, text } = await agree()
    expect([status, JSON.parse(text).directory_code]).toEqual([
      ...[422, 'InfractionReportOperationInvalid'],
    ])
    infractions.put(there)
    expect((await post(`${path}/close`, { result: 'DISAGREED' }, 'disagree')).status).toBe(200)
    const { detail, directory_code } = JSON.parse((await agree()).text)
    expect([detail, directory_code]).toEqual([
      ...[JSON.parse(text).detail, 'InfractionReportOperationInvalid'],
    ])
  })

  test('of a claim’s act that was refused stays refused, whatever has come about since', async () => {
    const path = await against()
    const { claim_id: id } = await find(path)
    directory.claims.cancel(id, other, 'USER_REQUESTED')
    expect((await post(`${path}/confirm`, {}, 'too late')).status).toBe(422)
    expect((await post(`${path}/cancel`, { reason: 'FRAUD' }, 'over')).status).toBe(409)
    const { status, text } = await post(`${path}/confirm`, {}, 'too late')
    expect([status, JSON.parse(text).directory_code]).toEqual([422, 'ClaimOperationInvalid'])
    // Nobody was told to, and nobody refused: it is the claim that does not allow it.
    await sql`update dict_claims set refusal = null where claim_id = ${id}`
    await sql`
      update idempotency_keys set status = 202, body = convert_to(${JSON.stringify(path.split('/')[1])}, 'UTF8')
      where status = 422 and body like convert_to('%ClaimOperationInvalid%', 'UTF8')`
    const forgotten = await post(`${path}/confirm`, {}, 'too late')
    expect([forgotten.status, JSON.parse(forgotten.text).code]).toEqual([
      ...[409, 'dict_claim_not_possible'],
    ])
  })

  test('of a claim’s act that was refused is refused again', async () => {
    const path = await against()
    const { claim_id: id } = await find(path)
    directory.claims.cancel(id, other, 'USER_REQUESTED')
    const refused = async () => {
      const { status, text } = await post(`${path}/confirm`, {}, 'late')
      return [status, JSON.parse(text).directory_code]
    }
    expect(await refused()).toEqual([422, 'ClaimOperationInvalid'])
    expect(await refused()).toEqual([422, 'ClaimOperationInvalid'])
  })

  test('of what nobody has answered gets what has become of it', async () => {
    const [path, body] = ['infraction-reports', await paid(scam)]
    await sql`
      create function forget_answer() returns trigger language plpgsql as
        'begin new.status = old.status; new.body = old.body; return new; end'`
    await sql`
      create trigger forget before update on idempotency_keys for each row
        when (old.status is not null) execute function forget_answer()`
    // As where the process dies before it has kept the answer.
    const first = await post(path, body, 'died')
    await sql`drop trigger forget on idempotency_keys`
    const { id } = JSON.parse(first.text)
    const again = await post(path, body, 'died')
    expect([again.status, again.isReplay, JSON.parse(again.text).id]).toEqual([201, 'true', id])
    expect(
      infractions.all().filter((one) => one.transactionId === body.transaction_id).length,
    ).toBe(1)
    expect(await post(path, body, 'died')).toEqual(again)
  })
})

test('the completion of a claim, once', async () => {
  const path = await made('claims', claimBody('confirm'))
  const claim = async () => (await find(path)).status
  for (let turn = 0; turn < 5 && (await claim()) !== 'completed'; turn++) {
    dict.passThere(6_000)
    await dict.poll()
    await dict.due()
  }
  const first = await post(`${path}/complete`, undefined, 'complete')
  expect([first.status, JSON.parse(first.text).status]).toEqual([200, 'completed'])
  expect(await post(`${path}/complete`, undefined, 'complete')).toEqual({
    ...first,
    isReplay: 'true',
  })
})
