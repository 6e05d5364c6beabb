import { beforeEach, describe, expect, test } from 'bun:test'
import { encodeBytes32String, ZeroAddress } from 'ethers'
import {
  actors,
  type ContractBench,
  createContractBench,
  type Deployed,
  refusal,
  seeded,
} from '../../support/contract-bench.ts'

const path = 'src/drex/templates/real-estate/generated/RealEstate.json'
const common = encodeBytes32String('common')
const preferred = encodeBytes32String('preferred')
const restricted = encodeBytes32String('restricted')
const hashSample = `0x${'cd'.repeat(32)}`

const halted = '0x54'
const locked = '0x55'
const ok = '0x51'

const [owner, ana, bia, caio, controller, stranger] = actors

let bench: ContractBench
let now: number

beforeEach(async () => {
  bench = await createContractBench()
  now = await bench.now()
})

const deploy = async (changes: object = {}): Promise<Deployed> => {
  const token = await bench.deploy(path, [
    {
      name: 'Edifício Aurora',
      symbol: 'AUR',
      decimals: 0,
      totalUnits: 1_000n,
      lockUpUntil: 0,
      holdersMax: 0,
      holdingMaxBps: 0,
      owner,
      controllers: [controller],
      defaultPartitions: [common, preferred],
      documents: [
        {
          name: encodeBytes32String('matricula'),
          uri: 'https://example.org/m/1.pdf',
          hash: hashSample,
        },
      ],
      ...changes,
    },
  ])
  for (const person of [ana, bia, caio]) await token.send(owner, 'setAllowlisted', person, true)
  return token
}

const stocked = async (changes: object = {}): Promise<Deployed> => {
  const token = await deploy(changes)
  await token.send(owner, 'issueByPartition', common, ana, 100n, '0x')
  await token.send(owner, 'issueByPartition', preferred, ana, 50n, '0x')
  await token.send(owner, 'issueByPartition', restricted, ana, 30n, '0x')
  return token
}

const code = async (action: Promise<unknown>) => {
  const refused = await refusal(action)
  return refused?.[0] === 'TransferRefused' ? refused[1] : refused?.[0]
}

