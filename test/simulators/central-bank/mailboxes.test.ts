/** Mail that nobody reads, and mail that is read slowly: whom it holds up. */
import { afterEach, describe, expect, test } from 'bun:test'
import {
  type CentralBank,
  type CentralBankOptions,
  createCentralBank,
} from '../../../src/simulators/central-bank/index.ts'
import { createParticipant, payment } from '../../support/participant.ts'

const bankA = '11111111'
const bankB = '22222222'
const gone = '33333333'
const xml = 'application/xml; charset=utf-8'
let bank: CentralBank

const open = async (limits: NonNullable<CentralBankOptions['limits']>) => {
  bank = await createCentralBank({ longPollMs: 50, limits })
  return { a: createParticipant(bank.url, bankA), b: createParticipant(bank.url, bankB) }
}
afterEach(() => bank.stop())

const ask = async (path: string, body: object) => {
  const init = { method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(`${bank.url}/simulator/${path}`, init)
  const { end_to_end_ids: ids = [] } = (await answer.json()) as { end_to_end_ids?: string[] }
  return { status: answer.status, ids }
}
const payIn = (to: string, count: number) => ask('pay-in', { to, amount_cents: 1, count })
const waitingFor = (ispb: string) =>
  bank.statistics().mailboxes.find(({ mailbox }) => mailbox === `${ispb} primary`)?.waiting ?? 0

describe('where nobody reads', () => {
  test('a mailbox keeps its newest messages, and those who pay are not held up', async () => {
    const { b } = await open({ mailboxMessagesMax: 3, waitingMessagesMax: 100 })
    const { status, ids } = await payIn(bankB, 5)
    expect([status, ids.length, waitingFor(bankB)]).toEqual([201, 5, 3])
    const kept = (await b.receive(3)).map(({ xml: text }) => text)
    for (const [i, text] of kept.entries()) expect(text).toContain(ids[i + 2] ?? 'none')
  })

  test('mail gives up its older half when the bank is full, so that others go on', async () => {
    const { a, b } = await open({ mailboxMessagesMax: 100, waitingMessagesMax: 10 })
    await payIn(gone, 8)
    expect((await payIn(bankB, 4)).status).toBe(201)
    expect([waitingFor(gone), waitingFor(bankB)]).toEqual([4, 4])
    for (let i = 0; i < 20; i++) {
      expect((await a.post(payment(bankA, gone, 1), xml)).status).toBe(201)
      expect((await payIn(bankB, 1)).status).toBe(201)
      await b.receive(i === 0 ? 5 : 1)
    }
  })
})

test('payments that wait for who does not read cost no more when the book is full of them', async () => {
  bank = await createCentralBank({ limits: { bookOperationsMax: 30_000, mailboxMessagesMax: 10 } })
  const msFor = (count: number) => {
    const began = performance.now()
    for (let i = 0; i < count; i++) bank.payIn({ to: gone, amountCents: 1n })
    return (performance.now() - began) / count
  }
  const before = msFor(30_000)
  const after = Math.min(...Array.from({ length: 10 }, () => msFor(50)))
  // A look at every payment of the book took thirty times as long.
  expect(after).toBeLessThan(before * 8)
  expect(bank.statistics().operations.waiting).toBe(30_500)
})

describe('where somebody reads slowly', () => {
  test('a full mailbox refuses what is sent to it, and nothing else', async () => {
    const { a, b } = await open({ mailboxMessagesMax: 3, waitingMessagesMax: 100 })
    await b.read(b.start)
    expect(await payIn(bankB, 5)).toEqual({ status: 503, ids: expect.any(Array) })
    expect(waitingFor(bankB)).toBe(3)
    expect((await ask('mandate', { to: bankB })).status).toBe(503)
    expect((await b.post(payment(bankB, bankA, 1), xml)).status).toBe(503)

    expect((await payIn(bankA, 1)).status).toBe(201)
    await a.send(payment(bankA, bankB, 1))
    const answers = (await a.receive(2)).map(({ xml: text }) => text)
    expect(answers.some((text) => text.includes('AB03'))).toBe(true)
    expect(waitingFor(bankB)).toBe(3)
  })

  test('nothing of it is lost for others when the bank is full', async () => {
    const { b } = await open({ mailboxMessagesMax: 100, waitingMessagesMax: 3 })
    await b.read(b.start)
    expect((await payIn(bankB, 5)).ids).toHaveLength(3)
    expect((await payIn(bankA, 1)).status).toBe(503)
    expect(waitingFor(bankB)).toBe(3)
  })
})
