import { readFile } from 'node:fs/promises'
import {
  acceptingPsp,
  type CentralBankOptions,
  createCentralBank,
  payingPsp,
} from '#src/simulators/central-bank/index.ts'
import { type CommandArguments, UsageError } from '../command.ts'
import type { Simulator } from './simulator.ts'

/** Those of the real one's test environment. */
const PORT = 16_522
const SECONDARY_PORT = 17_522
const secondsMax = 3_600

/** `trilho sim central-bank`: the message interface of instant payments, with settlement. */
export const centralBankSimulator: Simulator = {
  name: 'central-bank',
  summary: 'The central bank’s instant payment message interface, both channels, with settlement.',
  options: {
    host: { type: 'string', value: 'host', doc: 'Where to listen; 127.0.0.1.' },
    port: { type: 'string', value: 'port', doc: `Of the primary channel; ${PORT}. 0: a free one.` },
    'secondary-port': {
      type: 'string',
      value: 'port',
      doc: `Of the secondary channel; ${SECONDARY_PORT}. 0: a free one.`,
    },
    'tls-cert': { type: 'string', value: 'file', doc: 'PEM; serves TLS, needs --tls-key.' },
    'tls-key': { type: 'string', value: 'file', doc: 'PEM of the private key.' },
    'client-ca': {
      type: 'string',
      value: 'file',
      doc: 'PEM; clients must show a certificate of this authority.',
    },
    'settlement-limit-seconds': {
      type: 'string',
      value: 'seconds',
      doc: 'From a payment to its rejection with AB03; 40.',
    },
    'long-poll-seconds': {
      type: 'string',
      value: 'seconds',
      doc: 'How long a read waits for a message; 5.',
    },
    'host-without-port': {
      type: 'boolean',
      doc: 'Resets connections whose Host header has a port, as the real one does.',
    },
    'rate-limits': { type: 'boolean', doc: 'Token buckets as the real one has them.' },
  },
  example: 'trilho sim central-bank --port 16522 --secondary-port 17522 --long-poll-seconds 1',
  start: async (args) => {
    const bank = await createCentralBank(await optionsOf(args))
    return {
      place: {
        central_bank: {
          primary_url: bank.url,
          secondary_url: bank.secondaryUrl,
          accepting_ispb: acceptingPsp,
          paying_ispb: payingPsp,
        },
      },
      lines: [
        `primary    ${bank.url}`,
        `secondary  ${bank.secondaryUrl}`,
        `${acceptingPsp} accepts every payment; ${payingPsp} pays:`,
        `  curl ${bank.url}/simulator/pay-in -d '{"to":"12345678","amount_cents":1000}'`,
        `faults, book, statistics: ${bank.url}/simulator/`,
      ],
      statistics: () => ({ ...bank.statistics() }),
      stop: bank.stop,
    }
  },
}

const optionsOf = async (args: CommandArguments): Promise<CentralBankOptions> => {
  const host = args.text('host')
  const settlementLimitMs = millisecondsOf(args, 'settlement-limit-seconds')
  const longPollMs = millisecondsOf(args, 'long-poll-seconds')
  const tls = await tlsOf(args)
  return {
    ...(host === undefined ? {} : { hostname: host }),
    port: portOf(args, 'port', PORT),
    secondaryPort: portOf(args, 'secondary-port', SECONDARY_PORT),
    ...(tls === undefined ? {} : { tls }),
    ...(settlementLimitMs === undefined ? {} : { settlementLimitMs }),
    ...(longPollMs === undefined ? {} : { longPollMs }),
    hostWithoutPort: args.flag('host-without-port'),
    rateLimits: args.flag('rate-limits'),
  }
}

const tlsOf = async (args: CommandArguments): Promise<CentralBankOptions['tls']> => {
  const [cert, key, clientCa] = ['tls-cert', 'tls-key', 'client-ca'].map((name) => args.text(name))
  if (cert === undefined && key === undefined && clientCa === undefined) return undefined
  if (cert === undefined || key === undefined) {
    throw new UsageError('TLS needs both --tls-cert and --tls-key')
  }
  return {
    cert: await readFile(cert, 'utf8'),
    key: await readFile(key, 'utf8'),
    ...(clientCa === undefined ? {} : { clientCa: await readFile(clientCa, 'utf8') }),
  }
}

const millisecondsOf = (args: CommandArguments, option: string): number | undefined => {
  const text = args.text(option)
  if (text === undefined) return undefined
  const seconds = /^\d{1,4}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0
  if (seconds <= 0 || seconds > secondsMax) {
    throw new UsageError(`--${option} is a number above 0 and up to ${secondsMax}`)
  }
  return Math.round(seconds * 1000)
}

const portOf = (args: CommandArguments, option: string, fallback: number): number => {
  const text = args.text(option) ?? String(fallback)
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new UsageError(`--${option} is a whole number up to 65535`)
  return port
}
