import { beforeEach, describe, expect, test } from 'bun:test'
import { ZeroAddress } from 'ethers'
import {
  actors,
  type ContractBench,
  createContractBench,
  type Deployed,
  refusal,
  seeded,
} from '../../support/contract-bench.ts'

const path = 'src/drex/templates/receivables/generated/Receivables.json'
const currency = 'src/drex/templates/currency/generated/Currency.json'
const day = 86_400
const statusCodes = {
  issued: 0n,
  accepted: 1n,
  funded: 2n,
  overdue: 3n,
  settled: 4n,
  defaulted: 5n,
  cancelled: 6n,
} as const

const [admin, originator, payer, ana, bia] = actors

let bench: ContractBench
let money: Deployed
let now: number

beforeEach(async () => {
  bench = await createContractBench()
  money = await bench.deploy(currency, ['Real Digital', 'BRL', admin])
  now = await bench.now()
  for (const person of [originator, payer, ana, bia]) {
    await money.send(admin, 'enableAccount', person)
    await money.send(admin, 'mint', person, 1_000_000n)
  }
})

const deploy = async (changes: object = {}): Promise<Deployed> => {
  const paper = await bench.deploy(path, [
    {
      name: 'Duplicata 42',
      symbol: 'DUP42',
      originator,
      payer,
      debtorRef: `0x${'01'.repeat(32)}`,
      faceValue: 100_000n,
      issueDate: now,
      dueDate: now + 30 * day,
      discountBps: 250,
      graceDays: 5,
      recourse: false,
      paymentToken: money.address,
      documentHash: `0x${'02'.repeat(32)}`,
      registrar: 'CERC',
      registrarId: 'R-1',
      ...changes,
    },
  ])
  await money.send(admin, 'enableAccount', paper.address)
  for (const person of [originator, payer, ana, bia]) {
    await money.send(person, 'approve', paper.address, 1_000_000n)
  }
  return paper
}

/** The last who redeems also gets what rounding left, which no share counts. */
const dustMax = 4n

