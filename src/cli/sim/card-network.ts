import { readFileSync } from 'node:fs'
import { macAlgorithms, macOf } from '#src/platform/security/index.ts'
import {
  type BehaviourName,
  behaviours,
  type CardNetworkOptions,
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testTokens,
  testVaultKey,
} from '#src/simulators/card-network/index.ts'
import { type CommandArguments, UsageError } from '../command.ts'
import { listening } from './listening.ts'
import { faultRates } from './rates.ts'
import type { Simulator } from './simulator.ts'

const port = 10_000
const vaultPortDefault = 10_080
const portMax = 65_535
const numberMax = 999_999_999
/** A day: a timer takes no more than 24 of them. */
const secondsMax = 86_400
const feeBasisPointsMax = 10_000

const faultNames = Object.keys(behaviours) as readonly BehaviourName[]

/** `trilho sim card-network`: a network and the vault with its test cards. */
export const cardNetworkSimulator: Simulator = {
  name: 'card-network',
  summary: 'A card network over ISO 8583, and a token vault with its test cards.',
  options: {
    host: { value: 'host', doc: 'Where to listen; 127.0.0.1.' },
    port: { value: 'port', doc: `Of the network; ${port}. 0: a free one.` },
    'vault-port': { value: 'port', doc: `Of the vault; ${vaultPortDefault}. 0: a free one.` },
    dialect: { value: 'name', doc: 'Dialect of ISO 8583; ascii.' },
    frame: { value: 'name', doc: 'How messages are cut; binary-2.' },
    faults: {
      value: 'name=rate,…',
      doc: 'Faults by chance, such as no_answer=0.01,drop_after=0.001.',
    },
    'late-seconds': { value: 'n', doc: 'When the cards answer that answer late; 35.' },
    mac: {
      value: 'algorithm',
      doc: `Codes of messages about payments: ${macAlgorithms.join(', ')}. None without it.`,
    },
    'mac-key': {
      value: 'file',
      doc: 'The first key of codes, hexadecimal digits; without it the gateway has to ask for one.',
    },
    'zone-key': { value: 'file', doc: 'The key that keys are exchanged under (DE 70 101, DE 48).' },
    'key-seconds': {
      value: 'n',
      doc: 'A new key is sent so often; only when asked for without it.',
    },
    'confirmed-keys': {
      doc: 'They are sent with DE 70 161, and used when the gateway has confirmed them with 162.',
    },
    'fee-basis-points': {
      value: 'n',
      doc: 'Of sales and refunds, which its totals of a day tell (DE 83, 85); none without it.',
    },
    seed: { value: 'n', doc: 'The same seed gives the same chances.' },
  },
  example: 'trilho sim card-network --port 10000 --vault-port 10080 --faults no_answer=0.01',
  start: async (args) => {
    const dialect = args.text('dialect') ?? 'ascii'
    const frame = args.text('frame') ?? 'binary-2'
    const host = args.text('host') ?? '127.0.0.1'
    const network = createCardNetwork({
      host,
      port: args.integer('port', 0, portMax) ?? port,
      dialect: findDialect(dialect) ?? unknown('dialect'),
      framing: findFraming(frame) ?? unknown('frame'),
      lateMs: (args.integer('late-seconds', 0, numberMax) ?? 35) * 1_000,
      seed: args.integer('seed', 0, numberMax) ?? 1,
      faults: Object.fromEntries(faultRates(args, faultNames)),
      feeBasisPoints: args.integer('fee-basis-points', 0, feeBasisPointsMax) ?? 0,
      ...securityOf(args),
    })
    const keySeconds = args.integer('key-seconds', 1, secondsMax)
    if (keySeconds !== undefined && args.text('zone-key') === undefined) {
      throw new UsageError('--key-seconds needs --zone-key')
    }
    const vaultPort = args.integer('vault-port', 0, portMax) ?? vaultPortDefault
    await listening(
      () => ({ host, port: network.port(), option: '--port' }),
      () => network.start(),
    )
    const changing = keySeconds && setInterval(() => network.changeKey(), keySeconds * 1_000)
    const vault = await listening(
      () => ({ host, port: vaultPort, option: '--vault-port' }),
      () => createTestVault({ host, port: vaultPort, key: testVaultKey }),
    )
    return {
      place: {
        card_network: { host, port: network.port(), dialect, frame },
        vault: { url: vault.url, key: testVaultKey, tokens: [...testTokens.keys()] },
      },
      lines: [
        `card network  ${host}:${network.port()}  dialect ${dialect}, frame ${frame}`,
        `vault         ${vault.url}  key ${testVaultKey}`,
        `cards         ${[...testTokens.keys()].filter((token) => token.startsWith('tok_visa')).join(' ')}, the same as tok_mastercard_…`,
      ],
      statistics: () => ({ ...network.statistics() }),
      stop: async () => {
        clearInterval(changing)
        network.stop()
        await vault.stop()
      },
    }
  },
}

/** As the files of the gateway's software module write keys. */
const keyForm = /^(?:[0-9A-Fa-f]{16}){1,4}$/
/** A zone key has two or three keys of DES. */
const zoneForm = /^(?:[0-9A-Fa-f]{32}|[0-9A-Fa-f]{48})$/

const keyIn = (args: CommandArguments, option: string, form: RegExp): string | undefined => {
  const path = args.text(option)
  if (path === undefined) return undefined
  let text = ''
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`--${option}: ${(error as Error).message}`)
  }
  if (form.test(text)) return text
  throw new UsageError(`--${option} is no file with a key in hexadecimal digits`)
}

const securityOf = (args: CommandArguments): Pick<CardNetworkOptions, 'security'> => {
  const macKey = keyIn(args, 'mac-key', keyForm)
  const zoneKey = keyIn(args, 'zone-key', zoneForm)
  const name = args.text('mac')
  const hasKey = macKey !== undefined || zoneKey !== undefined
  if (name === undefined && !hasKey) return {}
  const algorithm = macAlgorithms.find((one) => one === name)
  if (algorithm === undefined) throw new UsageError(`--mac is ${macAlgorithms.join(', ')}`)
  if (!hasKey) throw new UsageError('--mac needs --mac-key, --zone-key or both')
  if (macKey !== undefined) requireFit(algorithm, macKey)
  return {
    security: {
      algorithm,
      ...(macKey === undefined ? {} : { macKey }),
      ...(zoneKey === undefined ? {} : { zoneKey }),
      confirms: args.flag('confirmed-keys'),
    },
  }
}

const requireFit = (algorithm: (typeof macAlgorithms)[number], key: string): void => {
  try {
    macOf(algorithm, Uint8Array.fromHex(key), new Uint8Array(1))
  } catch (error) {
    throw new UsageError(`--mac-key: ${(error as Error).message}`)
  }
}

const unknown = (option: string): never => {
  throw new UsageError(`no ${option} of that name`)
}
