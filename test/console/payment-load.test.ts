import { afterEach, expect, mock, spyOn, test } from 'bun:test'
import { answerOf, loadConsole } from './load-console.ts'

/* A page leaves out what its key may not see, and says so if it lacks a part for another reason. */

const { loadPayment, lacksPart, deliveriesOf } = await loadConsole<{
  readonly loadPayment: (rail: string, id: string, purpose: string) => Promise<Payment>
  readonly deliveriesOf: (
    subject: string,
    purpose: string,
  ) => Promise<readonly { readonly how: string }[]>
  readonly lacksPart: (payment: Payment) => boolean
}>(['payment-load.ts'])

type Payment = {
  readonly raw?: unknown
  readonly explained?: { readonly verdict?: unknown }
  readonly refused?: readonly unknown[]
  readonly facts: readonly { readonly name: string }[]
}

afterEach(() => mock.restore())

const message = {
  id: '1',
  type: 'pacs.008',
  status: 'ACCEPTED',
  direction: 'INBOUND',
  signature: 'VALID',
  end_to_end_id: 'E1',
  biz_msg_idr: 'M1',
  transactions: [],
  history: [],
  warnings: [],
}
const pix = {
  direction: 'INBOUND',
  amount: '5.00',
  returned: '2.00',
  refundable: '3.00',
  timeline: [],
}
const answers = {
  '/v1/messages/1': message,
  xml: '<a/>',
  '/v1/pix/payments/E1': pix,
  '/v1/inspect': { kind: 'iso20022', lines: [] },
  '/v1/validate': { valid: true, violations: [] },
  '/v1/webhook-deliveries': { deliveries: [] },
}

/** Loads the payment; `part` is refused with this status. */
const loaded = (part?: string, status = 0): Promise<Payment> => {
  const answered = async (path: string, { headers }: { headers: Headers }) => {
    const asked = path.replace('/console/api', '').split('?')[0] ?? ''
    const name = headers.get('accept') === 'application/xml' ? 'xml' : asked
    if (name === part)
      return Response.json({ type: '/v1/errors/x', detail: 'refused', code: 'x' }, { status })
    return answerOf(answers[name as keyof typeof answers])
  }
  spyOn(globalThis, 'fetch').mockImplementation(answered as unknown as typeof fetch)
  return loadPayment('spi', '1', 'user')
}

test('a Pix that was returned says so, with its XML explained', async () => {
  const { raw, explained, facts } = await loaded()
  expect([raw, explained?.verdict]).toEqual(['"<a/>"', answers['/v1/validate']])
  expect(facts.map(({ name }) => name)).toContain('Returned')
})

const parts = ['xml', '/v1/pix/payments/E1', '/v1/inspect', '/v1/validate']

test.each(parts.flatMap((part) => [403, 404].map((status) => [part, status] as const)))(
  'without %s, answered %i, the rest is shown',
  async (part, status) => {
    expect((await loaded(part, status)).facts.length).toBeGreaterThan(0)
  },
)

const placesOf = {
  xml: ({ raw }: Payment) => raw,
  '/v1/pix/payments/E1': ({ refused }: Payment) => refused?.[0],
  '/v1/inspect': ({ explained }: Payment) => explained,
  '/v1/validate': ({ explained }: Payment) => explained?.verdict,
  '/v1/webhook-deliveries': ({ refused }: Payment) => refused?.[0],
}

test.each(
  Object.entries(placesOf).flatMap(([part, placeOf]) =>
    [429, 503].map((status) => [part, status, placeOf] as const),
  ),
)(
  'without %s, answered %i, the rest is shown, and why in its place',
  async (part, status, placeOf) => {
    const payment = await loaded(part, status)
    expect(payment.facts.length).toBeGreaterThan(0)
    expect(placeOf(payment)).toMatchObject({ status, message: 'refused' })
    expect(lacksPart(payment)).toBe(true)
    expect(lacksPart(await loaded())).toBe(false)
  },
)

test.each([
  ['c1', ['the latest are shown: 1']],
  [null, []],
])(
  'where the next deliveries are %j, that there are older ones is told: %j',
  async (next, told) => {
    const delivery = {
      id: 'd1',
      event_type: 'x',
      status: 'delivered',
      attempts: 1,
      created_at: '2026-01-01T00:00:00Z',
    }
    const deliveries = { deliveries: [delivery], next_cursor: next }
    const answered = async () => answerOf(deliveries)
    spyOn(globalThis, 'fetch').mockImplementation(answered as unknown as typeof fetch)
    const moments = await deliveriesOf('E1', 'user')
    expect(moments.slice(1).map(({ how }) => how)).toEqual(told)
  },
)
