import { describe, expect, test } from 'bun:test'
import { Interface, id } from 'ethers'
import { createSealer } from '#src/platform/security/index.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { templateNames } from '../../src/drex/templates/index.ts'
import { createWallets } from '../../src/drex/wallets/service.ts'
import rulesArtifact from '../../src/simulators/chain/contracts/generated/AccountRules.json'
import retailArtifact from '../../src/simulators/chain/contracts/generated/RetailCurrency.json'
import swapArtifact from '../../src/simulators/chain/contracts/generated/SwapOneStep.json'
import {
  type Admin,
  adminAddress,
  type Bench,
  benchOfFile,
  createBench,
  noCustody,
  sealer,
  type TransferBody,
} from './support.ts'

type Contract = {
  contract_id: string
  address: string
  status: string
  tx_hash: string | null
  error: unknown
}

const bench = await benchOfFile()
const ana = await bench.wallet()
const bia = await bench.wallet(0n)

const asset = (changes: object = {}) => ({
  template: 'tokenized_asset',
  params: { name: 'Debênture', symbol: 'DEB', total_supply: '1000.50', decimals: 2, owner: ana },
  network: 'drex_testnet',
  ...changes,
})

const deployed = async (body: object, on = bench, wanted = 'deployed'): Promise<string> => {
  const { status, json } = await on.call('POST', '/v1/contracts/deploy', body)
  expect([status, (json as Contract).error]).toEqual([202, null])
  const { address } = json as Contract
  expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/)
  await on.until(async () => {
    const read = (await on.call('GET', `/v1/contracts/${address}`)).json as Contract
    return read.status === wanted
  })
  return address
}

const call = (address: string, body: object, on = bench) =>
  on.call('POST', `/v1/contracts/${address}/call`, body)

const sent = async (address: string, body: object, on = bench): Promise<string> => {
  const { status, json } = await call(address, body, on)
  expect(json as object).toMatchObject({ status: 'pending', tx_hash: null })
  expect(status).toBe(200)
  const id = (json as { transaction_id: string }).transaction_id
  let last = ''
  await on.until(async () => {
    const read = (await on.call('GET', `/v1/contracts/${address}/calls/${id}`)).json
    last = (read as { status: string }).status
    return ['confirmed', 'reverted', 'failed'].includes(last)
  })
  return last
}

