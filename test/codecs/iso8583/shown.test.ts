import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CardMessage, createFieldSetter, gatewayMtis, maskText, shownFields } from '#codecs/iso8583'

const digits = (text: string): Uint8Array => new TextEncoder().encode(text)

const pan = '4539578763621486'

describe('a message that is shown', () => {
  test('has BIN and last four digits of its card number, and no secret', () => {
    const message = Object.assign(new CardMessage(), {
      mti: '0100',
      pan: digits(pan),
      processingCode: '000000',
      amount: '000000001000',
      stan: '000001',
      expirationDate: '3012',
      merchantId: 'LOJA',
      currency: '986',
      track2: digits(`${pan}=3012`),
      pinBlock: digits('12345678'),
      additionalData: digits('CVV 123'),
      iccData: digits('5A'),
      mac: digits('ABCDEFGH'),
      more: new Map<number, string | Uint8Array>([[62, `CAVV ${pan}`]]),
    })
    expect(shownFields(message)).toEqual({
      '002': '453957******1486',
      '003': '000000',
      '004': '000000001000',
      '011': '000001',
      '014': '***',
      '035': '***',
      '042': 'LOJA',
      '048': '***',
      '049': '986',
      '052': '***',
      '055': '***',
      '062': '***',
      '064': '***',
    })
  })

  test('has no card number in any other field, and the original data in its parts', () => {
    const originalData = '010000000111222233440000000001100000000000'
    const message = Object.assign(new CardMessage(), {
      merchantName: `LOJA ${pan} BR`,
      additionalAmounts: pan,
      originalData,
      replacementAmounts: '000000001000000000000000000000000000000000',
    })
    expect(shownFields(message)).toEqual({
      '043': 'LOJA 453957******1486 BR',
      '054': '453957******1486',
      '090': '0100 000001 1122223344 00000000011 00000000000',
      '095': '000000001000 000000000000 000000000 000000000',
    })
  })

  test('never tells of a whole card number, wherever it stands', () => {
    const fields = Array.from({ length: 127 }, (_, at) => at + 2)
    fc.assert(
      fc.property(
        fc.constantFrom(...gatewayMtis),
        fc.subarray(fields),
        fc.stringMatching(/^[0-9]{13,19}$/),
        (mti, present, number) => {
          const message = Object.assign(new CardMessage(), { mti })
          for (const de of present) createFieldSetter(de)(message, number)
          const shown = shownFields(message)
          expect(
            Object.keys(shown)
              .map(Number)
              .sort((a, b) => a - b),
          ).toEqual(present)
          expect(JSON.stringify(shown)).not.toContain(number)
        },
      ),
    )
  })

  test('never tells of a card number among other digits, however many stand before and after', () => {
    const lengths = Array.from({ length: 25 }, (_, at) => at)
    for (let size = 13; size <= 19; size++) {
      const number = '4539578763621486123'.slice(0, size)
      for (const before of lengths) {
        for (const after of lengths) {
          const text = '0'.repeat(before) + number + '0'.repeat(after)
          const message = Object.assign(new CardMessage(), { merchantName: `LOJA ${text}` })
          expect(shownFields(message)['043']).not.toContain(number)
          expect(maskText(60, text)).not.toContain(number)
        }
      }
    }
  })
})
