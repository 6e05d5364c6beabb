import {
  categories,
  createDirectory,
  type Directory,
  registerSamples,
} from '#src/simulators/directory/index.ts'
import { type CommandArguments, UsageError } from '../command.ts'
import { materialOf, tlsOptions } from './files.ts'
import { listening } from './listening.ts'
import type { Simulator } from './simulator.ts'

/** The port of the real one's test environment, plus one: the message interface has the same. */
const port = 16_532
const portMax = 65_535

/** `trilho sim directory`: the directory of Pix keys. */
export const directorySimulator: Simulator = {
  name: 'directory',
  summary: 'The directory of Pix keys (DICT): signed XML over HTTP, with its limits.',
  options: {
    host: { value: 'host', doc: 'Where to listen; 127.0.0.1.' },
    port: { value: 'port', doc: `${port}. 0: a free one.` },
    ...tlsOptions,
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

const started = async (args: CommandArguments): Promise<Directory> => {
  const material = await materialOf(args)
  const letter = args.text('category')
  const category = categories.find((one) => one === letter)
  if (category !== letter) throw new UsageError(`--category is one of ${categories.join(', ')}`)
  const place = { host: args.text('host'), port: args.integer('port', 0, portMax) ?? port }
  return listening(
    () => ({ ...place, option: '--port' }),
    () => createDirectory({ hostname: place.host, port: place.port, category, ...material }),
  )
}
