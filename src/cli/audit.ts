import { type Anchor, type Verification, verifyAudit } from '#src/platform/http/index.ts'
import {
  actionOf,
  type Command,
  type CommandArguments,
  demandDatabases,
  exitCodes,
  print,
  UsageError,
  withDatabase,
} from './command.ts'
import type { Io, LoadedProgram } from './program.ts'
import { inProgress } from './progress.ts'

const anchorForm = /^(\d{1,18}):([0-9a-f]{64})$/

/** Verifies the audit log. */
export const auditCommand: Command = {
  name: 'audit',
  summary: 'Verifies that the audit log is as it was written.',
  usage: 'verify',
  description: `Goes through the chain of hashes over the log, in each database, and names every entry that was altered,
deleted, inserted or moved since it was sealed; then it ends with 1. The gateway logs each link as an anchor: with
--anchor, one that was noted elsewhere must still be in the chain, or the chain was written anew.
Entries are sealed half a minute after they were written.`,
  options: {
    anchor: { value: 'link', doc: 'A link that was noted, as number:hash.' },
    json: { doc: 'One JSON object.' },
  },
  examples: ['trilho audit verify', 'trilho audit verify --anchor 4711:<hash> --json'],
  positionalsMax: 1,
  run: (args, io, program) => actionOf(actions, args)(args, io, program.load(io.env)),
}

type Action = (args: CommandArguments, io: Io, loaded: LoadedProgram) => Promise<number>

const verify: Action = async (args, io, loaded) => {
  const anchor = anchorOf(args.text('anchor'))
  const retentionDays = loaded.auditRetentionDays
  const databases: Verification[] = []
  for (const dsn of demandDatabases(loaded)) {
    databases.push(
      await withDatabase(dsn, io, (sql) =>
        inProgress(io, 'links of the audit log', (onProgress) =>
          verifyAudit(sql, { anchor, retentionDays, onProgress }),
        ),
      ),
    )
  }
  print(args, io, { databases }, () =>
    databases
      .flatMap(({ links, entries, late, dropped, head, findings }) => [
        `${entries} entries in ${links} links are sealed (${late} late, ${dropped} links without their entries)`,
        ...(head === undefined ? [] : [`the last link is ${head}`]),
        ...findings.map(({ kind, at, message }) => `${kind} ${at}: ${message}`),
        findings.length === 0 ? 'the log is as it was written' : `${findings.length} findings`,
      ])
      .join('\n'),
  )
  const isWhole = databases.every(({ findings }) => findings.length === 0)
  return isWhole ? exitCodes.ok : exitCodes.failed
}

/** @throws UsageError */
const anchorOf = (text: string | undefined): Anchor | undefined => {
  if (text === undefined) return undefined
  const [, seq = '', hash = ''] = anchorForm.exec(text) ?? []
  if (hash === '') throw new UsageError('--anchor must be number:hash, as the log has it')
  return { seq: BigInt(seq), hash }
}

const actions: Readonly<Record<string, Action>> = { verify }
