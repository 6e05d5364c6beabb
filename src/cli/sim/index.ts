import { textTable } from '#src/platform/config/index.ts'
import { untilSignal } from '#src/platform/lifecycle/index.ts'
import { type Command, type CommandOption, exitCodes, UsageError } from '../command.ts'
import { cardNetworkSimulator } from './card-network.ts'
import { centralBankSimulator } from './central-bank.ts'
import { chainSimulator } from './chain.ts'
import { directorySimulator } from './directory.ts'
import type { Simulator } from './simulator.ts'

const simulators: readonly Simulator[] = [
  cardNetworkSimulator,
  centralBankSimulator,
  chainSimulator,
  directorySimulator,
]

/** The options of all simulators; the text of a shared option tells what each simulator means by it. */
const optionsOf = (all: readonly Simulator[]): Readonly<Record<string, CommandOption>> => {
  const merged: Record<string, CommandOption> = {}
  for (const { name, options } of all) {
    for (const [option, described] of Object.entries(options)) {
      const doc = `${name}: ${described.doc}`
      const before = merged[option]?.doc
      merged[option] = { ...described, doc: before === undefined ? doc : `${before} ${doc}` }
    }
  }
  return merged
}

/** Plays a counterparty, for development and tests. */
export const simCommand: Command = {
  name: 'sim',
  summary: 'Plays a counterparty of the gateway.',
  usage: '<simulator>',
  description: `Runs until a signal ends it, then says what happened. Only for tests: everything it knows ends with it.

${textTable(
  ['SIMULATOR', 'WHAT IT PLAYS'],
  simulators.map(({ name, summary }) => [name, summary]),
).replace(/^/gm, '  ')}`,
  options: {
    json: { doc: 'One JSON object at the start and one at the end.' },
    ...optionsOf(simulators),
  },
  examples: simulators.map(({ example }) => example),
  positionalsMax: 1,
  run: async (args, io) => {
    const simulator = simulators.find(({ name }) => name === args.positionals[0])
    if (simulator === undefined) {
      throw new UsageError(`say which: ${simulators.map(({ name }) => name).join(', ')}`)
    }
    const ended = untilSignal(() => undefined)
    const running = await simulator.start(args)
    const isJson = args.flag('json')
    io.out(isJson ? `${JSON.stringify(running.place)}\n` : `${running.lines.join('\n')}\n`)
    await ended
    await running.stop()
    io.out(`${JSON.stringify(running.statistics(), undefined, isJson ? 0 : 2)}\n`)
    return exitCodes.ok
  },
}
