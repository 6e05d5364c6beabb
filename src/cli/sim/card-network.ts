import {
  createCardNetwork,
  createTestVault,
  type FaultRates,
  findDialect,
  findFraming,
  testTokens,
  testVaultKey,
} from '#src/simulators/card-network/index.ts'
import { type CommandArguments, UsageError } from '../command.ts'
import type { Simulator } from './simulator.ts'

const port = 10_000
const vaultPortDefault = 10_080

/** `trilho sim card-network`: a network and the vault with its test cards. */
export const cardNetworkSimulator: Simulator = {
  name: 'card-network',
  summary: 'A card network over ISO 8583, and a token vault with its test cards.',
  options: {
    host: { type: 'string', value: 'host', doc: 'Where to listen; 127.0.0.1.' },
    port: { type: 'string', value: 'port', doc: `Of the network; ${port}. 0: a free one.` },
    'vault-port': {
      type: 'string',
      value: 'port',
      doc: `Of the vault; ${vaultPortDefault}. 0: a free one.`,
    },
    dialect: { type: 'string', value: 'name', doc: 'Dialect of ISO 8583; ascii.' },
    frame: { type: 'string', value: 'name', doc: 'How messages are cut; binary-2.' },
    faults: {
      type: 'string',
      value: 'name=rate,…',
      doc: 'Faults by chance, such as no_answer=0.01,drop_after=0.001.',
    },
    'late-seconds': {
      type: 'string',
      value: 'n',
      doc: 'When the cards answer that answer late; 35.',
    },
    seed: { type: 'string', value: 'n', doc: 'The same seed gives the same chances.' },
  },
  example: 'trilho sim card-network --port 10000 --vault-port 10080 --faults no_answer=0.01',
  start: async (args) => {
    const dialect = args.text('dialect') ?? 'ascii'
    const frame = args.text('frame') ?? 'binary-2'
    const host = args.text('host') ?? '127.0.0.1'
    const network = createCardNetwork({
      host,
      port: portOf(args, 'port', port),
      dialect: findDialect(dialect) ?? unknown('dialect'),
      framing: findFraming(frame) ?? unknown('frame'),
      lateMs: numberOf(args.text('late-seconds') ?? '35', 'late-seconds') * 1_000,
      seed: numberOf(args.text('seed') ?? '1', 'seed'),
      faults: faultsOf(args.text('faults')),
    })
    const vaultPort = portOf(args, 'vault-port', vaultPortDefault)
    network.start()
    const vault = createTestVault({ host, port: vaultPort, key: testVaultKey })
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
        network.stop()
        await vault.stop()
      },
    }
  },
}

const unknown = (option: string): never => {
  throw new UsageError(`no ${option} of that name`)
}

const numberOf = (text: string, option: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${option} is a whole number`)
  return Number(text)
}

const portOf = (args: CommandArguments, option: string, fallback: number): number => {
  const port = numberOf(args.text(option) ?? String(fallback), option)
  if (port > 65_535) throw new UsageError(`--${option} is at most 65535`)
  return port
}

const faultsOf = (text: string | undefined): FaultRates => {
  const pairs = (text ?? '').split(',').filter((pair) => pair !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', rate = ''] = /^([a-z_]+)=(\d(?:\.\d{1,6})?)$/.exec(pair) ?? []
      if (name === '') throw new UsageError('--faults is name=rate,… with rates from 0 to 1')
      return [name, Number(rate)]
    }),
  )
}
