/** Who may what: accounts × all routes × restrictions. A route that is not classified here fails the test. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { status as codes } from '@grpc/grpc-js'
import {
  institutionScopes,
  restrictionsSchema,
  type StoredRestrictions,
  scopes,
} from '#src/platform/security/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { rawClient, service, withKey } from '../spi/api/grpc/support.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { farYear } from '../support/far-year.ts'
import { type GatewayHere, startGatewayHere } from '../support/gateway-here.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../webhooks/support.ts'
import {
  admission,
  anywhere,
  batched,
  deployment,
  type Made,
  merchant,
  pixKey,
  pledge,
  type Restriction,
  received,
  row,
  rows,
} from './routes.ts'

setDefaultTimeout(60_000)

let gateway: GatewayHere
let receiver: ReturnType<typeof startReceiver>
let ana: string
let bia: string
let made: Made

type Answer = { readonly status: number; readonly text: string; readonly json: never }

const call = async (
  key: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const { httpUrl, cardsUrl } = gateway.urls
  const url = path.startsWith('/v1/transactions') ? cardsUrl : httpUrl
  const response = await fetch(url + path, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, text, json: (isJson ? JSON.parse(text) : {}) as never }
}

/** By OAuth, with the key as the client. */
const askForToken = (key: string): Promise<Response> => {
  const [, , id = ''] = key.split('_')
  const basic = Buffer.from(`${id}:${key}`).toString('base64')
  return fetch(`${gateway.urls.httpUrl}/oauth/token`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${basic}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  })
}

const tokenOf = async (key: string): Promise<string> => {
  const { access_token: token } = (await (await askForToken(key)).json()) as {
    readonly access_token: string
  }
  return token
}

const demand = async (path: string, body: unknown): Promise<Record<string, string>> => {
  const answer = await call(ana, 'POST', path, body)
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.json
}

const make = async (): Promise<Made> => {
  const hook = await demand('/v1/webhooks', { url: receiver.url, events: ['card.*'] })
  const { id } = await demand('/v1/transactions/authorize', authorizationBody('tok_visa_approved'))
  const { wallet_id, address = '' } = await demand('/v1/wallets', { type: 'managed', label: 'a' })
  await gateway.issuer.fund(address, 1_000_000n)
  const sent = { from_wallet: address, to_wallet: anywhere, amount: '1.00' }
  const { transfer_id } = await demand('/v1/drex/transfers', sent)
  const { batch_id } = await demand('/v1/drex/batches', { transfers: [row(address)] })
  const { operation_id } = await demand('/v1/drex/operations', admission(address))
  const { lien_id } = await demand('/v1/drex/liens', pledge(address))
  const deployed = await demand('/v1/contracts/deploy', deployment(address))
  const at = `/v1/contracts/${deployed['address']}`
  let hash = ''
  await until(async () => {
    const { json } = await call(ana, 'GET', at)
    const { status, tx_hash } = json as { status: string; tx_hash: string }
    hash = tx_hash
    return ['deployed', 'permitted'].includes(status)
  })
  const paused = { function: 'pause', signer_wallet: address }
  const { transaction_id } = await demand(`${at}/call`, paused)
  const { stream_id } = await demand(`${at}/streams`, { event: 'Transfer' })
  let deliveries: readonly { readonly id: string }[] = []
  await until(async () => {
    const { json } = await call(ana, 'GET', `/v1/webhooks/${hook['id']}/deliveries`)
    deliveries = (json as { deliveries: typeof deliveries }).deliveries
    return deliveries.length > 0
  })
  const { id: apiKey } = await demand('/v1/keys', { name: 'till', scopes: ['cards:read'] })
  const charge = await makeCharge()
  return {
    ...charge,
    transaction: id ?? '',
    endpoint: hook['id'] ?? '',
    delivery: deliveries[0]?.id ?? '',
    wallet: wallet_id ?? '',
    address,
    transfer: transfer_id ?? '',
    hash,
    batch: batch_id ?? '',
    operation: operation_id ?? '',
    delivered: await makeDelivery(address),
    lien: lien_id ?? '',
    contract: deployed['address'] ?? '',
    call: transaction_id ?? '',
    stream: stream_id ?? '',
    apiKey: apiKey ?? '',
  }
}

