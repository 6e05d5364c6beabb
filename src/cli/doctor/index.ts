import type { Check, Feature } from '#src/platform/lifecycle/index.ts'
import { createLogger, createMetrics, type Logger } from '#src/platform/observe/index.ts'
import { createAuthenticator } from '#src/platform/security/index.ts'
import { type Command, exitCodes } from '../command.ts'
import type { LoadedProgram, Program } from '../program.ts'
import { checkDatabase, checkKeys, checkPorts } from './checks.ts'

const marks: Readonly<Record<Check['status'], string>> = { ok: '✓', warning: '!', failed: '✗' }

/** Looks at everything `serve` needs, and says what to do about what is amiss. */
export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Checks settings, ports, keys, database and what the features need.',
  usage: '[--json]',
  description: 'Changes nothing. Ends with 1 when something failed; a warning does not count.',
  options: { json: { type: 'boolean', doc: 'One JSON object: every check.' } },
  examples: ['trilho doctor', 'trilho doctor --json'],
  positionalsMax: 0,
  run: async (args, io, program) => {
    const loaded = program.load(io.env)
    const logger = createLogger({ level: 'error', format: 'text', sink: { write: io.err } })
    const checks = [...settingChecks(loaded), ...(await liveChecks(program, loaded, logger))]
    const failed = checks.some(({ status }) => status === 'failed')
    if (args.flag('json')) io.out(`${JSON.stringify({ ok: !failed, checks })}\n`)
    else io.out(checks.map(line).join(''))
    return failed ? exitCodes.failed : exitCodes.ok
  },
}

const line = ({ name, status, detail, fix }: Check): string =>
  `${marks[status]} ${name}: ${detail}\n${fix === undefined ? '' : `    ${fix}\n`}`

const settingChecks = ({ problems, warnings }: LoadedProgram): readonly Check[] => {
  const found: Check[] = [
    ...problems.map(
      ({ name, problem, fix }): Check => ({ name, status: 'failed', detail: problem, fix }),
    ),
    ...warnings.map((detail): Check => ({ name: 'Settings', status: 'warning', detail })),
  ]
  return found.length > 0 ? found : [{ name: 'Settings', status: 'ok', detail: 'no problem' }]
}

/** Only with settings that hold: the others would be guesses. */
const liveChecks = async (
  program: Program,
  loaded: LoadedProgram,
  logger: Logger,
): Promise<readonly Check[]> => {
  if (loaded.problems.length > 0) return []
  const { version, migrations } = program
  const metrics = createMetrics({ version, withProcess: false })
  const features = loaded.createFeatures({
    logger,
    cardsLogger: logger,
    metrics,
    version,
    // The doctor starts nothing, so nobody calls.
    authenticator: createAuthenticator({ sources: [] }),
  })
  return [
    ...checkPorts(loaded.platform),
    await checkKeys(loaded.platform),
    ...(await Promise.all(loaded.databases.map((dsn) => checkDatabase(dsn, migrations, logger)))),
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
