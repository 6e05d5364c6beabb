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

const path = 'src/drex/templates/lien/generated/Lien.json'
const currency = 'src/drex/templates/currency/generated/Currency.json'
const document = `0x${'ab'.repeat(32)}`

const [admin, owner, bank, stranger] = actors

let bench: ContractBench
let money: Deployed
let now: number

beforeEach(async () => {
  bench = await createContractBench()
  money = await bench.deploy(currency, ['Real Digital', 'BRL', admin])
  now = await bench.now()
  for (const person of [owner, bank]) await money.send(admin, 'enableAccount', person)
  await money.send(admin, 'mint', owner, 10_000n)
})

const deploy = async (expiry = now + 3_600): Promise<Deployed> => {
  const lien = await bench.deploy(path, [money.address, owner, bank, document, expiry])
  await money.send(admin, 'enableAccount', lien.address)
  await money.send(owner, 'approve', lien.address, 1_000_000n)
  return lien
}

const balance = (of: string) => money.read('balanceOf', of)

describe('lien', () => {
  test('is pledged to, released in parts by the beneficiary alone, and taken back after the expiry', async () => {
    const lien = await deploy()
    await lien.send(owner, 'pledge', 1_000n)
    const [pledged] = await lien.send(owner, 'pledge', 500n)
    expect([pledged?.name, [...(pledged?.args ?? [])]]).toEqual(['Pledged', [owner, 500n, 1_500n]])
    expect(await lien.read('documentHash')).toBe(document)
    for (const other of [owner, stranger]) {
      expect(await refusal(lien.send(other, 'release', 1n))).toEqual(['NotAllowed', other])
    }
    expect(await refusal(lien.send(bank, 'release', 1_501n))).toEqual([
      'InvalidAmount',
      1_501n,
      1_500n,
    ])
    await lien.send(bank, 'release', 600n)
    expect([await balance(owner), await balance(bank)]).toEqual([9_100n, 0n])
    expect(await refusal(lien.send(owner, 'reclaim'))).toEqual([
      'NotYetExpired',
      BigInt(now + 3_600),
    ])
    await bench.travel(3_600)
    expect(await refusal(lien.send(bank, 'reclaim'))).toEqual(['NotAllowed', bank])
    expect(await refusal(lien.send(owner, 'pledge', 1n))).toEqual([
      'AlreadyExpired',
      BigInt(now + 3_600),
    ])
    await lien.send(owner, 'reclaim')
    expect([await balance(owner), await lien.read('pledged')]).toEqual([10_000n, 0n])
  })

  test('a later expiry takes both, and this very one', async () => {
    const lien = await deploy()
    const later = BigInt(now + 7_200)
    expect(await refusal(lien.send(owner, 'acceptExtension', later))).toEqual([
      'NothingProposed',
      later,
    ])
    expect(await refusal(lien.send(bank, 'proposeExtension', now + 3_600))).toEqual([
      ...(['InvalidTerms', 'expiry'] as const),
    ])
    await lien.send(bank, 'proposeExtension', later)
    expect(await refusal(lien.send(bank, 'acceptExtension', later))).toEqual(['NotAllowed', bank])
    expect(await refusal(lien.send(owner, 'acceptExtension', later + 1n))).toEqual([
      ...(['NothingProposed', later + 1n] as const),
    ])
    await lien.send(owner, 'acceptExtension', later)
    expect(await lien.read('expiry')).toBe(later)
    expect(await refusal(lien.send(owner, 'acceptExtension', later))).toEqual([
      'NothingProposed',
      later,
    ])
  })

  test('terms that make no lien are refused', async () => {
    const terms = [money.address, owner, bank, document, now + 3_600]
    const changes: readonly (readonly [number, unknown, string])[] = [
      [0, stranger, 'token'],
      [1, ZeroAddress, 'owner'],
      [2, ZeroAddress, 'beneficiary'],
      [2, owner, 'beneficiary'],
      [4, now, 'expiry'],
    ]
    for (const [place, value, field] of changes) {
      const args = terms.with(place, value as never)
      expect(await refusal(bench.deploy(path, args))).toEqual(['InvalidTerms', field])
    }
  })

  test('random walks: what is held = what is pledged, and nobody but the owner ever has it', async () => {
    for (const seed of [1, 2, 3, 4]) {
      const lien = await deploy((await bench.now()) + 3_600)
      const all = (await balance(owner)) as bigint
      const pick = seeded(seed)
      const people = [owner, bank, stranger]
      for (let step = 0; step < 40; step++) {
        const from = people[pick(people.length)]!
        const expiry = (await lien.read('expiry')) as bigint
        const before = (await lien.read('pledged')) as bigint
        const isOver = BigInt(await bench.now()) >= expiry
        const moves: readonly (readonly [string, ...unknown[]])[] = [
          ['pledge', BigInt(pick(900))],
          ['release', BigInt(pick(900))],
          ['reclaim'],
          ['proposeExtension', expiry + BigInt(pick(3) * 500)],
          ['acceptExtension', await lien.read('proposedExpiry')],
          ['recover', money.address],
        ]
        const [name, ...args] = moves[pick(moves.length)]!
        const refused = await refusal(lien.send(from, name, ...args))
        const after = (await lien.read('pledged')) as bigint
        if (after < before) {
          const isRight = name === 'release' ? from === bank : name === 'reclaim' && from === owner
          expect([isRight, name !== 'reclaim' || isOver || refused !== undefined]).toEqual([
            true,
            true,
          ])
        }
        if (pick(12) === 0) await bench.travel(1_000)
        const stray =
          pick(8) === 0 &&
          (await refusal(money.send(owner, 'transfer', lien.address, 3n))) === undefined
        if (stray) await lien.send(owner, 'recover', money.address)
        expect(await balance(lien.address)).toBe(await lien.read('pledged'))
        expect(((await balance(owner)) as bigint) + ((await balance(lien.address)) as bigint)).toBe(
          all,
        )
      }
      await bench.travel(100_000)
      await refusal(lien.send(owner, 'reclaim'))
      expect(await balance(owner)).toBe(all)
    }
  }, 60_000)
})
