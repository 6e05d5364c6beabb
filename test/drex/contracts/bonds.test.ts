import { beforeEach, describe, expect, test } from 'bun:test'
import { Interface } from 'ethers'
import deliveryArtifact from '../../../src/drex/templates/bond-delivery/generated/BondDelivery.json'
import bondArtifact from '../../../src/drex/templates/tokenized-bond/generated/TokenizedBond.json'
import {
  actors,
  type ContractBench,
  createContractBench,
  type Deployed,
  refusal,
  seeded,
} from '../../support/contract-bench.ts'

const at = (folder: string, name: string) => `src/drex/templates/${folder}/generated/${name}.json`

const [admin, ana, bia, stranger] = actors

let bench: ContractBench
let money: Deployed
let bond: Deployed
let delivery: Deployed

const maturity = 4_102_444_800n
const ltn = ['LTN', '100000', maturity] as const
const ntn = ['NTN-B', '760199', maturity] as const
/** 9 941.23 for a unit of a bond that has two decimals. */
const price = 994_123_456_789n

const named = (logs: readonly { readonly name: string }[]) => logs.map(({ name }) => name)

beforeEach(async () => {
  bench = await createContractBench()
  money = await bench.deploy(at('currency', 'Currency'), ['Real Digital', 'BRL', admin])
  bond = await bench.deploy(at('tokenized-bond', 'TokenizedBond'), [admin, ''])
  delivery = await bench.deploy(at('bond-delivery', 'BondDelivery'), [money.address, bond.address])
  for (const each of [ana, bia]) {
    await money.send(admin, 'enableAccount', each)
    await money.send(admin, 'mint', each, 50_000_000n)
    await money.send(each, 'approve', delivery.address, 10n ** 12n)
    await bond.send(admin, 'enableAddress', each)
    await bond.send(each, 'setApprovalForAll', delivery.address, true)
  }
  for (const each of [ltn, ntn]) await bond.send(admin, 'createTPFt', each)
  await bond.send(admin, 'mint(address,uint256,uint256)', ana, 1n, 5_000n)
  await bond.send(admin, 'mint(address,uint256,uint256)', bia, 2n, 5_000n)
})

type Terms = { [name: string]: unknown }

const trade = (by: string, part: number, terms: Terms = {}) => {
  const { operation, sender, receiver, data, amount, unitPrice } = {
    operation: 1n,
    sender: ana,
    receiver: bia,
    data: ltn,
    amount: 100n,
    unitPrice: price,
    ...terms,
  }
  return delivery.send(by, 'trade', operation, sender, receiver, part, data, amount, unitPrice)
}

const held = async (of: string) => [
  await bond.read('balanceOf', of, 1n),
  await bond.read('balanceOf', of, 2n),
  await money.read('balanceOf', of),
]

describe('bonds', () => {
  test('have the pilot’s functions and errors of trades, amounts and freezing', () => {
    const selectors = new Set(
      [bondArtifact, deliveryArtifact].flatMap(({ abi }) => {
        const found: string[] = []
        new Interface(abi).forEachFunction(({ selector }) => found.push(selector.slice(2)))
        return found
      }),
    )
    const wanted = ['86e36b1b', '1a71a44c', '433e1489', 'd68756a8', '42b9932b', '156e29f6']
    for (const each of [...wanted, 'f5298aca', 'c5af9b34', '1536f472']) {
      expect([each, selectors.has(each)]).toEqual([each, true])
    }
  })

  test('are known by their terms, and 0 is none', async () => {
    expect(await bond.read('getTPFtId', ntn)).toBe(2n)
    expect(await bond.read('getTPFtId', ['LTN', '100000', maturity + 1n])).toBe(0n)
    expect(await bond.read('decimals')).toBe(2n)
    expect((await refusal(bond.send(admin, 'createTPFt', ltn)))?.[0]).toBe('BondExists')
    expect((await refusal(bond.send(ana, 'createTPFt', ['X', '1', maturity])))?.[0]).toBe(
      'AccessControlUnauthorizedAccount',
    )
    expect((await refusal(bond.send(admin, 'createTPFt', ['X', '1', 1n])))?.[0]).toBe(
      'InvalidTerms',
    )
  })

  test('move between admitted addresses, as far as they are not frozen nor paused', async () => {
    const give = (to: string, amount: bigint) =>
      bond.send(ana, 'safeTransferFrom', ana, to, 1n, amount, '0x')
    expect((await refusal(give(stranger, 1n)))?.[0]).toBe('NotEnabled')
    await bond.send(admin, 'increaseFrozenBalance', ana, ltn, 4_000n)
    expect((await refusal(give(bia, 1_001n)))?.[0]).toBe('InsufficientAvailable')
    await give(bia, 1_000n)
    expect((await refusal(bond.send(admin, 'increaseFrozenBalance', ana, ltn, 1n)))?.[0]).toBe(
      'InsufficientAvailable',
    )
    expect((await refusal(bond.send(admin, 'decreaseFrozenBalance', ana, ltn, 4_001n)))?.[0]).toBe(
      'InsufficientAvailable',
    )
    await bond.send(admin, 'decreaseFrozenBalance', ana, ltn, 4_000n)
    await bond.send(admin, 'setTpftIdPaused', 1n, true)
    expect((await refusal(give(bia, 1n)))?.[0]).toBe('BondPaused')
    await bond.send(admin, 'setTpftIdPaused', 1n, false)
    await bond.send(admin, 'disableAddress', ana)
    expect((await refusal(give(bia, 1n)))?.[0]).toBe('NotEnabled')
  })
})

