import { beforeEach, describe, expect, test } from 'bun:test'
import { ZeroAddress, ZeroHash } from 'ethers'
import {
  actors,
  type ContractBench,
  createContractBench,
  type Deployed,
  refusal,
  seeded,
} from '../../support/contract-bench.ts'

const path = 'src/drex/templates/escrow/generated/Escrow.json'
const currency = 'src/drex/templates/currency/generated/Currency.json'
const statusCodes = {
  created: 0n,
  funded: 1n,
  disputed: 2n,
  released: 3n,
  refunded: 4n,
  resolved: 5n,
} as const

const [admin, payer, payee, arbiter, collector, stranger] = actors

let bench: ContractBench
let money: Deployed
let now: number

beforeEach(async () => {
  bench = await createContractBench()
  money = await bench.deploy(currency, ['Real Digital', 'BRL', admin])
  now = await bench.now()
  for (const person of [payer, payee, arbiter, collector]) {
    await money.send(admin, 'enableAccount', person)
  }
  await money.send(admin, 'mint', payer, 100_000n)
})

const deploy = async (changes: object = {}, enable = true): Promise<Deployed> => {
  const escrow = await bench.deploy(path, [
    {
      token: money.address,
      payer,
      payee,
      arbiter,
      amount: 10_001n,
      deadline: now + 3_600,
      conditionHash: ZeroHash,
      feeBps: 150,
      feeRecipient: collector,
      arbitrationSeconds: 7_200,
      silencePayeeBps: 2_500,
      ...changes,
    },
  ])
  if (enable) await money.send(admin, 'enableAccount', escrow.address)
  await money.send(payer, 'approve', escrow.address, 1_000_000n)
  return escrow
}

const balance = (who: string) => money.read('balanceOf', who)

