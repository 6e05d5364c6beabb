import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createNetwork, type NetworkOptions } from '../../../src/cards/networks/index.ts'
import { createSoftwareModule, ModuleKey } from '../../../src/cards/security/index.ts'
import { cardNetworkSimulator } from '../../../src/cli/sim/card-network.ts'
import { networkOptions, payment, until } from '../../support/card-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

/* `trilho sim card-network` with codes, by the files that the gateway's software module takes. */

const macKey = '0123456789ABCDEFFEDCBA9876543210'
const zoneKey = '5D6B2A0E4C8F91A237C4D0E09B5826FE'

const file = (text: string): string => {
  const path = join(temporaryDirectory(), `${Bun.randomUUIDv7()}.key`)
  writeFileSync(path, `${text}\n`)
  return path
}

const start = (options: Readonly<Record<string, string>>) =>
  cardNetworkSimulator.start({
    positionals: ['card-network'],
    text: (name) => options[name],
    flag: (name) => options[name] === 'true',
    integer: (name) => {
      const given = options[name] ?? (name.endsWith('port') ? '0' : undefined)
      return given === undefined ? undefined : Number(given)
    },
  })

const exchange = {
  networkCode: '101',
  asks: true,
  keys: [{ use: 'mac', field: 48, at: 0, digits: 32, checkValueAt: 32, checkValueDigits: 6 }],
} as const

const answered = async (
  port: number,
  security: NonNullable<NetworkOptions['security']>,
  timeoutMs: number,
) => {
  const network = createNetwork(networkOptions(port, { module: createSoftwareModule(), security }))
  network.start()
  await until(() => network.health().connectionsUp === 1, 'the connection')
  const outcome = await network.exchange(payment(1), timeoutMs)
  await network.stop()
  return outcome.kind === 'answered' ? outcome.response.responseCode : outcome.kind
}

test('messages have codes, under the key of a file or one that is asked for', async () => {
  const files = { 'mac-key': file(macKey), 'zone-key': file(zoneKey) }
  const running = await start({ mac: 'x9.19', ...files })
  try {
    const { port } = running.place['card_network'] as { readonly port: number }
    const zone = new ModuleKey(zoneKey)
    const mac = { algorithm: 'x9.19', bytes: 8, key: new ModuleKey(macKey) } as const
    const wrong = { ...mac, key: new ModuleKey(zoneKey) }
    expect(await answered(port, { zone, mac, exchange: undefined }, 20_000)).toBe('00')
    expect(await answered(port, { zone, mac: wrong, exchange: undefined }, 50)).toBe('timed_out')
    await until(() => running.statistics()['wrongCodes'] === 1, 'the message with a wrong code')
    const asking = { zone, mac: { ...mac, key: undefined }, exchange }
    expect(await answered(port, asking, 20_000)).toBe('00')
    expect(running.statistics()).toMatchObject({ wrongCodes: 1, keysExchanged: 1 })
  } finally {
    await running.stop()
  }
})

test('keys are sent by the clock, and used when they are answered or confirmed', async () => {
  const files = { 'mac-key': file(macKey), 'zone-key': file(zoneKey) }
  for (const [more, delivery, received] of [
    [{}, { networkCode: '101' }, { '0810': 1 }],
    [
      { 'confirmed-keys': 'true' },
      { networkCode: '161', confirmationCode: '162' },
      { '0810': 1, '0800': 1 },
    ],
  ] as const) {
    const running = await start({ mac: 'x9.19', 'key-seconds': '1', ...files, ...more })
    const { port } = running.place['card_network'] as { readonly port: number }
    const mac = { algorithm: 'x9.19', bytes: 8, key: new ModuleKey(macKey) } as const
    const told = { ...exchange, asks: false, ...delivery }
    const security = { zone: new ModuleKey(zoneKey), mac, exchange: told }
    const network = createNetwork(
      networkOptions(port, { module: createSoftwareModule(), security }),
    )
    network.start()
    try {
      await until(() => running.statistics()['keysExchanged'] === 1, 'a key')
      const outcome = await network.exchange(payment(1), 20_000)
      expect(outcome).toMatchObject({ kind: 'answered', response: { responseCode: '00' } })
      expect(running.statistics()).toMatchObject({ wrongCodes: 0, received })
    } finally {
      await network.stop()
      await running.stop()
    }
  }
})

test('what is missing or of another form is said', async () => {
  const key = file(macKey)
  for (const [options, said] of [
    [{ mac: 'x9.19' }, '--mac needs --mac-key, --zone-key or both'],
    [{ mac: 'x9.19', 'mac-key': key, 'key-seconds': '1' }, '--key-seconds needs --zone-key'],
    [{ 'mac-key': key }, '--mac is x9.9'],
    [{ mac: 'rot13', 'mac-key': key }, '--mac is x9.9'],
    [{ mac: 'x9.9', 'mac-key': key }, '--mac-key: a key of x9.9 has 8 bytes'],
    [{ mac: 'x9.19', 'mac-key': file('no key') }, '--mac-key is no file with a key'],
    [{ mac: 'x9.19', 'mac-key': '/nowhere' }, '--mac-key: ENOENT'],
    [{ mac: 'x9.19', 'zone-key': file('0123456789ABCDEF') }, '--zone-key is no file with a key'],
  ] as const) {
    await expect(start(options)).rejects.toThrow(said)
  }
})
