import { readFile } from 'node:fs/promises'
import {
  categories,
  createDirectory,
  type Directory,
  type EntryBody,
} from '#src/simulators/directory/index.ts'
import { type CommandArguments, UsageError } from '../command.ts'
import { pairOf, signersIn } from './files.ts'
import type { Simulator } from './simulator.ts'

/** That of the real one's test environment, one up: the message interface has it too. */
const port = 16_532
const portMax = 65_535

/** `trilho sim directory`: the directory of Pix keys. */
export const directorySimulator: Simulator = {
  name: 'directory',
  summary: 'The directory of Pix keys (DICT): signed XML over HTTP, with its limits.',
  options: {
    host: { value: 'host', doc: 'Where to listen; 127.0.0.1.' },
    port: { value: 'port', doc: `${port}. 0: a free one.` },
    'tls-cert': { value: 'file', doc: 'PEM; serves TLS, needs --tls-key.' },
    'tls-key': { value: 'file', doc: 'PEM of the private key.' },
    'client-ca': { value: 'file', doc: 'PEM; clients must show a certificate of this authority.' },
    signers: {
      value: 'folder',
      doc: 'With <ISPB>.pem or <ISPB>.<more>.pem: what changes an entry must be signed by its participant.',
    },
    'sign-cert': { value: 'file', doc: 'PEM; signs the answers, needs --sign-key.' },
    'sign-key': { value: 'file', doc: 'PEM of the RSA private key.' },
    category: {
      value: 'letter',
      doc: `How much participants may look up: ${categories.join(', ')}; H.`,
    },
  },
  example: 'trilho sim directory --port 16532 --category F',
  start: async (args) => {
    const directory = await started(args)
    const keys = registerSamples(directory)
    return {
      place: { directory: { url: directory.url, keys } },
      lines: [
        `directory  ${directory.url}`,
        ...keys.map((key) => `key        ${key}`),
        `settings   DICT_URL=${directory.url}`,
        `faults, entries, statistics: ${new URL('/simulator/', directory.url).href}`,
      ],
      statistics: () => ({ ...directory.statistics() }),
      stop: directory.stop,
    }
  },
}

/** Those who accept every payment in the simulated central bank. */
const samples = [
  { key_type: 'EMAIL', key: 'joao@example.com', name: 'João Lima', tax_id: '98765432100' },
  { key_type: 'PHONE', key: '+5561988880000', name: 'João Lima', tax_id: '98765432100' },
  {
    ...{ key_type: 'CNPJ', key: '11222333000181', name: 'Padaria Três Irmãos Ltda' },
    ...{ trade_name: 'Padaria 3 Irmãos', tax_id: '11222333000181' },
  },
] as const satisfies readonly Partial<EntryBody>[]
const acceptingIspb = '99999A04'

/** Puts keys in that may be paid. @returns them */
const registerSamples = (directory: Directory): readonly string[] =>
  samples.map((sample) =>
    directory.register({
      ...sample,
      ...{ ispb: acceptingIspb, branch: '0001', account: '600200', account_type: 'CACC' },
    }),
  )

const started = async (args: CommandArguments): Promise<Directory> => {
  const tls = await pairOf(args, 'tls-cert', 'tls-key')
  const authority = args.text('client-ca')
  if (tls === undefined && authority !== undefined) {
    throw new UsageError('--client-ca needs --tls-cert and --tls-key')
  }
  const clientCa = authority === undefined ? undefined : await readFile(authority, 'utf8')
  const signing = await pairOf(args, 'sign-cert', 'sign-key')
  const signers = args.text('signers')
  const letter = args.text('category')
  const category = categories.find((one) => one === letter)
  if (category !== letter) throw new UsageError(`--category is one of ${categories.join(', ')}`)
  return createDirectory({
    ...{ hostname: args.text('host'), port: args.integer('port', 0, portMax) ?? port, category },
    tls: tls && { ...tls, clientCa },
    signing: signing && { certificate: signing.cert, key: signing.key },
    participantCertificates: signers === undefined ? undefined : await signersIn(signers),
  })
}
