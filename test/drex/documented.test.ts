import { expect, test } from 'bun:test'
import { benchOfFile } from './support.ts'

/** The requests of the interface's description, each as it stands there. */
const bench = await benchOfFile()
const ana = await bench.wallet()
const bia = await bench.wallet(0n)

const post = async (path: string, body: object) => {
  const { status, json } = await bench.call('POST', path, body)
  expect([path, status < 300, json as object]).toEqual([path, true, expect.anything()])
  return json as Record<string, string>
}

test('a wallet with a label and metadata', async () => {
  const made = await post('/v1/wallets', {
    type: 'managed',
    label: 'Cliente 1',
    metadata: { customer_id: 'cus_123' },
  })
  expect(made).toMatchObject({ type: 'managed', label: 'Cliente 1' })
  const path = `/v1/wallets/${made['wallet_id']}/transactions`
  expect((await bench.call('GET', path)).status).toBe(200)
})

test('a transfer and its state, and a balance', async () => {
  const made = await post('/v1/drex/transfers', {
    from_wallet: ana,
    to_wallet: bia,
    amount: '150.00',
    reference: 'PED-1',
    metadata: { description: 'Pagamento' },
  })
  expect(made).toMatchObject({ status: 'pending', amount: '150.00', tx_hash: null })
  const path = `/v1/drex/transfers/${made['transfer_id']}`
  expect((await bench.call('GET', path)).status).toBe(200)
  const balance = await bench.call('GET', `/v1/drex/balance/${ana}`)
  expect(balance.json as object).toMatchObject({ currency: 'DREX' })
})

test('a token from its template, then `transfer` with `to` and `amount`, also of the currency', async () => {
  const made = await post('/v1/contracts/deploy', {
    template: 'tokenized_asset',
    params: { name: 'Token', symbol: 'TKN', total_supply: '1000000', decimals: 2 },
    network: 'drex_testnet',
    signer_wallet: ana,
  })
  const asset = made['address'] as string
  const state = async () => (await bench.call('GET', `/v1/contracts/${asset}`)).json
  await bench.until(
    async () => (await (state() as Promise<{ status: string }>)).status === 'deployed',
  )
  for (const address of [asset, bench.admin.token]) {
    for (const name of ['amount', 'value']) {
      const called = await post(`/v1/contracts/${address}/call`, {
        function: 'transfer',
        params: { to: bia, [name]: '100' },
        signer_wallet: ana,
      })
      expect(called).toMatchObject({ status: 'pending' })
    }
  }
  // Calls that one block confirms are told in any order.
  const told = () =>
    bench.events.flatMap(({ type, data }) => (type === 'drex.contract.called' ? [data] : []))
  await bench.until(async () => told().length === 4)
  const ofToken = told().filter((data) => data.contract_id === made['contract_id'])
  expect(ofToken.map(({ status }) => status)).toEqual(['confirmed', 'confirmed'])
  const twice = { to: bia, amount: '1', value: '2' }
  const refused = await bench.call('POST', `/v1/contracts/${asset}/call`, {
    function: 'transfer',
    params: twice,
    signer_wallet: ana,
  })
  expect(refused.status).toBe(400)
})
