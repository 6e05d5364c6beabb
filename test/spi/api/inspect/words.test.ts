import { expect, test } from 'bun:test'
import { meaningOf } from '../../../../src/spi/api/inspect/words.ts'

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
  expect(meaningOf('Prtry', 'PRJL', ['Rsn', 'CxlStsRsnInf'])).toBeUndefined()
})

test('a code means what it means where it stands', () => {
  expect(meaningOf('TxSts', 'ACSP', ['TxInfAndSts'])).toBe('Accepted by the receiving participant')
  expect(meaningOf('TxSts', 'ACSP', ['TxInfAndSts', 'OrgnlPmtInfAndSts'])).toBe(
    'Scheduled by the paying participant',
  )
  expect(meaningOf('Cd', 'BOOK', ['Sts', 'Ntry'])).toBe('Booked on the PI account')
  expect(meaningOf('Sts', 'COMP', ['PtySts'])).toBe('Done')
  expect(meaningOf('MndtSts', 'PDNG', ['Envlp'])).toBe('Waiting for the payer')
  expect(meaningOf('CxlPrcgTp', 'DHRC', ['CxlPrcgDtls'])).toBe('When it was refused')
  expect(meaningOf('Prtry', 'AGND', ['Purp', 'CdtTrfTx'])).toBe('Schedules a charge')
  expect(meaningOf('Prtry', 'AGTEC', ['CdOrPrtry', 'Tp'])).toBe('Shop')
  expect(meaningOf('Rsn', 'VLCP', ['AdjstmntAmtAndRsn'])).toBe('Amount of the purchase')
  expect(meaningOf('Cd', 'SL02', ['Rsn', 'RtrInf'])).toStartWith('Error or dispute')
  expect(meaningOf('Cd', 'OTHR', ['Tp', 'CdtrAcct'])).toBe('PI account')
  expect(meaningOf('Cd', 'OTHR', ['Purp'])).toBe('Pix Saque: cash withdrawal')
  expect(meaningOf('SttlmMtd', 'CLRG', [])).toBe('Through the SPI')
  expect(meaningOf('SttlmMtd', 'COVE', [])).toBeUndefined()
})
