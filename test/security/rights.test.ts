/** Who may what: accounts × all routes × restrictions. A route that is not classified here fails the test. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { status as codes } from '@grpc/grpc-js'
import type { StoredRestrictions } from '#src/platform/security/index.ts'
import { rawClient, service, withKey } from '../spi/api/grpc/support.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { type GatewayHere, startGatewayHere } from '../support/gateway-here.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../webhooks/support.ts'

setDefaultTimeout(60_000)

const merchant = 'MERCHANT000001'
const anywhere = '0x00000000000000000000000000000000000000aa'
/** A Pix that ana has received, and given back in part. */
const received = `E${'0'.repeat(31)}`
const soon = '2020-01-01T00:00:00Z'

const pixKey = '7d9f0335-8dcc-4054-9bf9-0dbd61d36906'

/** What the account `ana` has made, by the names that the paths below use. */
type Made = {
  readonly transaction: string
  readonly endpoint: string
  readonly delivery: string
  readonly wallet: string
  readonly address: string
  readonly transfer: string
  readonly batch: string
  readonly operation: string
  readonly contract: string
  readonly call: string
  readonly stream: string
  readonly charge: string
  readonly due: string
  readonly location: string
}

/** The restrictions that forbid a key what belongs to ana, but is not what the restriction names. */
type Restriction = 'merchant_ids' | 'wallets' | 'own_webhooks'

type Row = {
  /**
   * `public`: no key. `institution`: one for all accounts. `new`: makes something of the caller's. `list`: shows the
   * caller's own. `owned`: of what an account made, by the path.
   */
  readonly kind: 'public' | 'institution' | 'new' | 'list' | 'owned'
  /** A key that is read-only may use it. */
  readonly reads?: true
  readonly by?: readonly Restriction[]
  /** The path with what ana made. */
  readonly at?: (made: Made) => string
  readonly body?: (made: Made) => unknown
}

const drex = ['wallets'] as const
const cards = ['merchant_ids'] as const
const limited = ['merchant_ids', 'wallets', 'own_webhooks'] as const
const limitedMaker = ['merchant_ids', 'wallets'] as const

const institution = (reads?: true): Row => ({ kind: 'institution', ...(reads && { reads }) })
const list = (by: readonly Restriction[] = []): Row => ({ kind: 'list', reads: true, by })
/** Of the API Pix: every list is of a time. */
const listOf = (what: string): Row => ({
  ...list(),
  at: () => `/pix/v2/${what}?inicio=2020-01-01T00:00:00Z&fim=2099-01-01T00:00:00Z`,
})
const owned = (
  reads: boolean,
  by: readonly Restriction[],
  at: (made: Made) => string,
  body?: Row['body'],
): Row => ({ kind: 'owned', ...(reads ? { reads } : {}), by, at, ...(body && { body }) })

const transaction = (suffix: string) => (made: Made) =>
  `/v1/transactions/${made.transaction}${suffix}`
const endpoint = (suffix: string) => (made: Made) => `/v1/webhooks/${made.endpoint}${suffix}`
const delivery = (suffix: string) => (made: Made) =>
  `/v1/webhook-deliveries/${made.delivery}${suffix}`
const former = (suffix: string) => (made: Made) =>
  `/v1/webhooks/deliveries/${made.delivery}${suffix}`
const transfer = (suffix: string) => (made: Made) => `/v1/drex/transfers/${made.transfer}${suffix}`
const batch = (suffix: string) => (made: Made) => `/v1/drex/batches/${made.batch}${suffix}`
const wallet = (suffix: string) => (made: Made) => `/v1/wallets/${made.wallet}${suffix}`
const contract = (suffix: string) => (made: Made) => `/v1/contracts/${made.contract}${suffix}`

