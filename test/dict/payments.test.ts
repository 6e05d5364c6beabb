import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createPrivateKey } from 'node:crypto'
import { CompactSign, exportJWK } from 'jose'
import { buildDynamicBrCode, buildStaticBrCode } from '#codecs/brcode'
import { dayAt } from '#src/platform/runtime/index.ts'
import { sealed, tlv } from '../codecs/brcode/support.ts'
import { expectOwnedByAccount } from '../support/app.ts'
import { issueCertificate } from '../support/pki.ts'
import { debtor, type Json, payer, startDict } from './support.ts'

const authority = issueCertificate('AC sites', { authority: true })
const site = issueCertificate('site', { issuer: authority, hosts: ['127.0.0.1'] })
const own = issueCertificate('99999A04 QRC')
const at = await startDict(
  { DICT_TIMEOUT: '1' },
  {
    outside: {
      TRILHO_FETCH_ALLOWED_TARGETS: '127.0.0.1',
      TRILHO_FETCH_TIMEOUT: '1',
      TRILHO_FETCH_CA_BASE64: btoa(authority.cert),
    },
  },
)
const { directory, lookUp, pay, sql } = at
const key = 'joao@example.com'

/** The receiver's institution: the charge, and the keys that it signs with. */
let charge: Json = {}
let signedWith = own
/** The last day of the charge at `/cobv`. */
let lastDay = ''
/** What it calls a payment after that. */
const refusals = 'https://pix.bcb.gov.br/api/v2/error'
let refusalType = `${refusals}/CobPayloadOperacaoInvalida`
let violated: string | undefined
/** What locations were asked with. */
let queries: string[] = []
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls: { cert: site.cert, key: site.key },
  fetch: async (request) => {
    const { pathname, origin } = new URL(request.url)
    if (pathname === '/keys') {
      const jwk = await exportJWK(createPrivateKey(own.key))
      const { kty, n, e } = jwk
      return Response.json({ keys: [{ kty, n, e, kid: 'k', use: 'sig', alg: 'RS256' }] })
    }
    const { search, searchParams } = new URL(request.url)
    queries.push(search)
    if ((searchParams.get('DPP') ?? '') > lastDay && pathname.includes('/cobv/')) {
      const violacoes = violated === undefined ? undefined : [{ propriedade: violated }]
      return Response.json({ type: refusalType, violacoes }, { status: 400 })
    }
    const token = await new CompactSign(new TextEncoder().encode(JSON.stringify(charge)))
      .setProtectedHeader({ alg: 'RS256', kid: 'k', jku: `${origin}/keys` })
      .sign(createPrivateKey(signedWith.key))
    return new Response(token, { headers: { 'Content-Type': 'application/jose' } })
  },
})
afterAll(async () => {
  await receiver.stop(true)
  await at.stop()
})
beforeEach(async () => {
  directory.setFaults([])
  await sql`delete from rate_buckets`
  signedWith = own
  queries = []
  charge = {
    calendario: { criacao: new Date().toISOString(), expiracao: 3600 },
    status: 'ATIVA',
    valor: { original: '37.00' },
    chave: key,
    txid: 'a'.repeat(30),
  }
})

const names = { merchantName: 'Joao', merchantCity: 'BRASILIA' }
const dynamic = buildDynamicBrCode({ ...names, url: `127.0.0.1:${receiver.port}/cob` })
const queued = async (): Promise<number> =>
  Number((await sql`select count(*)::int as n from spi_messages`)[0]?.['n'])
/** What was refused, and that nothing was queued. */
const refused = async (body: object): Promise<readonly [number, string, unknown]> => {
  const before = await queued()
  const { status, json } = await pay(body)
  expect(await queued()).toBe(before)
  return [status, json.code, json.reason ?? json.errors?.[0]?.rule]
}

