import { problemsTable } from '#src/platform/config/index.ts'
import { migrate, pendingMigrations } from '#src/platform/database/index.ts'
import { createLogger } from '#src/platform/observe/index.ts'
import { type Command, exitCodes } from './command.ts'

/** Brings the schema up to date, or says what would be done. */
export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Brings the database schema up to date.',
  usage: '[--dry-run] [--json]',
  description:
    'Works on DATABASE_DSN. Instances that migrate together wait for one another; a newer schema is refused.',
  options: {
    'dry-run': { type: 'boolean', doc: 'Only list the migrations that are missing.' },
    json: { type: 'boolean', doc: 'One JSON object: the names applied or missing.' },
  },
  examples: ['DATABASE_DSN=postgres://trilho@db/trilho trilho migrate --dry-run'],
  positionalsMax: 0,
  run: async (args, io, program) => {
    const { databases, problems } = program.load(io.env)
    if (problems.length > 0) {
      io.err(`${problemsTable(problems)}\n`)
      return exitCodes.config
    }
    if (databases.length === 0) throw new Error('no database is configured: set DATABASE_DSN')
    const logger = createLogger({ level: 'warn', format: 'text', sink: { write: io.err } })
    const isDry = args.flag('dry-run')
    const names: string[] = []
    for (const dsn of databases) {
      const { migrations } = program
      names.push(
        ...(isDry
          ? await pendingMigrations(dsn, migrations)
          : await migrate(dsn, migrations, logger)),
      )
    }
    if (args.flag('json')) io.out(`${JSON.stringify({ [isDry ? 'missing' : 'applied']: names })}\n`)
    else if (names.length === 0) io.out('the schema is up to date\n')
    else io.out(names.map((name) => `${isDry ? 'missing' : 'applied'} ${name}\n`).join(''))
    return exitCodes.ok
  },
}
