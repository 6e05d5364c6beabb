/** Each route, whose it is and what restricts it: a route that is not here fails the test of rights. */
import { authorizationBody } from '../support/cards-rig.ts'

export const merchant = 'MERCHANT000001'
export const anywhere = '0x00000000000000000000000000000000000000aa'
/** A Pix that ana has received, and given back in part. */
export const received = `E${'0'.repeat(31)}`
const soon = '2020-01-01T00:00:00Z'

export const pixKey = '7d9f0335-8dcc-4054-9bf9-0dbd61d36906'
/** The txid of a charge in a batch. */
export const batched = 'c'.repeat(32)

/** What the account `ana` has made, by the names that the paths below use. */
export type Made = {
  readonly transaction: string
  readonly endpoint: string
  readonly delivery: string
  readonly wallet: string
  readonly address: string
  readonly transfer: string
  /** The hash of the transaction that deployed the contract. */
  readonly hash: string
  readonly batch: string
  readonly operation: string
  readonly delivered: string
  readonly lien: string
  readonly contract: string
  readonly call: string
  readonly stream: string
  /** An API key. */
  readonly apiKey: string
  readonly charge: string
  readonly due: string
  readonly location: string
  readonly recurrence: string
  /** To a payer. */
  readonly request: string
  /** A charge of a recurrence. */
  readonly collection: string
  /** A location of recurrences. */
  readonly place: string
}

/** The restrictions that forbid a key what belongs to ana, but is not what the restriction names. */
export type Restriction = 'merchant_ids' | 'wallets' | 'own_webhooks'

export type Row = {
  /**
   * `public`: no key. `institution`: its own accounts alone. `anyone`: nobody's. `new`: makes something of the caller's.
   * `list`: shows the caller's own. `owned`: of what an account made, by the path.
   */
  readonly kind: 'public' | 'institution' | 'anyone' | 'new' | 'list' | 'owned'
  /** A key that is read-only may use it. */
  readonly reads?: true
  readonly by?: readonly Restriction[]
  /** A list that keys with these restrictions do not see, instead of one that shows them their part. */
  readonly isClosed?: true
  /** The path with what ana made. */
  readonly at?: (made: Made) => string
  readonly body?: (made: Made) => unknown
}

const drex = ['wallets'] as const
const cards = ['merchant_ids'] as const
const limited = ['merchant_ids', 'wallets', 'own_webhooks'] as const
const limitedMaker = ['merchant_ids', 'wallets'] as const

const institution = (reads?: true): Row => ({ kind: 'institution', ...(reads && { reads }) })
/** Shows or decides what is of all merchants or wallets. */
const ofAll = (
  by: readonly Restriction[],
  reads: boolean,
  path: string,
  body?: Readonly<Record<string, string>>,
): Row => ({
  ...institution(reads || undefined),
  by,
  at: () => path,
  ...(body && { body: () => body }),
})
const anyone = (reads?: true): Row => ({ kind: 'anyone', ...(reads && { reads }) })
const list = (by: readonly Restriction[] = []): Row => ({ kind: 'list', reads: true, by })
/** A list of the API Pix: each one has a period. */
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

/** Each account has its own at the same path. */
const automaticWebhook = (told: 'rec' | 'cobr'): Readonly<Record<string, Row>> => {
  const path = `/pix/v2/webhook${told}`
  return {
    [`PUT ${path}`]: {
      kind: 'new',
      by: limited,
      body: () => ({ webhookUrl: 'https://example.com/pix' }),
    },
    [`GET ${path}`]: owned(true, ['own_webhooks'], () => path),
    [`DELETE ${path}`]: owned(false, limited, () => path),
  }
}

const transaction = (suffix: string) => (made: Made) =>
  `/v1/transactions/${made.transaction}${suffix}`
const endpoint = (suffix: string) => (made: Made) => `/v1/webhooks/${made.endpoint}${suffix}`
const apiKey = (suffix: string) => (made: Made) => `/v1/keys/${made.apiKey}${suffix}`
const delivery = (suffix: string) => (made: Made) =>
  `/v1/webhook-deliveries/${made.delivery}${suffix}`
const former = (suffix: string) => (made: Made) =>
  `/v1/webhooks/deliveries/${made.delivery}${suffix}`
