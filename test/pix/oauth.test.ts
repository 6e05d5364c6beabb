import { afterAll, describe, expect, setSystemTime, test } from 'bun:test'
import { createHash, X509Certificate } from 'node:crypto'
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { forgetTokens } from '../../src/pix/oauth/tokens.ts'
import { issueCertificate } from '../support/pki.ts'
import { pair, startPix } from './support.ts'

const pix = await startPix()
afterAll(() => pix.database.close())

const path = '/oauth/token'
const grant = { grant_type: 'client_credentials' }
const basicOf = (id: string, secret: string) => ({
  Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
})
const list =
  '/pix/v2/cob?inicio=2026-01-01T00:00:00Z&fim=2026-12-31T00:00:00Z&paginacao.itensPorPagina=1'

describe('a client gets a token', () => {
  const client = pix.client('ana', ['cob:*'])
  const { id, secret } = client
  const asForm = (members: object) => ({
    body: new URLSearchParams({ ...members } as Record<string, string>).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  const query = new URLSearchParams({ ...grant, client_id: id, client_secret: secret })
  const ways: Readonly<Record<string, readonly [string, Parameters<typeof pix.call>[2]]>> = {
    'by Basic, and JSON': [path, { body: grant, headers: basicOf(id, secret) }],
    'by Basic, and a form': [
      path,
      {
        ...asForm(grant),
        headers: { ...basicOf(id, secret), ...asForm(grant).headers },
      },
    ],
    'by a form': [path, asForm({ ...grant, client_id: id, client_secret: secret })],
    'by JSON': [path, { body: { ...grant, client_id: id, client_secret: secret } }],
    'by the query': [`${path}?${query}`, {}],
  }
  test.each(Object.entries(ways))('%s', async (_, [at, options]) => {
    const { status, json, headers } = await pix.call('POST', at, options)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(json).toEqual({
      access_token: expect.stringMatching(/^trlt_[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: 'cob.read cob.write',
    })
    expect((await pix.call('GET', list, { token: json.access_token })).status).toBe(200)
  })

  test('for some of its scopes, and not for more than it has', async () => {
    const token = await pix.tokenOf(client, 'cob.read payloadlocation.read')
    expect((await pix.call('GET', list, { token })).status).toBe(200)
    const refused = await pix.call('POST', '/pix/v2/cob', { token, body: {} })
    expect(refused.status).toBe(403)
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(refused.json).toEqual({
      type: 'https://pix.bcb.gov.br/api/v2/error/AcessoNegado',
      title: expect.any(String),
      status: 403,
      detail: expect.stringContaining('cob:write'),
      correlationId: expect.any(String),
    })
    const body = { ...grant, scope: 'payloadlocation.read' }
    const none = await pix.call('POST', path, { body, headers: basicOf(id, secret) })
    expect([none.status, none.json.error]).toEqual([400, 'invalid_scope'])
  })

  test('and nobody else does', async () => {
    const other = pix.client('ana')
    for (const headers of [basicOf(id, other.secret), basicOf(id, 'x'), basicOf('', ''), {}]) {
      const {
        status,
        json,
        headers: answered,
      } = await pix.call('POST', path, {
        body: grant,
        headers,
      })
      expect([status, json.error]).toEqual([401, 'invalid_client'])
      expect(answered.get('www-authenticate')).toContain('Basic')
    }
    const body = { grant_type: 'password' }
    const wrong = await pix.call('POST', path, { body, headers: basicOf(id, secret) })
    expect([wrong.status, wrong.json.error]).toEqual([400, 'unsupported_grant_type'])
  })

  test('that opens nothing but the API Pix', async () => {
    const all = await pix.tokenOf(pix.client('ana', ['*']))
    expect((await pix.call('GET', '/v1/pix/receivers', { token: all })).status).toBe(403)
  })
})

test('a token ends with its time, its key, and the rights of its key', async () => {
  const client = pix.client('ana', ['cob:read'])
  const token = await pix.tokenOf(client)
  const status = async () => (await pix.call('GET', list, { token })).status
  expect(await status()).toBe(200)
  const place = pix.keys.indexOf(client.record)
  pix.keys[place] = { ...client.record, grants: ['messages:read'] }
  expect(await status()).toBe(403)
  pix.keys[place] = { ...client.record, revokedAt: new Date() }
  expect(await status()).toBe(401)
  const late = pix.client('ana', ['cob:read'])
  const old = await pix.tokenOf(late)
  await pix.sql`update pix_tokens set expires_at = now() - interval '1 second'
    where key_id = ${late.id}`
  expect((await pix.call('GET', list, { token: old })).status).toBe(401)
  expect(await forgetTokens(pix.sql)).toBe(1)
  const [left] = await pix.sql`select from pix_tokens where key_id = ${late.id}`
  expect(left).toBeUndefined()
})

test('a token ends with the secret that it was asked for with', async () => {
  const client = pix.client('ana', ['cob:read'])
  const place = pix.keys.indexOf(client.record)
  const next = pix.client('ana')
  const status = async (token: string) => (await pix.call('GET', list, { token })).status
  const rotated = (until: Date) => ({
    ...client.record,
    hash: next.record.hash,
    previous: { hash: client.record.hash, until },
  })
  const token = await pix.tokenOf(client)
  const [further, older] = [await pix.tokenOf(client), await pix.tokenOf(client)]
  pix.keys[place] = rotated(new Date(Date.now() + 600_000))
  expect(await status(token)).toBe(200)

  // Asked for in the overlap, it lasts no longer than that.
  const headers = basicOf(client.id, client.secret)
  const { json } = await pix.call('POST', path, { body: grant, headers })
  expect(json.expires_in).toBeWithin(590, 601)
  expect(await status(json.access_token)).toBe(200)

  pix.keys[place] = rotated(new Date())
  expect([await status(token), await status(json.access_token)]).toEqual([401, 401])
  // A further rotation ends the oldest secret, whenever its overlap was to end.
  pix.keys[place] = { ...rotated(new Date(Date.now() + 600_000)), previous: undefined }
  expect(await status(further)).toBe(401)
  // Before tokens knew their secret they ended with their key.
  await pix.sql`update pix_tokens set secret_hash = null where key_id = ${client.id}`
  expect(await status(older)).toBe(200)
})

test('a token lasts no longer than its key', async () => {
  const client = pix.client('ana', ['cob:read'])
  const expiresAt = new Date(Date.now() + 600_000)
  pix.keys[pix.keys.indexOf(client.record)] = { ...client.record, expiresAt }
  const headers = basicOf(client.id, client.secret)
  const { json } = await pix.call('POST', path, { body: grant, headers })
  expect(json.expires_in).toBeWithin(590, 601)
  const [row] = await pix.sql`select expires_at = ${expiresAt.toISOString()} as "isEqual"
    from pix_tokens where key_id = ${client.id}`
  expect(row?.['isEqual']).toBe(true)
})

test('a process whose clock is wrong issues tokens for their time, by the database', async () => {
  const client = pix.client('ana', ['cob:read'])
  try {
    setSystemTime(new Date(Date.now() - 2 * 3_600_000))
    const token = await pix.tokenOf(client)
    const [row] = await pix.sql<{ seconds: number }[]>`
      select extract(epoch from expires_at - now())::float8 as seconds
      from pix_tokens where key_id = ${client.id}`
    expect(row?.seconds).toBeGreaterThan(0)
    expect((await pix.call('GET', list, { token })).status).toBe(200)
  } finally {
    setSystemTime()
  }
})

test('restrictions of the key hold for its tokens', async () => {
  const client = pix.client('ana', ['*'])
  const place = pix.keys.indexOf(client.record)
  pix.keys[place] = { ...client.record, restrictions: { read_only: true } }
  const token = await pix.tokenOf(client)
  expect((await pix.call('GET', list, { token })).status).toBe(200)
  expect((await pix.call('POST', '/pix/v2/loc', { token, body: {} })).status).toBe(403)
  pix.keys[place] = { ...client.record, restrictions: { addresses: ['203.0.113.0/24'] } }
  expect(await pix.tokenOf(client)).toBeUndefined()
})

describe('a token of a client with a certificate (RFC 8705)', () => {
  const der = new X509Certificate(pair.cert).raw
  const shown = (raw: Uint8Array) => ({ 'Client-Cert': `:${Buffer.from(raw).toString('base64')}:` })
  const proxy = '127.0.0.1'

  const bound = async () => {
    const client = pix.client('ana', ['cob:read'])
    const headers = { ...basicOf(client.id, client.secret), ...shown(der) }
    const { json } = await pix.call('POST', path, { body: grant, headers, peer: proxy })
    return json.access_token as string
  }

  test('counts with the certificate alone', async () => {
    const token = await bound()
    const status = async (headers: Record<string, string>, peer = proxy) =>
      (await pix.call('GET', list, { token, headers, peer })).status
    expect(await status(shown(der))).toBe(200)
    expect(await status({})).toBe(401)
    const other = new X509Certificate(issueCertificate('another').cert).raw
    expect(await status(shown(other))).toBe(401)
    // Anybody may write the header, but only a trusted proxy is believed.
    expect(await status(shown(der), '192.0.2.7')).toBe(401)
    const [row] = await pix.sql`
      select certificate from pix_tokens where certificate is not null`
    expect(row?.['certificate']).toBe(createHash('sha256').update(der).digest('base64url'))
  })
})

test('no token and no secret is stored', async () => {
  const token = await pix.tokenOf(pix.client('ana'))
  const rows = await pix.sql`select * from pix_tokens`
  expect(JSON.stringify(rows)).not.toContain(token.slice(5))
})

test.each([
  ['rate_limited', 'temporarily_unavailable'],
  ['overloaded', 'temporarily_unavailable'],
  ['internal', 'server_error'],
  ['body_too_large', 'invalid_request'],
] as const)('%s is said as %s', async (code, error) => {
  const route = pix.routes.find((one) => one.path === path)
  const render = route?.errorStyle
  if (typeof render !== 'function') throw new Error('it has no words of its own')
  const answer = render(new ApiError(httpErrors[code], 'Why.'), 'req_1')
  expect([answer.status, await answer.json()]).toEqual([
    httpErrors[code].status,
    { error, error_description: 'Why.' },
  ])
})
