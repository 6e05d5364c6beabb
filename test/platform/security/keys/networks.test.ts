/** Addresses and networks, those of IPv4 in the form of IPv6, too. */
import { expect, test } from 'bun:test'
import { kind } from '#src/platform/config/index.ts'
import { networksOf, restrictionsSchema } from '#src/platform/security/index.ts'
import { restrictionsOf } from '../../../../src/platform/security/keys/restrictions.ts'

/** A network, addresses in it, and addresses beside it. */
const cases: readonly [string, readonly string[], readonly string[]][] = [
  ['10.0.0.0/8', ['10.0.0.1', '::ffff:10.0.0.1', '::ffff:a00:1'], ['11.0.0.1', '::a00:1', '']],
  ['::ffff:10.0.0.0/104', ['10.255.0.1', '::FFFF:10.0.0.1'], ['11.0.0.1', '::ffff:b00:1']],
  ['::ffff:a00:0/104', ['10.255.0.1', '::ffff:a00:1'], ['11.0.0.1']],
  ['::ffff:10.0.0.1', ['10.0.0.1', '0:0:0:0:0:ffff:a00:1'], ['10.0.0.2', '::ffff:a00:2']],
  ['0::ffff:a00:1/128', ['10.0.0.1'], ['10.0.0.2']],
  ['::ffff:0:0/96', ['10.0.0.1', '::ffff:a00:1'], ['::1']],
  ['::ffff:10.0.0.0/8', ['10.255.0.1', '::ffff:a00:1'], ['11.0.0.1', '::1', '2001:db8::1']],
  ['::ffff:10.0.0.1/32', ['10.0.0.1', '::ffff:a00:1'], ['10.0.0.2', '::1', '2001:db8::1']],
  ['::/0', ['::1', '2001:db8::ffff:1'], ['10.0.0.1', '::ffff:10.0.0.1']],
  ['2001:db8:ffff::/48', ['2001:db8:ffff::1', '2001:0db8:ffff:0::1'], ['2001:db8::1']],
]

test('has what is in a network, in whatever form, and nothing beside it', () => {
  for (const [network, within, beside] of cases) {
    const networks = networksOf([network])
    const had = [...within, ...beside].filter(networks.has)
    expect([network, had]).toEqual([network, [...within]])
  }
})

test('what means one thing as IPv4 and another as IPv6 is named by nobody any more', () => {
  for (const network of ['::ffff:10.0.0.0/8', '::ffff:a00:0/33', '0::ffff:10.0.0.1/95']) {
    const fault = `${network} has fewer than 96 bits: name the network of IPv4`
    expect(() => kind.network().parse(network, undefined)).toThrow(fault)
    const { error } = restrictionsSchema.safeParse({ addresses: ['10.0.0.0/8', network] })
    expect(error?.issues).toMatchObject([{ path: ['addresses', 1], message: fault }])
  }
  for (const network of ['::ffff:10.0.0.0/104', '::ffff:10.0.0.1', '::/8', '10.0.0.0/8']) {
    expect(kind.network().parse(network, undefined)).toBe(network)
    expect(restrictionsSchema.safeParse({ addresses: [network] }).success).toBe(true)
  }
})

test('a key that was stored with such a network is for the addresses that it was made for', () => {
  const addresses = restrictionsOf({ addresses: ['::ffff:10.0.0.0/8'] })?.addresses
  const asked = ['10.1.2.3', '::ffff:10.1.2.3', '::1', '11.0.0.1']
  expect(asked.map((address) => addresses?.has(address))).toEqual([true, true, false, false])
})
