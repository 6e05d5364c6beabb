import { expect, test } from 'bun:test'
import { jointProblems, settingGroups } from '#src/composition/index.ts'
import { loadSettings } from '#src/platform/config/index.ts'
import { issueCertificate } from '../support/pki.ts'

/** What production refuses, since it is only fit for trials. */

const trusted = { SPI_TRUSTED_CERTS_BASE64: btoa(issueCertificate('Bank').cert) }
const whole = {
  TRILHO_ENVIRONMENT: 'production',
  TRILHO_MASTER_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64'),
  DATABASE_DSN: 'postgresql://x/y',
  ISPB: '12345678',
  SPI_PRIMARY_URL: 'https://icom.pi.rsfn.net.br:16522',
  SPI_SECONDARY_URL: 'https://icom.pi.rsfn.net.br:17522',
  SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND',
  ...trusted,
}

const problemsOf = (env: Readonly<Record<string, string>>): readonly string[] => {
  const { values, problems } = loadSettings(settingGroups, { ...whole, ...env })
  expect(problems).toEqual([])
  return jointProblems(values).map(({ name }) => name)
}
const sandbox = { TRILHO_ENVIRONMENT: 'sandbox' }
const untrusting = { SPI_TRUSTED_CERTS_BASE64: '' }

test('a central bank that is proven to be one is taken', () => {
  expect(problemsOf({})).toEqual([])
})

test('a database without a master key, which would keep secrets unsealed, is refused', () => {
  const keyless = { TRILHO_MASTER_KEY: '' }
  expect(problemsOf(keyless)).toEqual(['TRILHO_MASTER_KEY'])
  expect(problemsOf({ ...keyless, TRILHO_CERTS_DIR: '/certificates' })).toEqual([
    'TRILHO_MASTER_KEY',
  ])
  expect(problemsOf({ ...keyless, DATABASE_DSN: '', SPI_ROLES: '', TRILHO_ROLES: 'api' })).toEqual(
    [],
  )
  expect(problemsOf({ ...keyless, ...sandbox })).toEqual([])
})

test('a channel that anybody on the way can read and change is refused; one on this machine is not', () => {
  const plain = { SPI_PRIMARY_URL: 'http://bank:1', SPI_SECONDARY_URL: 'http://10.0.0.1:1' }
  expect(problemsOf(plain)).toEqual(['SPI_PRIMARY_URL', 'SPI_SECONDARY_URL'])
  expect(problemsOf({ SPI_PRIMARY_URL: 'http://127.0.0.1:1' })).toEqual([])
  expect(problemsOf({ ...plain, ...sandbox })).toEqual([])
})

test('a worker that believes what nobody has signed is refused', () => {
  expect(problemsOf(untrusting)).toEqual(['SPI_TRUSTED_CERTS_PATH'])
  expect(problemsOf({ ...untrusting, SPI_ROLES: '', TRILHO_ROLES: 'api,worker' })).toEqual([
    'SPI_TRUSTED_CERTS_PATH',
  ])
  expect(problemsOf({ ...untrusting, ...sandbox })).toEqual([])
  expect(problemsOf({ ...untrusting, SPI_ROLES: 'INBOUND_PULL,OUTBOUND_SEND' })).toEqual([])
})

test('a secret of webhooks that may be found by trying is refused', () => {
  for (const secret of ['a'.repeat(23), `whsec_${btoa('a'.repeat(23))}`]) {
    expect(problemsOf({ WEBHOOK_SECRET: secret })).toEqual(['WEBHOOK_SECRET'])
    expect(problemsOf({ WEBHOOK_SECRET: secret, ...sandbox })).toEqual([])
  }
  expect(problemsOf({ WEBHOOK_SECRET: 'a'.repeat(24) })).toEqual([])
})
