import type { Rail } from './limits/concurrency.ts'
import type { Route } from './route.ts'

type Group = {
  readonly about: string
  /** The rail whose bound of concurrent requests holds; small operations, and those for operators, have none. */
  readonly rail?: Rail
  /** The beginnings of its operations' paths. */
  readonly under: readonly string[]
}

/** The groups of operations, in the order in which somebody meets them. */
const groups = {
  'Instant payments': {
    about: 'Payments over the SPI: sending them, and what became of them.',
    rail: 'spi',
    under: ['/v1/catalog', '/v1/dict', '/v1/messages', '/v1/participants', '/v1/pix', '/v1/spi'],
  },
  Transformation: {
    about: 'ISO 20022 messages to JSON and back.',
    rail: 'spi',
    under: ['/v1/transform', '/v1/transformations'],
  },
  Schemas: {
    about: 'What the messages of the catalogue may hold.',
    rail: 'spi',
    under: ['/v1/codes', '/v1/schemas', '/v1/validate'],
  },
  'QR codes': {
    about: 'Pix codes: making and reading them.',
    rail: 'spi',
    under: ['/v1/pix/qrcode', '/v1/qrcodes'],
  },
  'API Pix': {
    about: "The central bank's API for merchants' software: who may charge with which Pix key.",
    rail: 'spi',
    under: [
      '/qr',
      '/oauth',
      '/pix',
      '/v1/holidays',
      '/v1/pix/receivers',
      '/v1/pix/recurrence-requests',
    ],
  },
  Cards: {
    about: 'Authorizations over ISO 8583: authorize, capture, void.',
    rail: 'cards',
    under: ['/v1/transactions'],
  },
  'Digital currency': {
    about: 'Transfers and balances on EVM networks.',
    rail: 'drex',
    under: ['/v1/drex', '/v1/wallets/{id}/resend'],
  },
  Wallets: {
    about: 'The wallets whose keys the gateway holds.',
    rail: 'drex',
    under: ['/v1/wallets'],
  },
  Contracts: {
    about: 'Contracts: from templates, or those that are there already.',
    rail: 'drex',
    under: ['/v1/contracts'],
  },
  Webhooks: {
    about: 'Who is told of what happens, and whether it arrived.',
    under: ['/v1/webhook-deliveries', '/v1/webhooks'],
  },
  Events: { about: 'What a webhook endpoint is sent, by the type of the event.', under: [] },
  Certificates: {
    about: 'Certificates and keys of the institution.',
    under: ['/v1/certificates'],
  },
  'Security header': {
    about: 'RSFN: sealing and opening messages of the network.',
    rail: 'spi',
    under: ['/v1/rsfn'],
  },
  Signatures: {
    about: 'JOSE: signing, verifying, encrypting, decrypting.',
    under: ['/.well-known', '/v1/jose'],
  },
  Operation: {
    about: 'Health, metrics, audit, the level of the log.',
    under: [
      '/console',
      '/health',
      '/metrics',
      '/ready',
      '/v1/audit',
      '/v1/inspect',
      '/v1/keys',
      '/v1/ops',
    ],
  },
  Documentation: {
    about: 'This document and the catalogue of errors.',
    under: ['/docs', '/openapi.json', '/v1/errors'],
  },
} as const satisfies Readonly<Record<string, Group>>

export type DocumentTag = keyof typeof groups

export const documentTags = Object.entries<Group>(groups).map(([name, { about }]) => ({
  name: name as DocumentTag,
  description: about,
}))

/** The longest first: an exception stands deeper than its rule. */
const beginnings = Object.entries<Group>(groups)
  .flatMap(([name, { under }]) => under.map((path) => ({ path, tag: name as DocumentTag })))
  .sort((left, right) => right.path.length - left.path.length)

/** The group of a route; undefined: its path begins like none that we know. */
export const tagOf = ({ path }: Pick<Route, 'path'>): DocumentTag | undefined =>
  beginnings.find((one) => path === one.path || path.startsWith(`${one.path}/`))?.tag

/** The rail whose bound of concurrent requests holds for a route. */
export const railOf = (route: Pick<Route, 'path'>): Rail | undefined => {
  const tag = tagOf(route)
  const group: Group | undefined = tag && groups[tag]
  return group?.rail
}