describe('deploying and calling', () => {
  test('the predicted address is where the contract is; a view answers at once', async () => {
    const address = await deployed(asset())
    const supply = await call(address, { function: 'totalSupply' })
    expect(supply.json as object).toEqual({ function: 'totalSupply()', result: '100050' })
    const event = bench.events.find((each) => each.type === 'drex.contract.deployed')
    expect(event?.data).toMatchObject({ status: 'confirmed' })
  })

  test('arguments by name or by position; what changes the chain is followed', async () => {
    const address = await deployed(asset())
    const byName = { function: 'transfer', params: { to: bia, value: '50' }, signer_wallet: ana }
    expect(await sent(address, byName)).toBe('confirmed')
    const byPlace = { function: 'transfer(address,uint256)', params: [bia, 7], signer_wallet: ana }
    expect(await sent(address, byPlace)).toBe('confirmed')
    const { json } = await call(address, { function: 'balanceOf', params: { account: bia } })
    expect(json as object).toMatchObject({ result: '57' })
  })

  test('a revert is decoded and uses no nonce', async () => {
    const address = await deployed(asset())
    const { status, json } = await call(address, {
      function: 'mint',
      params: { to: bia, amount: '1' },
      signer_wallet: bia,
    })
    expect(status).toBe(422)
    expect(json as object).toMatchObject({
      error: {
        code: 'CONTRACT_REVERTED',
        details: { revert: { name: 'AccessControlUnauthorizedAccount' } },
      },
    })
  })

  test('every bad argument is named', async () => {
    const address = await deployed(asset())
    const bad = async (body: object) => {
      const { status, json } = await call(address, { signer_wallet: ana, ...body })
      expect(status).toBe(400)
      return (json as { error: { details: { field: string } } }).error.details.field
    }
    expect(await bad({ function: 'fly' })).toBe('function')
    expect(await bad({ function: 'transfer', params: { to: bia } })).toBe('params.value')
    expect(await bad({ function: 'transfer', params: [bia] })).toBe('params')
    expect(await bad({ function: 'transfer', params: { to: '0x1', value: '1' } })).toBe('params.to')
    for (const value of ['-1', '1.5', 1.5, true, '', (2n ** 256n).toString(), 2 ** 53]) {
      expect(await bad({ function: 'transfer', params: { to: bia, value } })).toBe('params.value')
    }
    const extra = { function: 'transfer', params: { to: bia, value: '1', memo: 'x' } }
    expect(await bad(extra)).toBe('params.memo')
    const unsigned = await call(address, { function: 'transfer', params: { to: bia, value: '1' } })
    expect(unsigned.status).toBe(400)
  })

  test('bad parameters of a template are named before anything is sent', async () => {
    for (const [field, params] of [
      ['params.name', { name: '' }],
      ['params.decimals', { decimals: 19 }],
      ['params.total_supply', { total_supply: '1.001' }],
      ['params.total_supply', { total_supply: '-1' }],
      ['params.owner', { owner: '0x12' }],
      ['params.colour', { colour: 'red' }],
    ] as const) {
      const body = asset({ params: { ...asset().params, ...params } })
      const { status, json } = await bench.call('POST', '/v1/contracts/deploy', body)
      const named = JSON.stringify(json)
      expect([status, named.includes(field) || named.includes('colour')]).toEqual([400, true])
    }
    const unknown = await bench.call('POST', '/v1/contracts/deploy', asset({ template: 'nft' }))
    expect(unknown.status).toBe(400)
  })

  test('terms that the constructor refuses answer 422 with its reason', async () => {
    const { status, json } = await bench.call('POST', '/v1/contracts/deploy', {
      template: 'escrow',
      params: {
        payer: ana,
        payee: bia,
        arbiter: ana,
        amount: '10.00',
        deadline: '2099-01-01T00:00:00Z',
      },
    })
    expect(status).toBe(422)
    expect(json as object).toMatchObject({
      error: { details: { revert: { name: 'InvalidTerms', args: ['arbiter'] } } },
    })
  })

  test('every template deploys with its least parameters', async () => {
    const caio = `0x${'c1'.repeat(20)}`
    await deployed({ template: 'currency', params: { name: 'Real', symbol: 'BRL@12345678' } })
    await deployed({
      template: 'receivables',
      params: {
        name: 'Duplicata 1',
        symbol: 'DUP1',
        payer: bia,
        face_value: '1000.00',
        issue_date: '2026-01-01',
        due_date: '2098-01-01',
      },
    })
    await deployed({
      template: 'escrow',
      params: {
        payer: ana,
        payee: bia,
        arbiter: caio,
        amount: '10.00',
        deadline: '2098-01-01T00:00:00-03:00',
      },
    })
    const house = await deployed({
      template: 'real_estate',
      params: {
        name: 'Edifício Aurora',
        symbol: 'AUR',
        total_units: '1000',
        default_partitions: ['common', 'preferred'],
        property: {
          registration: '12.345',
          registry: '1º RI de São Paulo (CNS 11.111-1)',
          address: 'Rua A, 1',
          area_m2: '120.50',
        },
      },
    })
    const documents = await call(house, { function: 'getAllDocuments' })
    expect((documents.json as { result: string[] }).result.length).toBe(1)
  }, 60_000)

  test('the same key deploys once', async () => {
    const headers = { 'Idempotency-Key': 'deploy-1' }
    const first = await bench.call('POST', '/v1/contracts/deploy', asset(), headers)
    const again = await bench.call('POST', '/v1/contracts/deploy', asset(), headers)
    expect(again.json as object).toEqual(first.json as object)
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    const refused = { ...headers, 'Idempotency-Key': 'deploy-2' }
    const bad = await bench.call('POST', '/v1/contracts/deploy', asset({ params: {} }), refused)
    expect(bad.status).toBe(400)
    expect((await bench.call('POST', '/v1/contracts/deploy', asset(), refused)).status).toBe(202)
  })

  test('an ABI is registered for a contract that is there, and again in its place', async () => {
    const stranger = await retail(bench.admin, adminAddress)
    const view = (name: string) => [
      { type: 'function', name, inputs: [], outputs: [{ type: 'uint8' }], stateMutability: 'view' },
    ]
    const register = (changes: object) =>
      bench.call('POST', '/v1/contracts', { address: stranger, abi: view('paused'), ...changes })
    expect((await register({ address: `0x${'44'.repeat(20)}` })).status).toBe(404)
    expect((await register({ abi: [{ type: 'nonsense' }] })).status).toBe(400)
    const first = await register({})
    const second = await register({ abi: view('decimals'), label: 'better' })
    expect([first.status, second.status]).toEqual([201, 201])
    const id = (first.json as Contract).contract_id
    expect(second.json as object).toMatchObject({ contract_id: id, label: 'better' })
    const { json } = await call(stranger, { function: 'decimals' })
    expect(json as object).toMatchObject({ result: '2' })
  })

  test('an answer that is not what the ABI says is told as it came', async () => {
    const stranger = await retail(bench.admin, adminAddress)
    const outputs = [{ type: 'string' }]
    const abi = [
      { type: 'function', name: 'decimals', inputs: [], outputs, stateMutability: 'view' },
    ]
    await bench.call('POST', '/v1/contracts', { address: stranger, abi })
    const { status, json } = await call(stranger, { function: 'decimals' })
    expect([status, json]).toMatchObject([
      422,
      {
        error: {
          code: 'ANSWER_UNREADABLE',
          details: { data: `0x${'2'.padStart(64, '0')}`, bytes: 32 },
        },
      },
    ])
  })

  test('the currency of the settings is registered from the start, and nobody replaces it', async () => {
    const { token } = bench.admin
    const listed = async () =>
      ((await bench.call('GET', '/v1/contracts?limit=200')).json as { contracts: Contract[] })
        .contracts
    await bench.until(async () =>
      (await listed()).some(({ address }) => address.toLowerCase() === token),
    )
    const { json } = await call(token, { function: 'symbol' })
    expect(json as object).toMatchObject({ result: 'BRL' })
    const abi = [{ type: 'function', name: 'transfer', inputs: [], outputs: [] }]
    expect((await bench.call('POST', '/v1/contracts', { address: token, abi })).status).toBe(409)
  })

  test('templates, lists and what is not there', async () => {
    const { templates } = (await bench.call('GET', '/v1/contracts/templates')).json as {
      templates: { template: string; params: { required: string[] } }[]
    }
    expect(templates.map(({ template }) => template).sort()).toEqual([...templateNames].sort())
    expect(templates.find((each) => each.template === 'tokenized_asset')?.params.required).toEqual([
      'name',
      'symbol',
      'total_supply',
      'decimals',
    ])
    const { contracts } = (await bench.call('GET', '/v1/contracts?limit=2')).json as {
      contracts: Contract[]
    }
    expect(contracts.length).toBe(2)
    expect((await bench.call('GET', `/v1/contracts/0x${'45'.repeat(20)}`)).status).toBe(404)
    expect((await bench.call('GET', '/v1/contracts/0x45')).status).toBe(400)
  })
})

