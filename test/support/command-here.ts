import { runCli } from '#src/cli/index.ts'
import { program } from '../../src/main.ts'
import type { Run } from './program.ts'

/** Runs a command of the whole program within this process: a start of it costs as much as many commands. */
export const commandHere = async (
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Run> => {
  const told: { readonly out: string[]; readonly err: string[] } = { out: [], err: [] }
  const io = {
    env,
    out: (text: string) => void told.out.push(text),
    err: (text: string) => void told.err.push(text),
    taken: async () => {},
    readInput: async () => new TextEncoder().encode(input),
  }
  const code = await runCli(argv, io, program)
  return { code, out: told.out.join(''), err: told.err.join('') }
}
