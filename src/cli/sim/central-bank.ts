import {
  acceptingPsp,
  type CentralBank,
  type CentralBankOptions,
  type Channel,
  createCentralBank,
  payingPsp,
  type Revision,
  revisions,
} from '#src/simulators/central-bank/index.ts'
import { type CommandArguments, UsageError } from '../command.ts'
import { materialOf, tlsOptions } from './files.ts'
import { listening, type Place } from './listening.ts'
import type { Simulator } from './simulator.ts'

/** The ports of the real one's test environment. */
const port = 16_522
const secondaryPort = 17_522
const portMax = 65_535
const secondsMax = 3_600
const revisionDefault = '5.11.1'

/** `trilho sim central-bank`: the message interface of instant payments, with settlement. */
export const centralBankSimulator: Simulator = {
  name: 'central-bank',
  summary: 'The central bank’s instant payment message interface, both channels, with settlement.',
  options: {
    host: { value: 'host', doc: 'Where to listen; 127.0.0.1.' },
    port: { value: 'port', doc: `Of the primary channel; ${port}. 0: a free one.` },
    'secondary-port': {
      value: 'port',
      doc: `Of the secondary channel; ${secondaryPort}. 0: a free one.`,
    },
    ...tlsOptions,
    'settlement-limit-seconds': {
      value: 'seconds',
      doc: 'From a payment to its rejection with AB03; 40.',
    },
    'scheduled-limit-seconds': {
      value: 'seconds',
      doc: 'The same for scheduled payments (PAGAGD); 2700.',
    },
    'long-poll-seconds': { value: 'seconds', doc: 'How long a read waits for a message; 5.' },
    'from-acceptance': {
      doc: 'Counts the time of priority payments from their AccptncDtTm, as the real one does, not from receipt.',
    },
    'any-ids': {
      doc: 'Takes EndToEndIds and RtrIds of any institution and time, as old samples have them; else FF08.',
    },
    signers: {
      value: 'folder',
      doc: 'With <ISPB>.pem or <ISPB>.<more>.pem: messages must be signed under their sender’s certificate.',
    },
    'sign-cert': { value: 'file', doc: 'PEM; signs what the bank sends, needs --sign-key.' },
    'sign-key': { value: 'file', doc: 'PEM of the RSA private key.' },
    revision: {
      value: 'revision',
      doc: `In whose versions the bank writes: ${revisions.join(', ')}; ${revisionDefault}.`,
    },
    'opening-balance-cents': {
      value: 'cents',
      doc: 'What an account holds when its participant is first seen; 100000000000.',
    },
    'host-without-port': {
      doc: 'Resets connections whose Host header has a port, as the real one does.',
    },
    directory: {
      value: 'url',
      doc: 'The directory that payers’ institutions ask whose key it is: http://127.0.0.1:16532/api/v2.',
    },
    'rate-limits': { doc: 'Token buckets as the real one has them.' },
  },
  example: 'trilho sim central-bank --port 16522 --secondary-port 17522 --long-poll-seconds 1',
  start: async (args) => {
    const options = await optionsOf(args)
    const bank = await listening(placeOf(options), () => createCentralBank(options))
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

const placeOf =
  ({ hostname, port, secondaryPort }: CentralBankOptions) =>
  (error: unknown): Place =>
    (error as { readonly channel?: Channel }).channel === 'primary'
      ? { host: hostname, port: port ?? 0, option: '--port' }
      : { host: hostname, port: secondaryPort ?? 0, option: '--secondary-port' }

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

const optionsOf = async (args: CommandArguments): Promise<CentralBankOptions> => ({
  ...(await materialOf(args)),
  hostname: args.text('host'),
  port: args.integer('port', 0, portMax) ?? port,
  secondaryPort: args.integer('secondary-port', 0, portMax) ?? secondaryPort,
  settlementLimitMs: millisecondsOf(args, 'settlement-limit-seconds'),
  scheduledLimitMs: millisecondsOf(args, 'scheduled-limit-seconds'),
  longPollMs: millisecondsOf(args, 'long-poll-seconds'),
  openingBalanceCents: centsOf(args, 'opening-balance-cents'),
  revision: revisionOf(args),
  fromAcceptance: args.flag('from-acceptance'),
  anyIds: args.flag('any-ids'),
  hostWithoutPort: args.flag('host-without-port'),
  rateLimits: args.flag('rate-limits'),
  directory: args.text('directory'),
})

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
