import { beforeEach, describe, expect, test } from 'bun:test'
import { Interface, id, ZeroAddress } from 'ethers'
import {
  actors,
  type ContractBench,
  createContractBench,
  type Deployed,
  refusal,
  seeded,
} from '../../support/contract-bench.ts'

const path = 'src/drex/templates/currency/generated/Currency.json'
const [admin, ana, bia, stranger] = actors

let bench: ContractBench
let currency: Deployed

beforeEach(async () => {
  bench = await createContractBench()
  currency = await bench.deploy(path, ['Real Digital', 'BRL', admin])
  await currency.send(admin, 'enableAccount', ana)
  await currency.send(admin, 'enableAccount', bia)
  await currency.send(admin, 'mint', ana, 10_000n)
})

describe('currency', () => {
  test('has two decimals and moves balance between authorised accounts', async () => {
    expect(await currency.read('decimals')).toBe(2n)
    expect(await currency.read('symbol')).toBe('BRL')
    const logs = await currency.send(ana, 'transfer', bia, 2_550n)
    expect(logs.map((log) => [log.name, log.args[2]])).toEqual([['Transfer', 2_550n]])
    expect(await currency.read('balanceOf', ana)).toBe(7_450n)
    expect(await currency.read('balanceOf', bia)).toBe(2_550n)
    expect(await currency.read('totalSupply')).toBe(10_000n)
  })

  test('refuses a sender or a receiver that is not authorised', async () => {
    expect(await refusal(currency.send(ana, 'transfer', stranger, 1n))).toEqual([
      'AccountNotAuthorized',
      expect.stringMatching(new RegExp(stranger, 'i')),
    ])
    await currency.send(admin, 'disableAccount', ana)
    expect(await currency.read('verifyAccount', ana)).toBe(false)
    expect(await refusal(currency.send(ana, 'transfer', bia, 1n))).toEqual([
      'AccountNotAuthorized',
      expect.stringMatching(new RegExp(ana, 'i')),
    ])
    expect(await refusal(currency.send(admin, 'mint', stranger, 1n))).toEqual([
      'AccountNotAuthorized',
      expect.any(String),
    ])
  })

  test('spends what is not frozen, to the last cent and not one more', async () => {
    await currency.send(admin, 'increaseFrozenBalance', ana, 4_000n)
    expect(await currency.read('frozenBalanceOf', ana)).toBe(4_000n)
    expect(await refusal(currency.send(ana, 'transfer', bia, 6_001n))).toEqual([
      'InsufficientAvailableBalance',
      expect.any(String),
      6_000n,
      6_001n,
    ])
    await currency.send(ana, 'transfer', bia, 6_000n)
    await currency.send(admin, 'decreaseFrozenBalance', ana, 4_000n)
    await currency.send(ana, 'transfer', bia, 4_000n)
    expect(await currency.read('balanceOf', bia)).toBe(10_000n)
  })

  test('never freezes more than the balance nor thaws more than is frozen', async () => {
    await currency.send(admin, 'increaseFrozenBalance', ana, 10_000n)
    expect(await refusal(currency.send(admin, 'increaseFrozenBalance', ana, 1n))).toEqual([
      'InsufficientAvailableBalance',
      expect.any(String),
      0n,
      1n,
    ])
    expect(await refusal(currency.send(admin, 'decreaseFrozenBalance', ana, 10_001n))).toEqual([
      'InsufficientFrozenBalance',
      expect.any(String),
      10_000n,
      10_001n,
    ])
  })

  test('a lack of balance or of allowance keeps the standard error', async () => {
    expect((await refusal(currency.send(bia, 'transfer', ana, 1n)))?.[0]).toBe(
      'ERC20InsufficientBalance',
    )
    expect((await refusal(currency.send(bia, 'transferFrom', ana, bia, 1n)))?.[0]).toBe(
      'ERC20InsufficientAllowance',
    )
    expect((await refusal(currency.send(ana, 'transfer', ZeroAddress, 1n)))?.[0]).toBe(
      'ERC20InvalidReceiver',
    )
  })

  test('has the pilot’s shape: names, events without indices, allowances that are raised and lowered', async () => {
    const { default: artifact } = await import(
      '../../../src/drex/templates/currency/generated/Currency.json'
    )
    const abi = new Interface(artifact.abi)
    const signatures = [
      ['transfer', 'function transfer(address to, uint256 amount) returns (bool)'],
      ['approve', 'function approve(address spender, uint256 amount) returns (bool)'],
      [
        'increaseAllowance',
        'function increaseAllowance(address spender, uint256 addedValue) returns (bool)',
      ],
      [
        'decreaseAllowance',
        'function decreaseAllowance(address spender, uint256 subtractedValue) returns (bool)',
      ],
      ['burnFrom', 'function burnFrom(address account, uint256 amount)'],
    ] as const
    for (const [name, wanted] of signatures) {
      expect(abi.getFunction(name)?.format('full')).toBe(wanted)
    }
    for (const [name, topic] of [
      ['EnabledAccount', '0x0211b371'],
      ['DisabledAccount', '0xa1505d69'],
      ['FrozenBalance', '0xd2dc7406'],
      ['Paused', '0x62e78cea'],
      ['Unpaused', '0x5db9ee0a'],
    ] as const) {
      const event = abi.getEvent(name)
      expect(event?.topicHash.slice(0, 10)).toBe(topic)
      expect(event?.inputs.some(({ indexed }) => indexed)).toBe(false)
    }
    await currency.send(ana, 'increaseAllowance', bia, 5n)
    await currency.send(ana, 'increaseAllowance', bia, 2n)
    await currency.send(ana, 'decreaseAllowance', bia, 3n)
    expect(await currency.read('allowance', ana, bia)).toBe(4n)
    expect(await refusal(currency.send(ana, 'decreaseAllowance', bia, 5n))).toEqual([
      'AllowanceBelowZero',
      bia,
      4n,
      5n,
    ])
  })

  test('a pause stops every movement until it ends', async () => {
    await currency.send(admin, 'pause')
    for (const [from, name, ...args] of [
      [ana, 'transfer', bia, 1n],
      [admin, 'mint', ana, 1n],
      [admin, 'move', ana, bia, 1n],
      [admin, 'moveAndBurn', ana, 1n],
    ] as const) {
      expect(await refusal(currency.send(from, name, ...args))).toEqual(['EnforcedPause'])
    }
    await currency.send(admin, 'unpause')
    await currency.send(ana, 'transfer', bia, 1n)
  })

  test('each privilege needs its role', async () => {
    for (const [name, role, ...args] of [
      ['mint', 'MINTER_ROLE', ana, 1n],
      ['burn', 'BURNER_ROLE', 1n],
      ['burnFrom', 'BURNER_ROLE', ana, 1n],
      ['move', 'MOVER_ROLE', ana, bia, 1n],
      ['moveAndBurn', 'MOVER_ROLE', ana, 1n],
      ['enableAccount', 'ACCESS_ROLE', stranger],
      ['disableAccount', 'ACCESS_ROLE', ana],
      ['increaseFrozenBalance', 'FREEZER_ROLE', ana, 1n],
      ['decreaseFrozenBalance', 'FREEZER_ROLE', ana, 1n],
      ['pause', 'PAUSER_ROLE'],
      ['unpause', 'PAUSER_ROLE'],
    ] as const) {
      expect(await refusal(currency.send(bia, name, ...args))).toEqual([
        'AccessControlUnauthorizedAccount',
        expect.any(String),
        id(role),
      ])
    }
  })

  test('burning needs an allowance when it is somebody else’s balance, moving does not', async () => {
    expect((await refusal(currency.send(admin, 'burnFrom', ana, 1n)))?.[0]).toBe(
      'ERC20InsufficientAllowance',
    )
    await currency.send(ana, 'approve', admin, 100n)
    await currency.send(admin, 'burnFrom', ana, 100n)
    await currency.send(admin, 'move', ana, bia, 900n)
    await currency.send(admin, 'moveAndBurn', bia, 400n)
    await currency.send(admin, 'move', ana, admin, 50n)
    await currency.send(admin, 'burn', 50n)
    expect(await currency.read('totalSupply')).toBe(9_450n)
    expect(await currency.read('balanceOf', bia)).toBe(500n)
  })

  test('random walks keep Σ balances = supply and frozen ≤ balance', async () => {
    const pick = seeded(7)
    const people = [admin, ana, bia]
    const one = () => people[pick(people.length)]!
    let refused = 0
    for (let step = 0; step < 250; step++) {
      const amount = BigInt(pick(4_000))
      const moves: readonly (readonly [string, string, ...unknown[]])[] = [
        [one(), 'transfer', one(), amount],
        [admin, 'mint', one(), amount],
        [admin, 'moveAndBurn', one(), amount],
        [admin, 'move', one(), one(), amount],
        [admin, 'increaseFrozenBalance', one(), amount],
        [admin, 'decreaseFrozenBalance', one(), amount],
        [admin, pick(4) === 0 ? 'disableAccount' : 'enableAccount', one()],
      ]
      const [from, name, ...args] = moves[pick(moves.length)]!
      if ((await refusal(currency.send(from, name, ...args))) !== undefined) refused++
      let sum = 0n
      for (const person of people) {
        const balance = (await currency.read('balanceOf', person)) as bigint
        expect((await currency.read('frozenBalanceOf', person)) as bigint).toBeLessThanOrEqual(
          balance,
        )
        sum += balance
      }
      expect(await currency.read('totalSupply')).toBe(sum)
    }
    // A walk that was never refused, or always, would prove nothing.
    expect(refused).toBeGreaterThan(20)
    expect(refused).toBeLessThan(200)
  })
})