describe('by key', () => {
  test('a payment goes to the account of the directory, with the EndToEndId of the lookup', async () => {
    const { status, json } = await pay({ key, amount: 1_050 })
    expect(status).toBe(202)
    expect(directory.statistics().lookups).toContain(json.end_to_end_id)
    expect(json).toMatchObject({
      status: 'pending',
      amount: '10.50',
      method: 'key',
      transaction_id: null,
      creditor: { ispb: '99999A04', name: 'João Lima', tax_id: '***654321**' },
    })
    const [sent] = await sql<Json[]>`
      select t.end_to_end_id as id, t.amount_cents::text as cents, t.creditor_ispb as ispb
      from spi_transactions t where t.message_id = ${json.message_id}::uuid`
    expect(sent).toEqual({ id: json.end_to_end_id, cents: '1050', ispb: '99999A04' })
    const payment = await at.call('GET', `/v1/pix/payments/${json.end_to_end_id}`)
    expect(payment.json).toMatchObject({
      direction: 'OUTBOUND',
      status: 'pending',
      amount: '10.50',
      timeline: [{ type: 'pacs.008', message_status: 'QUEUED' }],
    })
    const acts = await sql<{ action: string }[]>`
      select action from audit_log where object in (${json.end_to_end_id}, ${json.message_id}) order by id`
    expect(acts.map(({ action }) => action)).toEqual(['dict.lookup', 'spi.pay'])
  })

  test('what the payer has confirmed is paid under its id, once', async () => {
    const { json: shown } = await lookUp(key)
    const first = await pay({ key, amount: 1, end_to_end_id: shown.end_to_end_id })
    expect([first.status, first.json.end_to_end_id]).toEqual([202, shown.end_to_end_id])
    const again = { key, amount: 1, end_to_end_id: shown.end_to_end_id }
    expect(await refused(again)).toEqual([409, 'dict_lookup_unknown', undefined])
  })

  test('of payments that come together by one lookup, one is made', async () => {
    const { json: shown } = await lookUp(key)
    const all = await Promise.all(
      Array.from({ length: 6 }, () => pay({ key, amount: 1, end_to_end_id: shown.end_to_end_id })),
    )
    expect(all.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409, 409])
  })

  test('a lookup of another key, payer or time pays nothing', async () => {
    const { json: shown } = await lookUp(key)
    const { end_to_end_id } = shown
    const unknown = [409, 'dict_lookup_unknown', undefined] as const
    expect(await refused({ key: '+5561988880000', amount: 1, end_to_end_id })).toEqual(unknown)
    const other = { ...debtor, document: '52998224725' }
    expect(await refused({ key, amount: 1, end_to_end_id, debtor: other })).toEqual(unknown)
    await sql`update dict_lookups set created_at = created_at - interval '15 minutes 1 second'
      where end_to_end_id = ${end_to_end_id}`
    expect(await refused({ key, amount: 1, end_to_end_id })).toEqual(unknown)
  })

  test('a key that has changed hands since it was shown is not paid', async () => {
    const moved = 'moves@example.com'
    const entry = {
      key_type: 'EMAIL',
      key: moved,
      ispb: '99999A04',
      account: '7',
      account_type: 'CACC',
    } as const
    directory.register({ ...entry, name: 'Ana', tax_id: '11144477735' })
    const { json: shown } = await lookUp(moved)
    directory.remove(moved)
    directory.register({ ...entry, name: 'Bia', tax_id: '52998224725' })
    at.pass(31_000)
    const body = { key: moved, amount: 1, end_to_end_id: shown.end_to_end_id }
    expect(await refused(body)).toEqual([409, 'dict_entry_changed', undefined])
  })

  test('nobody but the one whom the payer expects is paid', async () => {
    const body = { key, amount: 1, creditor_document: payer }
    expect(await refused(body)).toEqual([422, 'payee_differs', undefined])
    expect((await pay({ ...body, creditor_document: '98765432100' })).status).toBe(202)
  })

  test('a payment gives the lookup back', async () => {
    at.pass(31_000)
    const left = async () =>
      Object.fromEntries(
        (
          await sql<{ subject: string; tokens: number }[]>`
            select split_part(subject, ':', 2) as subject, round(tokens)::int as tokens from rate_buckets`
        ).map(({ subject, tokens }) => [subject, tokens]),
      )
    const { json: shown } = await lookUp(key)
    expect(await left()).toEqual({ contact: 99, participant: 4_999 })
    await pay({ key, amount: 1, end_to_end_id: shown.end_to_end_id })
    while (((await left())['contact'] ?? 0) < 100) await Bun.sleep(5)
  })

  test('a directory that is away has paid nothing, and the same request pays later', async () => {
    at.pass(31_000)
    directory.setFaults([{ kind: 'unavailable', times: 1 }])
    const once = Bun.randomUUIDv7()
    const first = await pay({ key, amount: 1 }, once)
    expect([first.status, first.json.code]).toEqual([503, 'dict_unavailable'])
    const second = await pay({ key, amount: 1 }, once)
    expect(second.status).toBe(202)
    const before = { ...directory.statistics().answers }
    at.pass(31_000)
    const replayed = await pay({ key, amount: 1 }, once)
    expect(replayed.headers.get('idempotent-replayed')).toBe('true')
    expect(replayed.json).toEqual(second.json)
    expect(directory.statistics().answers).toEqual(before)
    expect((await pay({ key, amount: 2 }, once)).status).toBe(422)
  })

  test('keys are kept apart by account', async () => {
    await expectOwnedByAccount((headers) =>
      at.app.call('POST', '/v1/pix/payments', {
        key: at.key,
        body: { key, amount: 5, debtor },
        headers,
      }),
    )
  })
})