/** Its contracts need a bond and a second side: the row alone is enough to ask whose it is. */
const makeDelivery = async (address: string): Promise<string> => {
  const id = `dlv_${'d'.repeat(32)}`
  await gateway.database.sql`
    insert into drex_agreements (id, kind, status, network, contract, wallet, part, terms, state,
      account, created_by)
    values (${id}, 'delivery', 'settled', 'drex_testnet', ${anywhere}, ${address.toLowerCase()},
      'seller', '{}', '{"status": "settled"}', 'ana', 'k')`
  return id
}

const address = { street: 'Rua 1', state: 'PE', postal_code: '50000000' }

const makeCharge = async (): Promise<Pick<Made, 'charge' | 'due' | 'location' | MadeForPayers>> => {
  const key = pixKey
  const receiver = {
    key,
    account: 'ana',
    tax_id: '12345678000195',
    name: 'Ana',
    city: 'Recife',
    ...address,
  }
  await call(ana, 'PUT', '/v1/pix/receivers', receiver)
  const hook = { webhookUrl: 'https://example.com/pix' }
  for (const path of [`webhook/${key}`, 'webhookrec', 'webhookcobr']) {
    await call(ana, 'PUT', `/pix/v2/${path}`, hook)
  }
  const charge = 'a'.repeat(32)
  const body = { calendario: {}, valor: { original: '1.00' }, chave: key }
  const { json, text } = await call(ana, 'PUT', `/pix/v2/cob/${charge}`, body)
  const { loc } = json as { readonly loc?: { readonly id: number } }
  if (loc === undefined) throw new Error(text)
  const due = 'b'.repeat(32)
  const dueBody = {
    ...body,
    calendario: { dataDeVencimento: '2030-01-02' },
    devedor: { cpf: '12345678909', nome: 'Bia' },
  }
  const { text: answer, json: made } = await call(ana, 'PUT', `/pix/v2/cobv/${due}`, dueBody)
  const batch = { descricao: 'Lote', cobsv: [{ ...dueBody, txid: batched }] }
  await call(ana, 'PUT', '/pix/v2/lotecobv/1', batch)
  if ((made as { readonly txid?: string }).txid !== due) throw new Error(answer)
  const { sql } = gateway.database
  await sql`
    insert into pix_received (end_to_end_id, account, amount_cents, payer_tax_id, status,
      received_at, settled_at)
    values (${received}, 'ana', 100, '12345678909', 'LIQUIDADO', now(), now())`
  await sql`
    insert into pix_returns (end_to_end_id, id, return_id, amount_cents, nature, requested_at)
    values (${received}, '1', 'D1', 50, 'ORIGINAL', now())`
  return { charge, due, location: String(loc.id), ...(await makeRecurrence()) }
}

type MadeForPayers = 'recurrence' | 'place' | 'request' | 'collection'

const makeRecurrence = async (): Promise<Pick<Made, MadeForPayers>> => {
  const { id } = (await demand('/pix/v2/locrec', undefined)) as Record<string, string>
  const { idRec } = await demand('/pix/v2/rec', {
    vinculo: { contrato: '1', devedor: { cpf: '12345678909', nome: 'Bia' } },
    calendario: { dataInicial: `${farYear}-01-01`, periodicidade: 'MENSAL' },
    politicaRetentativa: 'NAO_PERMITE',
    loc: id,
  })
  const dataExpiracaoSolicitacao = new Date(Date.now() + 10 * 86_400_000).toISOString()
  const { idSolicRec } = await demand('/pix/v2/solicrec', {
    idRec,
    calendario: { dataExpiracaoSolicitacao },
    destinatario: { cpf: '12345678909', conta: '1', ispbParticipante: '91193552' },
  })
  const { txid } = await demand('/pix/v2/cobr', {
    idRec,
    calendario: { dataDeVencimento: `${farYear}-01-01` },
    valor: { original: '1.00' },
    recebedor: { conta: '1', tipoConta: 'CORRENTE' },
  })
  return {
    recurrence: idRec ?? '',
    place: String(id),
    request: idSolicRec ?? '',
    collection: txid ?? '',
  }
}

