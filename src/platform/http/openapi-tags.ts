import type { Rail } from './limits/concurrency.ts'

/** The groups of operations, in the order in which somebody meets them. */
export const documentTags = {
  'Instant payments': 'Payments over the SPI: sending them, and what became of them.',
  Transformation: 'ISO 20022 messages to JSON and back.',
  Schemas: 'What the messages of the catalogue may hold.',
  'QR codes': 'Pix codes: making and reading them.',
  'API Pix': "The central bank's API for merchants' software: who may charge with which Pix key.",
  Cards: 'Authorizations over ISO 8583: authorize, capture, void.',
  'Digital currency': 'Transfers and balances on EVM networks.',
  Wallets: 'The wallets whose keys the gateway holds.',
  Contracts: 'Contracts: from templates, or those that are there already.',
  Webhooks: 'Who is told of what happens, and whether it arrived.',
  Events: 'What a webhook endpoint is sent, by the type of the event.',
  Certificates: 'Certificates and keys of the institution.',
  'Security header': 'RSFN: sealing and opening messages of the network.',
  Signatures: 'JOSE: signing, verifying, encrypting, decrypting.',
  Operation: 'Health, metrics, audit, the level of the log.',
  Documentation: 'This document and the catalogue of errors.',
} as const

export type DocumentTag = keyof typeof documentTags

/** The rail whose bound of concurrent requests holds; undefined: what is small or for operators has none. */
export const railOf: Readonly<Record<DocumentTag, Rail | undefined>> = {
  'Instant payments': 'spi',
  Transformation: 'spi',
  Schemas: 'spi',
  'QR codes': 'spi',
  'API Pix': 'spi',
  Cards: 'cards',
  'Digital currency': 'drex',
  Wallets: 'drex',
  Contracts: 'drex',
  Webhooks: undefined,
  Events: undefined,
  Certificates: undefined,
  'Security header': 'spi',
  Signatures: undefined,
  Operation: undefined,
  Documentation: undefined,
}