describe('escrow', () => {
  test('released: the payee pulls the amount less the fee, the fee goes its way', async () => {
    const escrow = await deploy()
    await escrow.send(payer, 'fund')
    expect(await balance(escrow.address)).toBe(10_001n)
    const logs = await escrow.send(payer, 'release')
    expect(logs.map((log) => [log.name, ...log.args])).toEqual([['Released', 9_851n, 150n]])
    await escrow.send(payee, 'withdraw')
    await escrow.send(collector, 'withdraw')
    expect([await balance(payee), await balance(collector)]).toEqual([9_851n, 150n])
    expect((await refusal(escrow.send(payee, 'withdraw')))?.[0]).toBe('NothingToWithdraw')
  })

  test('refunded by the payee at once, by anyone after the deadline, not by others before', async () => {
    const early = await deploy()
    await early.send(payer, 'fund')
    expect((await refusal(early.send(payer, 'refund')))?.[0]).toBe('NotAllowed')
    expect((await refusal(early.send(stranger, 'refund')))?.[0]).toBe('NotAllowed')
    await early.send(payee, 'refund')
    await early.send(payer, 'withdraw')
    expect(await balance(payer)).toBe(100_000n)
    const late = await deploy()
    await late.send(payer, 'fund')
    await bench.travel(3_600)
    await late.send(stranger, 'refund')
    await late.send(payer, 'withdraw')
    expect(await balance(payer)).toBe(100_000n)
  })

  test('disputed: only the arbiter resolves, and never more than there is', async () => {
    const escrow = await deploy()
    await escrow.send(payer, 'fund')
    expect((await refusal(escrow.send(arbiter, 'dispute', 'x')))?.[0]).toBe('NotAllowed')
    await escrow.send(payee, 'dispute', 'not delivered')
    expect(await refusal(escrow.send(payer, 'release'))).toEqual([
      'WrongStatus',
      statusCodes.disputed,
    ])
    await bench.travel(3_600)
    expect(await refusal(escrow.send(stranger, 'refund'))).toEqual([
      'WrongStatus',
      statusCodes.disputed,
    ])
    expect((await refusal(escrow.send(payer, 'resolve', 1n)))?.[0]).toBe('NotAllowed')
    expect(await refusal(escrow.send(arbiter, 'resolve', 10_002n))).toEqual([
      'SplitOutOfRange',
      10_002n,
      10_001n,
    ])
    await escrow.send(arbiter, 'resolve', 4_000n)
    for (const person of [payer, payee, collector]) await escrow.send(person, 'withdraw')
    expect([await balance(payer), await balance(payee), await balance(collector)]).toEqual([
      96_000n,
      3_940n,
      60n,
    ])
  })

  test('a silent arbiter blocks nobody: after the time the terms decide', async () => {
    const escrow = await deploy()
    expect((await refusal(escrow.send(payer, 'resolveSilence')))?.[0]).toBe('WrongStatus')
    await escrow.send(payer, 'fund')
    await escrow.send(payer, 'dispute', 'late')
    expect((await refusal(escrow.send(stranger, 'resolveSilence')))?.[0]).toBe('TooEarly')
    await bench.travel(7_200)
    await escrow.send(stranger, 'resolveSilence')
    for (const person of [payer, payee, collector]) await escrow.send(person, 'withdraw')
    expect([await balance(payer), await balance(payee), await balance(collector)]).toEqual([
      97_500n,
      2_463n,
      37n,
    ])
    expect((await refusal(escrow.send(arbiter, 'resolve', 1n)))?.[0]).toBe('WrongStatus')
  })

  test('a plain transfer is no loss: the payer gets what is owed to nobody', async () => {
    const escrow = await deploy()
    expect((await refusal(escrow.send(payer, 'recover', money.address)))?.[0]).toBe(
      'NothingToRecover',
    )
    await money.send(payer, 'transfer', escrow.address, 10_001n)
    await escrow.send(stranger, 'recover', money.address)
    expect(await balance(payer)).toBe(100_000n)
    await escrow.send(payer, 'fund')
    await money.send(payer, 'transfer', escrow.address, 9n)
    await escrow.send(payer, 'release')
    await escrow.send(payee, 'recover', money.address)
    await escrow.send(payee, 'withdraw')
    await escrow.send(collector, 'withdraw')
    expect([await balance(payer), await balance(escrow.address)]).toEqual([89_999n, 0n])
    const other = await bench.deploy(currency, ['Other', 'OTH', admin])
    for (const each of [escrow.address, payer]) await other.send(admin, 'enableAccount', each)
    await other.send(admin, 'mint', escrow.address, 5n)
    await escrow.send(stranger, 'recover', other.address)
    expect(await other.read('balanceOf', payer)).toBe(5n)
  })

  test('funding: only the payer, once, before the deadline, and the exact amount', async () => {
    const escrow = await deploy()
    expect((await refusal(escrow.send(payee, 'fund')))?.[0]).toBe('NotAllowed')
    expect(await refusal(escrow.send(payer, 'release'))).toEqual([
      'WrongStatus',
      statusCodes.created,
    ])
    await escrow.send(payer, 'fund')
    expect(await refusal(escrow.send(payer, 'fund'))).toEqual(['WrongStatus', statusCodes.funded])
    const late = await deploy()
    await bench.travel(3_600)
    expect((await refusal(late.send(payer, 'fund')))?.[0]).toBe('DeadlinePassed')
  })

  test('an escrow that the token has not authorised cannot be funded', async () => {
    const escrow = await deploy({}, false)
    expect((await refusal(escrow.send(payer, 'fund')))?.[0]).toBe('unknown')
  })

  test('terms are checked one by one', async () => {
    for (const [field, changes] of [
      ['token', { token: payer }],
      ['payer', { payer: ZeroAddress }],
      ['payee', { payee: ZeroAddress }],
      ['payee', { payee: payer }],
      ['arbiter', { arbiter: ZeroAddress }],
      ['arbiter', { arbiter: payer }],
      ['arbiter', { arbiter: payee }],
      ['amount', { amount: 0n }],
      ['deadline', { deadline: now }],
      ['feeBps', { feeBps: 1_001 }],
      ['feeRecipient', { feeRecipient: ZeroAddress }],
      ['arbitrationSeconds', { arbitrationSeconds: 0 }],
      ['silencePayeeBps', { silencePayeeBps: 10_001 }],
    ] as const) {
      expect(await refusal(deploy(changes))).toEqual(['InvalidTerms', field])
    }
    await deploy({ feeBps: 1_000 })
    await deploy({ feeBps: 0, feeRecipient: ZeroAddress })
  })

  test('random walks: what is held = what can still be withdrawn or decided', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const escrow = await deploy({ deadline: (await bench.now()) + 3_600 })
      const pick = seeded(seed)
      const people = [payer, payee, arbiter, collector]
      for (let step = 0; step < 40; step++) {
        const from = people[pick(people.length)]!
        const moves: readonly (readonly [string, ...unknown[]])[] = [
          ['fund'],
          ['release'],
          ['refund'],
          ['dispute', 'x'],
          ['resolve', BigInt(pick(11_000))],
          ['withdraw'],
          ['resolveSilence'],
          ['recover', money.address],
        ]
        const [name, ...args] = moves[pick(moves.length)]!
        await refusal(escrow.send(from, name, ...args))
        if (pick(15) === 0) await bench.travel(2_000)
        const stray =
          pick(8) === 0 &&
          (await refusal(money.send(payer, 'transfer', escrow.address, 3n))) === undefined
        const status = (await escrow.read('status')) as bigint
        const owed = await Promise.all(people.map((each) => escrow.read('withdrawable', each)))
        const open = status === statusCodes.funded || status === statusCodes.disputed ? 10_001n : 0n
        const due = (owed as bigint[]).reduce((sum, each) => sum + each, open)
        expect(await escrow.read('owed')).toBe(due)
        if (stray) await escrow.send(payee, 'recover', money.address)
        expect(await balance(escrow.address)).toBe(due)
      }
    }
  }, 60_000)
})