beforeAll(async () => {
  gateway = await startGatewayHere({
    TRILHO_TRUSTED_PROXIES: '127.0.0.1',
    TRILHO_INSTITUTION_ACCOUNTS: 'ana',
  })
  receiver = startReceiver()
  ana = await gateway.keyOf({ account: 'ana' })
  bia = await gateway.keyOf({ account: 'bia' })
  made = await make()
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await receiver.stop()
})

const named = Object.entries(rows).map(([name, row]) => {
  const [method = '', path = ''] = name.split(' ')
  return { name, method, path, row }
})

const ask = (key: string, { method, path, row }: (typeof named)[number], headers = {}) => {
  const at = row.at?.(made) ?? path.replace(/\{\w+\}/g, 'x')
  return call(key, method, at, row.body?.(made), headers)
}

const anas = (restrictions: StoredRestrictions) => gateway.keyOf({ account: 'ana', restrictions })

/** Who asks for what was refused is told by what. */
const expectRefused = (name: string, answer: Answer, restriction: string): void => {
  expect([name, answer.status, answer.text]).toEqual([
    name,
    403,
    // The API Pix speaks Portuguese whatever is asked for.
    expect.stringMatching(new RegExp(`\\b(restriction|restrição) ${restriction} `)),
  ])
}

test('every route is classified, and nothing else is', () => {
  const routes = gateway.routes.map(({ method, path }) => `${method} ${path}`)
  expect(Object.keys(rows).sort()).toEqual(routes.sort())
  const open = gateway.routes.filter(({ scope }) => scope === 'public')
  expect(open.map(({ method, path }) => `${method} ${path}`)).toEqual(
    named.filter(({ row }) => row.kind === 'public').map(({ name }) => name),
  )
})

test('what is of all merchants or wallets is closed to keys for some', () => {
  const closed = { '/v1/transactions': 'merchant_ids', '/v1/drex': 'wallets' } as const
  for (const [start, restriction] of Object.entries(closed)) {
    const open = named.filter(
      ({ path, row: { kind, by = [] } }) =>
        kind === 'institution' && path.startsWith(start) && !by.includes(restriction),
    )
    expect(open.map(({ name }) => name)).toEqual([])
  }
})

describe('what is another account’s', () => {
  test('is not there, whatever is asked of it', async () => {
    for (const one of named.filter(({ row }) => row.kind === 'owned')) {
      const { status } = await ask(bia, one)
      expect([one.name, status]).toEqual([one.name, 404])
    }
  })

  test('is in no list', async () => {
    // A number may stand in any list.
    const its = Object.values(made).filter((id) => id !== made.location)
    for (const one of named.filter(({ row }) => row.kind === 'list')) {
      const { status, text } = await ask(bia, one)
      expect([one.name, status]).toEqual([one.name, 200])
      expect([one.name, its.filter((id) => text.includes(id))]).toEqual([one.name, []])
    }
  })

  test('is not there for a token of theirs either', async () => {
    const [own, theirs] = [await tokenOf(ana), await tokenOf(bia)]
    const standard = named.filter(({ path }) => path.startsWith('/pix/v2/'))
    const owned = standard.filter(({ row }) => row.kind === 'owned')
    for (const one of owned) {
      expect([one.name, (await ask(theirs, one)).status]).toEqual([one.name, 404])
      if (one.method !== 'GET') continue
      expect([one.name, (await ask(own, one)).status]).toEqual([one.name, 200])
    }
    for (const one of standard.filter(({ row }) => row.kind === 'list')) {
      const [seen, text] = [await ask(own, one), (await ask(theirs, one)).text]
      const its = Object.values(made).filter((id) => id !== made.location && seen.text.includes(id))
      expect([one.name, its.filter((id) => text.includes(id))]).toEqual([one.name, []])
    }
  })

  test('tells its events to no endpoint of theirs', async () => {
    const theirs = startReceiver()
    const created = await call(bia, 'POST', '/v1/webhooks', { url: theirs.url, events: ['card.*'] })
    expect(created.status).toBe(201)
    const authorized = async (key: string) => {
      const body = authorizationBody('tok_visa_approved')
      const { json } = await call(key, 'POST', '/v1/transactions/authorize', body)
      return (json as { id: string }).id
    }
    const foreign = await authorized(ana)
    const own = await authorized(bia)
    await until(() => theirs.received.length > 0)
    expect(theirs.received.map(({ body }) => JSON.parse(body).data.transaction_id)).toEqual([own])
    await until(() => receiver.received.some(({ body }) => body.includes(foreign)))
    const seen = receiver.received.map(({ body }) => JSON.parse(body).data.transaction_id)
    expect(seen).not.toContain(own)
    await theirs.stop()
  })
})

