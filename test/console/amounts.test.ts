import { expect, test } from 'bun:test'
import { amountsAsked, centsAsked, tokensAsked } from '../../src/console/browser/amounts.ts'

test.each([
  ['10', { amount: '10' }],
  ['10,50', { amount: '10.50' }],
  ['10.5', { amount: '10.5' }],
  ['1.234', { amount: '1234' }],
  ['1.234,56', { amount: '1234.56' }],
  ['1,234,567.80', { amount: '1234567.80' }],
  ['10-20', { amount_from: '10', amount_to: '20' }],
  ['1.000,00 – 1.999,99', { amount_from: '1000.00', amount_to: '1999.99' }],
  ['10..', { amount_from: '10' }],
  ['- 20,5', { amount_to: '20.5' }],
  // The API refuses these, and says why.
  ['ten', { amount: 'ten' }],
  ['-', { amount: '-' }],
  ['1-2-3', { amount: '1-2-3' }],
  ['R$ 10', { amount: 'R$ 10' }],
  // A sign that does not group thousands may have another meaning, so the text stays.
  ['150.0000', { amount: '150.0000' }],
  ['1.0000', { amount: '1.0000' }],
  ['0.001', { amount: '0.001' }],
  ['1,2,3', { amount: '1,2,3' }],
  ['10,,00', { amount: '10,,00' }],
  ['10.', { amount: '10.' }],
  ['1234.567', { amount: '1234.567' }],
  ['1.234.56', { amount: '1.234.56' }],
  ['1.234,567.80', { amount: '1.234,567.80' }],
  ['1.23,456', { amount: '1.23,456' }],
  ['1.000 – 1.0000', { amount_from: '1000', amount_to: '1.0000' }],
])('%s', (text, asked) => {
  expect(amountsAsked(text)).toEqual(asked)
})

test.each([
  ['10', { amount: '1000' }],
  ['0,5 – 1.234,56', { amount_from: '50', amount_to: '123456' }],
  ['ten', { amount: 'ten' }],
  ['150.0000', { amount: '150.0000' }],
  ['0.001', { amount: '0.001' }],
  ['1,2,3', { amount: '1,2,3' }],
])('%s in cents', (text, asked) => {
  expect(centsAsked(text)).toEqual(asked)
})

test.each([
  ['0.001', { amount: '0.001' }],
  ['1.234', { amount: '1.234' }],
  ['150.0000', { amount: '150.0000' }],
  ['10,50', { amount: '10.50' }],
  ['1.234,56', { amount: '1234.56' }],
  ['1,234', { amount: '1234' }],
  ['1.234 - 2.5', { amount_from: '1.234', amount_to: '2.5' }],
])('%s of digital currency', (text, asked) => {
  expect(tokensAsked(text)).toEqual(asked)
})
