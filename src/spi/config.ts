import { ispbForm } from '#codecs/taxpayer'
import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'

/** Stages of the pipeline that a process runs. */
export const spiRoles = ['INBOUND_PULL', 'WORKER', 'OUTBOUND_SEND'] as const
export type SpiRole = (typeof spiRoles)[number]

/** The most SPI_RETENTION_DAYS may be where each day has a partition. */
export const dayPartitionsMax = 400

/** The institution, the message interface and what we need to reach it. */
export const spiSettings = defineSettings({
  ispb: setting('ISPB', kind.text({ pattern: ispbForm, expected: '8 digits or capital letters' }), {
    doc: 'ISPB of the institution; needed by the stages of instant payments, by the endpoints that send, by `GET /v1/catalog/in` and `/out`, by the directory of keys and by what the API Pix sends.',
  }),
  primaryUrl: setting('SPI_PRIMARY_URL', kind.url('https', 'http'), {
    doc: 'Message interface, primary channel; this or `SPI_SECONDARY_URL` is needed by the stages `INBOUND_PULL` and `OUTBOUND_SEND` and by `GET /v1/catalog/in` and `/out`. Production refuses plain http to another machine.',
  }),
  secondaryUrl: setting('SPI_SECONDARY_URL', kind.url('https', 'http'), {
    doc: 'Message interface, secondary channel. Production refuses plain http to another machine.',
  }),
  roles: setting('SPI_ROLES', kind.list(kind.oneOf(...spiRoles)), {
    doc: 'Stages of the pipeline this process runs; when not set, those of `TRILHO_ROLES`, or none when that is not set either.',
  }),
  syncEnabled: setting('SPI_SYNC_ENABLED', kind.boolean(), {
    default: 'false',
    doc: 'Synchronous fast path for pacs.008: sent within the request; the queue sends what was not clearly accepted.',
  }),
  certificateSource: setting('CERT_SOURCE', kind.oneOf('files', 'store'), {
    default: 'files',
    doc: 'Where that certificate and its key come from: `files` (CERT_PATH, KEY_PATH), or `store`: the latest certificate of type PIC of the ISPB.',
  }),
  certificate: setting('CERT_PATH', kind.pem(), {
    doc: 'Client certificate of mutual TLS towards the central bank.',
  }),
  key: setting('KEY_PATH', kind.pem(), { doc: 'Private key of that certificate.' }),
  ca: setting('CA_PATH', kind.pem(), {
    doc: 'Authorities the central bank\u2019s certificate comes from.',
  }),
  retentionDays: setting('SPI_RETENTION_DAYS', kind.integer(90, 36_500), {
    default: '3650',
    doc: 'Days messages are kept with all that belongs to them, in whole partitions (`SPI_PARTITION_UNIT`); a partition that holds an open one longer.',
  }),
  partitionUnit: setting('SPI_PARTITION_UNIT', kind.oneOf('month', 'day'), {
    default: 'month',
    doc: `What a partition of the message tables holds. \`day\` is for millions of payments a day: what goes is smaller and sooner gone; it allows at most ${dayPartitionsMax} for SPI_RETENTION_DAYS, since a search by neither id nor key asks each partition.`,
  }),
  rsfnKeySource: setting('RSFN_KEY_SOURCE', kind.oneOf('files', 'store'), {
    default: 'files',
    doc: 'Where the keys of the security header come from: `files` (RSFN_PRIVATE_KEY_PATH, RSFN_PUBLIC_KEY_PATH), or `store`: certificates of types SPB and MES, ours and those of others.',
  }),
  rsfnPrivateKey: setting('RSFN_PRIVATE_KEY_PATH', kind.pem(), {
    doc: 'RSA private key for RSFN.',
  }),
  rsfnPublicKey: setting('RSFN_PUBLIC_KEY_PATH', kind.pem(), {
    doc: 'Central bank RSA public key for RSFN.',
  }),
})

export type SpiSettings = SettingValues<typeof spiSettings>
