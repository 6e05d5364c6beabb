import { expect, test } from 'bun:test'
import { fundWallets } from '../../../src/cli/dev/chain.ts'

const wallets = [
  { label: 'demo-a', address: '0xa' },
  { label: 'demo-b', address: '0xb' },
]

/** What the issuer gives to wallets with these balances, in cents. */
const given = async (balances: Readonly<Record<string, bigint>>) => {
  const funded: Record<string, bigint> = {}
  const gateway = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => Response.json({ wallets }),
  })
  const issuer = {
    token: '0xc',
    directory: '0xd',
    nameInstitution: async () => {},
    fund: async (wallet: string, cents: bigint) => {
      funded[wallet] = cents
    },
    balanceOf: async (wallet: string) => balances[wallet] ?? 0n,
  }
  await fundWallets(issuer, gateway.url.origin, 'key')
  await gateway.stop(true)
  return funded
}

test('a wallet gets money when what it has is too little for the transfer that is shown', async () => {
  const much = 100_000_000n
  expect(await given({})).toEqual({ '0xa': much, '0xb': much })
  expect(await given({ '0xa': 5_000n, '0xb': 14_999n })).toEqual({ '0xa': much, '0xb': much })
  expect(await given({ '0xa': 15_000n, '0xb': much })).toEqual({})
})