const transfer = (suffix: string) => (made: Made) => `/v1/drex/transfers/${made.transfer}${suffix}`
const batch = (suffix: string) => (made: Made) => `/v1/drex/batches/${made.batch}${suffix}`
const delivered = (suffix: string) => (made: Made) =>
  `/v1/drex/deliveries/${made.delivered}${suffix}`
const lien = (suffix: string) => (made: Made) => `/v1/drex/liens/${made.lien}${suffix}`
const wallet = (suffix: string) => (made: Made) => `/v1/wallets/${made.wallet}${suffix}`
const contract = (suffix: string) => (made: Made) => `/v1/contracts/${made.contract}${suffix}`

export const rows: Readonly<Record<string, Row>> = {
  'GET /.well-known/jwks.json': { kind: 'public' },
  'POST /oauth/token': { kind: 'public' },
  // Who knows the end of a location may read what it shows.
  'GET /qr/v2/jwks.json': { kind: 'public' },
  'GET /qr/v2/{token}': { kind: 'public' },
  'GET /qr/v2/cobv/{token}': { kind: 'public' },
  'GET /qr/v2/rec/{token}': { kind: 'public' },
  // What is behind them asks for the session, and then for the key in it.
  'POST /console/session': { kind: 'public' },
  'GET /console/session': { kind: 'public' },
  'DELETE /console/session': { kind: 'public' },
  'GET /console/live': { kind: 'public' },
  'GET /console/assets/{name}': { kind: 'public' },
  'GET /console/api/*': { kind: 'public' },
  'POST /console/api/*': { kind: 'public' },
  'PUT /console/api/*': { kind: 'public' },
  'PATCH /console/api/*': { kind: 'public' },
  'DELETE /console/api/*': { kind: 'public' },
  'GET /console': { kind: 'public' },
  'GET /console/*': { kind: 'public' },
  'GET /v1/audit': institution(true),
  'GET /v1/audit/export': institution(true),
  'GET /v1/audit/verification': institution(true),
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
  'POST /v1/jose/verify': anyone(true),
  'POST /v1/jose/encrypt': anyone(true),
  'POST /v1/jose/decrypt': institution(),
  // Both with private keys of the institution.
  'POST /v1/rsfn/open': institution(),
  'POST /v1/rsfn/seal': institution(),
  'POST /v1/validate': anyone(true),
  'GET /v1/schemas': anyone(true),
  'GET /v1/codes': anyone(true),
  'POST /v1/transform': anyone(true),
  'POST /v1/transform/pacs008': anyone(true),
  'POST /v1/transform/pacs002': anyone(true),
  'POST /v1/transform/pacs004': anyone(true),
  'GET /v1/transformations': anyone(true),
  'GET /v1/messages': institution(true),
  'GET /v1/messages/activity': institution(true),
  'GET /v1/messages/e2e/{endToEndId}': institution(true),
  'GET /v1/messages/{id}': institution(true),
  'POST /v1/spi/messages/{id}/resend': institution(),
  'POST /v1/spi/messages/{id}/resolve': institution(),
  'POST /v1/qrcodes/static': anyone(true),
  'POST /v1/qrcodes/dynamic': anyone(true),
  'POST /v1/qrcodes/composite': anyone(true),
  'POST /v1/qrcodes/parse': anyone(true),
  'POST /v1/inspect': institution(true),
  // Asks a stranger's server.
  'POST /v1/pix/qrcode/resolve': anyone(),
  'GET /v1/catalog/in': anyone(true),
  'GET /v1/catalog/out': anyone(true),
  'POST /v1/spi/send': institution(),
  'POST /v1/spi/build': institution(true),
  'GET /v1/dict/keys/{key}': institution(true),
  'GET /v1/participants': institution(true),
  'GET /v1/participants/{ispb}': institution(true),
  'GET /v1/holidays/{year}': anyone(true),
  'POST /v1/dict/entries': institution(),
  'GET /v1/dict/entries': institution(true),
  'GET /v1/dict/entries/{id}': institution(true),
  'PATCH /v1/dict/entries/{id}': institution(),
  'DELETE /v1/dict/entries/{id}': institution(),
  'POST /v1/dict/verifications': institution(),
  'POST /v1/dict/claims': institution(),
  'GET /v1/dict/claims': institution(true),
  'GET /v1/dict/claims/{id}': institution(true),
  'POST /v1/dict/claims/{id}/acknowledge': institution(),
  'POST /v1/dict/claims/{id}/confirm': institution(),
  'POST /v1/dict/claims/{id}/cancel': institution(),
  'POST /v1/dict/claims/{id}/complete': institution(),
  'POST /v1/dict/infraction-reports': institution(),
  'GET /v1/dict/infraction-reports': institution(true),
  'GET /v1/dict/infraction-reports/{id}': institution(true),
  'POST /v1/dict/infraction-reports/{id}/acknowledge': institution(),
  'POST /v1/dict/infraction-reports/{id}/close': institution(),
  'POST /v1/dict/infraction-reports/{id}/cancel': institution(),
  'POST /v1/dict/refunds': institution(),
  'GET /v1/dict/refunds': institution(true),
  'GET /v1/dict/refunds/{id}': institution(true),
  'POST /v1/dict/refunds/{id}/close': institution(),
  'POST /v1/dict/refunds/{id}/cancel': institution(),
  'POST /v1/dict/comparisons': institution(),
  'GET /v1/dict/comparisons/{id}': institution(true),
  'GET /v1/dict/comparisons/{id}/differences': institution(true),
  'POST /v1/dict/comparisons/{id}/mend': institution(),
  'POST /v1/pix/payments': institution(),
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
  'GET /v1/pix/figures': institution(true),
  'POST /v1/pix/figures': institution(true),
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
  'PUT /pix/v2/lotecobv/{id}': { kind: 'new' },
  'GET /pix/v2/lotecobv': listOf('lotecobv'),
  'GET /pix/v2/lotecobv/{id}': owned(true, [], () => '/pix/v2/lotecobv/1'),
  'PATCH /pix/v2/lotecobv/{id}': owned(
    ...([false, [], () => '/pix/v2/lotecobv/1'] as const),
    () => ({ cobsv: [{ txid: batched, valor: { original: '2.00' } }] }),
  ),
  'POST /pix/v2/rec': { kind: 'new' },
  'GET /pix/v2/rec': listOf('rec'),
  'GET /pix/v2/rec/{idRec}': owned(true, [], ({ recurrence }) => `/pix/v2/rec/${recurrence}`),
  'PATCH /pix/v2/rec/{idRec}': owned(
    ...([false, [], ({ recurrence }: Made) => `/pix/v2/rec/${recurrence}`] as const),
    () => ({ vinculo: { devedor: { nome: 'Bia' } } }),
  ),
  'POST /pix/v2/solicrec': { kind: 'new' },
  'GET /pix/v2/solicrec/{idSolicRec}': owned(
    ...([true, [], ({ request }: Made) => `/pix/v2/solicrec/${request}`] as const),
  ),
  'PATCH /pix/v2/solicrec/{idSolicRec}': owned(
    ...([false, [], ({ request }: Made) => `/pix/v2/solicrec/${request}`] as const),
    () => ({ status: 'CANCELADA' }),
  ),
  'GET /v1/pix/recurrence-requests': {
    ...list(),
    at: ({ recurrence }) => `/v1/pix/recurrence-requests?recurrence_id=${recurrence}`,
  },
  'PUT /pix/v2/cobr/{txid}': { kind: 'new' },
  'POST /pix/v2/cobr': { kind: 'new' },
  'GET /pix/v2/cobr': listOf('cobr'),
  'GET /pix/v2/cobr/{txid}': owned(
    ...([true, [], ({ collection }: Made) => `/pix/v2/cobr/${collection}`] as const),
  ),
  'POST /pix/v2/cobr/{txid}/retentativa/{data}': owned(
    ...([
      ...([false, []] as const),
      ({ collection }: Made) => `/pix/v2/cobr/${collection}/retentativa/2099-01-01`,
    ] as const),
  ),
  'PATCH /pix/v2/cobr/{txid}': owned(
    ...([false, [], ({ collection }: Made) => `/pix/v2/cobr/${collection}`] as const),
    () => ({ status: 'CANCELADA' }),
  ),
  'POST /pix/v2/locrec': { kind: 'new' },
  'GET /pix/v2/locrec': listOf('locrec'),
  'GET /pix/v2/locrec/{id}': owned(true, [], ({ place }) => `/pix/v2/locrec/${place}`),
  'DELETE /pix/v2/locrec/{id}/idRec': owned(
    ...([false, [], ({ place }: Made) => `/pix/v2/locrec/${place}/idRec`] as const),
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
  // For another's key it says so: the standard has no other answer.
  'PUT /pix/v2/webhook/{chave}': {
    kind: 'new',
    by: limited,
    at: () => `/pix/v2/webhook/${pixKey}`,
    body: () => ({ webhookUrl: 'https://example.com/pix' }),
  },
  'GET /pix/v2/webhook/{chave}': owned(true, ['own_webhooks'], () => `/pix/v2/webhook/${pixKey}`),
  'GET /pix/v2/webhook': listOf('webhook'),
  'DELETE /pix/v2/webhook/{chave}': owned(false, limited, () => `/pix/v2/webhook/${pixKey}`),
  ...automaticWebhook('rec'),
  ...automaticWebhook('cobr'),
  'POST /pix/v2/loc': { kind: 'new', body: () => ({ tipoCob: 'cob' }) },
  'GET /pix/v2/loc': listOf('loc'),
  'GET /pix/v2/loc/{id}': owned(true, [], ({ location }) => `/pix/v2/loc/${location}`),
  'DELETE /pix/v2/loc/{id}/txid': owned(
    ...([false, [], ({ location }: Made) => `/pix/v2/loc/${location}/txid`] as const),
  ),
  'GET /v1/drex/networks': anyone(true),
  'GET /v1/contracts/templates': anyone(true),
  // Balances are the chain's, which everybody may read; a key for some wallets may not.
  'GET /v1/drex/balance/{wallet}': {
    kind: 'anyone',
    reads: true,
    by: drex,
    at: ({ address }) => `/v1/drex/balance/${address}`,
  },
  'POST /v1/drex/sandbox/fund': {
    kind: 'anyone',
    by: drex,
    body: ({ address }) => ({ wallet: address }),
  },

  'POST /v1/webhooks': {
    kind: 'new',
    by: limitedMaker,
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
  'GET /v1/webhook-deliveries': {
    ...list(limitedMaker),
    isClosed: true,
    at: () => '/v1/webhook-deliveries?subject=any',
  },
  'GET /v1/webhook-deliveries/{id}': owned(true, ['own_webhooks'], delivery('')),
  'GET /v1/webhooks/deliveries/{id}': owned(true, ['own_webhooks'], former('')),
  'POST /v1/webhook-deliveries/{id}/replay': owned(false, limited, delivery('/replay')),
  'POST /v1/webhooks/deliveries/{id}/replay': owned(false, limited, former('/replay')),
  'DELETE /v1/webhooks/{id}': owned(false, limited, endpoint('')),

  'POST /v1/keys': {
    kind: 'new',
    by: limited,
    body: () => ({ name: 'other', scopes: ['cards:read'] }),
  },
  'GET /v1/keys': { ...list(limited), isClosed: true },
  'GET /v1/keys/{id}': owned(true, limited, apiKey('')),
  'PATCH /v1/keys/{id}': owned(false, limited, apiKey(''), () => ({ restrictions: {} })),
  'POST /v1/keys/{id}/rotate': owned(false, limited, apiKey('/rotate'), () => ({})),
  'DELETE /v1/keys/{id}': owned(false, limited, apiKey('')),

  'POST /v1/transactions/authorize': {
    kind: 'new',
    by: cards,
    body: () => authorizationBody('tok_visa_approved'),
  },
  'POST /v1/transactions/verify': {
    kind: 'new',
    by: cards,
    body: () => {
      const { amount: _, ...body } = authorizationBody('tok_visa_approved')
      return body
    },
  },
  'GET /v1/transactions': list(cards),
  'GET /v1/transactions/activity': list(cards),
  'GET /v1/transactions/reversals': list(cards),
  'GET /v1/transactions/advices': list(cards),
  'GET /v1/transactions/reconciliations': ofAll(cards, true, '/v1/transactions/reconciliations'),
  'GET /v1/transactions/reconciliations/{id}/movements': ofAll(
    ...([cards, true, '/v1/transactions/reconciliations/1/movements'] as const),
  ),
  'POST /v1/transactions/reconciliations/{id}/resolve': ofAll(
    ...([cards, false, '/v1/transactions/reconciliations/1/resolve', { reason: 'seen' }] as const),
  ),
  'GET /v1/transactions/unmatched-advices': ofAll(
    ...([cards, true, '/v1/transactions/unmatched-advices'] as const),
  ),
  'POST /v1/transactions/unmatched-advices/{id}/resolve': ofAll(
    ...([
      cards,
      false,
      '/v1/transactions/unmatched-advices/1/resolve',
      { reason: 'seen' },
    ] as const),
  ),
  'GET /v1/transactions/{id}': owned(true, cards, transaction('')),
  'GET /v1/transactions/{id}/events': owned(true, cards, transaction('/events')),
  'POST /v1/transactions/{id}/resolve': owned(false, cards, transaction('/resolve'), () => ({
    outcome: 'voided',
    reason: 'The desk said so',
  })),
  'POST /v1/transactions/{id}/increment': owned(false, cards, transaction('/increment'), () => ({
    amount: 100,
  })),
  'POST /v1/transactions/{id}/capture': owned(false, cards, transaction('/capture')),
  'POST /v1/transactions/{id}/void': owned(false, cards, transaction('/void')),
  'POST /v1/transactions/{id}/refund': owned(false, cards, transaction('/refund')),

  'POST /v1/wallets': {
    kind: 'new',
    by: drex,
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
  'POST /v1/wallets/{id}/resend': owned(false, drex, wallet('/resend')),
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
  'GET /v1/drex/operations/types': anyone(true),
  'GET /v1/drex/operations': list(drex),
  'GET /v1/drex/operations/{id}': owned(
    ...([true, drex] as const),
    ({ operation }) => `/v1/drex/operations/${operation}`,
  ),
  'POST /v1/drex/deliveries': owned(
    ...([false, drex, () => '/v1/drex/deliveries'] as const),
    ({ address }) => ({
      contract: anywhere,
      operation_id: '1',
      part: 'seller',
      wallet: address,
      counterparty: anywhere,
      amount: '1.00',
      unit_price: '1.00',
      bond: { acronym: 'LTN', code: '1', maturity_date: '2031-01-01' },
    }),
  ),
  'GET /v1/drex/deliveries': list(drex),
  'GET /v1/drex/deliveries/{id}': owned(true, drex, delivered('')),
  'POST /v1/drex/deliveries/{id}/cancel': owned(false, drex, delivered('/cancel'), () => ({})),
  'POST /v1/drex/liens': owned(...([false, drex, () => '/v1/drex/liens'] as const), ({ address }) =>
    pledge(address),
  ),
  'POST /v1/drex/liens/adopt': owned(
    ...([false, drex, () => '/v1/drex/liens/adopt'] as const),
    ({ address }) => ({ contract: anywhere, wallet: address }),
  ),
  'GET /v1/drex/liens': list(drex),
  'GET /v1/drex/liens/{id}': owned(true, drex, lien('')),
  'POST /v1/drex/liens/{id}/acts': owned(false, drex, lien('/acts'), () => ({ act: 'reclaim' })),
  'GET /v1/drex/held': ofAll(drex, true, '/v1/drex/held'),
  'POST /v1/drex/held/{id}/resolve': ofAll(
    ...([drex, false, '/v1/drex/held/x/resolve', { decision: 'send' }] as const),
  ),
  'GET /v1/drex/transfers': list(drex),
  'GET /v1/drex/transfers/activity': list(drex),
  'GET /v1/drex/lanes': list(drex),
  'GET /v1/drex/transactions/{hash}': owned(
    true,
    drex,
    ({ hash }) => `/v1/drex/transactions/${hash}`,
  ),
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
    function: 'pause',
    signer_wallet: made.address,
  })),
  // The last: nothing is signed with a wallet that is archived.
  'PATCH /v1/wallets/{id}': owned(false, drex, wallet(''), () => ({ label: 'mine' })),
}

export const row = (address: string) => ({
  from_wallet: address,
  to_wallet: anywhere,
  amount: '1.00',
})

export const admission = (address: string) => ({
  operation: 'enable_account',
  params: { wallet: anywhere },
  signer_wallet: address,
})

export const pledge = (address: string) => ({
  owner_wallet: address,
  beneficiary: anywhere,
  amount: '1.00',
  expiry: '2100-01-01T00:00:00Z',
})

export const deployment = (address: string) => ({
  template: 'tokenized_asset',
  params: { name: 'A', symbol: 'A', total_supply: '1', decimals: 0, owner: address },
  signer_wallet: address,
})
