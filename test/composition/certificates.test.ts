import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLogger, createMetrics } from '#src/platform/observe/index.ts'
import { createAuthenticator, listenerMaterial } from '#src/platform/security/index.ts'
import { program } from '../../src/main.ts'
import { issueCertificate } from '../support/pki.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const ispb = '12345678'
const pair = issueCertificate('of all')
const base64 = (text: string): string => Buffer.from(text).toString('base64')
/** Settings named `<prefix>CERT_PATH` and `<prefix>KEY_PATH`. */
const pairAt = (prefix: string) => ({
  [`${prefix}CERT_BASE64`]: base64(pair.cert),
  [`${prefix}KEY_BASE64`]: base64(pair.key),
})

const install = (name: string): string => {
  const folder = temporaryDirectory()
  for (const version of [1, 2]) {
    const place = join(folder, `${name}.${version}`)
    mkdirSync(place)
    const { cert, key } = issueCertificate(`${name} ${version}`)
    writeFileSync(join(place, 'tls.crt'), cert)
    writeFileSync(join(place, 'tls.key'), key)
  }
  return folder
}

/** The features of a process that is not started, as `serve` and `doctor` put them together. */
const compose = (env: Readonly<Record<string, string>>) => {
  const loaded = program.load(env)
  expect(loaded.problems).toEqual([])
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const logger = createLogger({ level: 'error', sink: { write: () => undefined } })
  const features = loaded.createFeatures({
    logger,
    cardsLogger: logger,
    metrics,
    version: 'test',
    tls: listenerMaterial(loaded.platform),
    authenticator: createAuthenticator({ sources: [] }),
  })
  const certificates = features.find(({ name }) => name === 'certificates')
  return {
    inUse: async (): Promise<readonly string[]> => {
      const { text } = await metrics.render()
      const found = /^trilho_certificates_in_use\{ispb="(.*?)",type="(.*?)",version="(.*?)"/gm
      return [...text.matchAll(found)].map(([, ...labels]) => labels.join(' ').trim())
    },
    checks: async () =>
      ((await certificates?.checks?.()) ?? []).map(({ name, status }) => `${name}: ${status}`),
    days: async () => (await metrics.render()).text.match(/^spigw_cert_days_until_expiry\{/gm),
    stop: async () => {
      for (const { stop } of features) await stop?.()
    },
  }
}

test('every certificate of the settings is told of, whatever it serves', async () => {
  const nowhere = '127.0.0.1:1'
  const { inUse, checks, days, stop } = compose({
    ISPB: ispb,
    DATABASE_DSN: 'postgres://nobody@127.0.0.1:1/none',
    TRILHO_CERTS_DIR: install(`${ispb}.SPB`),
    RSFN_KEY_SOURCE: 'store',
    SPI_ROLES: 'OUTBOUND_SEND',
    SPI_PRIMARY_URL: `https://${nowhere}`,
    ...pairAt(''),
    ...pairAt('TRILHO_TLS_'),
    GRPC_ADDR: nowhere,
    ...pairAt('GRPC_TLS_'),
    BROKER_ADDRESSES: nowhere,
    TRILHO_BROKER_TLS: 'true',
    ...pairAt('TRILHO_BROKER_'),
    SPI_SIGN_ENABLED: 'true',
    SPI_SIGNATURE_SERVICE_URL: `https://${nowhere}`,
    ...pairAt('SPI_SIGNATURE_SERVICE_'),
    CARDGW_NETA_HOST: '127.0.0.1',
    CARDGW_NETA_TLS: 'true',
    ...pairAt('CARDGW_NETA_TLS_'),
    CARDGW_SECURITY_MODULE: 'payshield',
    CARDGW_SECURITY_MODULE_ADDRESS: nowhere,
    CARDGW_SECURITY_MODULE_TLS: 'true',
    ...pairAt('CARDGW_SECURITY_MODULE_TLS_'),
    CARDGW_VAULT_URL: `https://${nowhere}`,
    ...pairAt('CARDGW_VAULT_'),
    DREX_WEB3SIGNER_URL: `https://${nowhere}`,
    ...pairAt('DREX_WEB3SIGNER_'),
    OTEL_EXPORTER_OTLP_ENDPOINT: `https://${nowhere}`,
    OTEL_EXPORTER_OTLP_CERTIFICATE_BASE64: base64(pair.cert),
  })
  const ofFiles = [
    ...['broker', 'card_network_neta', 'grpc', 'http', 'security_module'],
    ...['signature_service', 'token_vault', 'web3signer'],
  ]
  expect([...(await inUse())].sort()).toEqual([
    `${ispb} PIC files`,
    `${ispb} SPB 2`,
    ...ofFiles.map((type) => `${type} files`),
  ])
  // Both versions of the store, every one of files, and the collector's authority, which serves nobody here.
  expect(await days()).toHaveLength(2 + 1 + ofFiles.length + 1)
  expect([...(await checks())].sort()).toEqual([
    'authorities of trace_collector: ok',
    ...[`${ispb}.PIC`, `${ispb}.SPB`, ...ofFiles].map((name) => `certificate ${name}: ok`),
  ])
  await stop()
})

test('a store that lacks what seals or signs tokens is a fault; one without the messaging is none', async () => {
  const tokens = compose({
    TRILHO_CERTS_DIR: install(`${ispb}.QRC`),
    ISPB: ispb,
    RSFN_KEY_SOURCE: 'store',
  })
  expect(await tokens.inUse()).toEqual([`${ispb} QRC 2`])
  expect(await tokens.checks()).toEqual([
    `certificate ${ispb}.SPB: failed`,
    `certificate ${ispb}.QRC: ok`,
  ])
  const messaging = compose({
    TRILHO_CERTS_DIR: install(`${ispb}.MES`),
    ISPB: ispb,
    RSFN_KEY_SOURCE: 'store',
  })
  expect(await messaging.inUse()).toEqual([`${ispb} MES 2`])
  await Promise.all([tokens.stop(), messaging.stop()])
})