describe('real estate: ERC-20 and ERC-1594', () => {
  test('a plain transfer draws on the default partitions in order, and on no other', async () => {
    const token = await stocked()
    const logs = await token.send(ana, 'transfer', bia, 120n)
    expect(logs.map((log) => log.name)).toEqual([
      'TransferByPartition',
      'TransferByPartition',
      'Transfer',
    ])
    expect(await token.read('balanceOfByPartition', common, bia)).toBe(100n)
    expect(await token.read('balanceOfByPartition', preferred, bia)).toBe(20n)
    // 30 preferred and 30 restricted are left: only the former can go this way.
    expect(await code(token.send(ana, 'transfer', bia, 31n))).toBe('0x52')
    await token.send(ana, 'transfer', bia, 30n)
    expect(await token.read('partitionsOf', ana)).toEqual([restricted] as never)
    expect(await token.read('partitionsOf', bia)).toEqual([common, preferred] as never)
  })

  test('allowances are spent by transferFrom, transferFromWithData and redeemFrom', async () => {
    const token = await stocked()
    await token.send(ana, 'approve', bia, 30n)
    await token.send(bia, 'transferFrom', ana, caio, 10n)
    await token.send(bia, 'transferFromWithData', ana, caio, 10n, '0x01')
    const logs = await token.send(bia, 'redeemFrom', ana, 10n, '0x02')
    expect(logs.at(-1)?.name).toBe('Redeemed')
    for (const [name, ...args] of [
      ['transferFrom', ana, caio, 1n],
      ['transferFromWithData', ana, caio, 1n, '0x'],
      ['redeemFrom', ana, 1n, '0x'],
    ] as const) {
      expect(await code(token.send(bia, name, ...args))).toBe('ERC20InsufficientAllowance')
    }
    expect(await token.read('balanceOf', caio)).toBe(20n)
    expect(await token.read('totalSupply')).toBe(170n)
  })

  test('issues into the first default partition, up to the units of the property', async () => {
    const token = await deploy()
    const logs = await token.send(owner, 'issue', ana, 1_000n, '0x')
    expect(logs.map((log) => log.name)).toEqual(['Transfer', 'IssuedByPartition', 'Issued'])
    expect(await token.read('balanceOfByPartition', common, ana)).toBe(1_000n)
    expect(await refusal(token.send(owner, 'issue', ana, 1n, '0x'))).toEqual([
      'UnitsExceeded',
      1_001n,
      1_000n,
    ])
    expect(await code(token.send(ana, 'issue', ana, 1n, '0x'))).toBe(
      'AccessControlUnauthorizedAccount',
    )
  })

  test('once renounced, issuance is over for ever', async () => {
    const token = await deploy()
    expect(await code(token.send(ana, 'renounceIssuance'))).toBe('AccessControlUnauthorizedAccount')
    await token.send(owner, 'renounceIssuance')
    expect(await token.read('isIssuable')).toBe(false)
    expect(await code(token.send(owner, 'issue', ana, 1n, '0x'))).toBe('NotIssuable')
    expect(await code(token.send(owner, 'issueByPartition', common, ana, 1n, '0x'))).toBe(
      'NotIssuable',
    )
  })

  test('redemption takes default partitions; redeemByPartition the one named', async () => {
    const token = await stocked()
    await token.send(ana, 'redeem', 150n, '0x')
    expect(await code(token.send(ana, 'redeem', 1n, '0x'))).toBe('0x52')
    await token.send(ana, 'redeemByPartition', restricted, 30n, '0x')
    expect(await code(token.send(ana, 'redeemByPartition', restricted, 1n, '0x'))).toBe('0x52')
    expect(await token.read('totalSupply')).toBe(0n)
    expect(await token.read('totalSupplyByPartition', common)).toBe(0n)
    expect(await token.read('holderCount')).toBe(0n)
  })
})

