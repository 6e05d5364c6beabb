/** Addresses and networks, those of IPv4 in the form of IPv6, too. */
import { expect, test } from 'bun:test'
import { networksOf } from '#src/platform/security/index.ts'

/** A network, addresses in it, and addresses beside it. */
const cases: readonly [string, readonly string[], readonly string[]][] = [
  ['10.0.0.0/8', ['10.0.0.1', '::ffff:10.0.0.1', '::ffff:a00:1'], ['11.0.0.1', '::a00:1', '']],
  ['::ffff:10.0.0.0/104', ['10.255.0.1', '::FFFF:10.0.0.1'], ['11.0.0.1', '::ffff:b00:1']],
  ['::ffff:a00:0/104', ['10.255.0.1', '::ffff:a00:1'], ['11.0.0.1']],
  ['::ffff:10.0.0.1', ['10.0.0.1', '0:0:0:0:0:ffff:a00:1'], ['10.0.0.2', '::ffff:a00:2']],
  ['0::ffff:a00:1/128', ['10.0.0.1'], ['10.0.0.2']],
  ['::ffff:0:0/96', ['10.0.0.1', '::ffff:a00:1'], ['::1']],
  ['::ffff:10.0.0.1/32', ['::1'], ['10.0.0.1', '::ffff:a00:1', '2001:db8::1']],
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
