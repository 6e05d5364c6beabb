import { afterAll, expect, test } from 'bun:test'
import { createHash, X509Certificate } from 'node:crypto'
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose'
import { chargeBody, freshTxid, host, kid, pair, startPix } from './support.ts'

let clock = new Date()
/** When what is read now says that it was read. */
const second = () => new Date(Math.floor(clock.getTime() / 1_000) * 1_000).toISOString()
const pix = await startPix(() => clock)
afterAll(() => pix.database.close())
const { key, token } = await pix.receiver('ana')

const made = async (more: object = {}) => {
  const path = `/pix/v2/cob/${freshTxid()}`
  const { json } = await pix.call('PUT', path, { token, body: chargeBody(key, more) })
  return json
}
/** As a payer's institution reads it: without any token. */
const read = (location: string) => pix.call('GET', location.slice(host.length))

const opened = async (location: string) => {
  const { status, text, headers } = await read(location)
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    ...[200, 'application/jose', 'no-store'],
  ])
  const keys = (await pix.call('GET', '/qr/v2/jwks.json')).json as JSONWebKeySet
  const { payload, protectedHeader } = await compactVerify(text, createLocalJWKSet(keys))
  return { header: protectedHeader, payload: JSON.parse(Buffer.from(payload).toString()) }
}

test('a location shows its charge, signed by our certificate', async () => {
  const charge = await made()
  clock = new Date(clock.getTime() + 1_000)
  const { header, payload } = await opened(charge.location)
  const der = new X509Certificate(pair.cert).raw
  const hash = (name: string) => createHash(name).update(der).digest('base64url')
  expect(header).toEqual({
    alg: 'RS256',
    kid,
    jku: `https://${host}/qr/v2/jwks.json`,
    x5t: hash('sha1'),
    'x5t#S256': hash('sha256'),
  })
  expect(payload).toEqual({
    revisao: 0,
    txid: charge.txid,
    status: 'ATIVA',
    chave: key,
    calendario: {
      criacao: charge.calendario.criacao,
      expiracao: 3_600,
      apresentacao: second(),
    },
    devedor: { cpf: '12345678909', nome: 'Francisco da Silva' },
    valor: { original: '37.00', modalidadeAlteracao: 0 },
    solicitacaoPagador: 'Serviço realizado.',
    infoAdicionais: [{ nome: 'Campo 1', valor: 'Informação' }],
  })
})

test('the key set is as payers’ institutions read it', async () => {
  const { headers, json } = await pix.call('GET', '/qr/v2/jwks.json')
  expect(headers.get('content-type')).toBe('application/json')
  expect(json.keys).toHaveLength(1)
  const [jwk] = json.keys
  expect(jwk).toMatchObject({ kty: 'RSA', kid, use: 'sig', alg: 'RS256' })
  expect(jwk.x5c[0]).toBe(new X509Certificate(pair.cert).raw.toString('base64'))
  expect(Object.keys(jwk)).not.toContain('d')
})

test('what was revised, removed or has expired is shown as it is', async () => {
  const charge = await made({ devedor: undefined })
  await pix.call('PATCH', `/pix/v2/cob/${charge.txid}`, {
    token,
    body: { valor: { original: '40.00' } },
  })
  expect((await opened(charge.location)).payload).toMatchObject({
    revisao: 1,
    valor: { original: '40.00' },
  })
  clock = new Date(clock.getTime() + 7_200_000)
  const { payload } = await opened(charge.location)
  expect(payload.calendario.apresentacao).toBe(second())
  expect(payload.devedor).toBeUndefined()
  const body = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }
  await pix.call('PATCH', `/pix/v2/cob/${charge.txid}`, { token, body })
  expect((await opened(charge.location)).payload.status).toBe(body.status)
})

test('a location that shows nothing tells nothing', async () => {
  const charge = await made()
  await pix.call('DELETE', `/pix/v2/loc/${charge.loc.id}/txid`, { token })
  const empty = await pix.call('POST', '/pix/v2/loc', { token, body: { tipoCob: 'cob' } })
  const other = `${host}/qr/v2/${'0'.repeat(32)}`
  for (const location of [charge.location, empty.json.location, other, `${host}/qr/v2/x`]) {
    const { status, json } = await read(location)
    expect([status, json.type]).toEqual([
      ...[404, 'https://pix.bcb.gov.br/api/v2/error/CobPayloadNaoEncontrado'],
    ])
  }
})

test('the end of a location is not to be guessed', async () => {
  const ends = await Promise.all(
    Array.from({ length: 20 }, async () => (await made()).location.slice(-32) as string),
  )
  expect(new Set(ends).size).toBe(20)
  for (const end of ends) expect(end).toMatch(/^[0-9a-f]{32}$/)
})

test('what is read again within a second has the same signature, and another as soon as anything is changed', async () => {
  const charge = await made()
  clock = new Date(Math.ceil(clock.getTime() / 1_000) * 1_000)
  const first = await read(charge.location)
  clock = new Date(clock.getTime() + 999)
  expect((await read(charge.location)).text).toBe(first.text)
  // As another process would.
  await pix.sql`update pix_charges set original_cents = 5, revision = 7 where txid = ${charge.txid}`
  const { payload } = await opened(charge.location)
  expect([payload.revisao, payload.valor.original]).toEqual([7, '0.05'])
  clock = new Date(clock.getTime() + 1)
  expect((await opened(charge.location)).payload.calendario.apresentacao).toBe(second())
})

test('a charge is never shown before it was made', async () => {
  clock = new Date(Math.floor(clock.getTime() / 1_000) * 1_000 + 700)
  const charge = await made()
  clock = new Date(clock.getTime() + 100)
  const { calendario } = (await opened(charge.location)).payload
  expect(calendario.apresentacao).toBe(calendario.criacao)
})

test('locations that are read together share statements, and each shows its own', async () => {
  const charges = await Promise.all(Array.from({ length: 40 }, () => made()))
  const [first] = charges
  const all = [...charges, first, first].map(({ location }) => opened(location))
  const nothing = read(`${host}/qr/v2/${'f'.repeat(32)}`)
  const seen = (await Promise.all(all)).map(({ payload }) => payload.txid)
  expect(seen).toEqual([...charges, first, first].map(({ txid }) => txid))
  expect((await nothing).status).toBe(404)
})
