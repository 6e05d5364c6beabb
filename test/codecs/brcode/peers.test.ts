import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createDynamicPix, createStaticPix, hasError, parsePix } from 'pix-utils'
import { QrCodePix } from 'qrcode-pix'
import { buildDynamicBrCode, buildStaticBrCode, parseBrCode } from '#codecs/brcode'
import { address, asciiText, cpf, evp, phone } from './support.ts'

// Both peers fold names to upper case, and neither takes an alphanumeric CNPJ.
const upper = (charsMax: number) => asciiText(charsMax).map((text) => text.toUpperCase())
const cents = fc.integer({ min: 1, max: 99_999_999 })
const reais = (value: number) => (value / 100).toFixed(2)
const label = fc.string({
  unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'),
  minLength: 1,
  maxLength: 25,
})
const code = fc.record({
  merchantName: upper(25),
  merchantCity: upper(15),
  key: fc.oneof(cpf, phone, evp),
  txid: label,
  value: cents,
})

test('pix-utils writes the same static codes and reads ours', () => {
  fc.assert(
    fc.property(code, ({ merchantName, merchantCity, key, txid, value }) => {
      const ours = buildStaticBrCode({
        merchantName,
        merchantCity,
        key,
        txid,
        amount: reais(value),
      })
      const theirs = createStaticPix({
        merchantName,
        merchantCity,
        pixKey: key,
        txid,
        transactionAmount: value / 100,
      })
      if (hasError(theirs)) throw new Error(theirs.message)
      expect(theirs.toBRCode()).toBe(ours)
      const read = parsePix(ours)
      if (hasError(read)) throw new Error(read.message)
      expect(read).toMatchObject({ pixKey: key, merchantName, merchantCity, txid })
    }),
    { numRuns: 300 },
  )
})

test('pix-utils writes the same dynamic codes', () => {
  const arbitrary = fc.record({ merchantName: upper(25), merchantCity: upper(15), url: address })
  fc.assert(
    fc.property(arbitrary, ({ merchantName, merchantCity, url }) => {
      const theirs = createDynamicPix({ merchantName, merchantCity, url })
      if (hasError(theirs)) throw new Error(theirs.message)
      const read = parseBrCode(theirs.toBRCode())
      expect(read.pix).toMatchObject({ kind: 'dynamic', url })
      const singleUse = read.pix?.singleUse
      expect(buildDynamicBrCode({ merchantName, merchantCity, url, singleUse })).toBe(
        theirs.toBRCode(),
      )
    }),
    { numRuns: 300 },
  )
})

test('qrcode-pix writes what we read, and what we write but for the case of the GUI', () => {
  fc.assert(
    fc.property(code, ({ merchantName, merchantCity, key, txid, value }) => {
      const theirs = QrCodePix({
        version: '01',
        key,
        name: merchantName,
        city: merchantCity,
        transactionId: txid,
        value: value / 100,
      }).payload()
      const amount = reais(value)
      const ours = buildStaticBrCode({ merchantName, merchantCity, key, txid, amount })
      expect(theirs.slice(0, -4).replace('BR.GOV.BCB.PIX', 'br.gov.bcb.pix')).toBe(
        ours.slice(0, -4),
      )
      expect(parseBrCode(theirs)).toEqual(parseBrCode(ours))
    }),
    { numRuns: 300 },
  )
})