const rows: Readonly<Record<string, Row>> = {
  'GET /.well-known/jwks.json': { kind: 'public' },
  'POST /oauth/token': { kind: 'public' },
  // Who knows the end of a location may read what it shows.
  'GET /qr/v2/jwks.json': { kind: 'public' },
  'GET /qr/v2/{token}': { kind: 'public' },
  'GET /qr/v2/cobv/{token}': { kind: 'public' },
  // What is behind them asks for the session, and then for the key in it.
  'POST /console/session': { kind: 'public' },
  'GET /console/session': { kind: 'public' },
  'DELETE /console/session': { kind: 'public' },
  'GET /console/assets/{name}': { kind: 'public' },
  'GET /console/api/*': { kind: 'public' },
  'POST /console/api/*': { kind: 'public' },
  'PUT /console/api/*': { kind: 'public' },
  'PATCH /console/api/*': { kind: 'public' },
  'DELETE /console/api/*': { kind: 'public' },
  'GET /console': { kind: 'public' },
  'GET /console/*': { kind: 'public' },
  'GET /v1/audit': institution(true),
  'GET /v1/ops/dead-letters': institution(true),
  'POST /v1/ops/dead-letters/{id}/retry': institution(),
  'POST /v1/ops/dead-letters/retry': institution(),
  'DELETE /v1/ops/dead-letters/{id}': institution(),
  'GET /v1/certificates': institution(true),
  'POST /v1/certificates': institution(),
  'GET /v1/certificates/{ispb}/{type}/{version}': institution(true),
  'GET /v1/certificates/{ispb}/{type}/{version}/export': institution(),
  'GET /v1/certificates/{ispb}/{type}/{version}/manifest': institution(),
  'DELETE /v1/certificates/{ispb}/{type}/{version}': institution(),
  'POST /v1/jose/sign': institution(),
  'POST /v1/jose/verify': institution(true),
  'POST /v1/jose/encrypt': institution(true),
  'POST /v1/jose/decrypt': institution(),
  // Both with private keys of the institution.
  'POST /v1/rsfn/open': institution(),
  'POST /v1/rsfn/seal': institution(),
  'POST /v1/validate': institution(true),
  'GET /v1/schemas': institution(true),
  'GET /v1/codes': institution(true),
  'POST /v1/transform': institution(true),
  'POST /v1/transform/pacs008': institution(true),
  'POST /v1/transform/pacs002': institution(true),
  'POST /v1/transform/pacs004': institution(true),
  'GET /v1/transformations': institution(true),
  'GET /v1/messages': institution(true),
  'GET /v1/messages/e2e/{endToEndId}': institution(true),
  'GET /v1/messages/{id}': institution(true),
  'POST /v1/qrcodes/static': institution(true),
  'POST /v1/qrcodes/dynamic': institution(true),
  'POST /v1/qrcodes/composite': institution(true),
  'POST /v1/qrcodes/parse': institution(true),
  // Asks a stranger's server.
  'POST /v1/pix/qrcode/resolve': institution(),
  'GET /v1/catalog/in': institution(true),
  'GET /v1/catalog/out': institution(true),
  'POST /v1/spi/send': institution(),
  'GET /v1/pix/payments/{endToEndId}': institution(true),
  'GET /v1/pix/payments/{endToEndId}/refunds': institution(true),
  'GET /v1/pix/payments/{endToEndId}/refunds/{refundId}': institution(true),
  'POST /v1/pix/payments/{endToEndId}/refunds': institution(),
  'POST /v1/pix/reports': institution(),
  'GET /v1/pix/reports': institution(true),
  'GET /v1/pix/reports/{id}': institution(true),
  'GET /v1/pix/entries': institution(true),
  'GET /v1/pix/differences': institution(true),
  'POST /v1/pix/differences': institution(true),
  'GET /v1/pix/mandates': institution(true),
  'GET /v1/pix/mandates/{mandateId}': institution(true),
  'GET /v1/pix/charges': institution(true),
  'GET /v1/pix/charges/{endToEndId}': institution(true),
  'PUT /v1/pix/receivers': institution(),
  'GET /v1/pix/receivers': institution(true),
  'GET /v1/pix/receivers/{key}': institution(true),
  'DELETE /v1/pix/receivers/{key}': institution(),
  'PUT /pix/v2/cob/{txid}': { kind: 'new' },
  'POST /pix/v2/cob': { kind: 'new' },
  'GET /pix/v2/cob': listOf('cob'),
  'GET /pix/v2/cob/{txid}': owned(true, [], ({ charge }) => `/pix/v2/cob/${charge}`),
  'PATCH /pix/v2/cob/{txid}': owned(
    ...([false, [], ({ charge }: Made) => `/pix/v2/cob/${charge}`] as const),
    () => ({ valor: { original: '2.00' } }),
  ),
  'PUT /pix/v2/cobv/{txid}': { kind: 'new' },
  'GET /pix/v2/cobv': listOf('cobv'),
  'GET /pix/v2/cobv/{txid}': owned(true, [], ({ due }) => `/pix/v2/cobv/${due}`),
  'PATCH /pix/v2/cobv/{txid}': owned(
    ...([false, [], ({ due }: Made) => `/pix/v2/cobv/${due}`] as const),
    () => ({ valor: { original: '2.00' } }),
  ),
  'GET /pix/v2/pix': listOf('pix'),
  'GET /pix/v2/pix/{e2eid}': owned(true, [], () => `/pix/v2/pix/${received}`),
  'PUT /pix/v2/pix/{e2eid}/devolucao/{id}': owned(
    ...([false, [], () => `/pix/v2/pix/${received}/devolucao/1`] as const),
    () => ({ valor: '1.00' }),
  ),
  'GET /pix/v2/pix/{e2eid}/devolucao/{id}': owned(
    ...([true, [], () => `/pix/v2/pix/${received}/devolucao/1`] as const),
  ),
  // Of a key that is another's it says so: the standard has no other answer.
  'PUT /pix/v2/webhook/{chave}': {
    ...{ kind: 'new', at: () => `/pix/v2/webhook/${pixKey}` },
    body: () => ({ webhookUrl: 'https://example.com/pix' }),
  },
  'GET /pix/v2/webhook/{chave}': owned(true, [], () => `/pix/v2/webhook/${pixKey}`),
  'GET /pix/v2/webhook': listOf('webhook'),
  'DELETE /pix/v2/webhook/{chave}': owned(false, [], () => `/pix/v2/webhook/${pixKey}`),
  'POST /pix/v2/loc': { kind: 'new', body: () => ({ tipoCob: 'cob' }) },
  'GET /pix/v2/loc': listOf('loc'),
  'GET /pix/v2/loc/{id}': owned(true, [], ({ location }) => `/pix/v2/loc/${location}`),
  'DELETE /pix/v2/loc/{id}/txid': owned(
    ...([false, [], ({ location }: Made) => `/pix/v2/loc/${location}/txid`] as const),
  ),
  'GET /v1/drex/networks': institution(true),
  'GET /v1/contracts/templates': institution(true),
  // Balances are the chain's, which everybody may read; a key for some wallets may not.
  'GET /v1/drex/balance/{wallet}': {
    ...{ kind: 'institution', reads: true, by: drex },
    at: ({ address }) => `/v1/drex/balance/${address}`,
  },
  'POST /v1/drex/sandbox/fund': {
    ...{ kind: 'institution', by: drex },
    body: ({ address }) => ({ wallet: address }),
  },

  'POST /v1/webhooks': {
    ...{ kind: 'new', by: limitedMaker },
    body: () => ({ url: 'http://127.0.0.1:9/other', events: ['card.*'] }),
  },
  'GET /v1/webhooks': list(['own_webhooks']),
  'GET /v1/webhooks/{id}': owned(true, ['own_webhooks'], endpoint('')),
  'PATCH /v1/webhooks/{id}': owned(false, limited, endpoint(''), () => ({ active: true })),
  'POST /v1/webhooks/{id}/test': owned(false, limited, endpoint('/test')),
  'POST /v1/webhooks/{id}/rotate': owned(false, limited, endpoint('/rotate'), () => ({})),
  'GET /v1/webhooks/{id}/deliveries': owned(true, ['own_webhooks'], endpoint('/deliveries')),
  'POST /v1/webhooks/{id}/replay': owned(false, limited, endpoint('/replay'), () => ({
    since: soon,
  })),
  'GET /v1/webhook-deliveries/{id}': owned(true, ['own_webhooks'], delivery('')),
  'GET /v1/webhooks/deliveries/{id}': owned(true, ['own_webhooks'], former('')),
  'POST /v1/webhook-deliveries/{id}/replay': owned(false, limited, delivery('/replay')),
  'POST /v1/webhooks/deliveries/{id}/replay': owned(false, limited, former('/replay')),
  'DELETE /v1/webhooks/{id}': owned(false, limited, endpoint('')),

  'POST /v1/transactions/authorize': {
    ...{ kind: 'new', by: cards },
    body: () => authorizationBody('tok_visa_approved'),
  },
  'POST /v1/transactions/verify': {
    ...{ kind: 'new', by: cards },
    body: () => {
      const { amount: _, ...body } = authorizationBody('tok_visa_approved')
      return body
    },
  },
  'GET /v1/transactions': list(cards),
  'GET /v1/transactions/{id}': owned(true, cards, transaction('')),
  'GET /v1/transactions/{id}/events': owned(true, cards, transaction('/events')),
  'POST /v1/transactions/{id}/resolve': owned(false, cards, transaction('/resolve'), () => ({
    ...{ outcome: 'voided', reason: 'The desk said so' },
  })),
  'POST /v1/transactions/{id}/increment': owned(false, cards, transaction('/increment'), () => ({
    amount: 100,
  })),
  'POST /v1/transactions/{id}/capture': owned(false, cards, transaction('/capture')),
  'POST /v1/transactions/{id}/void': owned(false, cards, transaction('/void')),
  'POST /v1/transactions/{id}/refund': owned(false, cards, transaction('/refund')),

  'POST /v1/wallets': {
    ...{ kind: 'new', by: drex },
    body: () => ({ type: 'managed', label: 'other' }),
  },
  'GET /v1/wallets': list(drex),
  'GET /v1/wallets/{id}': owned(true, drex, wallet('')),
  'POST /v1/wallets/{id}/sign-message': owned(false, drex, wallet('/sign-message'), () => ({
    message: 'mine',
  })),
  'POST /v1/wallets/{id}/sign-typed-data': owned(false, drex, wallet('/sign-typed-data'), () => ({
    typed_data: {
      types: { Note: [{ name: 'text', type: 'string' }] },
      primaryType: 'Note',
      domain: { name: 'test', chainId: 381_660_001 },
      message: { text: 'mine' },
    },
  })),
  'GET /v1/wallets/{id}/transactions': owned(true, drex, wallet('/transactions')),
  'GET /v1/wallets/{id}/statement': owned(true, drex, wallet('/statement')),
  'POST /v1/drex/transfers': owned(
    ...([false, drex, () => '/v1/drex/transfers'] as const),
    ({ address }) => ({ from_wallet: address, to_wallet: anywhere, amount: '1.00' }),
  ),
  'POST /v1/drex/batches': owned(
    ...([false, drex, () => '/v1/drex/batches'] as const),
    ({ address }) => ({ transfers: [row(address)] }),
  ),
  // A key for other wallets sees none of its transfers, and so no batch.
  'GET /v1/drex/batches/{id}': owned(true, [], batch('')),
  'POST /v1/drex/batches/{id}/approve': owned(false, [], batch('/approve')),
  'POST /v1/drex/operations': owned(
    ...([false, drex, () => '/v1/drex/operations'] as const),
    ({ address }) => admission(address),
  ),
  'GET /v1/drex/operations/types': institution(true),
  'GET /v1/drex/operations': list(drex),
  'GET /v1/drex/operations/{id}': owned(
    ...([true, drex] as const),
    ({ operation }) => `/v1/drex/operations/${operation}`,
  ),
  'GET /v1/drex/transfers': list(drex),
  'GET /v1/drex/transfers/{id}': owned(true, drex, transfer('')),
  'POST /v1/drex/transfers/{id}/cancel': owned(false, drex, transfer('/cancel')),
  'POST /v1/drex/transfers/{id}/retry': owned(false, drex, transfer('/retry')),
  'POST /v1/drex/transfers/{id}/approve': owned(false, drex, transfer('/approve')),
  'POST /v1/contracts/deploy': owned(
    ...([false, drex, () => '/v1/contracts/deploy'] as const),
    (made) => deployment(made.address),
  ),
  'POST /v1/contracts': {
    kind: 'new',
    body: ({ contract: address }) => ({
      address,
      abi: [{ type: 'function', name: 'x', inputs: [], outputs: [], stateMutability: 'view' }],
    }),
  },
  'GET /v1/contracts': list(),
  'GET /v1/contracts/{address}': owned(true, [], contract('')),
  'GET /v1/contracts/{address}/calls/{id}': owned(
    ...([true, drex] as const),
    (made) => `/v1/contracts/${made.contract}/calls/${made.call}`,
  ),
  'POST /v1/contracts/{address}/streams': owned(false, [], contract('/streams'), () => ({
    event: 'Transfer',
  })),
  'GET /v1/contracts/{address}/streams': owned(true, [], contract('/streams')),
  'DELETE /v1/contracts/{address}/streams/{id}': owned(
    ...([false, []] as const),
    (made) => `/v1/contracts/${made.contract}/streams/${made.stream}`,
  ),
  'POST /v1/contracts/{address}/call': owned(false, drex, contract('/call'), (made) => ({
    ...{ function: 'pause', signer_wallet: made.address },
  })),
  // The last: nothing is signed with a wallet that is archived.
  'PATCH /v1/wallets/{id}': owned(false, drex, wallet(''), () => ({ label: 'mine' })),
}

