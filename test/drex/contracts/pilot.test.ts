/** The contracts around the currency: directory, institutions' wallets, admission, conversion of reserves. */
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

const at = (folder: string, name: string) => `src/drex/templates/${folder}/generated/${name}.json`

const [admin, ana, bia, stranger] = actors

let bench: ContractBench
let money: Deployed

beforeEach(async () => {
  bench = await createContractBench()
  money = await bench.deploy(at('currency', 'Currency'), ['Real Digital', 'BRL', admin])
  for (const person of [ana, bia]) await money.send(admin, 'enableAccount', person)
})

test('have the selectors of the pilot', async () => {
  const wanted = {
    'address-directory/AddressDirectory': { addressDiscovery: '0x118c894b' },
    'default-accounts/DefaultAccounts': {
      defaultAccount: '0x3f65c4a1',
      updateDefaultWallet: '0x4ebc9e59',
    },
  }
  for (const [path, selectors] of Object.entries(wanted)) {
    const [folder = '', name = ''] = path.split('/')
    const { default: artifact } = await import(`../../../${at(folder, name)}`)
    const abi = new Interface(artifact.abi)
    for (const [fn, selector] of Object.entries(selectors)) {
      expect([fn, abi.getFunction(fn)?.selector]).toEqual([fn, selector])
    }
  }
})

describe('the directory', () => {
  test('names contracts by the hash of their names, for whoever has the role, and unnames them', async () => {
    const directory = await bench.deploy(at('address-directory', 'AddressDirectory'), [admin])
    const name = id('RealDigital')
    expect(name.slice(0, 10)).toBe('0xaa9d7a10')
    expect(await directory.read('addressDiscovery', name)).toBe(ZeroAddress)
    expect((await refusal(directory.send(ana, 'updateAddress', name, ana)))?.[0]).toBe(
      'AccessControlUnauthorizedAccount',
    )
    await directory.send(admin, 'updateAddress', name, money.address)
    expect(String(await directory.read('addressDiscovery', name)).toLowerCase()).toBe(
      money.address.toLowerCase(),
    )
    await directory.send(admin, 'updateAddress', name, ZeroAddress)
    expect(await directory.read('addressDiscovery', name)).toBe(ZeroAddress)
  })
})

describe('default accounts', () => {
  test('the first is named by the authority, the next by the present one, and each is admitted', async () => {
    const accounts = await bench.deploy(at('default-accounts', 'DefaultAccounts'), [
      money.address,
      admin,
      admin,
    ])
    const cnpj8 = 12_345_678n
    expect((await refusal(accounts.send(ana, 'addDefaultAccount', cnpj8, ana)))?.[0]).toBe(
      'AccessControlUnauthorizedAccount',
    )
    for (const none of [stranger, ZeroAddress]) {
      expect((await refusal(accounts.send(admin, 'addDefaultAccount', cnpj8, none)))?.[0]).toBe(
        'AccountNotAuthorized',
      )
    }
    await accounts.send(admin, 'addDefaultAccount', cnpj8, ana)
    expect((await refusal(accounts.send(admin, 'addDefaultAccount', cnpj8, bia)))?.[0]).toBe(
      'AlreadyKnown',
    )
    expect((await refusal(accounts.send(bia, 'updateDefaultWallet', cnpj8, bia)))?.[0]).toBe(
      'NotTheDefaultAccount',
    )
    await accounts.send(ana, 'updateDefaultWallet', cnpj8, bia)
    expect(String(await accounts.read('defaultAccount', cnpj8)).toLowerCase()).toBe(bia)
    expect((await refusal(accounts.send(ana, 'updateDefaultWallet', cnpj8, ana)))?.[0]).toBe(
      'NotTheDefaultAccount',
    )
  })
})

describe('admission', () => {
  test('who is admitted admits others and leaves, and nobody else does', async () => {
    const access = await bench.deploy(at('account-access', 'AccountAccess'), [money.address])
    await money.send(admin, 'grantRole', id('ACCESS_ROLE'), access.address)
    expect((await refusal(access.send(stranger, 'enableAccount', stranger)))?.[0]).toBe(
      'AccountNotAuthorized',
    )
    await access.send(ana, 'enableAccount', stranger)
    expect(await money.read('verifyAccount', stranger)).toBe(true)
    await access.send(ana, 'disableAccount')
    expect(await money.read('verifyAccount', ana)).toBe(false)
    expect((await refusal(access.send(ana, 'enableAccount', ana)))?.[0]).toBe(
      'AccountNotAuthorized',
    )
  })
})

describe('conversion of reserves', () => {
  const deploy = async (max: bigint): Promise<Deployed> => {
    const str = await bench.deploy(at('reserve-transfer', 'ReserveTransfer'), [money.address, max])
    for (const role of ['MINTER_ROLE', 'MOVER_ROLE']) {
      await money.send(admin, 'grantRole', id(role), str.address)
    }
    return str
  }

  test('up to its limit and not one more, for admitted accounts, and never what is frozen', async () => {
    const str = await deploy(1_000n)
    for (const amount of [0n, 1_001n]) {
      expect(await refusal(str.send(ana, 'requestToMint', amount))).toEqual([
        ...(['InvalidAmount', amount, 1_000n] as const),
      ])
    }
    expect((await refusal(str.send(stranger, 'requestToMint', 1n)))?.[0]).toBe('unknown')
    await str.send(ana, 'requestToMint', 1_000n)
    await money.send(admin, 'increaseFrozenBalance', ana, 600n)
    expect((await refusal(str.send(ana, 'requestToBurn', 401n)))?.[0]).toBe('unknown')
    await str.send(ana, 'requestToBurn', 400n)
    expect(await money.read('balanceOf', ana)).toBe(600n)
  })

  test('random walks keep the supply at what was asked for less what was given back', async () => {
    const str = await deploy(500n)
    const pick = seeded(20)
    const held = new Map([ana, bia, stranger].map((person) => [person, 0n]))
    let refused = 0
    for (let step = 0; step < 120; step++) {
      const person = [ana, bia, stranger][pick(3)]!
      const amount = BigInt(pick(620))
      const name = pick(2) === 0 ? 'requestToMint' : 'requestToBurn'
      if ((await refusal(str.send(person, name, amount))) === undefined) {
        held.set(person, held.get(person)! + (name === 'requestToMint' ? amount : -amount))
      } else refused++
    }
    for (const [person, sum] of held) expect(await money.read('balanceOf', person)).toBe(sum)
    expect(await money.read('totalSupply')).toBe([...held.values()].reduce((a, b) => a + b))
    expect(held.get(stranger)).toBe(0n)
    // A walk that was never refused, or always, would prove nothing.
    expect(refused).toBeGreaterThan(20)
    expect(refused).toBeLessThan(100)
  })
})
