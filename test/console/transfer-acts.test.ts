import { afterEach, expect, mock, spyOn, test } from 'bun:test'
import { transactionStatuses } from '../../src/drex/domain.ts'
import { answerOf, loadConsole } from './load-console.ts'

/* The console offers those acts on a transfer that the API takes: a button that is always refused misleads people. */

type Act = { readonly title: string; readonly consequence: string }

const { cancelTransferActs, loadPayment, currentSession } = await loadConsole<{
  readonly cancelTransferActs: (transfer: object, networks?: object) => readonly Act[]
  readonly currentSession: () => Promise<unknown>
  readonly loadPayment: (rail: string, id: string, purpose: string) => Promise<Page>
}>(['attention-acts.tsx', 'payment-load.ts', 'api.ts'])

afterEach(() => mock.restore())

const networks = {
  networks: [
    { id: 'free', configured: true, gas_policy: 'zero' },
    { id: 'paid', configured: true, gas_policy: 'eip1559' },
    { id: 'old', configured: false, gas_policy: 'eip1559' },
  ],
}
const transferOf = (status: string, network: string) => ({
  transfer_id: 't1',
  status,
  network,
  amount: '1.00',
  currency: 'DREX',
  to_wallet: '0xabc',
})
const offered = (network: string, told?: object) =>
  transactionStatuses.filter(
    (status) => cancelTransferActs(transferOf(status, network), told).length > 0,
  )

test('a transfer may be taken back before it is signed, and afterwards only where there are fees', () => {
  expect(offered('free', networks)).toEqual(['pending'])
  expect(offered('paid', networks)).toEqual(['pending', 'signed', 'broadcast'])
  for (const network of ['old', 'paid@1']) expect(offered(network, networks)).toEqual(['pending'])
  // Without the networks, the page offers no act that depends on fees.
  expect(offered('paid')).toEqual(['pending'])
})

test('what is not signed ends at once; what is signed is replaced, and the chain decides', () => {
  const [pending] = cancelTransferActs(transferOf('pending', 'paid'), networks)
  const [sent] = cancelTransferActs(transferOf('broadcast', 'paid'), networks)
  expect(pending?.consequence).toContain('nothing is sent')
  expect(sent?.consequence).toContain('The chain decides')
})

type Page = {
  readonly acts: readonly { readonly act: Act }[]
  readonly facts: readonly { readonly value: unknown }[]
}

const whole = { from_wallet: `0x${'a'.repeat(40)}`, to_wallet: `0x${'b'.repeat(40)}` }

/** Loads the page of a transfer in this state. */
const pageOf = async (told: object): Promise<Page> => {
  const transfer = { ...transferOf('', ''), steps: [], attempts: [], error: null, ...told }
  const answers: Readonly<Record<string, object>> = {
    '/v1/drex/transfers/t1': transfer,
    '/v1/drex/networks': networks,
    '/v1/webhook-deliveries': { deliveries: [] },
    '/console/session': { key_id: 'k1' },
  }
  const answered = async (asked: string) => {
    const [path = '', query = ''] = asked.replace('/console/api', '').split('?')
    const isWhole = query.includes('full_addresses=true')
    return answerOf({ ...answers[path], ...(isWhole && whole) })
  }
  spyOn(globalThis, 'fetch').mockImplementation(answered as unknown as typeof fetch)
  await currentSession()
  return loadPayment('drex', 't1', 'user')
}

const actsOnPage = async (told: object): Promise<readonly string[]> =>
  (await pageOf(told)).acts.map(({ act }) => act.title)

const step = { kind: 'transfer', status: 'failed', tx_hash: null, error: null }

test.each([
  ['failed', 'paid', step, ['Try again']],
  ['reverted', 'paid', { ...step, status: 'reverted', tx_hash: '0x1' }, ['Try again']],
  ['failed', 'paid', { ...step, tx_hash: '0x1', error: { code: 'TRANSFER_MISMATCH' } }, []],
  ['failed', 'paid', { ...step, error: { code: 'NETWORK_RESET' } }, []],
  ['failed', 'paid', { ...step, kind: 'revoke', status: 'pending' }, []],
  ['reverted', 'paid@1', { ...step, status: 'reverted', tx_hash: '0x1' }, []],
  ['confirmed', 'paid', { ...step, status: 'confirmed' }, []],
] as const)('a transfer that is %s on %s, by the step %j', async (status, network, one, titles) => {
  expect(await actsOnPage({ status, network, steps: [one] })).toEqual(titles)
})

test.each([
  ['pending', 'free', 'required', ['Approve', 'Take back']],
  ['pending', 'free', 'approved', ['Take back']],
  ['broadcast', 'free', 'approved', []],
  ['broadcast', 'paid', null, ['Take back']],
  ['mined', 'paid', null, []],
  ['cancelled', 'paid', 'required', []],
] as const)('the page of a transfer that is %s on %s (approval %s)', async (...one) => {
  const [status, network, approval, titles] = one
  expect(await actsOnPage({ status, network, approval })).toEqual(titles)
})

test('who approves is told of both addresses whole and of the network, and that it waits for another key', async () => {
  const { acts, facts } = await pageOf({ status: 'pending', approval: 'required', network: 'free' })
  const { from_wallet: from, to_wallet: to } = whole
  for (const { act } of acts) expect(act.consequence).toContain(`from ${from} to ${to} on free`)
  const values = facts.map(({ value }) => value)
  expect(values).toEqual(expect.arrayContaining([from, to, 'waits for another key to approve it']))
})

test.each([
  ['k1', ['Take back'], 'waits for another key to approve it: this one asked for it'],
  ['k2', ['Approve', 'Take back'], 'waits for another key to approve it'],
])('where %s asked for it, the key k1 is offered what it may do', async (by, titles, why) => {
  const { acts, facts } = await pageOf({
    status: 'pending',
    approval: 'required',
    network: 'free',
    requested_by: by,
  })
  expect(acts.map(({ act }) => act.title)).toEqual(titles)
  expect(facts.map(({ value }) => value)).toContain(why)
})