describe('what is the institution’s', () => {
  const told = /bia is not an account of the institution/

  test('is there for its accounts alone', async () => {
    for (const one of named.filter(({ row }) => row.kind === 'institution')) {
      const { status, text } = await ask(bia, one)
      const expected = one.path.includes('{') ? 404 : 403
      expect([one.name, status, text]).toEqual([one.name, expected, expect.stringMatching(told)])
    }
  })

  test('keeps from nobody what is nobody’s, or their own', async () => {
    for (const one of named.filter(({ row }) => ['anyone', 'list', 'owned'].includes(row.kind))) {
      expect([one.name, (await ask(bia, one)).text]).toEqual([
        one.name,
        expect.not.stringMatching(told),
      ])
    }
  })

  test('is told to no endpoint of others', async () => {
    const theirs = startReceiver()
    const ours = startReceiver()
    const events = ['pacs.008', 'card.*']
    for (const [key, { url }] of [
      [bia, theirs],
      [ana, ours],
    ] as const) {
      expect((await call(key, 'POST', '/v1/webhooks', { url, events })).status).toBe(201)
    }
    const { sql } = gateway.database
    await sql.begin((tx) => emitEvents(tx, [{ type: 'pacs.008', subject: 'E1', data: {} }]))
    await until(() => ours.received.length > 0)
    // What comes after it has come: what was to come would have, too.
    await call(bia, 'POST', '/v1/transactions/authorize', authorizationBody('tok_visa_approved'))
    await until(() => theirs.received.length > 0)
    expect(theirs.received.map(({ body }) => JSON.parse(body).type)).toEqual([
      'card.transaction.authorized',
    ])
    await Promise.all([theirs.stop(), ours.stop()])
  })

  test('scopes that open nothing else are known', () => {
    const institutional = (name: string) => rows[name]?.kind === 'institution'
    const wholly = scopes.filter((scope) => {
      const opened = gateway.routes.filter((route) => route.scope === scope)
      return opened.every(({ method, path }) => institutional(`${method} ${path}`))
    })
    expect(wholly.sort()).toEqual([...institutionScopes].sort())
  })
})

const others: Readonly<Record<Restriction, StoredRestrictions>> = {
  merchant_ids: { merchant_ids: ['ANOTHER'] },
  wallets: { wallets: [anywhere.replace('aa', 'bb')] },
  own_webhooks: { own_webhooks: true },
}

