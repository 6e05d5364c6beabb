import { textTable } from '#src/platform/config/index.ts'
import type { Check, Feature } from '#src/platform/lifecycle/index.ts'
import { type Command, errorLogger, exitCodes, idleFeatures, print } from '../command.ts'
import type { Io, LoadedProgram, Program } from '../program.ts'
import { checkFiles, checkKeys, checkPorts, checkRequests } from './checks.ts'
import { checkApart, checkDatabase, settingOf } from './database.ts'

/** Every check on a line of its own, and what to do below it. */
export const checkLines = (checks: readonly Check[]): string => checks.map(line).join('\n')

const marks: Readonly<Record<Check['status'], string>> = { ok: '✓', warning: '!', failed: '✗' }

/** Looks at everything that `serve` needs, and gives a remedy for each fault. */
export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Checks settings, ports, keys, databases and every counterparty.',
  usage: '[--fix-hints | --json]',
  description: 'Changes nothing. Ends with 1 when something failed; a warning does not count.',
  options: {
    'fix-hints': { doc: 'One table of what is amiss, the worst first, and how to mend it.' },
    json: { doc: 'One JSON object: every check.' },
  },
  examples: ['trilho doctor', 'trilho doctor --fix-hints', 'trilho doctor --json'],
  run: async (args, io, program) => {
    const loaded = program.load(io.env)
    const checks = await allChecks(program, loaded, io)
    const failed = checks.some(({ status }) => status === 'failed')
    print(args, io, { ok: !failed, checks }, () =>
      args.flag('fix-hints') ? hintTable(checks) : checkLines(checks),
    )
    return failed ? exitCodes.failed : exitCodes.ok
  },
}

const line = ({ name, status, detail, fix }: Check): string =>
  `${marks[status]} ${name}: ${detail}${fix === undefined ? '' : `\n    ${fix}`}`

/** The checks with faults, failures before warnings. */
const hintTable = (checks: readonly Check[]): string => {
  const amiss = (['failed', 'warning'] as const).flatMap((wanted) =>
    checks.filter(({ status }) => status === wanted),
  )
  if (amiss.length === 0) return 'nothing is amiss'
  return textTable(
    ['STATUS', 'WHAT', 'FOUND', 'HOW TO FIX'],
    amiss.map(({ status, name, detail, fix = '' }) => [status, name, detail, fix]),
  )
}

/** Everything that the command looks at. */
export const allChecks = async (
  program: Program,
  loaded: LoadedProgram,
  io: Io,
): Promise<readonly Check[]> => [
  ...settingChecks(loaded),
  ...(await liveChecks(program, loaded, io)),
]

const settingChecks = ({ problems, warnings }: LoadedProgram): readonly Check[] => {
  const found: Check[] = [
    ...problems.map(
      ({ name, problem, fix }): Check => ({ name, status: 'failed', detail: problem, fix }),
    ),
    ...warnings.map((detail): Check => ({ name: 'Settings', status: 'warning', detail })),
  ]
  return found.length > 0 ? found : [{ name: 'Settings', status: 'ok', detail: 'no problem' }]
}

/** With wrong settings, these checks would be guesses. */
const liveChecks = async (
  program: Program,
  loaded: LoadedProgram,
  io: Io,
): Promise<readonly Check[]> => {
  if (loaded.problems.length > 0) return []
  const logger = errorLogger(io)
  const { migrations } = program
  const features = idleFeatures(program, loaded, logger)
  return [
    ...checkPorts(loaded.platform),
    ...(await checkFiles()),
    checkRequests(io.env),
    ...(await checkKeys(loaded.platform, loaded.database, logger)),
    ...(
      await Promise.all(
        loaded.databases.map((dsn) =>
          checkDatabase({
            dsn,
            setting: settingOf(dsn, loaded),
            migrations,
            connectionsMax: loaded.connectionsMax,
            logger,
          }),
        ),
      )
    ).flat(),
    ...(await checkApart(loaded.databases, logger)),
    ...(await Promise.all(features.map(checksOf))).flat(),
  ]
}

const checksOf = async (feature: Feature): Promise<readonly Check[]> => {
  try {
    return (await feature.checks?.()) ?? []
  } catch {
    return [{ name: feature.name, status: 'failed', detail: 'the check itself failed' }]
  }
}
