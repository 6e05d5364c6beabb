import { expect, test } from 'bun:test'
import { meaningOf } from '../../../src/spi/inspect/words.ts'

test('a reason means what it means in its message', () => {
  const pacs002 = ['Rsn', 'StsRsnInf', 'TxInfAndSts']
  expect(meaningOf('Cd', 'MD01', pacs002)).toBe('Unknown withdrawal facilitator')
  expect(meaningOf('Prtry', 'MD01', ['RjctRsn', 'AccptncRslt'])).toBe(
    'There is no such authorisation',
  )
  expect(meaningOf('Cd', 'SL02', pacs002)).toBe('The return is not about Saque or Troco')
  expect(meaningOf('Cd', 'SL02', ['Rsn', 'RtrRsnInf'])).toBe(
    'Error or dispute over Pix Saque or Pix Troco',
  )
  expect(meaningOf('Prtry', 'AM09', pacs002)).toBe('The amount is not the one agreed')
  expect(meaningOf('Prtry', 'DIR2', ['Rsn', 'StsRsn', 'PtySts'])).toStartWith('The ISPB')
  expect(meaningOf('Prtry', 'UDEI', pacs002)).toBeUndefined()
})
