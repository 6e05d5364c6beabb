import { expect, test } from 'bun:test'
import { loadConsole } from './load-console.ts'

/* Tests what acts send for a filled-in form, and what they say about the consequence. */

type Act = {
  readonly consequence: string
  readonly fields?: readonly { readonly name: string; readonly first?: string }[]
  readonly run: (form: FormData, send: (...request: unknown[]) => Promise<unknown>) => unknown
}

type Acts = {
  readonly retryClassActs: (letters: object) => readonly Act[]
  readonly retryLetterActs: (letter: object) => readonly Act[]
  readonly dropLetterAct: (letter: object) => Act
  readonly cardActs: (detail: object) => readonly { readonly act: Act }[]
  readonly createKeyAct: (session: object) => Act
  readonly restrictKeyAct: (key: object) => Act
}
const modules = ['attention-acts.tsx', 'payment-acts.tsx', 'key-acts.tsx']
const english = await loadConsole<Acts>(modules)
const portuguese = await loadConsole<Acts>(modules, 'pt')
const { retryClassActs, cardActs, createKeyAct, restrictKeyAct } = english

/** The requests of an act for this form. @param answer the answer to each */
const sentBy = async (act: Act, filled: Readonly<Record<string, string>> = {}, answer = {}) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(filled)) form.set(name, value)
  const sent: unknown[][] = []
  await act.run(form, async (...request) => {
    sent.push(request)
    return answer
  })
  return sent
}

test('a class of dead letters is handled again by its error and its topic, and the question names both', async () => {
  const body = { code: 'attempts_exhausted', topic: 'webhook.events' }
  const [act] = retryClassActs({ ...body, count: 5, can_be_retried: 3 })
  if (act === undefined) throw new Error('no act')
  expect(await sentBy(act, {}, { retried: 3 })).toEqual([
    ['POST', '/v1/ops/dead-letters/retry', body],
  ])
  expect(act.consequence).toStartWith(
    'Messages of webhook.events with the error attempts_exhausted: 3',
  )
  expect(retryClassActs({ ...body, code: null, count: 3, can_be_retried: 3 })).toEqual([])
})

test('what the API would not handle again is not offered', () => {
  const named = { id: '1', code: 'answer_unreadable:x', topic: 'spi.inbound.primary' }
  expect(retryClassActs({ ...named, count: 3, can_be_retried: 0 })).toEqual([])
  expect(english.retryLetterActs({ ...named, can_be_retried: false })).toEqual([])
  expect(english.retryLetterActs({ ...named, can_be_retried: true })).toHaveLength(1)
})

test.each([
  ['English', english, ['REJECTED for good', 'is free']],
  ['Portuguese', portuguese, ['REJECTED de vez', 'liberado']],
])(
  'in %s: a payment that is thrown away before it was sent does not stay as it is',
  (_, acts, said) => {
    const { consequence } = acts.dropLetterAct({ id: '1' })
    for (const text of said) expect(consequence).toContain(text)
  },
)

const authorized = {
  id: 'txn_1',
  status: 'authorized',
  amount: 10_000,
  captured_amount: null,
  currency: 'BRL',
  merchant_id: 'M1',
}

test.each([
  ['English', english, 'can never be captured'],
  ['Portuguese', portuguese, 'nunca mais poderá ser capturado'],
])('in %s: a capture says that it is the last one', (_, acts, said) => {
  expect(acts.cardActs(authorized)[0]?.act.consequence).toContain(said)
})

test('a capture that others may follow is not final', async () => {
  const [capture] = cardActs(authorized)
  if (capture === undefined) throw new Error('no act')
  const path = '/v1/transactions/txn_1/capture'
  expect(await sentBy(capture.act, { amount: '30' })).toEqual([['POST', path, { amount: 3_000 }]])
  const open = { amount: 3_000, final: false }
  expect(await sentBy(capture.act, { amount: '30', open: 'on' })).toEqual([['POST', path, open]])
  const [refund] = cardActs({ ...authorized, status: 'captured', captured_amount: 3_000 })
  if (refund === undefined) throw new Error('no act')
  expect(refund.act.fields).toHaveLength(1)
})

const restrictions = {
  merchant_ids: ['LOJA 01', 'A, B'],
  addresses: ['10.0.0.0/8', '::1'],
  requests_per_second: 5,
}
const restricted = { id: 'k1', name: 'till', restrictions }
/** The form as it opens. */
const filledBy = ({ fields = [] }: Act) =>
  Object.fromEntries(
    fields
      .map(({ name, first }) => [name, first ?? ''])
      .filter(
        // A box that is not ticked is no part of a form.
        ([name, first]) =>
          !(['read_only', 'own_webhooks'].includes(name ?? '') && first !== 'true'),
      ),
  ) as Record<string, string>

test('another expiry of a key leaves its restrictions to whoever changes them meanwhile', async () => {
  const act = restrictKeyAct(restricted)
  const expires = { ...filledBy(act), expires: '2031-01-02T03:04' }
  const body = { expires_at: '2031-01-02T06:04:00.000Z' }
  expect(await sentBy(act, expires)).toEqual([['PATCH', '/v1/keys/k1', body]])
})

test('a key that is restricted further keeps merchants with blanks and commas as they are', async () => {
  const act = restrictKeyAct(restricted)
  const filled = { ...filledBy(act), read_only: 'on', requests_per_second: '' }
  const { merchant_ids, addresses } = restrictions
  const body = {
    restrictions: { merchant_ids, addresses, read_only: true },
    replaces: restrictions,
  }
  expect(await sentBy(act, filled)).toEqual([['PATCH', '/v1/keys/k1', body]])
})

test('a restriction that is taken out is lifted', async () => {
  const act = restrictKeyAct({ ...restricted, restrictions: { read_only: true } })
  const { read_only: _, ...filled } = filledBy(act)
  const body = { restrictions: {}, replaces: { read_only: true } }
  expect(await sentBy(act, filled)).toEqual([['PATCH', '/v1/keys/k1', body]])
})

test('a new key is restricted to the merchants of the lines', async () => {
  const filled = { name: 'n', scopes: 'cards:read, keys:read', merchant_ids: ' LOJA 01\r\n\nA, B ' }
  const body = {
    name: 'n',
    scopes: ['cards:read', 'keys:read'],
    restrictions: { merchant_ids: ['LOJA 01', 'A, B'] },
  }
  const answer = { key: 'trl_test_x' }
  expect(await sentBy(createKeyAct({ account: 'a' }), filled, answer)).toEqual([
    ['POST', '/v1/keys', body],
  ])
})
