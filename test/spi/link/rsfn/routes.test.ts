import { describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeRsfnHeader, withRsfnError } from '#codecs/rsfn'
import { loadSettings } from '#src/platform/config/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createRsfn, spiSettings } from '#src/spi/index.ts'
import { createCertificates } from '../../../../src/certificates/index.ts'
import { quietLogger } from '../../../support/database.ts'
import { callerOf } from '../../../support/jose.ts'
import { type IssuedPair, issueCertificate } from '../../../support/pki.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

const [us, bank, them] = ['12345678', '00038166', '99999010']
const authority = issueCertificate('SERASA Autoridade Certificadora v5', { authority: true })
const valid = issueCertificate('AC Valid SPB', { authority: true })
const pairs = {
  us: issueCertificate('us', { issuer: authority }),
  next: issueCertificate('us', { issuer: valid }),
  bank: issueCertificate('bank', { issuer: authority }),
  them: issueCertificate('them', { issuer: valid }),
}
const xml = '<?xml version="1.0"?><DOC><SISMSG>João</SISMSG></DOC>'

/** A store of one institution, and its endpoints over it. */
const institution = (ispb: string) => {
  const folder = temporaryDirectory()
  const install = (name: string, { cert, key }: IssuedPair, withKey: boolean): void => {
    mkdirSync(join(folder, name))
    if (withKey) writeFileSync(join(folder, name, 'tls.key'), key)
    writeFileSync(join(folder, name, 'tls.crt'), cert)
  }
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const none = { sql: undefined, masterKey: undefined, previousMasterKey: undefined }
  const deps = { environment: 'sandbox', logger: quietLogger, metrics } as const
  const { keys: certificates } = createCertificates({ ...none, ...deps, folder })
  const env = { ISPB: ispb, RSFN_KEY_SOURCE: 'store' }
  const { values } = loadSettings({ spi: spiSettings }, env)
  return { install, call: callerOf(createRsfn({ settings: values.spi, certificates }), 'rsfn:use') }
}

const ours = institution(us)
ours.install(`${us}.SPB.1`, pairs.us, true)
ours.install(`${bank}.SPB.1`, pairs.bank, false)
ours.install(`${them}.MES.1`, pairs.them, false)
ours.install(`${us}.MES.1`, pairs.us, true)
const theBank = institution(bank)
theBank.install(`${bank}.SPB.1`, pairs.bank, true)
theBank.install(`${us}.SPB.1`, pairs.us, false)

const serialOf = ({ serial }: IssuedPair) => BigInt(serial).toString(16).toUpperCase()
const seal = async (body: object = {}, from = ours) =>
  (await from.call('/v1/rsfn/seal', { content: xml, ...body })).json
const open = async (message: string, body: object = {}, by = theBank) =>
  (await by.call('/v1/rsfn/open', { message, ...body })).json

