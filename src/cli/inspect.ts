import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { jsonOnce } from '#src/platform/http/index.ts'
import {
  type ExplainedField,
  type Explanation,
  type InspectOptions,
  type Inspector,
  recognise,
} from '#src/platform/lifecycle/index.ts'
import { printable } from '#src/platform/observe/index.ts'
import {
  type Command,
  type CommandArguments,
  exitCodes,
  readDocument,
  UsageError,
} from './command.ts'
import type { Io } from './program.ts'

/** Explains a message, whatever it is. */
export const inspectCommand: Command = {
  name: 'inspect',
  summary: 'Explains a message: fields, values, and what the codes mean.',
  usage: '[file|hex|-] [--as <kind>] [--json] [--validate]',
  description:
    'Reads the file, or standard input. The kind is recognised by content unless --as names it.',
  options: {
    as: { value: 'kind', doc: 'Do not guess: the input is of this kind.' },
    json: { doc: 'The typed value as one line of JSON.' },
    dialect: { value: 'name', doc: 'ISO 8583: the dialect, or a JSON file with one.' },
    frame: { value: 'name', doc: 'ISO 8583: the framing around the message.' },
    network: {
      value: 'file',
      doc: 'ISO 8583: a networks file, whose dialect and private fields explain it; file.json#name for one of several.',
    },
    unmasked: { doc: 'ISO 8583: show card data.' },
    pack: { value: 'file', doc: 'ISO 8583: print the hex of a message in JSON.' },
    validate: { doc: 'ISO 20022: judge by the schema (SPI_SCHEMA_DIR, or ours); 1 when invalid.' },
    open: {
      doc: 'RSFN: decrypt with RSFN_PRIVATE_KEY_PATH, verify with RSFN_PUBLIC_KEY_PATH; 1 when refused.',
    },
    kinds: { doc: 'List the kinds.' },
  },
  examples: [
    'trilho inspect pacs008.xml',
    'trilho inspect --json < pacs008.xml',
    'trilho inspect --validate pacs008.xml',
    'trilho inspect --as iso8583 --dialect ascii-hex --pack message.json',
  ],
  positionalsMax: 1,
  run: async (args, io, { inspectors }) => {
    if (args.flag('kinds')) {
      io.out(inspectors.map(({ name, summary }) => `${name}: ${summary}\n`).join(''))
      return exitCodes.ok
    }
    const options = await optionsOf(args, io)
    const packed = args.text('pack')
    if (packed !== undefined) {
      const kind = choose(inspectors, args.text('as') ?? 'iso8583', new Uint8Array(0))
      if (kind.pack === undefined) throw new UsageError(`--pack is not for ${kind.name}`)
      io.out(`${kind.pack(jsonOnce(await readFile(packed, 'utf8')), options)}\n`)
      return exitCodes.ok
    }
    const input = await inputOf(args.positionals[0], io)
    const explanation = await choose(inspectors, args.text('as'), input).explain(input, options)
    const { failure } = explanation
    if (args.flag('json')) {
      io.out(renderJson(failure === undefined ? explanation : withError(explanation)))
    } else {
      io.out(renderTree(explanation))
      if (failure !== undefined) io.err(`trilho inspect: ${printable(failure.message)}\n`)
    }
    return failure === undefined ? exitCodes.ok : exitCodes.failed
  },
}

/** Puts the error before the fields that we could read. */
const withError = (explanation: Explanation): Explanation => {
  const { value, failure } = explanation
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return { ...explanation, value: { error: failure, ...(isRecord ? value : { value }) } }
}

const inputOf = async (path: string | undefined, io: Io): Promise<Uint8Array> =>
  // People often have a message as digits; a file of that name comes first.
  path !== undefined && /^([0-9A-Fa-f]{2}){2,}$/.test(path) && !existsSync(path)
    ? new TextEncoder().encode(path)
    : readDocument(path, io)

const optionsOf = async (args: CommandArguments, { env }: Io): Promise<InspectOptions> => {
  const dialect = args.text('dialect')
  const frame = args.text('frame')
  const network = args.text('network')
  return {
    ...(network !== undefined && { network: await networkOf(network) }),
    ...(dialect !== undefined && {
      dialect: dialect.endsWith('.json') ? jsonOnce(await readFile(dialect, 'utf8')) : dialect,
    }),
    ...(frame !== undefined && { frame }),
    unmasked: args.flag('unmasked'),
    ...(args.flag('validate') && { validateWith: env }),
    ...(args.flag('open') && { openWith: env }),
  }
}

/** The one network of a file, or the one that is named after the hash. */
const networkOf = async (given: string): Promise<unknown> => {
  const [path = '', name] = given.split('#')
  const json = jsonOnce(await readFile(path, 'utf8'))
  const all: readonly unknown[] = Array.isArray(json) ? json : [json]
  const found = name === undefined ? all : all.filter((one) => nameOf(one) === name)
  if (found.length === 1) return found[0]
  const names = all.map(nameOf).join(', ')
  throw new UsageError(`${path} has the networks ${names}; name one of them: ${path}#name`)
}

const nameOf = (network: unknown): unknown =>
  typeof network === 'object' && network !== null && 'name' in network ? network.name : undefined

const choose = (
  inspectors: readonly Inspector[],
  name: string | undefined,
  input: Uint8Array,
): Inspector => {
  const kinds = inspectors.map((inspector) => inspector.name).join(', ')
  if (name !== undefined) {
    const named = inspectors.find((inspector) => inspector.name === name)
    if (named === undefined) throw new UsageError(`no kind ${name}; the kinds are ${kinds}`)
    return named
  }
  const found = recognise(inspectors, input)
  if (found === undefined) {
    throw new UsageError(`the input is of no known kind; name it with --as: ${kinds}`)
  }
  return found
}

/** The explanation as an indented tree. */
const renderTree = ({ title, fields, picture }: Explanation): string =>
  `${[printable(title), ...renderFields(fields, ''), ...(picture === undefined ? [] : ['', picture])].join('\n')}\n`

const renderFields = (fields: readonly ExplainedField[], indent: string): string[] =>
  fields.flatMap((field, index) => {
    const last = index === fields.length - 1
    const meaning = field.meaning === undefined ? '' : `  (${printable(field.meaning)})`
    const value = field.value === undefined ? '' : `: ${printable(field.value)}`
    return [
      `${indent}${last ? '└─ ' : '├─ '}${printable(field.name)}${value}${meaning}`,
      ...renderFields(field.children ?? [], indent + (last ? '   ' : '│  ')),
    ]
  })

/** The typed value as one line of JSON. */
const renderJson = ({ value }: Explanation): string =>
  `${JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? member.toString() : member,
  )}\n`