describe('by code', () => {
  test('a static code is paid by its key, amount and txid', async () => {
    const qr_code = buildStaticBrCode({ ...names, key, amount: '12.30', txid: 'LOJA1' })
    const { status, json } = await pay({ qr_code: ` ${qr_code}\n` })
    expect(status).toBe(202)
    expect(json).toMatchObject({ amount: '12.30', method: 'static_code', transaction_id: 'LOJA1' })
    expect((await pay({ qr_code, amount: 1_230 })).status).toBe(202)
    expect(await refused({ qr_code, amount: 1_229 })).toEqual([422, 'amount_differs', undefined])
  })

  test('a static code of a Pix Saque is not paid as if nobody handed out cash', async () => {
    const template = tlv('26', tlv('00', 'br.gov.bcb.pix') + tlv('01', key) + tlv('03', '12345678'))
    const qr_code = sealed(`000201${template}5204000053039865802BR5904Joao6008BRASILIA62070503***`)
    expect(await refused({ qr_code, amount: 77 })).toEqual([
      422,
      'qrcode_not_payable',
      'static_withdrawal',
    ])
  })

  test('a static code without an amount needs one', async () => {
    const qr_code = buildStaticBrCode({ ...names, key })
    expect(await refused({ qr_code })).toEqual([400, 'value_refused', 'required'])
    const { json } = await pay({ qr_code, amount: 77 })
    expect(json).toMatchObject({ amount: '0.77', transaction_id: null })
  })

  test('the charge behind a dynamic code is read, and paid as it says', async () => {
    const { status, json } = await pay({ qr_code: dynamic })
    expect(status).toBe(202)
    expect(json).toMatchObject({
      amount: '37.00',
      method: 'dynamic_code',
      transaction_id: 'a'.repeat(30),
    })
    expect(await refused({ qr_code: dynamic, amount: 1 })).toEqual([
      422,
      'amount_differs',
      undefined,
    ])
    charge.valor.modalidadeAlteracao = 1
    expect((await pay({ qr_code: dynamic, amount: 1 })).json.amount).toBe('0.01')
    charge.valor = { original: '37.00', final: '38.11' }
    charge.calendario = { criacao: '2026-01-01T00:00:00Z', dataDeVencimento: '2026-12-01' }
    expect((await pay({ qr_code: dynamic })).json.amount).toBe('38.11')
  })

  const agency = { modalidadeAgente: 'AGPSS', prestadorDoServicoDeSaque: '99999A04' }
  const saque = { original: '0.00', retirada: { saque: { valor: '20.00', ...agency } } }
  const trader = { ...agency, modalidadeAgente: 'AGTEC' }
  const troco = { original: '80.00', retirada: { troco: { valor: '20.00', ...trader } } }
  const openSaque = {
    ...saque,
    retirada: { saque: { ...agency, valor: '0.00', modalidadeAlteracao: 1 } },
  }
  const openTroco = {
    ...troco,
    retirada: { troco: { ...troco.retirada.troco, modalidadeAlteracao: 1 } },
  }

  test.each([
    ['saque', saque, undefined, '20.00', /OTHR.*AGFSS.*99999A04.*20\.00<.*VLDN/],
    ['troco', troco, undefined, '100.00', /GSCB.*AGTEC.*80\.00<.*VLCP.*20\.00<.*VLDN/],
    ['saque of any amount', openSaque, 700, '7.00', /OTHR.*AGFSS.*7\.00<.*VLDN/],
    ['troco of any amount', openTroco, 8_100, '81.00', /GSCB.*80\.00<.*VLCP.*1\.00<.*VLDN/],
  ])('the cash of a %s is paid as the charge says', async (_, valor, amount, paid, parts) => {
    charge.valor = valor
    const { status, json } = await pay({ qr_code: dynamic, ...(amount && { amount }) })
    expect([json, status]).toEqual([json, 202])
    expect(json.amount).toBe(paid)
    const [row] = await sql<{ xml: Buffer }[]>`
      select xml from spi_messages where id = ${json.message_id}::uuid`
    const xml = Buffer.from(Bun.zstdDecompressSync(row?.xml ?? Buffer.alloc(0))).toString()
    expect(xml).toMatch(parts)
  })

  test('what a charge says nothing of may stand there as null', async () => {
    charge.valor = { original: '37.00', retirada: null }
    expect((await pay({ qr_code: dynamic })).json.amount).toBe('37.00')
    charge.valor = { ...troco, retirada: { saque: null, ...troco.retirada } }
    expect((await pay({ qr_code: dynamic })).json.amount).toBe('100.00')
    charge.valor = { ...saque, retirada: { troco: null, ...saque.retirada } }
    expect((await pay({ qr_code: dynamic })).json.amount).toBe('20.00')
    charge.valor = { ...troco, retirada: { saque: null, troco: null } }
    expect(await refused({ qr_code: dynamic })).toEqual([422, 'qrcode_not_payable', 'malformed'])
  })

  test('cash of another amount than the charge, or none, is not paid', async () => {
    charge.valor = troco
    expect(await refused({ qr_code: dynamic, amount: 10_001 })).toEqual([
      422,
      'amount_differs',
      undefined,
    ])
    charge.valor = openTroco
    expect(await refused({ qr_code: dynamic, amount: 8_000 })).toEqual([
      400,
      'value_refused',
      'minimum',
    ])
    charge.valor = openSaque
    expect(await refused({ qr_code: dynamic })).toEqual([400, 'value_refused', 'required'])
    charge.valor = { ...troco, original: '0.00' }
    expect(await refused({ qr_code: dynamic })).toEqual([422, 'qrcode_not_payable', 'malformed'])
  })

  test.each([
    ['paid already', { status: 'CONCLUIDA' }, 'status'],
    [
      'of another time',
      { calendario: { criacao: '2020-01-01T00:00:00Z', expiracao: 60 } },
      'expired',
    ],
    ['of no time', { calendario: { expiracao: 60 } }, 'malformed'],
    [
      'of another time, told as a text',
      { calendario: { criacao: '2020-01-01T00:00:00Z', expiracao: '60' } },
      'expired',
    ],
    [
      'of a time in words',
      { calendario: { criacao: '2020-01-01T00:00:00Z', expiracao: 'a minute' } },
      'malformed',
    ],
    ['made at no time', { calendario: { criacao: '2020-01-01 00h', expiracao: 60 } }, 'malformed'],
    [
      'of cash by an agent that is none',
      {
        valor: {
          ...saque,
          retirada: { saque: { valor: '20.00', ...agency, modalidadeAgente: 'constructor' } },
        },
      },
      'malformed',
    ],
    ['of cash by nobody', { valor: { original: '0.00', retirada: { saque: {} } } }, 'malformed'],
    ['without a key', { chave: 7 }, 'malformed'],
    ['with a short txid', { txid: 'a'.repeat(25) }, 'malformed'],
    ['with an odd amount', { valor: { original: '1e3' } }, 'malformed'],
    ['without an amount', { valor: null }, 'malformed'],
  ])('a charge %s is not paid', async (_, more, reason) => {
    charge = { ...charge, ...more }
    expect(await refused({ qr_code: dynamic })).toEqual([422, 'qrcode_not_payable', reason])
  })

  test('a charge with a due date is paid until its last day, which its location knows', async () => {
    charge.calendario = { criacao: '2026-01-01T00:00:00Z', dataDeVencimento: '2026-02-01' }
    const url = `127.0.0.1:${receiver.port}/qr/v2/cobv/${'a'.repeat(32)}`
    const qr_code = buildDynamicBrCode({ ...names, url })
    const today = dayAt(new Date())
    lastDay = today
    expect((await pay({ qr_code })).status).toBe(202)
    lastDay = '2026-02-02'
    expect(await refused({ qr_code })).toEqual([422, 'qrcode_not_payable', 'expired'])
    expect(queries).toEqual([`?DPP=${today}`, `?DPP=${today}`])
    violated = 'DPP'
    expect(await refused({ qr_code })).toEqual([422, 'qrcode_not_payable', 'expired'])
    violated = 'codMun'
    expect(await refused({ qr_code })).toEqual([502, 'qrcode_location_unavailable', 'status'])
    violated = undefined
    // Why it refuses what is no query of the standard, nobody knows.
    refusalType = `${refusals}/RequisicaoInvalida`
    expect(await refused({ qr_code })).toEqual([502, 'qrcode_location_unavailable', 'status'])
    // Other locations know no day.
    await pay({ qr_code: dynamic })
    expect(queries.at(-1)).toBe('')
  })

  test('a charge that another one has signed is not paid', async () => {
    signedWith = site
    expect(await refused({ qr_code: dynamic })).toEqual([422, 'qrcode_not_payable', 'untrusted'])
  })

  test('what is no code is refused', async () => {
    expect(await refused({ qr_code: '00020126' })).toEqual([422, 'brcode_invalid', undefined])
  })
})

