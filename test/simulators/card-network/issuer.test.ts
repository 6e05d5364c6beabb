import { expect, test } from 'bun:test'
import type { CardMessage, GatewayMti } from '#codecs/iso8583'
import { formatOriginalData } from '#codecs/iso8583'
import { Book } from '../../../src/simulators/card-network/book.ts'
import { Issuer } from '../../../src/simulators/card-network/issuer.ts'
import { payment } from '../../support/card-network.ts'

/* Two gateways whose numbers begin at 1 in the same hour, so that STAN and RRN of their payments are the same. */

type Gateway = { readonly acquirerId: string | undefined; readonly transmissionDateTime: string }

const openedBy = { acquirerId: undefined, transmissionDateTime: '1128204530' }

const network = () => {
  const book = new Book(1_000)
  const issuer = new Issuer(book)
  const ask = (
    gateway: Gateway,
    number: number,
    mti: GatewayMti,
    change: Partial<CardMessage> & { readonly token?: string } = {},
  ): CardMessage => {
    const request = payment(number, { rrn: '633320000001', ...gateway, ...change }, mti)
    return issuer.decide(request, issuer.behaviour(request))
  }
  return { book, ask }
}

const reversing = ({ acquirerId = '', transmissionDateTime }: Gateway) => ({
  originalData: formatOriginalData({
    mti: '0100',
    stan: '000001',
    transmissionDateTime,
    acquirerId,
    forwarderId: '',
  }),
})

test.each([
  ['by their seconds', { ...openedBy, transmissionDateTime: '1128200001' }, openedBy],
  ['by DE 32', { ...openedBy, acquirerId: '11111111111' }, { ...openedBy, acquirerId: '222' }],
])('payments of two gateways with the same STAN and RRN are told apart %s', (_, a, b) => {
  const { book, ask } = network()
  const { authCode } = ask(a, 1, '0100')
  const declined = ask(b, 1, '0100', { token: 'tok_visa_declined_51' })
  expect([declined.responseCode, declined.authCode]).toEqual(['51', undefined])
  const capturing = { amount: '000000006000', authCode }
  expect(ask(a, 2, '0200', capturing).responseCode).toBe('00')
  expect(ask(b, 3, '0400', reversing(b)).responseCode).toBe('00')
  expect(book.entries()).toMatchObject([
    { responseCode: '00', authorizedAmount: 10_000, capturedAmount: 6_000, reversedAmount: 0 },
    { responseCode: '51', authorizedAmount: 0, capturedAmount: 0, reversals: 1 },
  ])
})

test('the authorization code tells which of two payments with one RRN is captured, raised or refunded', () => {
  const { book, ask } = network()
  const [a, b] = ['1128200001', '1128200002'].map((transmissionDateTime) => {
    const gateway = { acquirerId: undefined, transmissionDateTime }
    return { gateway, authCode: ask(gateway, 1, '0100').authCode }
  })
  if (a === undefined || b === undefined) throw new Error('no gateways')
  const amount = '000000004000'
  ask(a.gateway, 2, '0100', { amount, authCode: a.authCode })
  ask(a.gateway, 3, '0200', { amount, authCode: a.authCode })
  ask(a.gateway, 4, '0200', { amount, authCode: a.authCode, processingCode: '200000' })
  // A sender without the code means the last.
  ask(b.gateway, 2, '0200', { amount })
  expect(book.entries()).toMatchObject([
    { authorizedAmount: 14_000, capturedAmount: 4_000, refundedAmount: 4_000 },
    { authorizedAmount: 10_000, capturedAmount: 4_000, refundedAmount: 0 },
  ])
})