describe('a permissioned network', () => {
  test('a deployment is followed by its entry in the account rules', async () => {
    const other = await createBench()
    const permitted = await createRules(other)
    try {
      const address = await deployed(
        asset({ signer_wallet: permitted.wallet }),
        permitted.bench,
        'permitted',
      )
      const rules = new Interface(rulesArtifact.abi)
      const outcome = await permitted.bench.chain.request('eth_call', [
        { to: permitted.rules, data: rules.encodeFunctionData('verifyTarget', [address]) },
        'latest',
      ])
      expect(BigInt((outcome as { result: string }).result)).toBe(1n)
    } finally {
      await permitted.bench.stop()
      await other.stop()
    }
  }, 60_000)

  test('a wallet or contract that the rules do not know is refused before anything is signed', async () => {
    const other = await createBench()
    const { bench: permissioned, rules, wallet } = await createRules(other)
    const abi = new Interface(rulesArtifact.abi)
    const change = (name: string, address: string) =>
      other.admin.send(rules, abi.encodeFunctionData(name, [address]))
    try {
      const stranger = await other.wallet()
      const body = { type: 'managed', label: 'stranger' }
      const created = (await permissioned.call('POST', '/v1/wallets', body)).json
      const { address } = created as { address: Hex }
      const refused = await permissioned.call(
        'POST',
        '/v1/contracts/deploy',
        asset({ signer_wallet: address }),
      )
      expect(refused.status).toBe(422)
      expect(refused.json as object).toMatchObject({
        error: {
          code: 'ACCOUNT_NOT_PERMITTED',
          details: { field: 'signer_wallet', sender: address.toLowerCase(), target: null },
        },
      })
      // The currency is no target yet: the transfer ends without a nonce.
      await other.admin.currency('enableAccount', wallet)
      await other.admin.currency('mint', wallet, 500n)
      const pay = async (wanted: string) => {
        const transfer = { from_wallet: wallet, to_wallet: stranger, amount: '1.00' }
        const { json } = await permissioned.call('POST', '/v1/drex/transfers', transfer)
        const { transfer_id: id } = json as TransferBody
        const read = async () =>
          (await permissioned.call('GET', `/v1/drex/transfers/${id}`)).json as TransferBody
        await permissioned.until(async () => (await read()).status === wanted)
        return read()
      }
      const failed = await pay('failed')
      expect([failed.error?.code, failed.tx_hash]).toEqual(['NOT_PERMITTED', null])
      await change('addTarget', other.admin.token)
      // A refusal is not remembered.
      await pay('confirmed')
      expect(await other.balance(stranger)).toBe(100_100n)
    } finally {
      await permissioned.stop()
      await other.stop()
    }
  }, 60_000)
})