describe('real estate: reason codes', () => {
  test('canTransfer tells beforehand what a transfer would meet', async () => {
    const token = await stocked()
    const ask = async (to: string, value: bigint) =>
      ((await token.readAs(ana, 'canTransfer', to, value, '0x')) as string[])[0]
    expect(await ask(bia, 150n)).toBe(ok)
    expect(await ask(bia, 151n)).toBe('0x52')
    expect(await ask(stranger, 1n)).toBe('0x57')
    expect(await ask(ZeroAddress, 1n)).toBe('0x57')
    await token.send(owner, 'setAllowlisted', ana, false)
    expect(await ask(bia, 1n)).toBe('0x56')
    await token.send(owner, 'pause')
    expect(await ask(bia, 1n)).toBe(halted)
    const from = await token.readAs(bia, 'canTransferFrom', ana, bia, 1n, '0x')
    expect((from as string[])[0]).toBe('0x53')
  })

  test('canTransferByPartition names the partition and the missing authority', async () => {
    const token = await stocked()
    const ask = (who: string, value: bigint) =>
      token.readAs(who, 'canTransferByPartition', ana, bia, restricted, value, '0x')
    expect((await ask(ana, 30n)) as string[]).toEqual([ok, `0x${'00'.repeat(32)}`, restricted])
    expect(((await ask(ana, 31n)) as string[])[0]).toBe('0x52')
    expect(((await ask(caio, 1n)) as string[])[0]).toBe('0x58')
  })

  test('a pause halts every path but the controller’s', async () => {
    const token = await stocked()
    await token.send(owner, 'pause')
    for (const [from, name, ...args] of [
      [ana, 'transfer', bia, 1n],
      [ana, 'transferWithData', bia, 1n, '0x'],
      [ana, 'transferByPartition', common, bia, 1n, '0x'],
      [ana, 'redeem', 1n, '0x'],
      [ana, 'redeemByPartition', common, 1n, '0x'],
      [owner, 'issue', ana, 1n, '0x'],
    ] as const) {
      expect(await code(token.send(from, name, ...args))).toBe(halted)
    }
    await token.send(controller, 'controllerTransfer', ana, bia, 1n, '0x', '0x')
    expect(await code(token.send(ana, 'unpause'))).toBe('AccessControlUnauthorizedAccount')
    await token.send(owner, 'unpause')
    await token.send(ana, 'transfer', bia, 1n)
  })

  test('the lock-up holds transfers, not redemption, until its second', async () => {
    const token = await stocked({ lockUpUntil: now + 1_000 })
    expect(await code(token.send(ana, 'transfer', bia, 1n))).toBe(locked)
    expect(await code(token.send(ana, 'transferByPartition', common, bia, 1n, '0x'))).toBe(locked)
    await token.send(ana, 'redeem', 1n, '0x')
    await bench.travel(1_000)
    await token.send(ana, 'transfer', bia, 1n)
  })

  test('the allowlist binds both parties', async () => {
    const token = await stocked()
    expect(await code(token.send(ana, 'transfer', stranger, 1n))).toBe('0x57')
    expect(await code(token.send(owner, 'issue', stranger, 1n, '0x'))).toBe('0x57')
    await token.send(owner, 'setAllowlisted', ana, false)
    expect(await code(token.send(ana, 'transfer', bia, 1n))).toBe('0x56')
    expect(await code(token.send(ana, 'redeem', 1n, '0x'))).toBe('0x56')
    expect(await code(token.send(bia, 'setAllowlisted', bia, true))).toBe(
      'AccessControlUnauthorizedAccount',
    )
  })

  test('limits: most holders and the largest holding, at the limit and one past it', async () => {
    const token = await deploy({ holdersMax: 2, holdingMaxBps: 2_500 })
    expect(await code(token.send(owner, 'issue', ana, 251n, '0x'))).toBe('0x57')
    await token.send(owner, 'issue', ana, 250n, '0x')
    expect(await code(token.send(owner, 'issue', ana, 1n, '0x'))).toBe('0x57')
    await token.send(owner, 'issue', bia, 100n, '0x')
    expect(await code(token.send(owner, 'issue', caio, 1n, '0x'))).toBe('0x57')
    expect(await code(token.send(bia, 'transfer', caio, 99n))).toBe('0x57')
    // Whoever leaves makes room.
    await token.send(bia, 'transfer', caio, 100n)
    expect(await token.read('holderCount')).toBe(2n)
    expect(await code(token.send(ana, 'transfer', caio, 151n))).toBe('0x57')
    await token.send(ana, 'transfer', caio, 150n)
  })
})

describe('real estate: ERC-1410 operators', () => {
  test('an operator acts for all partitions or for one, until revoked', async () => {
    const token = await stocked()
    const move = (partition: string) =>
      token.send(bia, 'operatorTransferByPartition', partition, ana, caio, 1n, '0x', '0x')
    expect(await code(move(common))).toBe('0x58')
    await token.send(ana, 'authorizeOperatorByPartition', common, bia)
    await move(common)
    expect(await code(move(preferred))).toBe('0x58')
    expect(await token.read('isOperatorForPartition', common, bia, ana)).toBe(true)
    expect(await token.read('isOperator', bia, ana)).toBe(false)
    await token.send(ana, 'revokeOperatorByPartition', common, bia)
    expect(await code(move(common))).toBe('0x58')
    await token.send(ana, 'authorizeOperator', bia)
    await move(preferred)
    await token.send(bia, 'operatorRedeemByPartition', preferred, ana, 1n, '0x')
    await token.send(ana, 'revokeOperator', bia)
    expect(await code(move(preferred))).toBe('0x58')
    expect(await code(token.send(bia, 'operatorRedeemByPartition', preferred, ana, 1n, '0x'))).toBe(
      '0x58',
    )
    expect(await code(token.send(ana, 'authorizeOperator', ana))).toBe('SelfOperator')
    expect(await code(token.send(ana, 'revokeOperator', ana))).toBe('SelfOperator')
  })

  test('only the issuer changes a holder’s partition', async () => {
    const token = await stocked()
    await token.send(owner, 'changePartition', restricted, common, ana, 30n)
    expect(await token.read('balanceOfByPartition', common, ana)).toBe(130n)
    expect(await token.read('totalSupplyByPartition', common)).toBe(130n)
    expect(await token.read('totalSupplyByPartition', restricted)).toBe(0n)
    expect(await token.read('partitionsOf', ana)).toEqual([common, preferred] as never)
    expect(await code(token.send(owner, 'changePartition', restricted, common, ana, 1n))).toBe(
      '0x52',
    )
    expect(await code(token.send(ana, 'changePartition', common, preferred, ana, 1n))).toBe(
      'AccessControlUnauthorizedAccount',
    )
  })
})