describe('by account', () => {
  const account = {
    ispb: '99999A04',
    document: '98765432100',
    branch: '0001',
    account_num: '600200',
    account_type: 'CACC',
  }

  test('nobody is asked', async () => {
    const before = { ...directory.statistics().answers }
    const { status, json } = await pay({ account, amount: 5, remittance_information: 'aluguel' })
    expect([status, json.method, json.creditor.name]).toEqual([202, 'account', null])
    expect(directory.statistics().answers).toEqual(before)
  })

  test('what stays within this institution is refused, at the place in the request', async () => {
    const { status, json } = await pay({ account: { ...account, ispb: '12345678' }, amount: 5 })
    expect([status, json.errors[0].pointer, json.errors[0].rule]).toEqual([
      ...[400, '/account/ispb', 'settlement'],
    ])
  })

  test.each([
    ['none', {}, 'exactly_one'],
    ['two', { account, key }, 'exactly_one'],
    [
      'a lookup beside an account',
      { account, end_to_end_id: `E12345678${'2'.repeat(12)}${'a'.repeat(11)}` },
      'combination',
    ],
  ])('%s of the ways is refused', async (_, body, rule) => {
    expect(await refused({ amount: 1, ...body })).toEqual([400, 'value_refused', rule])
  })

  test('an amount is needed, of a cent at least', async () => {
    expect(await refused({ account })).toEqual([400, 'value_refused', 'required'])
    expect((await pay({ account, amount: 0 })).status).toBe(400)
    expect((await pay({ account, amount: 1 })).status).toBe(202)
  })
})