/** A second gateway whose network has account rules, on the first one's chain. */
const createRules = async (base: Bench) => {
  const abi = new Interface(rulesArtifact.abi)
  const data = rulesArtifact.bytecode + abi.encodeDeploy([adminAddress]).slice(2)
  const rules = (await base.admin.send(undefined, data))!
  const permissioned = await createBench({
    env: {
      DREX_TESTNET_RPC_URLS: base.chain.url,
      DREX_TESTNET_TOKEN: base.admin.token,
      DREX_TESTNET_PERMISSIONING: rules,
    },
  })
  const created = await permissioned.call('POST', '/v1/wallets', { type: 'managed', label: 'bank' })
  const wallet = (created.json as { address: string }).address
  await base.admin.send(rules, abi.encodeFunctionData('addAccount', [wallet]))
  return { bench: { ...permissioned, chain: base.chain, stop: permissioned.stop }, rules, wallet }
}

describe('between institutions', () => {
  test('three visible steps by two signers; all or nothing', async () => {
    const base = await createBench()
    const swapAbi = new Interface(swapArtifact.abi)
    const data = swapArtifact.bytecode + swapAbi.encodeDeploy([base.admin.token]).slice(2)
    const swap = (await base.admin.send(undefined, data))!
    const on = await createBench({
      env: {
        DREX_TESTNET_RPC_URLS: base.chain.url,
        DREX_TESTNET_TOKEN: base.admin.token,
        DREX_TESTNET_SWAP: swap,
      },
    })
    try {
      await exchange(base, on, swap)
    } finally {
      await on.stop()
      await base.stop()
    }
  }, 60_000)
})

