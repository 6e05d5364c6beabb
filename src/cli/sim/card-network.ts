import {
  type BehaviourName,
  behaviours,
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testTokens,
  testVaultKey,
} from '#src/simulators/card-network/index.ts'
import { UsageError } from '../command.ts'
import { faultRates } from './rates.ts'
import type { Simulator } from './simulator.ts'

const port = 10_000
const vaultPortDefault = 10_080
const portMax = 65_535
const numberMax = 999_999_999

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
    })
    const vaultPort = args.integer('vault-port', 0, portMax) ?? vaultPortDefault
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
