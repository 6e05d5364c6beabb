import { beforeEach, describe, expect, test } from 'bun:test'
import { Interface, id } from 'ethers'
import artifact from '../../../src/drex/templates/reserve-swap/generated/ReserveSwap.json'
import {
  actors,
  type ContractBench,
  createContractBench,
  type Deployed,
  refusal,
  seeded,
} from '../../support/contract-bench.ts'

const at = (folder: string, name: string) => `src/drex/templates/${folder}/generated/${name}.json`

const [admin, reserveA, reserveB, ana, bia, stranger] = actors

let bench: ContractBench
let money: Deployed
let retailA: Deployed
let retailB: Deployed
let swap: Deployed

const retail = async (cnpj8: number, reserve: string): Promise<Deployed> => {
  const token = await bench.deploy(at('retail-currency', 'RetailCurrency'), [
    'Real Tokenizado',
    `BRL@${cnpj8}`,
    admin,
    `Bank ${cnpj8}`,
    cnpj8,
    reserve,
  ])
  for (const member of [ana, bia, swap.address]) await token.send(admin, 'enableAccount', member)
  for (const role of ['MOVER_ROLE', 'MINTER_ROLE']) {
    await token.send(admin, 'grantRole', id(role), swap.address)
  }
  await swap.send(admin, 'setDigitalCurrencyApproval', token.address, true)
  return token
}

beforeEach(async () => {
  bench = await createContractBench()
  money = await bench.deploy(at('currency', 'Currency'), ['Real Digital', 'BRL', admin])
  swap = await bench.deploy(at('reserve-swap', 'ReserveSwap'), [admin, admin, money.address])
  for (const member of [reserveA, reserveB, swap.address]) {
    await money.send(admin, 'enableAccount', member)
  }
  retailA = await retail(11_111_111, reserveA)
  retailB = await retail(22_222_222, reserveB)
  await money.send(admin, 'mint', reserveA, 10_000n)
  await money.send(admin, 'mint', reserveB, 10_000n)
  await retailA.send(admin, 'mint', ana, 10_000n)
  await retailB.send(admin, 'mint', bia, 10_000n)
  await money.send(reserveA, 'approve', swap.address, 1_000_000n)
  await retailA.send(ana, 'approve', swap.address, 1_000_000n)
})

const start = async (amount: bigint): Promise<bigint> => {
  const logs = await swap.send(ana, 'startSwap', retailA.address, retailB.address, bia, amount)
  return logs.find(({ name }) => name === 'SwapStarted')!.args[0] as bigint
}

/** What ana, bia, the two reserves and the contract hold, of the three currencies. */
const books = async () => [
  await retailA.read('balanceOf', ana),
  await retailA.read('balanceOf', swap.address),
  await retailB.read('balanceOf', bia),
  await money.read('balanceOf', reserveA),
  await money.read('balanceOf', reserveB),
  await money.read('balanceOf', swap.address),
]

const named = (logs: readonly { readonly name: string }[]) => logs.map(({ name }) => name)