describe('real estate: ERC-1643 documents', () => {
  test('the terms’ documents are there; others come, change and go', async () => {
    const token = await deploy()
    const [uri, hash] = (await token.read('getDocument', encodeBytes32String('matricula'))) as [
      string,
      string,
    ]
    expect([uri, hash]).toEqual(['https://example.org/m/1.pdf', hashSample])
    const appraisal = encodeBytes32String('appraisal')
    await token.send(owner, 'setDocument', appraisal, 'ipfs://a', hashSample)
    await token.send(owner, 'setDocument', appraisal, 'ipfs://b', hashSample)
    expect(((await token.read('getAllDocuments')) as unknown[]).length).toBe(2)
    const logs = await token.send(owner, 'removeDocument', encodeBytes32String('matricula'))
    expect(logs[0]?.name).toBe('DocumentRemoved')
    expect(await token.read('getAllDocuments')).toEqual([appraisal] as never)
    expect(await code(token.send(owner, 'removeDocument', appraisal.replace(/.$/, '1')))).toBe(
      'UnknownDocument',
    )
    expect(await code(token.send(owner, 'setDocument', appraisal, '', hashSample))).toBe(
      'InvalidDocument',
    )
    expect(await code(token.send(ana, 'setDocument', appraisal, 'x', hashSample))).toBe(
      'AccessControlUnauthorizedAccount',
    )
    expect(await code(token.send(ana, 'removeDocument', appraisal))).toBe(
      'AccessControlUnauthorizedAccount',
    )
  })
})

describe('real estate: ERC-1644 controllers', () => {
  test('a controller recovers units from a holder who lost the right to them', async () => {
    const token = await stocked({ lockUpUntil: now + 1_000 })
    await token.send(owner, 'setAllowlisted', ana, false)
    const logs = await token.send(controller, 'controllerTransfer', ana, bia, 160n, '0x', '0x')
    expect(logs.at(-1)?.name).toBe('ControllerTransfer')
    expect(await token.read('balanceOf', ana)).toBe(20n)
    const redeemed = await token.send(controller, 'controllerRedeem', ana, 20n, '0x', '0x')
    expect(redeemed.at(-1)?.name).toBe('ControllerRedemption')
    expect(await token.read('totalSupply')).toBe(160n)
    expect(await code(token.send(controller, 'controllerTransfer', ana, bia, 1n, '0x', '0x'))).toBe(
      '0x52',
    )
    expect(
      await code(token.send(controller, 'controllerTransfer', bia, stranger, 1n, '0x', '0x')),
    ).toBe('0x57')
  })

  test('its operator calls emit the controller’s events as well', async () => {
    const token = await stocked()
    const moved = await token.send(
      controller,
      'operatorTransferByPartition',
      restricted,
      ana,
      bia,
      5n,
      '0x',
      '0x',
    )
    expect(moved.map((log) => log.name)).toContain('ControllerTransfer')
    const burned = await token.send(
      controller,
      'operatorRedeemByPartition',
      restricted,
      ana,
      5n,
      '0x',
    )
    expect(burned.map((log) => log.name)).toContain('ControllerRedemption')
  })

  test('others have no such power, and once renounced nobody has', async () => {
    const token = await stocked()
    const force = (who: string) => token.send(who, 'controllerTransfer', ana, bia, 1n, '0x', '0x')
    expect(await code(force(caio))).toBe('0x58')
    expect(await token.read('isOperator', controller, ana)).toBe(true)
    expect(await code(token.send(caio, 'renounceControl'))).toBe('AccessControlUnauthorizedAccount')
    await token.send(owner, 'renounceControl')
    expect(await token.read('isControllable')).toBe(false)
    expect(await token.read('isOperator', controller, ana)).toBe(false)
    for (const [name, ...args] of [
      ['controllerTransfer', ana, bia, 1n, '0x', '0x'],
      ['controllerRedeem', ana, 1n, '0x', '0x'],
      ['operatorTransferByPartition', common, ana, bia, 1n, '0x', '0x'],
      ['operatorRedeemByPartition', common, ana, 1n, '0x'],
    ] as const) {
      expect(await code(token.send(controller, name, ...args))).toBe('NotControllable')
    }
  })
})

