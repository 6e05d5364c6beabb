/** A payer reads the code of a charge: what his institution pays, and what it does not believe. */
import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { buildDynamicBrCode, buildStaticBrCode } from '#codecs/brcode'
import { createCentralBank } from '../../../src/simulators/central-bank/index.ts'
import { createDirectory } from '../../../src/simulators/directory/index.ts'

const ispb = '12345678'
const key = '12345678000195'
const { privateKey, publicKey } = await generateKeyPair('RS256')
const { privateKey: other } = await generateKeyPair('RS256')
let asked: string[] = []
let shown: () => Promise<Response>

const host = () => `127.0.0.1:${site.port}`
const charge = (more: object = {}) => ({
  txid: 'CHARGE2026030001ABCDEFGHIJ',
  status: 'ATIVA',
  chave: key,
  revisao: 0,
  calendario: { criacao: new Date().toISOString(), expiracao: 3_600 },
  valor: { original: '37.00' },
  ...more,
})
const signed = async (
  payload: object,
  more: { readonly jku?: string; readonly by?: CryptoKey } = {},
) => {
  const { jku = `https://${host()}/jwks`, by = privateKey } = more
  const jws = await new SignJWT({ ...payload })
    .setProtectedHeader({ alg: 'RS256', kid: 'a', jku })
    .sign(by)
  return new Response(jws, { headers: { 'Content-Type': 'application/jose' } })
}
const code = (): string =>
  buildDynamicBrCode({ url: `${host()}/qr/v2/cobv/x`, merchantName: 'Ana', merchantCity: 'RECIFE' })

const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'a', alg: 'RS256' }] }
const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => {
    const url = new URL(request.url)
    asked.push(url.pathname + url.search)
    return url.pathname === '/jwks' ? Response.json(keys) : shown()
  },
})
const directory = await createDirectory({ category: 'A' })
directory.register({
  key_type: 'CNPJ',
  key,
  name: 'Padaria Ltda',
  tax_id: key,
  ispb,
  branch: '1',
  account: '2',
  account_type: 'CACC',
})
const bank = await createCentralBank({ directory: directory.url })
afterEach(() => {
  asked = []
  directory.setFaults([])
})
afterAll(async () => {
  await Promise.all([site.stop(true), directory.stop(), bank.stop()])
})

const pay = async (body: object) => {
  const url = `${bank.url}/simulator/pay-code`
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  return { status: answer.status, json: (await answer.json()) as Record<string, string> }
}

const booked = () => {
  const [last] = bank.book().operations.toReversed()
  return last && [last.receiver, last.amountCents]
}

describe('the institution of a payer pays', () => {
  test('what the location asks for, to whom the directory says', async () => {
    shown = () => signed(charge())
    expect(await pay({ code: code() })).toMatchObject({
      status: 201,
      json: { end_to_end_ids: [expect.stringMatching(/^E99999A03/)] },
    })
    expect(booked()).toEqual([ispb, 3_700n])
    expect(asked).toEqual(['/qr/v2/cobv/x', '/jwks'])
  })

  test('under the EndToEndId by which the key was looked up, and says so, which gives the token back', async () => {
    shown = () => signed(charge())
    const { json } = await pay({ code: code() })
    expect(bank.book().operations.at(-1)?.id).toBe(json['end_to_end_ids']?.[0] ?? '')
    expect(directory.statistics().lookups).toEqual([])
    expect(Object.values(directory.statistics().tokens)).toEqual([100, 50_000])
  })

  test('what is owed on the day that the payer names', async () => {
    shown = () => signed(charge({ valor: { original: '100.00', final: '102.00' } }))
    expect((await pay({ code: code(), pay_on: '2026-12-01' })).status).toBe(201)
    expect(booked()).toEqual([ispb, 10_200n])
    expect(asked[0]).toBe('/qr/v2/cobv/x?DPP=2026-12-01')
  })

  test('purchase and cash', async () => {
    const troco = { valor: '20.00', modalidadeAgente: 'AGPSS', prestadorDoServicoDeSaque: ispb }
    shown = () => signed(charge({ valor: { original: '10.00', retirada: { troco } } }))
    expect((await pay({ code: code() })).status).toBe(201)
    expect(booked()).toEqual([ispb, 3_000n])
  })

  test('whom the caller names, without a directory', async () => {
    shown = () => signed(charge({ chave: 'nobody@example.com' }))
    const { status } = await pay({ code: code(), to: '87654321', tax_id: '12345678909' })
    expect([status, booked()]).toEqual([201, ['87654321', 3_700n]])
  })
})

describe('and pays nothing', () => {
  const cases: readonly (readonly [string, () => Promise<Response>, number, string])[] = [
    [
      'removed',
      () => signed(charge({ status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' })),
      409,
      'not_payable',
    ],
    ['paid', () => signed(charge({ status: 'CONCLUIDA' })), 409, 'not_payable'],
    [
      'expired',
      () => signed(charge({ calendario: { criacao: '2026-01-01T00:00:00Z', expiracao: 60 } })),
      ...([409, 'not_payable'] as const),
    ],
    ['gone', async () => new Response('', { status: 410 }), 409, 'not_shown'],
    ['elsewhere', async () => Response.redirect('https://example.com/'), 502, 'unreachable'],
    ['signed by another key', () => signed(charge(), { by: other }), 422, 'not_trusted'],
    [
      'signed by keys of another site',
      () => signed(charge(), { jku: 'https://example.com/jwks' }),
      ...([422, 'not_trusted'] as const),
    ],
    ['of another form', () => signed({ txid: 'x' }), 422, 'not_trusted'],
    ['no JWS', async () => new Response('<html>'), 422, 'not_trusted'],
    ['too large', async () => new Response('a'.repeat(300_000)), 502, 'unreachable'],
    [
      'of a key that nobody has',
      () => signed(charge({ chave: 'nobody@example.com' })),
      404,
      'unknown_key',
    ],
  ]
  test.each(cases)('where the charge is %s', async (_, answer, status, error) => {
    const before = bank.book().operations.length
    shown = answer
    const found = await pay({ code: code() })
    expect([found.status, found.json['error']]).toEqual([status, error])
    expect(bank.book().operations.length).toBe(before)
  })

  test.each([
    ['rate_limited', '429'],
    ['unavailable', '503'],
    ['error_after_storing', '500'],
    ['proxy_refusal', '403'],
    ['garbage', '200'],
  ] as const)('where the directory does not say whose key it is: %s', async (kind, status) => {
    const before = bank.book().operations.length
    shown = () => signed(charge())
    directory.setFaults([{ kind, times: 1 }])
    const found = await pay({ code: code() })
    expect([found.status, found.json['error']]).toEqual([502, 'directory_failed'])
    expect(found.json['message']).toContain(`${new URL(directory.url).host} answers ${status}`)
    expect(bank.book().operations.length).toBe(before)
  })

  test('for a code that is none, or that names no charge', async () => {
    const still = buildStaticBrCode({ key: 'a@b.br', merchantName: 'Ana', merchantCity: 'RECIFE' })
    for (const [text, error] of [
      ['000201', 'unreadable_code'],
      [code().replace(/.$/, 'X'), 'unreadable_code'],
      [still, 'no_charge'],
    ] as const) {
      const { status, json } = await pay({ code: text })
      expect([status, json['error']]).toEqual([400, error])
    }
    expect((await pay({ code: code(), to: ispb })).status).toBe(400)
    expect(asked).toEqual([])
  })
})