describe('reserve swap', () => {
  test('has the pilot’s functions and events', () => {
    const abi = new Interface(artifact.abi)
    const selectors = {
      startSwap: '0x262d442b',
      executeSwap: '0xa9ab232b',
      cancelSwap: '0xc61e4a20',
    }
    for (const [name, selector] of Object.entries(selectors)) {
      expect([name, abi.getFunction(name)?.selector]).toEqual([name, selector])
    }
    const topics = {
      SwapStarted: '0x0e3b28e0',
      SwapExecuted: '0xdf576c99',
      SwapCancelled: '0x646da14d',
      ExpiredProposal: '0xe11732b0',
    }
    for (const [name, topic] of Object.entries(topics)) {
      expect([name, abi.getEvent(name)?.topicHash.slice(0, 10)]).toEqual([name, topic])
    }
  })

  test('what is proposed lies in the contract; what is accepted has moved at both institutions', async () => {
    const proposal = await start(600n)
    expect(await books()).toEqual([9_400n, 600n, 10_000n, 9_400n, 10_000n, 600n])
    for (const other of [ana, stranger]) {
      expect((await refusal(swap.send(other, 'executeSwap', proposal)))?.[0]).toBe('NotAllowed')
    }
    expect(named(await swap.send(bia, 'executeSwap', proposal))).toContain('SwapExecuted')
    expect(await books()).toEqual([9_400n, 0n, 10_600n, 9_400n, 10_600n, 0n])
    expect((await refusal(swap.send(bia, 'executeSwap', proposal)))?.[0]).toBe('NotPending')
    expect((await refusal(swap.send(ana, 'cancelSwap', proposal, '')))?.[0]).toBe('NotPending')
  })

  test('either side cancels, nobody else, and everything goes back', async () => {
    for (const side of [ana, bia]) {
      const proposal = await start(100n)
      expect((await refusal(swap.send(stranger, 'cancelSwap', proposal, '')))?.[0]).toBe(
        'NotAllowed',
      )
      expect(named(await swap.send(side, 'cancelSwap', proposal, 'no'))).toContain('SwapCancelled')
      expect(await books()).toEqual([10_000n, 0n, 10_000n, 10_000n, 10_000n, 0n])
    }
  })

  test('accepted after its minute it does not revert: everything goes back', async () => {
    const proposal = await start(100n)
    await bench.travel(62)
    const told = named(await swap.send(bia, 'executeSwap', proposal))
    expect(told).toContain('ExpiredProposal')
    expect(told).not.toContain('SwapExecuted')
    expect(await books()).toEqual([10_000n, 0n, 10_000n, 10_000n, 10_000n, 0n])
  })

  test('refuses currencies that were not approved, and terms that mean nothing', async () => {
    const refused = async (...args: readonly unknown[]) =>
      (await refusal(swap.send(ana, 'startSwap', ...args)))?.[0]
    const [a, b] = [retailA.address, retailB.address]
    expect(await refused(a, a, bia, 1n)).toBe('InvalidTerms')
    expect(await refused(a, b, bia, 0n)).toBe('InvalidTerms')
    expect(await refused(money.address, b, bia, 1n)).toBe('CurrencyNotApproved')
    await swap.send(admin, 'setDigitalCurrencyApproval', b, false)
    expect(await refused(a, b, bia, 1n)).toBe('CurrencyNotApproved')
    expect((await refusal(swap.send(ana, 'setDigitalCurrencyApproval', b, true)))?.[0]).toBe(
      'AccessControlUnauthorizedAccount',
    )
  })

  test('random walks: retail money never exceeds reserves, and what is pending is all that it holds', async () => {
    const pick = seeded(5)
    const open: bigint[] = []
    let ended = 0
    let refused = 0
    for (let step = 0; step < 90; step++) {
      const proposal = open[pick(Math.max(open.length, 1))] ?? 1n
      const moves = [
        () => start(BigInt(pick(4_000))).then((made) => void open.push(made)),
        () => swap.send(bia, 'executeSwap', proposal).then(() => void ended++),
        () =>
          swap
            .send([ana, bia, stranger][pick(3)]!, 'cancelSwap', proposal, 'x')
            .then(() => void ended++),
        () => bench.travel(20),
      ]
      const move = moves[[0, 0, 1, 1, 2, 3][pick(6)]!]!
      if ((await refusal(move())) !== undefined) refused++
      let pending = 0n
      for (const each of open) {
        const terms = (await swap.read('proposals', each)) as readonly unknown[]
        if (terms[7] === 1n) pending += terms[5] as bigint
      }
      const [, retailHeld, , ofA, ofB, held] = (await books()) as bigint[]
      expect([retailHeld, held]).toEqual([pending, pending])
      expect(ofA! + ofB! + held!).toBe(20_000n)
      const issued = [await retailA.read('totalSupply'), await retailB.read('totalSupply')]
      expect((issued[0] as bigint) + (issued[1] as bigint)).toBe(20_000n)
    }
    expect(ended).toBeGreaterThan(5)
    expect(refused).toBeGreaterThan(5)
    expect(refused).toBeLessThan(80)
  })
})
