import type { Io, Program } from './program.ts'

type Refusal = Error & {
  readonly path?: unknown
  readonly address?: unknown
  readonly port?: unknown
}

const isServer = (text: string, address: unknown, port: unknown): boolean => {
  const url = URL.parse(text)
  const name = url?.hostname.replace(/^\[|\]$/g, '')
  // We do not know the address of a name.
  const isHost = name === address || /[a-z]/i.test(name ?? '')
  return url !== null && isHost && (url.port === '' || Number(url.port) === port)
}

const isAbout = (error: Refusal, text: string): boolean => {
  const { path, address, port } = error
  if (typeof path === 'string') return text.length > 1 && path.startsWith(text)
  return port !== undefined && isServer(text, address, port)
}

/** The options and their arguments on a command line that was read already. */
const optionsOf = (argv: readonly string[]): readonly (readonly [string, string])[] =>
  argv.flatMap((word, at) => {
    const [, name, value = argv[at + 1] ?? ''] = /^(--[a-z-]+)(?:=(.*))?$/s.exec(word) ?? []
    return name === undefined ? [] : [[name, value] as const]
  })

/** The settings of the environment; other variables, such as HOME, were not meant for us. */
const settingsOf = (
  { env }: Io,
  { settingGroups }: Program,
): readonly (readonly [string, string])[] => {
  const names = settingGroups.flatMap(({ settings }) =>
    Object.values(settings).flatMap(({ env: name }) => [name, `${name}_FILE`]),
  )
  return names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]))
}

/**
 * The text of an error for the user: its message and, before it, the option or setting that named the file or the
 * server that the system refused.
 */
export const toldOf = (
  error: unknown,
  argv: readonly string[],
  io: Io,
  program: Program,
): string => {
  if (!(error instanceof Error)) return String(error)
  const given = [...optionsOf(argv), ...settingsOf(io, program)].find(
    ([name, value]) => !error.message.includes(name) && isAbout(error, value),
  )
  return given === undefined ? error.message : `${given[0]}: ${error.message}`
}