describe('with the certificates of the store', () => {
  test('what one seals for the other, the other opens', async () => {
    const sealed = await seal()
    const sender = { authority: 4, serial: serialOf(pairs.us) }
    expect(sealed.bytes).toBe(588 + xml.length * 2 + 16)
    expect(decodeRsfnHeader(Buffer.from(sealed.message, 'base64'))).toMatchObject({
      senderAuthority: 4,
      senderSerial: serialOf(pairs.us).padStart(32, '0'),
      destinationAuthority: 4,
      destinationSerial: serialOf(pairs.bank).padStart(32, '0'),
    })
    expect(await open(sealed.message)).toEqual({
      content: xml,
      content_encoding: 'utf8',
      signed: true,
      encrypted: true,
      special_use: 0,
      sender,
      recipient: { authority: 4, serial: serialOf(pairs.bank) },
    })
  })

  test('files, compressed and not, and broadcasts that are not encrypted', async () => {
    const content = Buffer.from([0xd8, 0, 0, 1, 2]).toString('base64')
    for (const special_use of [4, 8, 6, 10, 2]) {
      const sealed = await seal({ content, content_encoding: 'base64', special_use })
      const opened = await open(sealed.message)
      expect(opened).toMatchObject({ content, content_encoding: 'base64', special_use })
      expect(opened.encrypted).toBe(special_use === 4 || special_use === 8)
      expect(opened.recipient === null).toBe(!opened.encrypted)
    }
  })

  test('the key is of type and institution, and a new version seals at once', async () => {
    const { recipient } = await seal({ type: 'MES', recipient_ispb: them })
    expect(recipient).toEqual({ authority: 6, serial: serialOf(pairs.them) })
    expect((await seal({ type: 'MES' })).detail).toContain('00038166.MES')
    const other = institution(us)
    other.install(`${bank}.SPB.1`, pairs.bank, false)
    expect((await seal({}, other)).code).toBe('rsfn_key_missing')
    other.install(`${us}.SPB.1`, pairs.us, true)
    const first = await seal({}, other)
    other.install(`${us}.SPB.2`, pairs.next, true)
    expect((await seal({}, other)).sender).toEqual({ authority: 6, serial: serialOf(pairs.next) })
    expect((await open(first.message)).signed).toBe(true)
  })

  test('who is not known, and what was altered, is refused with the code for the answer', async () => {
    const { message } = await seal()
    const bytes = Buffer.from(message, 'base64')
    const codeOf = async (at: number, octet: number, by = theBank) => {
      const copy = Buffer.from(bytes)
      copy[at] = octet
      const { code, rsfn_code, rsfn_field } = await open(copy.toString('base64'), {}, by)
      return [code, rsfn_code, rsfn_field]
    }
    const refused = (code: string, field: string) => ['rsfn_refused', code, field]
    expect(await codeOf(10, 5)).toEqual(refused('07', 'C10'))
    expect(await codeOf(42, 0x5a)).toEqual(refused('08', 'C11'))
    expect(await codeOf(43, 5)).toEqual(refused('09', 'C12'))
    expect(await codeOf(75, bytes[75] === 0x30 ? 0x31 : 0x30)).toEqual(refused('0A', 'C13'))
    expect(await codeOf(100, bytes[100]! ^ 1)).toEqual(refused('0E', 'body'))
    expect(await codeOf(400, bytes[400]! ^ 1)).toEqual(refused('0B', 'C15'))
    expect(await codeOf(bytes.length - 1, bytes.at(-1)! ^ 1)).toEqual(refused('0E', 'body'))
    expect(await codeOf(5, 1)).toEqual(refused('13', 'C05'))
    const report = await open(Buffer.from(withRsfnError(bytes, 0x0b)).toString('base64'))
    expect(report).toMatchObject({ rsfn_code: '0B', rsfn_field: 'C03', is_report: true })
    expect(report.detail).toContain('reports a refusal')
    expect((await open('AAAA')).rsfn_code).toBe('01')
    expect((await open('A')).code).toBe('value_refused')
    expect((await open(message, {}, ours)).rsfn_code).toBe('08')
  })
})

describe('with the keys of the settings', () => {
  const envOf = (own: IssuedPair, peer: IssuedPair) => ({
    RSFN_PRIVATE_KEY_BASE64: btoa(own.key),
    RSFN_PUBLIC_KEY_BASE64: btoa(peer.cert),
  })
  const over = (env: Readonly<Record<string, string>>) => {
    const { values } = loadSettings({ spi: spiSettings }, env)
    return callerOf(createRsfn({ settings: values.spi, certificates: undefined }), 'rsfn:use')
  }

  test('the request names the certificates', async () => {
    const [call, peer] = [over(envOf(pairs.us, pairs.bank)), over(envOf(pairs.bank, pairs.us))]
    const unnamed = await call('/v1/rsfn/seal', { content: xml })
    expect([unnamed.status, unnamed.json.code]).toEqual([422, 'rsfn_party_unknown'])
    const names = {
      sender: { authority: 4, serial: '2f4c' },
      recipient: { authority: 5, serial: 'AB01' },
    }
    const { json } = await call('/v1/rsfn/seal', { content: xml, ...names })
    expect((await peer('/v1/rsfn/open', { message: json.message })).json).toMatchObject({
      content: xml,
      sender: { authority: 4, serial: '2F4C' },
    })
  })

  test('without keys the settings are named', async () => {
    const { status, json } = await over({})('/v1/rsfn/seal', { content: xml })
    expect([status, json.code]).toEqual([503, 'not_configured'])
    expect(json.detail).toContain('RSFN_PRIVATE_KEY_PATH')
  })
})
