import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  acceptingPsp,
  type CentralBank,
  type CentralBankOptions,
  createCentralBank,
  payingPsp,
  type Revision,
  revisions,
} from '#src/simulators/central-bank/index.ts'
import { type CommandArguments, UsageError } from '../command.ts'
import type { Simulator } from './simulator.ts'

/** Those of the real one's test environment. */
const port = 16_522
const secondaryPort = 17_522
const secondsMax = 3_600
const revisionDefault = '5.11.1'

/** `trilho sim central-bank`: the message interface of instant payments, with settlement. */
export const centralBankSimulator: Simulator = {
  name: 'central-bank',
  summary: 'The central bank’s instant payment message interface, both channels, with settlement.',
  options: {
    host: { type: 'string', value: 'host', doc: 'Where to listen; 127.0.0.1.' },
    port: { type: 'string', value: 'port', doc: `Of the primary channel; ${port}. 0: a free one.` },
    'secondary-port': {
      type: 'string',
      value: 'port',
      doc: `Of the secondary channel; ${secondaryPort}. 0: a free one.`,
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
    'scheduled-limit-seconds': {
      type: 'string',
      value: 'seconds',
      doc: 'The same for scheduled payments (PAGAGD); 2700.',
    },
    'long-poll-seconds': {
      type: 'string',
      value: 'seconds',
      doc: 'How long a read waits for a message; 5.',
    },
    'from-acceptance': {
      type: 'boolean',
      doc: 'Counts the time of priority payments from their AccptncDtTm, as the real one does, not from receipt.',
    },
    signers: {
      type: 'string',
      value: 'folder',
      doc: 'With <ISPB>.pem or <ISPB>.<more>.pem: messages must be signed under their sender’s certificate.',
    },
    'sign-cert': {
      type: 'string',
      value: 'file',
      doc: 'PEM; signs what the bank sends, needs --sign-key.',
    },
    'sign-key': { type: 'string', value: 'file', doc: 'PEM of the RSA private key.' },
    revision: {
      type: 'string',
      value: 'revision',
      doc: `In whose versions the bank writes: ${revisions.join(', ')}; ${revisionDefault}.`,
    },
    'opening-balance-cents': {
      type: 'string',
      value: 'cents',
      doc: 'What an account holds when its participant is first seen; 100000000000.',
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
      statistics: () => ({ ...bank.statistics(), ...auditOf(bank) }),
      stop: bank.stop,
    }
  },
}

/** Whether money was made or lost, and who has how much: cents, as texts. */
const auditOf = (bank: CentralBank) => {
  const { balanced, accounts } = bank.book()
  return {
    balanced,
    accounts: accounts.map(({ ispb, available, held }) => ({
      ispb,
      available: String(available),
      held: String(held),
    })),
  }
}

const optionsOf = async (args: CommandArguments): Promise<CentralBankOptions> => {
  const host = args.text('host')
  const settlementLimitMs = millisecondsOf(args, 'settlement-limit-seconds')
  const scheduledLimitMs = millisecondsOf(args, 'scheduled-limit-seconds')
  const longPollMs = millisecondsOf(args, 'long-poll-seconds')
  const tls = await tlsOf(args)
  const keys = await keysOf(args)
  const openingBalanceCents = centsOf(args, 'opening-balance-cents')
  return {
    ...(host === undefined ? {} : { hostname: host }),
    port: portOf(args, 'port', port),
    secondaryPort: portOf(args, 'secondary-port', secondaryPort),
    ...(tls === undefined ? {} : { tls }),
    ...(settlementLimitMs === undefined ? {} : { settlementLimitMs }),
    ...(scheduledLimitMs === undefined ? {} : { scheduledLimitMs }),
    ...(longPollMs === undefined ? {} : { longPollMs }),
    ...keys,
    ...(openingBalanceCents === undefined ? {} : { openingBalanceCents }),
    revision: revisionOf(args),
    fromAcceptance: args.flag('from-acceptance'),
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

const keysOf = async (
  args: CommandArguments,
): Promise<Pick<CentralBankOptions, 'signing' | 'participantCertificates'>> => {
  const [certificate, key, folder] = ['sign-cert', 'sign-key', 'signers'].map((name) =>
    args.text(name),
  )
  if ((certificate === undefined) !== (key === undefined)) {
    throw new UsageError('signing needs both --sign-cert and --sign-key')
  }
  return {
    ...(certificate === undefined || key === undefined
      ? {}
      : {
          signing: {
            certificate: await readFile(certificate, 'utf8'),
            key: await readFile(key, 'utf8'),
          },
        }),
    ...(folder === undefined ? {} : { participantCertificates: await signersIn(folder) }),
  }
}

const signerFile = /^([0-9A-Z]{8})(?:\..+)?\.pem$/

/** PEM by ISPB. */
const signersIn = async (folder: string): Promise<Record<string, readonly string[]>> => {
  const certificates: Record<string, readonly string[]> = {}
  for (const name of await readdir(folder)) {
    const [, ispb] = signerFile.exec(name) ?? []
    if (ispb === undefined) continue
    const pem = await readFile(join(folder, name), 'utf8')
    certificates[ispb] = [...(certificates[ispb] ?? []), pem]
  }
  if (Object.keys(certificates).length === 0) {
    throw new UsageError(`${folder} holds no <ISPB>.pem: nobody could send anything`)
  }
  return certificates
}

const revisionOf = (args: CommandArguments): Revision => {
  const text = args.text('revision') ?? revisionDefault
  const revision = revisions.find((one) => one === text)
  if (revision === undefined) throw new UsageError(`--revision is one of ${revisions.join(', ')}`)
  return revision
}

const centsOf = (args: CommandArguments, option: string): bigint | undefined => {
  const text = args.text(option)
  if (text === undefined) return undefined
  if (!/^\d{1,16}$/.test(text)) {
    throw new UsageError(`--${option} is a whole number of up to 16 digits`)
  }
  return BigInt(text)
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