const exchange = async (base: Bench, on: Bench, swap: Hex): Promise<void> => {
  const { admin, chain } = base
  const addressOf = async (label: string) => {
    const created = await on.call('POST', '/v1/wallets', { type: 'managed', label })
    return (created.json as { address: string }).address.toLowerCase() as Hex
  }
  const [reserveA, reserveB, customer, receiver] = [
    await addressOf('reserve of A'),
    await addressOf('reserve of B'),
    await addressOf('customer of A'),
    await addressOf('customer of B'),
  ]
  for (const each of [reserveA, reserveB]) await admin.currency('enableAccount', each)
  await admin.currency('mint', reserveA, 10_000n)
  const [retailA, retailB] = [await retail(admin, reserveA), await retail(admin, reserveB)]
  const at = (token: Hex, name: string, ...args: readonly unknown[]) =>
    admin.send(token, retailAbi.encodeFunctionData(name, args))
  for (const token of [retailA, retailB]) {
    for (const each of [customer, receiver]) await at(token, 'enableAccount', each)
    for (const role of ['MOVER_ROLE', 'MINTER_ROLE']) await at(token, 'grantRole', id(role), swap)
  }
  await at(retailA, 'mint', customer, 5_000n)

  const pay = async (amount: string) => {
    const { status, json } = await on.call('POST', '/v1/drex/transfers', {
      from_wallet: customer,
      to_wallet: receiver,
      amount,
      swap: { sender_token: retailA, receiver_token: retailB, reserve_wallet: reserveA },
    })
    expect(status).toBe(202)
    const read = async () =>
      (await on.call('GET', `/v1/drex/transfers/${(json as TransferBody).transfer_id}`))
        .json as TransferBody
    await on.until(async () => ['confirmed', 'failed'].includes((await read()).status))
    return read()
  }
  const balances = async () => {
    const holdings = [
      [retailA, customer],
      [retailB, receiver],
      [admin.token, reserveA],
      [admin.token, reserveB],
    ] as const
    return Promise.all(
      holdings.map(async ([to, who]) => {
        const data = retailAbi.encodeFunctionData('balanceOf', [who])
        const outcome = await chain.request('eth_call', [{ to, data }, 'latest'])
        return Number((outcome as { result: string }).result)
      }),
    )
  }
  const paid = await pay('25.00')
  // What takes back allowances comes after it.
  expect(paid.steps.slice(0, 3).map((step) => [step.kind, step.status])).toEqual([
    ['approve', 'confirmed'],
    ['approve', 'confirmed'],
    ['swap', 'confirmed'],
  ])
  expect(await balances()).toEqual([2_500, 2_500, 7_500, 2_500])

  const refused = await pay('25.01')
  expect(refused.steps.slice(0, 3).map((step) => step.status)).toEqual([
    ...['confirmed', 'confirmed', 'failed'],
  ])
  expect(refused.steps.slice(3).map((step) => step.kind)).toEqual(['revoke', 'revoke'])
  expect(refused.error?.revert?.name).toBe('ERC20InsufficientBalance')
  expect(await balances()).toEqual([2_500, 2_500, 7_500, 2_500])
}

const retailAbi = new Interface(retailArtifact.abi)

const retail = async (admin: Admin, reserve: Hex): Promise<Hex> => {
  const args = retailAbi.encodeDeploy(['Real Tokenizado', 'BRL@1', adminAddress, reserve])
  return (await admin.send(undefined, retailArtifact.bytecode + args.slice(2)))!
}

