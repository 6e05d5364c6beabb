import { expect, test } from 'bun:test'
import { Book, type BookEntry } from '../../../src/simulators/card-network/book.ts'

const entryOf = (number: number): BookEntry => ({
  mti: '0100',
  acquirer: '',
  stan: String(number).padStart(6, '0'),
  rrn: `R${number}`,
  transmission: '1120120000',
  responseCode: '00',
  authCode: '000001',
  currency: '986',
  behaviour: undefined,
  authorizedAmount: 100,
  capturedAmount: 0,
  reversedAmount: 0,
  refundedAmount: 0,
  requests: 1,
  reversals: 0,
})

test('it holds as many as it may, and forgets the oldest for one more', () => {
  const book = new Book(3)
  const referred = (rrn: string, authCode?: string) =>
    book.findReferred({ acquirer: '', rrn, authCode })
  const entries = [1, 2, 3, 4].map(entryOf)
  for (const entry of entries.slice(0, 3)) book.open(entry)
  expect(book.entries().length).toBe(3)
  for (const entry of entries.slice(3)) book.open(entry)
  expect(book.entries().map(({ rrn }) => rrn)).toEqual(['R2', 'R3', 'R4'])
  expect([referred('R1'), referred('R1', '000001'), referred('')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect([referred('R4')?.stan, referred('R4', '000001')?.stan]).toEqual(['000004', '000004'])
})

test('a capture is taken back once', () => {
  const book = new Book(10)
  const entry = entryOf(1)
  const by = { acquirer: '', stan: '000009', rrn: 'R1', transmission: '1120120500' }
  book.open(entry)
  book.move('captured', entry, by, 60)
  const capture = book.findMovement(by)
  if (capture === undefined) throw new Error('no capture')
  book.reverseMovement(capture)
  book.reverseMovement(capture)
  expect(entry).toMatchObject({ capturedAmount: 0, reversedAmount: 0 })
})

test('what is taken back of a part of a sale is left out of what is booked, once', () => {
  const book = new Book(10)
  const sale = { ...entryOf(1), mti: '0200', capturedAmount: 100 }
  book.open(sale)
  book.reduce(sale, 25)
  book.reduce(sale, 25)
  expect(book.bookedAmount(sale)).toBe(75)
  const by = { acquirer: '', stan: '000009', rrn: 'R1', transmission: '1120120500' }
  book.move('authorized', sale, by, 50)
  book.reduce(sale, 120)
  expect(book.bookedAmount(sale)).toBe(30)
  const raised = book.findMovement(by)
  if (raised === undefined) throw new Error('no increment')
  book.reverseMovement(raised)
  expect(sale).toMatchObject({ authorizedAmount: 100, capturedAmount: 0, reversedAmount: 100 })
})