test('real estate: terms are checked one by one', async () => {
  const many = Array.from({ length: 17 }, (_, i) => encodeBytes32String(`p${i}`))
  for (const [field, changes] of [
    ['owner', { owner: ZeroAddress }],
    ['totalUnits', { totalUnits: 0n }],
    ['holdingMaxBps', { holdingMaxBps: 10_001 }],
    ['defaultPartitions', { defaultPartitions: [] }],
    ['defaultPartitions', { defaultPartitions: [common, common] }],
    ['defaultPartitions', { defaultPartitions: many }],
  ] as const) {
    expect(await refusal(deploy(changes))).toEqual(['InvalidTerms', field])
  }
  await deploy({ defaultPartitions: many.slice(0, 16) })
})

test('real estate: random walks keep Σ partitions = balance, supplies and the holder count', async () => {
  const partitions = [common, preferred, restricted]
  for (const seed of [3, 5]) {
    const token = await stocked({ holdersMax: 3 })
    const pick = seeded(seed)
    const people = [owner, ana, bia, caio]
    const one = () => people[pick(people.length)]!
    const part = () => partitions[pick(3)]!
    let refused = 0
    for (let step = 0; step < 120; step++) {
      const value = BigInt(pick(80))
      const moves: readonly (readonly [string, string, ...unknown[]])[] = [
        [one(), 'transfer', one(), value],
        [one(), 'transferByPartition', part(), one(), value, '0x'],
        [owner, 'issueByPartition', part(), one(), value, '0x'],
        [owner, 'changePartition', part(), part(), one(), value],
        [one(), 'redeem', value, '0x'],
        [one(), 'redeemByPartition', part(), value, '0x'],
        [controller, 'controllerTransfer', one(), one(), value, '0x', '0x'],
        [controller, 'controllerRedeem', one(), value, '0x', '0x'],
      ]
      const [from, name, ...args] = moves[pick(moves.length)]!
      if ((await refusal(token.send(from, name, ...args))) !== undefined) refused++
      let supply = 0n
      let holders = 0n
      const byPartition = new Map(partitions.map((each) => [each, 0n]))
      for (const person of people) {
        const balance = (await token.read('balanceOf', person)) as bigint
        let sum = 0n
        for (const partition of (await token.read('partitionsOf', person)) as string[]) {
          const held = (await token.read('balanceOfByPartition', partition, person)) as bigint
          expect(held).toBeGreaterThan(0n)
          byPartition.set(partition, byPartition.get(partition)! + held)
          sum += held
        }
        expect(sum).toBe(balance)
        supply += balance
        if (balance > 0n) holders++
      }
      expect(await token.read('totalSupply')).toBe(supply)
      expect(await token.read('holderCount')).toBe(holders)
      for (const [partition, held] of byPartition) {
        expect(await token.read('totalSupplyByPartition', partition)).toBe(held)
      }
    }
    expect(refused).toBeGreaterThan(10)
    expect(refused).toBeLessThan(110)
  }
}, 60_000)
