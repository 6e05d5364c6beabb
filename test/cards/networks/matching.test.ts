import { expect, test } from 'bun:test'
import { gatewayMtis } from '#codecs/iso8583'
import {
  agrees,
  exchangeKey,
  isAnswer,
  isManagementKey,
  someTransactionKey,
  stanNumber,
} from '../../../src/cards/networks/matching.ts'

test('a request, its repeat and its answer have one key; other exchanges have others', () => {
  const pairs = [
    ['0100', '0110'],
    ['0120', '0121', '0130'],
    ['0200', '0210'],
    ['0220', '0221', '0230'],
    ['0320', '0321', '0330'],
    ['0400', '0401', '0410'],
    ['0420', '0421', '0430'],
    ['0500', '0501', '0510'],
    ['0520', '0521', '0530'],
    ['0620', '0621', '0630'],
    ['0800', '0810'],
  ] as const
  const keys = pairs.map((mtis) => new Set(mtis.map((mti) => exchangeKey(mti, '000042'))))
  expect(keys.every((key) => key.size === 1)).toBe(true)
  expect(new Set(keys.flatMap((key) => [...key])).size).toBe(pairs.length)
  expect(pairs.flat().length).toBe(gatewayMtis.length)
  expect(exchangeKey('0100', '000042')).not.toBe(exchangeKey('0100', '000043'))
})

test('a STAN is six digits', () => {
  expect(stanNumber('000001')).toBe(1)
  expect(stanNumber('999999')).toBe(999_999)
  for (const wrong of [undefined, '', '12345', '1234567', '12345a', '-12345', ' 12345']) {
    expect(stanNumber(wrong)).toBe(-1)
  }
  expect(exchangeKey('0100', 'x')).toBe(-1)
})

test('answers are told from requests', () => {
  const answers = gatewayMtis.filter(isAnswer)
  const expected = [
    '0110',
    '0130',
    '0210',
    '0230',
    '0810',
    '0330',
    '0410',
    '0430',
    '0510',
    '0530',
    '0630',
  ]
  expect(answers).toEqual(expected as typeof answers)
})

test('the STAN of a transaction is looked for in transactions only', () => {
  const keys = new Set([exchangeKey('0400', '000007'), exchangeKey('0800', '000008')])
  expect(someTransactionKey('000007', (key) => keys.has(key))).toBe(true)
  expect(someTransactionKey('000008', (key) => keys.has(key))).toBe(false)
  expect(someTransactionKey('8', () => true)).toBe(false)
  expect([...keys].map(isManagementKey)).toEqual([false, true])
})

test('fields agree but for filling blanks, and when one side has none', () => {
  expect(agrees('TERM01', 'TERM01  ')).toBe(true)
  expect(agrees('TERM01', undefined)).toBe(true)
  expect(agrees(undefined, 'TERM01')).toBe(true)
  expect(agrees('', '        ')).toBe(true)
  expect(agrees('TERM01', 'TERM02')).toBe(false)
  expect(agrees('TERM01', 'TERM0')).toBe(false)
  expect(agrees('TERM01', ' TERM01')).toBe(false)
})
