import { textTable } from '#src/platform/config/index.ts'
import { commandActor, writeAudit } from '#src/platform/http/index.ts'
import type { ResealCounts } from '#src/platform/security/index.ts'
import {
  type Command,
  demandDatabases,
  demandSettings,
  errorLogger,
  exitCodes,
  idleFeatures,
  print,
  withDatabase,
} from './command.ts'

type Outcome = ResealCounts & { readonly what: string }

/** Seals everything in the database with the present master key. */
export const rotateMasterKeyCommand: Command = {
  name: 'rotate-master-key',
  summary:
    'Seals the keys of wallets, certificates and card networks, and webhook secrets, with the present master key.',
  usage: '[--json]',
  description: `First restart every gateway with the new key in TRILHO_MASTER_KEY and the old one in
TRILHO_MASTER_KEY_PREVIOUS; then run this with the same two, while they work. It may be interrupted and run again.
When nothing is left to seal anew and nothing is unreadable, remove TRILHO_MASTER_KEY_PREVIOUS.
Ends with 1 when something is sealed under neither key; that is left as it is. The audit log has an entry of each kind.`,
  options: { json: { doc: 'One JSON object: the counts of each kind.' } },
  examples: [
    'TRILHO_MASTER_KEY=<new> TRILHO_MASTER_KEY_PREVIOUS=<old> trilho rotate-master-key --json',
  ],
  run: async (args, io, program) => {
    const loaded = demandSettings(program.load(io.env))
    const [dsn] = demandDatabases(loaded)
    if (loaded.platform.masterKey === undefined) {
      throw new Error('there is no key to seal with: set TRILHO_MASTER_KEY')
    }
    const outcomes: Outcome[] = []
    await withDatabase(dsn, io, async (sql) => {
      for (const { sealed } of idleFeatures(program, loaded, errorLogger(io))) {
        if (sealed === undefined) continue
        // Recorded before the work: an interrupted run keeps what it has sealed by then.
        await writeAudit(sql, {
          actor: commandActor(),
          action: 'master_key.rotate',
          object: sealed.what,
          outcome: 'begun',
        })
        outcomes.push({ what: sealed.what, ...(await sealed.reseal()) })
      }
    })
    print(args, io, { sealed: outcomes }, () => table(outcomes))
    const unreadable = outcomes.reduce((sum, each) => sum + each.unreadable, 0)
    if (unreadable === 0) return exitCodes.ok
    io.err(
      `trilho rotate-master-key: ${unreadable} sealed under neither TRILHO_MASTER_KEY nor TRILHO_MASTER_KEY_PREVIOUS\n`,
    )
    return exitCodes.failed
  },
}

const table = (outcomes: readonly Outcome[]): string => {
  const rows = outcomes.map(({ what, resealed, current, unreadable }) => [
    what,
    String(resealed),
    String(current),
    String(unreadable),
  ])
  return textTable(['WHAT', 'SEALED ANEW', 'CURRENT', 'UNREADABLE'], rows)
}