const row = (address: string) => ({ from_wallet: address, to_wallet: anywhere, amount: '1.00' })

const admission = (address: string) => ({
  ...{ operation: 'enable_account', params: { wallet: anywhere } },
  signer_wallet: address,
})

const deployment = (address: string) => ({
  template: 'tokenized_asset',
  params: { name: 'A', symbol: 'A', total_supply: '1', decimals: 0, owner: address },
  signer_wallet: address,
})

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
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, text, json: (isJson ? JSON.parse(text) : {}) as never }
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
  const deployed = await demand('/v1/contracts/deploy', deployment(address))
  const at = `/v1/contracts/${deployed['address']}`
  await until(async () => {
    const { json } = await call(ana, 'GET', at)
    return ['deployed', 'permitted'].includes((json as { status: string }).status)
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
  const charge = await makeCharge()
  return {
    ...charge,
    transaction: id ?? '',
    endpoint: hook['id'] ?? '',
    delivery: deliveries[0]?.id ?? '',
    wallet: wallet_id ?? '',
    address,
    transfer: transfer_id ?? '',
    batch: batch_id ?? '',
    operation: operation_id ?? '',
    contract: deployed['address'] ?? '',
    call: transaction_id ?? '',
    stream: stream_id ?? '',
  }
}

const address = { street: 'Rua 1', state: 'PE', postal_code: '50000000' }

const makeCharge = async (): Promise<Pick<Made, 'charge' | 'due' | 'location'>> => {
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
  await call(ana, 'PUT', `/pix/v2/webhook/${key}`, hook)
  const charge = 'a'.repeat(32)
  const body = { calendario: {}, valor: { original: '1.00' }, chave: key }
  const { json, text } = await call(ana, 'PUT', `/pix/v2/cob/${charge}`, body)
  const { loc } = json as { readonly loc?: { readonly id: number } }
  if (loc === undefined) throw new Error(text)
  const due = 'b'.repeat(32)
  const { text: answer, json: made } = await call(ana, 'PUT', `/pix/v2/cobv/${due}`, {
    ...{ ...body, calendario: { dataDeVencimento: '2030-01-02' } },
    devedor: { cpf: '12345678909', nome: 'Bia' },
  })
  if ((made as { readonly txid?: string }).txid !== due) throw new Error(answer)
  const { sql } = gateway.database
  await sql`
    insert into pix_received (end_to_end_id, account, amount_cents, payer_tax_id, status,
      received_at, settled_at)
    values (${received}, 'ana', 100, '12345678909', 'LIQUIDADO', now(), now())`
  await sql`
    insert into pix_returns (end_to_end_id, id, return_id, amount_cents, nature, requested_at)
    values (${received}, '1', 'D1', 50, 'ORIGINAL', now())`
  return { charge, due, location: String(loc.id) }
}

beforeAll(async () => {
  gateway = await startGatewayHere({ TRILHO_TRUSTED_PROXIES: '127.0.0.1' })
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
    ...[name, 403],
    expect.stringContaining(`restriction ${restriction} `),
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
    const seen = receiver.received.map(({ body }) => JSON.parse(body).data.transaction_id)
    await until(() => receiver.received.some(({ body }) => body.includes(foreign)))
    expect(seen).not.toContain(own)
    await theirs.stop()
  })
})

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
    const key = await anas({ addresses: ['192.0.2.0/24', '2001:db8::/32'] })
    const from = (forwarded: string) => ({ 'X-Forwarded-For': forwarded })
    for (const one of named.filter(({ row }) => row.kind !== 'public')) {
      expectRefused(one.name, await ask(key, one), 'addresses')
      expectRefused(one.name, await ask(key, one, from('192.0.2.1, 198.51.100.1')), 'addresses')
    }
    const list = (forwarded: string) =>
      call(key, 'GET', '/v1/wallets', undefined, from(forwarded)).then(({ status }) => status)
    for (const taken of ['192.0.2.1', '10.0.0.1, 192.0.2.255', '2001:db8::1', '192.0.2.1:4711']) {
      expect([taken, await list(taken)]).toEqual([taken, 200])
    }
    for (const refused of ['192.0.3.0', '2001:db9::1', 'unknown', '192.0.2.1,', '::1']) {
      expect([refused, await list(refused)]).toEqual([refused, 403])
    }
  })

  const others: Readonly<Record<Restriction, StoredRestrictions>> = {
    merchant_ids: { merchant_ids: ['ANOTHER'] },
    wallets: { wallets: [anywhere.replace('aa', 'bb')] },
    own_webhooks: { own_webhooks: true },
  }
  test.each(Object.keys(others) as Restriction[])('restricted by %s', async (restriction) => {
    const key = await anas(others[restriction])
    const ids = Object.values(made).filter((id) => id !== made.contract)
    for (const one of named.filter(({ row }) => row.by?.includes(restriction) === true)) {
      const answer = await ask(key, one)
      if (one.row.kind !== 'list') expectRefused(one.name, answer, restriction)
      else {
        expect([one.name, answer.status]).toEqual([one.name, 200])
        expect([one.name, ids.filter((id) => answer.text.includes(id))]).toEqual([one.name, []])
      }
    }
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
  await until(async () => (await refusals()).length >= 5)
  expect(await refusals()).toEqual([
    ...['addresses', 'merchant_ids', 'own_webhooks', 'read_only', 'wallets'],
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
