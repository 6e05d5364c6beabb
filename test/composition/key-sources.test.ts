import { expect, test } from 'bun:test'
import { jointProblems, settingGroups } from '#src/composition/index.ts'
import { loadSettings } from '#src/platform/config/index.ts'
import { issueCertificate } from '../support/pki.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const pair = issueCertificate('link')

const problemsOf = (env: Readonly<Record<string, string>>): readonly string[] => {
  const { values, problems } = loadSettings(settingGroups, env)
  expect(problems).toEqual([])
  return jointProblems(values).map(({ name, problem }) => `${name} ${problem}`)
}

test('a certificate from the store needs a store and an ISPB, and goes with no files', () => {
  const store = { CERT_SOURCE: 'store', SPI_SIGN_CERT_SOURCE: 'store' }
  const whole = { ...store, ISPB: '12345678', TRILHO_CERTS_DIR: '/certificates' }
  expect(problemsOf({})).toEqual([])
  expect(problemsOf(whole)).toEqual([])
  expect(problemsOf(store)).toEqual([
    'CERT_SOURCE needs ISPB, which is not set',
    'CERT_SOURCE needs a certificate store',
    'SPI_SIGN_CERT_SOURCE needs ISPB, which is not set',
    'SPI_SIGN_CERT_SOURCE needs a certificate store',
  ])
  const files = { CERT_BASE64: base64(pair.cert), KEY_BASE64: base64(pair.key) }
  expect(problemsOf({ ...whole, ...files })).toEqual(['CERT_SOURCE goes with no files'])
})

test('a signing key of another certificate is told before anything starts', () => {
  const other = issueCertificate('other')
  const signing = (key: string) => ({
    SPI_SIGN_ENABLED: 'true',
    SPI_SIGN_CERT_BASE64: base64(pair.cert),
    SPI_SIGN_KEY_BASE64: base64(key),
  })
  expect(problemsOf(signing(pair.key))).toEqual([])
  expect(problemsOf(signing(other.key))).toEqual([
    'SPI_SIGN_CERT_PATH certificate and private key do not belong together',
  ])
})