describe('wallets', () => {
  test('created, listed, read; a key is never shown', async () => {
    const created = await bench.call('POST', '/v1/wallets', {
      type: 'managed',
      label: 'Cliente 1',
      metadata: { customer_id: 'c-1' },
    })
    expect(created.status).toBe(201)
    const wallet = created.json as { wallet_id: string; address: string }
    expect(Object.keys(wallet).sort()).toEqual([
      'address',
      'alerts',
      'created_at',
      'environment',
      'key_name',
      'label',
      'metadata',
      'policy',
      'status',
      'type',
      'wallet_id',
    ])
    const read = await bench.call('GET', `/v1/wallets/${wallet.wallet_id}`)
    expect(read.json as object).toEqual(wallet)
    const list = (await bench.call('GET', '/v1/wallets?limit=1')).json as {
      wallets: unknown[]
      next_cursor: string
    }
    expect([list.wallets.length, typeof list.next_cursor]).toEqual([1, 'string'])
    expect((await bench.call('GET', '/v1/wallets/wal_none')).status).toBe(404)
    const history = await bench.call('GET', `/v1/wallets/${wallet.wallet_id}/transactions`)
    expect(history.json as object).toEqual({ transactions: [], next_cursor: null })
  })

  test('the transactions of a wallet: in and out', async () => {
    const to = await bench.wallet(0n)
    const pay = { from_wallet: ana, to_wallet: to, amount: '1.00' }
    await bench.call('POST', '/v1/drex/transfers', pay)
    const { wallets } = (await bench.call('GET', '/v1/wallets?limit=200')).json as {
      wallets: { wallet_id: string; address: string }[]
    }
    const id = wallets.find((each) => each.address.toLowerCase() === to)?.wallet_id
    const { transactions } = (await bench.call('GET', `/v1/wallets/${id}/transactions`)).json as {
      transactions: { direction: string; kind: string }[]
    }
    expect(transactions.map((each) => [each.direction, each.kind])).toEqual([['in', 'transfer']])
  })

  test('an address belongs to external wallets, and to them alone; each once', async () => {
    const create = (body: object) => bench.call('POST', '/v1/wallets', { label: 'w', ...body })
    const address = `0x${'de'.repeat(20)}`
    expect((await create({ type: 'managed', address })).status).toBe(400)
    expect((await create({ type: 'external' })).status).toBe(400)
    expect((await create({ type: 'external', address })).status).toBe(201)
    expect((await create({ type: 'external', address })).status).toBe(409)
    expect((await create({ type: 'hardware' })).status).toBe(400)
    expect((await create({ type: 'managed', label: '' })).status).toBe(400)
  })

  test('a rotation seals every key anew; the old master key is then not needed', async () => {
    const { sql } = bench.database
    const present = createSealer(
      new Uint8Array(32).map((_, i) => 200 - i),
      [Uint8Array.from({ length: 32 }, (_, i) => i * 5 + 1)],
    )
    const alone = createSealer(new Uint8Array(32).map((_, i) => 200 - i))
    const rotating = createWallets({
      sql,
      sealer: present,
      ...noCustody,
    })
    const first = await rotating.sealed.reseal()
    expect(first.resealed).toBeGreaterThan(2)
    expect(await rotating.sealed.reseal()).toEqual({
      resealed: 0,
      current: first.resealed,
      unreadable: 0,
    })
    const after = createWallets({
      sql,
      sealer: alone,
      ...noCustody,
    })
    const unsigned = {
      chainId: 1,
      nonce: 0,
      gasLimit: 21_000n,
      fees: { kind: 'legacy', gasPrice: 0n },
      to: ana,
      value: 0n,
      data: '0x',
    } as const
    expect((await (await after.signerFor(ana, 'test')).signTransaction(unsigned)).raw).toMatch(
      /^0x/,
    )
    const old = createWallets({ sql, sealer, ...noCustody })
    const signer = await old.signerFor(ana, 'test')
    expect(() => signer.signTransaction(unsigned)).toThrow()
    const none = createWallets({
      sql,
      sealer: undefined,
      ...noCustody,
    })
    const wanted = {
      type: 'managed',
      label: 'x',
      metadata: {},
      address: undefined,
      account: 'default',
      environment: 'test',
      createdBy: 't',
    } as const
    expect(none.create(wanted)).rejects.toThrow('TRILHO_MASTER_KEY')
  })
})
