import { expect, test } from 'bun:test'
import { Interface } from 'ethers'
import type { Agreement } from '../../src/drex/agreements/store.ts'
import { createReader, mismatchOf } from '../../src/drex/agreements/told.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { transferTopic } from '../../src/drex/evm/transfer-log.ts'
import type { Log, Receipt } from '../../src/drex/rpc/methods.ts'
import { loadArtifact } from '../../src/drex/templates/index.ts'

test('the reason of whoever cancels is kept as text, and cut', async () => {
  const abi = new Interface((await loadArtifact('bond_delivery')).abi as never)
  const event = abi.getEvent('TradeCancelled')!
  const contract = `0x${'c0'.repeat(20)}` as const
  const agreement = { kind: 'delivery', contract, terms: { number: '1' } } as Agreement
  const reader = await createReader()
  const reasonOf = (reason: string) => {
    const values = event.inputs.map(({ type, name }) =>
      type === 'string' ? reason : type === 'address' ? contract : name === 'operationId' ? 1 : 0,
    )
    const { topics, data } = abi.encodeEventLog(event, values)
    return reader.decode(agreement, { address: contract, topics, data } as unknown as Log)?.args
  }
  expect(Object.values(reasonOf('No\0') ?? {})).toContain('no\ufffd')
  const cut = Object.values(reasonOf(`${'a'.repeat(299)}${'😀'.repeat(100_000)}`) ?? {})
  expect(cut).toContain(`${'a'.repeat(299)}\ufffd`)
})

const word = (value: string): Hex => `0x${value.replace('0x', '').padStart(64, '0')}`
const address = (digits: string): Hex => `0x${digits.repeat(20)}`
const [money, bond, trades, lienAt] = [address('aa'), address('bb'), address('cc'), address('dd')]
const [buyer, seller] = [address('01'), address('02')]
const amounts = (...values: readonly bigint[]): Hex =>
  `0x${values.map((each) => each.toString(16).padStart(64, '0')).join('')}`
const moved = (from: Hex, to: Hex, amount: bigint): Partial<Log> => ({
  address: money,
  topics: [transferTopic, word(from), word(to)],
  data: amounts(amount),
})
const paid = (amount: bigint) => moved(buyer, seller, amount)
const singleTopic: Hex = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
const delivered: Partial<Log> = {
  address: bond,
  topics: [singleTopic, word(trades), word(seller), word(buyer)],
  data: amounts(1n, 1_000n),
}
const told = (contract: Hex): Partial<Log> => ({ address: contract, topics: [word('ee')] })

/** What is amiss with each event of the contract, in their order. */
const mismatches = (
  agreement: Partial<Agreement>,
  names: readonly (readonly [string, string?])[],
  parts: readonly Partial<Log>[],
) => {
  const logs = parts.map((each, i) => ({ ...each, logIndex: 7 + i }) as Log)
  const events = logs.filter((each) => each.address === agreement.contract)
  return events.map((log, i) => {
    const [name, amount = ''] = names[i]!
    const decoded = { name, args: { amount } }
    return mismatchOf(agreement as Agreement, decoded, log, { logs } as unknown as Receipt)
  })
}

test('a delivery is settled by its own payment, whatever else is paid in the transaction', () => {
  const terms = { money, bond, buyer, seller, price: '500', bondId: '1', amount: '1000' }
  const of = (...parts: readonly Partial<Log>[]) =>
    mismatches(
      { kind: 'delivery', contract: trades, terms } as Partial<Agreement>,
      [['TradeSettled'], ['TradeSettled']],
      parts,
    )
  const event = told(trades)
  expect(of(event, paid(500n), delivered)).toEqual([undefined])
  expect(of(paid(1n), event, paid(500n), delivered, paid(1n))).toEqual([undefined])
  expect(of(event, paid(200n), paid(300n), delivered)).toEqual([undefined])
  expect(of(event, paid(500n), delivered, event, paid(500n), delivered)).toEqual([
    undefined,
    undefined,
  ])
  // Each has a payment of its own.
  expect(of(event, paid(500n), delivered, event, delivered)).toEqual([
    undefined,
    expect.stringContaining('tell of 0 of its smallest units paid, instead of 500'),
  ])
  expect(of(paid(500n), event, delivered)).toEqual([expect.stringContaining('of 0 of')])
  expect(of(event, paid(499n), delivered)).toEqual([expect.stringContaining('of 499 of')])
  expect(of(event, paid(500n), event, paid(500n), delivered)).toEqual([
    'The bond’s events tell of no delivery.',
    undefined,
  ])
})

test('each movement of a lien is its own, whatever the contract and its callers do beside it', () => {
  const terms = { token: money, owner: buyer }
  const of = (names: readonly (readonly [string, string])[], ...parts: readonly Partial<Log>[]) =>
    mismatches({ kind: 'lien', contract: lienAt, terms } as Partial<Agreement>, names, parts)
  const event = told(lienAt)
  const back = (amount: bigint) => moved(lienAt, buyer, amount)
  const given = (amount: bigint) => moved(buyer, lienAt, amount)
  const released = (amount: string) => ['Released', amount] as const
  const two = [released('100'), released('50')]
  expect(of(two, event, back(100n), event, back(50n))).toEqual([undefined, undefined])
  expect(of(two, event, back(100n), event, back(60n))).toEqual([
    undefined,
    expect.stringContaining('tell of 60 of its smallest units moved, instead of 50'),
  ])
  const pledges = [
    ['Pledged', '5'],
    ['Pledged', '6'],
  ] as const
  expect(of(pledges, given(5n), event, given(1n), given(6n), event)).toEqual([undefined, undefined])
  expect(of(pledges, given(5n), event, event, given(6n))).toEqual([
    undefined,
    expect.stringContaining('of 0 of'),
  ])
})
