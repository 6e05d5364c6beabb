import { readFile } from 'node:fs/promises'
import type { Inspector } from '#src/platform/lifecycle/index.ts'
import { type Command, exitCodes, UsageError } from '../command.ts'
import { renderJson, renderTree } from './render.ts'

/** Explains a message, whatever it is. */
export const inspectCommand: Command = {
  name: 'inspect',
  summary: 'Explains a message: fields, values, and what the codes mean.',
  usage: '[file] [--as <kind>] [--json]',
  description:
    'Reads the file, or standard input. The kind is recognised by content unless --as names it.',
  options: {
    as: { type: 'string', value: 'kind', doc: 'Do not guess: the input is of this kind.' },
    json: { type: 'boolean', doc: 'The typed value as one line of JSON.' },
    kinds: { type: 'boolean', doc: 'List the kinds.' },
  },
  examples: ['trilho inspect pacs008.xml', 'trilho inspect --json < pacs008.xml'],
  positionalsMax: 1,
  run: async (args, io, { inspectors }) => {
    if (args.flag('kinds')) {
      io.out(inspectors.map(({ name, summary }) => `${name}: ${summary}\n`).join(''))
      return exitCodes.ok
    }
    const [path] = args.positionals
    const input =
      path === undefined || path === '-'
        ? await io.readInput()
        : new Uint8Array(await readFile(path))
    const explanation = await choose(inspectors, args.text('as'), input).explain(input)
    io.out(args.flag('json') ? renderJson(explanation) : renderTree(explanation))
    return exitCodes.ok
  },
}

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
  const found = inspectors.find((inspector) => inspector.matches(input))
  if (found === undefined) {
    throw new UsageError(`the input is of no known kind; name it with --as: ${kinds}`)
  }
  return found
}