describe('delivery versus payment', () => {
  test('the second command settles both halves, whichever side was first', async () => {
    for (const [i, order] of [[0, 1] as const, [1, 0] as const].entries()) {
      const operation = BigInt(i + 1)
      const by = (part: number) => trade(part === 0 ? ana : bia, part, { operation })
      expect(named(await by(order[0]))).toEqual(['TradeCommanded'])
      expect(named(await by(order[1]))).toContain('TradeSettled')
      expect((await refusal(by(order[1])))?.[0]).toBe('NotPending')
    }
    // 100 × 9 941.234 567 89 / 100, cut off, twice.
    expect(await held(ana)).toEqual([4_800n, 0n, 50_000_000n + 2n * 994_123n])
    expect(await held(bia)).toEqual([200n, 5_000n, 50_000_000n - 2n * 994_123n])
  })

  test('nothing moves for other terms, by others, or by one side twice', async () => {
    await trade(ana, 0)
    const before = [await held(ana), await held(bia)]
    const differing: readonly Terms[] = [
      { amount: 101n },
      { unitPrice: price - 1n },
      { data: ntn },
      { sender: stranger },
    ]
    for (const terms of differing) {
      expect((await refusal(trade(bia, 1, terms)))?.[0]).toBe('TermsDiffer')
    }
    expect((await refusal(trade(ana, 0)))?.[0]).toBe('NotAllowed')
    expect((await refusal(trade(stranger, 1)))?.[0]).toBe('NotAllowed')
    expect((await refusal(trade(bia, 0)))?.[0]).toBe('NotAllowed')
    expect((await refusal(trade(bia, 2)))?.[0]).toBe('InvalidTerms')
    expect([await held(ana), await held(bia)]).toEqual(before)
  })

  test('either half missing, the other does not move, and the command waits', async () => {
    await trade(ana, 0)
    await money.send(bia, 'approve', delivery.address, 994_122n)
    // The refusals are the tokens’ own.
    expect(await refusal(trade(bia, 1))).toBeDefined()
    await money.send(bia, 'approve', delivery.address, 994_123n)
    await bond.send(ana, 'setApprovalForAll', delivery.address, false)
    expect(await refusal(trade(bia, 1))).toBeDefined()
    await bond.send(ana, 'setApprovalForAll', delivery.address, true)
    expect(named(await trade(bia, 1))).toContain('TradeSettled')
    expect(await money.read('allowance', bia, delivery.address)).toBe(0n)
  })

  test('whoever was first takes it back, and nobody else', async () => {
    await trade(bia, 1)
    for (const other of [ana, stranger]) {
      expect((await refusal(delivery.send(other, 'cancel', 1n, 'no')))?.[0]).toBe('NotAllowed')
    }
    expect(named(await delivery.send(bia, 'cancel', 1n, 'no'))).toEqual(['TradeCancelled'])
    expect((await refusal(trade(ana, 0)))?.[0]).toBe('NotPending')
    expect((await refusal(delivery.send(bia, 'cancel', 1n, 'no')))?.[0]).toBe('NotPending')
  })

  test('random walks: bonds and money only change hands together, at the price, and none are made', async () => {
    const pick = seeded(7)
    type Command = { operation: bigint; amount: bigint; unitPrice: bigint }
    const pending = new Map<bigint, Command & { readonly part: number }>()
    const worth = { settled: 0, refused: 0 }
    const own = { bonds: 5_000n, cents: 50_000_000n }
    for (let step = 0; step < 80; step++) {
      const operation = BigInt(pick(12))
      const known = pending.get(operation)
      const part = known === undefined ? pick(2) : pick(4) === 0 ? known.part : 1 - known.part
      const terms: Command = {
        ...(known ?? {
          operation,
          amount: BigInt(1 + pick(900)),
          unitPrice: BigInt(10 ** 11 + pick(10 ** 9)),
        }),
        ...(pick(8) === 0 ? { amount: 77n } : {}),
      }
      const by = part === 0 ? ana : bia
      const refused = await refusal(trade(by, part, terms))
      if (refused === undefined && known === undefined) pending.set(operation, { ...terms, part })
      else if (refused === undefined) {
        worth.settled++
        own.bonds -= terms.amount
        own.cents += (terms.amount * terms.unitPrice) / 10n ** 8n
      } else worth.refused++
      expect(await held(ana)).toEqual([own.bonds, 0n, own.cents])
      expect(await held(bia)).toEqual([5_000n - own.bonds, 5_000n, 100_000_000n - own.cents])
      expect(await held(delivery.address)).toEqual([0n, 0n, 0n])
      expect(await bond.read('totalSupply', 1n)).toBe(5_000n)
    }
    expect(worth.settled).toBeGreaterThan(3)
    expect(worth.refused).toBeGreaterThan(5)
  })
})