describe('a key that is', () => {
  test('read-only changes, moves and signs nothing', async () => {
    const key = await anas({ read_only: true })
    for (const one of named.filter(({ row }) => row.kind !== 'public')) {
      const answer = await ask(key, one)
      if (one.row.reads !== true) expectRefused(one.name, answer, 'read_only')
      else expect([one.name, answer.status === 403]).toEqual([one.name, false])
    }
  })

  test('for some addresses is for no others, whatever the caller says of himself', async () => {
    const mapped = '::ffff:203.0.113.0/120'
    const key = await anas({ addresses: ['192.0.2.0/24', '2001:db8::/32', mapped] })
    const from = (forwarded: string) => ({ 'X-Forwarded-For': forwarded })
    for (const one of named.filter(({ row }) => row.kind !== 'public')) {
      expectRefused(one.name, await ask(key, one), 'addresses')
      expectRefused(one.name, await ask(key, one, from('192.0.2.1, 198.51.100.1')), 'addresses')
    }
    const list = (forwarded: string) =>
      call(key, 'GET', '/v1/wallets', undefined, from(forwarded)).then(({ status }) => status)
    const near = ['192.0.2.1', '10.0.0.1, 192.0.2.255', '2001:db8::1', '192.0.2.1:4711']
    for (const taken of [...near, '203.0.113.9', '::ffff:203.0.113.9']) {
      expect([taken, await list(taken)]).toEqual([taken, 200])
    }
    for (const refused of ['192.0.3.0', '2001:db9::1', 'unknown', '192.0.2.1,', '::1']) {
      expect([refused, await list(refused)]).toEqual([refused, 403])
    }
  })

  test.each(Object.keys(others) as Restriction[])('restricted by %s', async (restriction) => {
    const key = await anas(others[restriction])
    // A number may stand in any list, and a contract in those of wallets.
    const ids = Object.values(made).filter((id) => id !== made.contract && id !== made.location)
    for (const one of named.filter(({ row }) => row.by?.includes(restriction) === true)) {
      const answer = await ask(key, one)
      if (one.row.kind !== 'list' || one.row.isClosed === true) {
        expectRefused(one.name, answer, restriction)
      } else {
        expect([one.name, answer.status]).toEqual([one.name, 200])
        expect([one.name, ids.filter((id) => answer.text.includes(id))]).toEqual([one.name, []])
      }
    }
  })

  test('slow is slow on every route', async () => {
    const key = await gateway.keyOf({ account: 'bia', restrictions: { requests_per_second: 1 } })
    for (const one of named.filter(({ row }) => row.kind !== 'public')) {
      // A second gives it one request more, and a burst at the begin.
      const statuses: number[] = []
      while (statuses.at(-1) !== 429 && statuses.length < 20) {
        statuses.push((await ask(key, one)).status)
      }
      expect([one.name, statuses.at(-1)]).toEqual([one.name, 429])
    }
  })

  test('slow gets tokens, and begins sessions, as slowly as it asks for anything else', async () => {
    const begin = (key: string): Promise<Response> =>
      fetch(`${gateway.urls.httpUrl}/console/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Trilho-Console': 'user' },
        body: JSON.stringify({ key }),
      })
    for (const once of [askForToken, begin]) {
      const key = await gateway.keyOf({ account: 'bia', restrictions: { requests_per_second: 1 } })
      const answers: Response[] = []
      while (answers.at(-1)?.status !== 429 && answers.length < 20) answers.push(await once(key))
      expect(answers[0]?.ok).toBe(true)
      expect(answers.at(-1)?.status).toBe(429)
      expect(answers.at(-1)?.headers.get('retry-after')).toBe('1')
      expect((await call(key, 'GET', '/v1/webhooks')).status).toBe(429)
    }
  })

  test('is over opens nothing', async () => {
    const key = await gateway.keyOf({ account: 'ana', expiresAt: new Date(0) })
    for (const one of named.filter(({ row }) => row.kind !== 'public')) {
      expect([one.name, (await ask(key, one)).status]).toEqual([one.name, 401])
    }
  })

  test('restricted by anything is tried above', () => {
    const tried = [...Object.keys(others), 'read_only', 'addresses', 'requests_per_second']
    expect(tried.sort()).toEqual(Object.keys(restrictionsSchema.shape).sort())
  })

  test('for a merchant may do all of it, and asks for no other', async () => {
    const key = await anas({ merchant_ids: [merchant] })
    expect(
      (await ask(key, named.find(({ name }) => name === 'GET /v1/transactions')!)).text,
    ).toContain(made.transaction)
    expect((await call(key, 'GET', '/v1/transactions?merchant_id=OTHER')).status).toBe(403)
    const repeated = { 'Idempotency-Key': 'the void of a merchant' }
    const path = `/v1/transactions/${made.transaction}/void`
    expect((await call(key, 'POST', path, undefined, repeated)).status).toBe(200)
    const other = await anas({ merchant_ids: ['OTHER'] })
    // Nor is it told what another key of its account got.
    expect((await call(other, 'POST', path, undefined, repeated)).status).toBe(403)
  })

  test('for wallets sees its transfers, whoever received them, and takes back its own only', async () => {
    const key = await anas({ wallets: [made.address] })
    const path = `/v1/drex/transfers/${made.transfer}`
    expect((await call(key, 'GET', path)).status).toBe(200)
    expect((await call(key, 'GET', '/v1/drex/transfers')).text).toContain(made.transfer)
    const receiving = await anas({ wallets: [anywhere] })
    expect((await call(receiving, 'GET', path)).status).toBe(200)
    expect((await call(receiving, 'POST', `${path}/cancel`)).status).toBe(403)
    expect((await call(receiving, 'POST', `${path}/retry`)).status).toBe(403)
  })

  test('for its own webhooks manages what it made', async () => {
    const key = await anas({ own_webhooks: true })
    const body = { url: 'http://127.0.0.1:9/own', events: ['card.*'], active: false }
    const { status, json } = await call(key, 'POST', '/v1/webhooks', body)
    const { id } = json as { id: string }
    expect(status).toBe(201)
    expect((await call(key, 'GET', '/v1/webhooks')).text).toContain(id)
    expect((await call(key, 'DELETE', `/v1/webhooks/${id}`)).status).toBe(204)
  })

  test('for another environment opens nothing', async () => {
    const live = await gateway.keyOf({ environment: 'live' })
    for (const one of named.filter(({ row }) => row.kind !== 'public')) {
      expect([one.name, (await ask(live, one)).status]).toEqual([one.name, 401])
    }
  })
})

describe('over gRPC', () => {
  const transform = async (key: string) => {
    const client = rawClient(new URL(gateway.urls.featureUrls['grpc'] ?? '').host)
    const ended = await client
      .unary(`${service}/ListTransformations`, Buffer.alloc(0), withKey(key))
      .then(
        () => ({ code: codes.OK, details: '' }),
        ({ code, details }: { code: number; details: string }) => ({ code, details }),
      )
    client.close()
    return ended
  }

  test('the same keys open the same, from the same addresses', async () => {
    expect(await transform(ana)).toMatchObject({ code: codes.OK })
    expect(await transform(await anas({ read_only: true }))).toMatchObject({ code: codes.OK })
    const near = await anas({ addresses: ['127.0.0.0/8'] })
    expect(await transform(near)).toMatchObject({ code: codes.OK })
    const live = await gateway.keyOf({ environment: 'live' })
    expect(await transform(live)).toMatchObject({ code: codes.UNAUTHENTICATED })
    const far = await transform(await anas({ addresses: ['192.0.2.0/24'] }))
    expect(far.code).toBe(codes.PERMISSION_DENIED)
    expect(far.details).toContain('restriction addresses')
  })

  test('calls and requests of a key share its rate', async () => {
    const key = await anas({ requests_per_second: 1 })
    const ended = await Promise.all(Array.from({ length: 20 }, () => transform(key)))
    expect(ended.filter(({ code }) => code === codes.OK).length).toBeGreaterThanOrEqual(2)
    expect(ended.some(({ code }) => code === codes.RESOURCE_EXHAUSTED)).toBe(true)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call(key, 'GET', '/v1/wallets')),
    )
    expect(answers.some(({ status }) => status === 429)).toBe(true)
  })
})

test('what was refused is in the audit log, with the restriction that forbade it', async () => {
  const refusals = async () => {
    const rows = await gateway.database.sql<{ outcome: string }[]>`
      select distinct outcome from audit_log where action = 'access.refused' order by outcome`
    return rows.map(({ outcome }) => outcome)
  }
  await until(async () => (await refusals()).length >= 6)
  expect(await refusals()).toEqual([
    ...['addresses', 'forbidden', 'merchant_ids', 'own_webhooks', 'read_only', 'wallets'],
  ])
})

test('the account’s own key, at last, may do all of it', async () => {
  for (const one of named.filter(({ row }) => row.kind === 'owned')) {
    if (one.method === 'DELETE') continue
    const { status } = await ask(ana, one)
    expect([one.name, [401, 403, 404].includes(status)]).toEqual([one.name, false])
  }
  const done = await gateway.database.sql<{ action: string }[]>`
    select distinct action from audit_log where action like any(array['webhooks.%', 'cards.%'])`
  expect(done.map(({ action }) => action).sort()).toEqual([
    ...['cards.authorize', 'cards.void', 'webhooks.change', 'webhooks.create'],
    ...['webhooks.delete', 'webhooks.replay', 'webhooks.rotate', 'webhooks.test'],
  ])
})

test.each(Object.keys(others) as Restriction[])(
  'and a key restricted by %s does all else',
  async (restriction) => {
    const key = await anas(others[restriction])
    const free = named.filter(({ row }) => row.kind !== 'public' && !row.by?.includes(restriction))
    // What is deleted here would not be there for the tests below.
    for (const one of free.filter(({ method }) => method !== 'DELETE')) {
      const { status, text } = await ask(key, one)
      expect([one.name, status === 403 ? text : '']).toEqual([one.name, ''])
    }
  },
)
