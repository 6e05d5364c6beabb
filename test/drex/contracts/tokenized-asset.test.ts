import { beforeEach, describe, expect, test } from 'bun:test'
import { ZeroHash } from 'ethers'
import {
  actors,
  type ContractBench,
  createContractBench,
  type Deployed,
  refusal,
  seeded,
} from '../../support/contract-bench.ts'

const path = 'src/drex/templates/tokenized-asset/generated/TokenizedAsset.json'
const [owner, ana, bia] = actors

let bench: ContractBench

const terms = (changes: object = {}) => ({
  name: 'Debênture 1',
  symbol: 'DEB1',
  decimals: 2,
  initialSupply: 1_000n,
  cap: 1_500n,
  owner,
  allowlisted: false,
  metadataUri: 'https://example.org/deb1.json',
  metadataHash: `0x${'ab'.repeat(32)}`,
  ...changes,
})

beforeEach(async () => {
  bench = await createContractBench()
})

const deploy = (changes: object = {}): Promise<Deployed> => bench.deploy(path, [terms(changes)])

describe('tokenized asset', () => {
  test('starts with its terms and its supply at the owner', async () => {
    const token = await deploy()
    expect(await token.read('name')).toBe('Debênture 1')
    expect(await token.read('decimals')).toBe(2n)
    expect(await token.read('balanceOf', owner)).toBe(1_000n)
    expect(await token.read('metadataUri')).toBe('https://example.org/deb1.json')
    await token.send(owner, 'transfer', ana, 250n)
    await token.send(ana, 'approve', bia, 100n)
    await token.send(bia, 'transferFrom', ana, bia, 100n)
    await token.send(bia, 'burn', 40n)
    expect(await token.read('totalSupply')).toBe(960n)
  })

  test('mints to the cap and not one unit more; a cap of zero leaves it open', async () => {
    const token = await deploy()
    await token.send(owner, 'mint', ana, 500n)
    expect(await refusal(token.send(owner, 'mint', ana, 1n))).toEqual([
      'CapExceeded',
      1_501n,
      1_500n,
    ])
    expect(await refusal(deploy({ initialSupply: 1_501n }))).toEqual([
      'CapExceeded',
      1_501n,
      1_500n,
    ])
    const open = await deploy({ cap: 0n })
    await open.send(owner, 'mint', ana, 10n ** 30n)
  })

  test('an allowlist binds both parties of every movement', async () => {
    const token = await deploy({ allowlisted: true })
    expect((await refusal(token.send(owner, 'transfer', ana, 1n)))?.[0]).toBe('AccountNotAllowed')
    expect((await refusal(token.send(owner, 'mint', ana, 1n)))?.[0]).toBe('AccountNotAllowed')
    await token.send(owner, 'setAllowed', ana, true)
    await token.send(owner, 'transfer', ana, 10n)
    await token.send(owner, 'setAllowed', ana, false)
    expect((await refusal(token.send(ana, 'transfer', owner, 1n)))?.[0]).toBe('AccountNotAllowed')
    expect((await refusal(token.send(ana, 'burn', 1n)))?.[0]).toBe('AccountNotAllowed')
  })

  test('a pause stops movements; each privilege needs its role', async () => {
    const token = await deploy()
    await token.send(owner, 'pause')
    expect(await refusal(token.send(owner, 'transfer', ana, 1n))).toEqual(['EnforcedPause'])
    await token.send(owner, 'unpause')
    await token.send(owner, 'setMetadata', 'ipfs://x', ZeroHash)
    expect(await token.read('metadataUri')).toBe('ipfs://x')
    for (const [name, ...args] of [
      ['mint', ana, 1n],
      ['pause'],
      ['unpause'],
      ['setAllowed', ana, true],
      ['setMetadata', 'x', ZeroHash],
    ] as const) {
      expect((await refusal(token.send(ana, name, ...args)))?.[0]).toBe(
        'AccessControlUnauthorizedAccount',
      )
    }
  })

  test('random walks keep Σ balances = supply ≤ cap', async () => {
    const token = await deploy()
    const pick = seeded(11)
    const people = [owner, ana, bia]
    const one = () => people[pick(3)]!
    let refused = 0
    for (let step = 0; step < 150; step++) {
      const amount = BigInt(pick(400))
      const moves: readonly (readonly [string, string, ...unknown[]])[] = [
        [one(), 'transfer', one(), amount],
        [owner, 'mint', one(), amount],
        [one(), 'burn', amount],
        [one(), 'approve', one(), amount],
        [one(), 'transferFrom', one(), one(), amount],
      ]
      const [from, name, ...args] = moves[pick(moves.length)]!
      if ((await refusal(token.send(from, name, ...args))) !== undefined) refused++
      const balances = await Promise.all(people.map((each) => token.read('balanceOf', each)))
      const supply = await token.read('totalSupply')
      expect((balances as bigint[]).reduce((sum, each) => sum + each, 0n)).toBe(supply as bigint)
      expect(supply as bigint).toBeLessThanOrEqual(1_500n)
    }
    expect(refused).toBeGreaterThan(15)
    expect(refused).toBeLessThan(135)
  })
})
