/** An address that several accounts know: each has its own wallet of it, and sees what is its own. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { AppEvent } from '#src/events/index.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { otherAccountKey } from '../support/app.ts'
import { type Bench, createBench, type TransferBody } from './support.ts'

let bench: Bench

beforeAll(async () => {
  bench = await createBench({ chain: { mining: 'manual' } })
})
afterAll(() => bench.stop())

type Called = { readonly status: number; readonly json: never }

const asOther = async (method: string, path: string, body?: unknown): Promise<Called> => {
  const options = body === undefined ? {} : { body }
  const response = await bench.app.call(method, path, { key: otherAccountKey.key, ...options })
  return { status: response.status, json: (await response.json()) as never }
}

type By = (method: string, path: string, body?: unknown) => Promise<Called>

const watch = async (by: By, address: Hex): Promise<string> => {
  const { status, json } = await by('POST', '/v1/wallets', {
    type: 'external',
    label: 'watched',
    address,
  })
  expect([status, json as object]).toEqual([201, expect.anything()])
  return (json as { wallet_id: string }).wallet_id
}

const idOf = async (address: Hex): Promise<string> => {
  const { json } = await bench.call('GET', '/v1/wallets?limit=100')
  const { wallets } = json as { wallets: { wallet_id: string; address: string }[] }
  return wallets.find((each) => each.address.toLowerCase() === address)!.wallet_id
}

const pay = async (from: Hex, to: Hex): Promise<string> => {
  const body = { from_wallet: from, to_wallet: to, amount: '1.00' }
  const { status, json } = await bench.call('POST', '/v1/drex/transfers', body)
  expect([status, json as object]).toEqual([202, expect.anything()])
  const { transfer_id } = json as TransferBody
  await bench.until(async () => {
    await bench.chain.mine()
    const read = await bench.call('GET', `/v1/drex/transfers/${transfer_id}`)
    return (read.json as TransferBody).status === 'confirmed'
  })
  return transfer_id
}

const outsider = async (byte: string): Promise<Hex> => {
  const address: Hex = `0x${byte.repeat(20)}`
  await bench.admin.currency('enableAccount', address)
  return address
}

/** What was told of these wallets: account, wallet, and the transfer that it names. */
const told = (type: AppEvent['type'], ...ids: string[]) =>
  bench.incoming
    .filter((event) => event.type === type && ids.includes(event.subject))
    .map(({ account, subject, data }) => ({
      account,
      wallet: subject,
      transfer: (data as { transfer_id?: string | null }).transfer_id,
    }))
    .toSorted((a, b) => String(a.account).localeCompare(String(b.account)))

const refusal = ({ status, json }: Called) => [
  status,
  (json as { error: { code: string } }).error.code,
]

test('two accounts watch one address: each is told of what came in once, and of what was taken back', async () => {
  const [ana, shop] = [await bench.wallet(), await outsider('a1')]
  const [own, others] = [await watch(bench.call, shop), await watch(asOther, shop)]
  expect(own).not.toBe(others)
  for (const by of [bench.call, asOther]) {
    const again = { type: 'external', label: 'again', address: shop }
    expect(refusal(await by('POST', '/v1/wallets', again))).toEqual([409, 'WALLET_EXISTS'])
  }
  const transfer = await pay(ana, shop)
  await bench.until(async () => told('drex.transfer.received', own, others).length === 2)
  expect(told('drex.transfer.received', own, others)).toEqual([
    { account: 'default', wallet: own, transfer },
    { account: 'other', wallet: others, transfer: null },
  ])
  await bench.chain.markFork()
  await bench.admin.currency('mint', shop, 5n)
  await bench.until(async () => told('drex.transfer.received', own, others).length === 4)
  await bench.chain.reorg()
  await bench.until(async () => told('drex.transfer.reversed', own, others).length === 2)
  expect(told('drex.transfer.reversed', own, others).map(({ account }) => account)).toEqual([
    'default',
    'other',
  ])
})

test('who watches the address of another account’s wallet sees its chain, and nothing of the account', async () => {
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const watched = await watch(asOther, ana)
  const transfer = await pay(ana, bia)
  const ends = bench.events.filter(({ subject }) => subject === transfer)
  expect(ends.map(({ type, account }) => [type, account])).toEqual([
    ['drex.transfer.confirmed', 'default'],
  ])
  const statement = `/v1/wallets/${watched}/statement`
  await bench.until(async () => {
    const { status, json } = await asOther('GET', statement)
    return status === 200 && (json as { movements: unknown[] }).movements.length === 2
  })
  const { movements } = (await asOther('GET', statement)).json as {
    movements: { direction: string; transfer_id: string | null }[]
  }
  expect(movements).toMatchObject([
    { direction: 'in', transfer_id: null },
    { direction: 'out', transfer_id: null },
  ])
  const listed = (await asOther('GET', `/v1/wallets/${watched}/transactions`)).json as object
  expect(listed).toMatchObject({ transactions: [] })
  expect((await asOther('GET', '/v1/drex/lanes')).json as object).toMatchObject({ lanes: [] })
  expect((await asOther('GET', '/v1/drex/transfers')).json as object).toMatchObject({
    transfers: [],
  })
  const resent = await asOther('POST', `/v1/wallets/${watched}/resend`)
  expect([resent.status, resent.json as object]).toEqual([
    202,
    { wallet_id: watched, resent: 0 },
  ] as never)
  const body = { from_wallet: ana, to_wallet: bia, amount: '1.00' }
  const stolen = await asOther('POST', '/v1/drex/transfers', body)
  expect(refusal(stolen)).toEqual([422, 'WALLET_CANNOT_SIGN'])
  // It is used as before by its own account, whose list has what it sent.
  await pay(ana, bia)
  const mine = await bench.call('GET', `/v1/wallets/${await idOf(ana)}/transactions`)
  expect((mine.json as { transactions: unknown[] }).transactions).toHaveLength(2)
})

test('an account changes its own wallet of an address, and is told of its own limits', async () => {
  const shop = await outsider('a2')
  const [own, others] = [await watch(bench.call, shop), await watch(asOther, shop)]
  const alerts = { alerts: { balance_below: '5.00' } }
  expect((await asOther('PATCH', `/v1/wallets/${own}`, alerts)).status).toBe(404)
  expect((await asOther('PATCH', `/v1/wallets/${others}`, alerts)).status).toBe(200)
  const low = () => bench.events.filter(({ type }) => type === 'drex.wallet.balance_low')
  await bench.until(async () => low().length > 0)
  expect(low()).toMatchObject([{ account: 'other', subject: others }])
  expect((await asOther('PATCH', `/v1/wallets/${others}`, { status: 'archived' })).status).toBe(200)
  const shown = (await bench.call('GET', `/v1/wallets/${own}`)).json as object
  expect(shown).toMatchObject({ status: 'active', alerts: {} })
})