describe('receivables', () => {
  test('from issue to settlement: the price is discounted, the face value is shared', async () => {
    const paper = await deploy()
    await paper.send(payer, 'accept')
    expect(await paper.read('priceOf', 60_000n)).toBe(58_500n)
    await paper.send(ana, 'fund', 60_000n)
    await paper.send(bia, 'fund', 40_000n)
    expect(await paper.read('status')).toBe(statusCodes.funded)
    expect(await money.read('balanceOf', originator)).toBe(1_097_500n)
    await paper.send(ana, 'transfer', bia, 10_000n)
    await paper.send(payer, 'settle', 30_000n)
    expect(await paper.read('status')).toBe(statusCodes.funded)
    await paper.send(payer, 'settle', 70_000n)
    expect(await paper.read('status')).toBe(statusCodes.settled)
    await paper.send(ana, 'redeem')
    await paper.send(bia, 'redeem')
    expect(await money.read('balanceOf', ana)).toBe(1_000_000n - 58_500n + 50_000n)
    expect(await money.read('balanceOf', paper.address)).toBe(0n)
    expect(await paper.read('totalSupply')).toBe(0n)
  })

  test('the price rounds up, a share rounds down, and payments after a default are shared alike', async () => {
    const paper = await deploy({ faceValue: 1_001n, discountBps: 333 })
    await paper.send(payer, 'accept')
    expect(await paper.read('priceOf', 1n)).toBe(1n)
    expect(await paper.read('priceOf', 1_000n)).toBe(967n)
    await paper.send(ana, 'fund', 334n)
    await paper.send(bia, 'fund', 333n)
    await paper.send(originator, 'closeFunding')
    expect(await paper.read('balanceOf', originator)).toBe(334n)
    await paper.send(payer, 'settle', 100n)
    await bench.travel(36 * day)
    await paper.send(ana, 'markOverdue')
    await paper.send(ana, 'markDefaulted')
    const paid = async (who: string) => {
      const before = (await money.read('balanceOf', who)) as bigint
      await paper.send(who, 'redeem')
      return ((await money.read('balanceOf', who)) as bigint) - before
    }
    expect([await paid(ana), await paid(bia)]).toEqual([33n, 33n])
    expect((await refusal(paper.send(ana, 'redeem')))?.[0]).toBe('NothingToRedeem')
    // The debtor pays again; one of the holders has sold meanwhile what keeps its share to come.
    await paper.send(payer, 'settle', 400n)
    await paper.send(ana, 'transfer', bia, 334n)
    expect([await paid(ana), await paid(originator)]).toEqual([133n, 166n])
    await paper.send(payer, 'settle', 501n)
    expect(await paper.read('status')).toBe(statusCodes.settled)
    expect([await paid(originator), await paid(bia)]).toEqual([168n, 468n])
    expect(await money.read('balanceOf', paper.address)).toBe(0n)
    expect(await paper.read('totalSupply')).toBe(0n)
  })

  test('only the payer accepts, and once', async () => {
    const paper = await deploy()
    expect((await refusal(paper.send(ana, 'accept')))?.[0]).toBe('NotAllowed')
    await paper.send(payer, 'accept')
    expect(await refusal(paper.send(payer, 'accept'))).toEqual([
      'WrongStatus',
      statusCodes.accepted,
    ])
  })

  test('funding: not before acceptance, nor beyond what is left, nor once due', async () => {
    const paper = await deploy()
    expect(await refusal(paper.send(ana, 'fund', 1n))).toEqual(['WrongStatus', statusCodes.issued])
    await paper.send(payer, 'accept')
    expect(await refusal(paper.send(ana, 'fund', 0n))).toEqual(['AmountOutOfRange', 0n, 100_000n])
    expect(await refusal(paper.send(ana, 'fund', 100_001n))).toEqual([
      'AmountOutOfRange',
      100_001n,
      100_000n,
    ])
    await paper.send(ana, 'fund', 99_999n)
    expect(await paper.read('unitsForSale')).toBe(1n)
    expect((await refusal(paper.send(ana, 'closeFunding')))?.[0]).toBe('NotAllowed')
    await bench.travel(30 * day)
    expect((await refusal(paper.send(ana, 'fund', 1n)))?.[0]).toBe('TooLate')
    // Past the due date nobody can leave the investors without an outcome.
    await paper.send(ana, 'closeFunding')
    expect(await paper.read('status')).toBe(statusCodes.funded)
  })

  test('settlement: only the payer, or the originator with recourse, up to the face value', async () => {
    const plain = await deploy()
    await plain.send(payer, 'accept')
    expect(await refusal(plain.send(payer, 'settle', 1n))).toEqual([
      'WrongStatus',
      statusCodes.accepted,
    ])
    await plain.send(ana, 'fund', 100_000n)
    expect((await refusal(plain.send(originator, 'settle', 1n)))?.[0]).toBe('NotAllowed')
    expect((await refusal(plain.send(payer, 'settle', 100_001n)))?.[0]).toBe('AmountOutOfRange')
    expect((await refusal(plain.send(payer, 'settle', 0n)))?.[0]).toBe('AmountOutOfRange')
    expect(await refusal(plain.send(ana, 'redeem'))).toEqual(['WrongStatus', statusCodes.funded])
    const recourse = await deploy({ recourse: true })
    await recourse.send(payer, 'accept')
    await recourse.send(ana, 'fund', 100_000n)
    await recourse.send(originator, 'settle', 100_000n)
    expect(await recourse.read('status')).toBe(statusCodes.settled)
  })

  test('overdue after the due date, settled late or defaulted after the grace', async () => {
    const paper = await deploy()
    await paper.send(payer, 'accept')
    await paper.send(ana, 'fund', 100_000n)
    expect((await refusal(paper.send(ana, 'markOverdue')))?.[0]).toBe('TooEarly')
    expect(await refusal(paper.send(ana, 'markDefaulted'))).toEqual([
      'WrongStatus',
      statusCodes.funded,
    ])
    await bench.travel(30 * day)
    await paper.send(ana, 'markOverdue')
    expect((await refusal(paper.send(ana, 'markDefaulted')))?.[0]).toBe('TooEarly')
    await paper.send(payer, 'settle', 40_000n)
    await bench.travel(5 * day)
    await paper.send(ana, 'markDefaulted')
    await paper.send(ana, 'redeem')
    expect(await money.read('balanceOf', paper.address)).toBe(0n)
    await paper.send(payer, 'settle', 60_000n)
    expect(await paper.read('status')).toBe(statusCodes.settled)
    await paper.send(ana, 'redeem')
    expect(await paper.read('redeemed', ana)).toBe(100_000n)
    expect(await paper.read('totalSupply')).toBe(0n)
  })

  test('a plain transfer is no loss: it counts as payment, and the rest goes back', async () => {
    const paper = await deploy()
    await money.send(ana, 'transfer', paper.address, 7n)
    await paper.send(payer, 'accept')
    expect((await refusal(paper.send(ana, 'absorb')))?.[0]).toBe('WrongStatus')
    await paper.send(ana, 'recover', money.address)
    expect(await money.read('balanceOf', originator)).toBe(1_000_007n)
    await paper.send(ana, 'fund', 100_000n)
    expect((await refusal(paper.send(ana, 'absorb')))?.[0]).toBe('NothingToRecover')
    await money.send(payer, 'transfer', paper.address, 100_500n)
    expect((await refusal(paper.send(ana, 'recover', money.address)))?.[0]).toBe('WrongStatus')
    await paper.send(bia, 'absorb')
    expect(await paper.read('status')).toBe(statusCodes.settled)
    await paper.send(bia, 'recover', money.address)
    expect(await money.read('balanceOf', payer)).toBe(900_000n)
    await paper.send(ana, 'redeem')
    expect(await money.read('balanceOf', paper.address)).toBe(0n)
    const other = await bench.deploy(currency, ['Other', 'OTH', admin])
    for (const each of [paper.address, originator]) await other.send(admin, 'enableAccount', each)
    await other.send(admin, 'mint', paper.address, 5n)
    await paper.send(bia, 'recover', other.address)
    expect(await other.read('balanceOf', originator)).toBe(5n)
  })

  test('units cannot be sent to the contract itself, and count in the payment token’s decimals', async () => {
    const paper = await deploy()
    await paper.send(payer, 'accept')
    await paper.send(ana, 'fund', 10n)
    const lost = paper.send(ana, 'transfer', paper.address, 1n)
    expect((await refusal(lost))?.[0]).toBe('UnitsToTheirOwnContract')
    expect(await paper.read('decimals')).toBe(2n)
  })

  test('cancelled while nothing is sold, by the originator alone', async () => {
    const paper = await deploy()
    expect((await refusal(paper.send(payer, 'cancel')))?.[0]).toBe('NotAllowed')
    await paper.send(payer, 'accept')
    await paper.send(originator, 'cancel')
    expect(await refusal(paper.send(ana, 'fund', 1n))).toEqual([
      'WrongStatus',
      statusCodes.cancelled,
    ])
    const sold = await deploy()
    await sold.send(payer, 'accept')
    await sold.send(ana, 'fund', 1n)
    expect(await refusal(sold.send(originator, 'cancel'))).toEqual([
      'WrongStatus',
      statusCodes.accepted,
    ])
  })

  test('a buyer without allowance is refused, and nothing changes', async () => {
    const paper = await deploy()
    await paper.send(payer, 'accept')
    await money.send(ana, 'approve', paper.address, 0n)
    expect((await refusal(paper.send(ana, 'fund', 100n)))?.[0]).toBe('ERC20InsufficientAllowance')
    expect(await paper.read('totalSupply')).toBe(0n)
  })

  test('terms are checked one by one', async () => {
    for (const [field, changes] of [
      ['originator', { originator: ZeroAddress }],
      ['payer', { payer: ZeroAddress }],
      ['payer', { payer: originator }],
      ['faceValue', { faceValue: 0n }],
      ['dueDate', { dueDate: now }],
      ['dueDate', { issueDate: now - 10, dueDate: now - 5 }],
      ['discountBps', { discountBps: 10_000 }],
      ['paymentToken', { paymentToken: ana }],
    ] as const) {
      expect(await refusal(deploy(changes))).toEqual(['InvalidTerms', field])
    }
  })

  test('random walks: money here = pool, and nothing is paid twice', async () => {
    for (const seed of [1, 2, 3]) {
      const paper = await deploy({
        dueDate: (await bench.now()) + 30 * day,
        recourse: true,
        graceDays: seed,
      })
      const pick = seeded(seed)
      const people = [originator, payer, ana, bia]
      const one = () => people[pick(people.length)]!
      const sum = async (of: string) => {
        const each = await Promise.all(people.map((who) => paper.read(of, who)))
        return (each as bigint[]).reduce((total, one) => total + one, 0n)
      }
      await paper.send(payer, 'accept')
      for (let step = 0; step < 60; step++) {
        const amount = BigInt(pick(60_000))
        const moves: readonly (readonly [string, string, ...unknown[]])[] = [
          [one(), 'fund', amount],
          [one(), 'settle', amount],
          [one(), 'redeem'],
          [one(), 'absorb'],
          [one(), 'recover', money.address],
          [one(), 'transfer', one(), amount],
          [one(), 'closeFunding'],
          [one(), 'markOverdue'],
          [one(), 'markDefaulted'],
        ]
        const [from, name, ...args] = moves[pick(moves.length)]!
        await refusal(paper.send(from, name, ...args))
        if (pick(12) === 0) await bench.travel(4 * day)
        if (pick(8) === 0) await refusal(money.send(one(), 'transfer', paper.address, amount))
        const pool = (await paper.read('pool')) as bigint
        const here = (await money.read('balanceOf', paper.address)) as bigint
        expect(here).toBeGreaterThanOrEqual(pool)
        const settled = (await paper.read('settledAmount')) as bigint
        expect(settled).toBeLessThanOrEqual(100_000n)
        const paid = await sum('redeemed')
        expect(pool + paid).toBeGreaterThanOrEqual(settled - dustMax)
        expect(pool + paid).toBeLessThanOrEqual(settled)
        expect(await sum('redeemable')).toBeLessThanOrEqual(pool)
        const held = await Promise.all(people.map((each) => paper.read('balanceOf', each)))
        const supply = (held as bigint[]).reduce((sum, each) => sum + each, 0n)
        expect(await paper.read('totalSupply')).toBe(supply)
      }
    }
  }, 60_000)
})
