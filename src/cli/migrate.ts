import { migrate, pendingMigrations } from '#src/platform/database/index.ts'
import { ensureAuditPartitions } from '#src/platform/http/index.ts'
import { createLogger } from '#src/platform/observe/index.ts'
import { type Command, demandDatabases, print, withDatabase } from './command.ts'
import { inProgress } from './progress.ts'

/** Brings the schema up to date, or says what would be done. */
export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Brings the database schema up to date.',
  usage: '[--dry-run] [--json]',
  description:
    'Works on DATABASE_DSN. Instances that migrate together wait for one another; a newer schema is refused unless it only adds.',
  options: {
    'dry-run': { doc: 'Only list the migrations that are missing.' },
    json: { doc: 'One JSON object: the names applied or missing.' },
  },
  examples: ['DATABASE_DSN=postgres://trilho@db/trilho trilho migrate --dry-run'],
  run: async (args, io, program) => {
    const databases = demandDatabases(program.load(io.env))
    const logger = createLogger({ level: 'warn', format: 'text', sink: { write: io.err } })
    const isDry = args.flag('dry-run')
    const done = isDry ? 'missing' : 'applied'
    const names: string[] = []
    for (const dsn of databases) {
      const { migrations } = program
      names.push(
        ...(isDry
          ? await pendingMigrations(dsn, migrations)
          : await inProgress(io, 'migrations', (onProgress) =>
              migrate(dsn, migrations, logger, onProgress),
            )),
      )
      if (isDry) continue
      // Commands write to the audit log before the first gateway runs, which makes the missing partitions later.
      await withDatabase(dsn, io, ensureAuditPartitions).catch((err: unknown) =>
        logger.warn({ err }, 'the months of the audit log are left to the gateway'),
      )
    }
    return print(args, io, { [done]: names }, () =>
      names.length === 0
        ? 'the schema is up to date'
        : names.map((name) => `${done} ${name}`).join('\n'),
    )
  },
}
