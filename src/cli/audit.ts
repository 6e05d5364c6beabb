import { databaseSettings } from '#src/platform/database/index.ts'
import {
  type Anchor,
  type ArchiveVerification,
  type Exported,
  exportAudit,
  exportLinks,
  type Verification,
  verifyArchive,
  verifyAudit,
} from '#src/platform/http/index.ts'
import {
  actionOf,
  type Command,
  type CommandArguments,
  demandDatabases,
  demandSettings,
  exitCodes,
  print,
  UsageError,
  withDatabase,
} from './command.ts'
import type { Io, LoadedProgram } from './program.ts'
import { inProgress } from './progress.ts'

const anchorForm = /^(\d{1,18}):([0-9a-f]{64})$/
const filesMax = 1_000
const databasesMax = 2

/** Verifies the audit log, and writes it to files that are verified without a database. */
export const auditCommand: Command = {
  name: 'audit',
  summary: 'Verifies and exports the audit log.',
  usage: 'verify [file…] | export',
  description: `verify goes through the chain of hashes over the log, in each database, and names every entry that was altered,
deleted, inserted or moved since it was sealed; then it ends with 1. With files, it verifies those that export and
retention wrote, oldest first, and needs no database. The gateway logs each link as an anchor: with --anchor, one that
was noted elsewhere must still be in the chain, or the chain was written anew.
export writes what is sealed as lines of JSON: the entries of a link, each with its hash, and then the link. With --file
it goes on from the last whole link of the file, and refuses where the chain does not. Entries are sealed half a minute
after they were written.`,
  options: {
    anchor: { value: 'link', doc: 'verify: a link that was noted, as number:hash.' },
    file: { value: 'path', doc: 'export: the file to go on with; without it, standard output.' },
    after: { value: 'n', doc: 'export to standard output: from the link after this one on.' },
    database: {
      value: 'n',
      doc: 'Where cards have a database of their own, 2 for its log: that is exported, or has the anchor; 1.',
    },
    json: { doc: 'One JSON object.' },
  },
  examples: [
    'trilho audit verify',
    'trilho audit verify --anchor 4711:<hash> --json',
    'trilho audit export --file audit.jsonl',
    'trilho audit verify audit.jsonl',
  ],
  positionalsMax: filesMax,
  run: (args, io, program) => actionOf(actions, args)(args, io, () => program.load(io.env)),
}

type Action = (args: CommandArguments, io: Io, load: () => LoadedProgram) => Promise<number>

const verify: Action = async (args, io, load) => {
  const anchor = anchorOf(args.text('anchor'))
  const [, ...files] = args.positionals
  if (files.length > 0) {
    const found = await verifyArchive(files, anchor)
    print(args, io, { archive: found }, () => archiveText(found))
    return found.findings.length === 0 ? exitCodes.ok : exitCodes.failed
  }
  const loaded = demandSettings(load(), [databaseSettings.auditRetentionDays])
  const retentionDays = loaded.auditRetentionDays
  const dsns = demandDatabases(loaded)
  const anchored = databaseOf(args, dsns)
  const databases: Verification[] = []
  for (const dsn of dsns) {
    const own = { anchor: dsn === anchored ? anchor : undefined, retentionDays }
    databases.push(
      await withDatabase(dsn, io, (sql) =>
        inProgress(io, 'links of the audit log', (onProgress) =>
          verifyAudit(sql, { ...own, onProgress }),
        ),
      ),
    )
  }
  print(args, io, { databases }, () => databases.map(verificationText).join('\n'))
  const isWhole = databases.every(({ findings }) => findings.length === 0)
  return isWhole ? exitCodes.ok : exitCodes.failed
}

const verificationText = (found: Verification): string => {
  const { links, entries, late, dropped } = found
  return [
    `${entries} entries in ${links} links are sealed (${late} late, ${dropped} links without their entries)`,
    ...endText(found),
  ].join('\n')
}

const archiveText = (found: ArchiveVerification): string => {
  const { links, entries, dropped, follows } = found
  return [
    `${entries} entries in ${links} links (${dropped} links without their entries)`,
    ...(follows === undefined ? [] : [`the first link goes on from ${follows}`]),
    ...endText(found),
  ].join('\n')
}

const endText = ({ head, findings }: Pick<Verification, 'head' | 'findings'>): string[] => [
  ...(head === undefined ? [] : [`the last link is ${head}`]),
  ...findings.map(({ kind, at, message }) => `${kind} ${at}: ${message}`),
  findings.length === 0 ? 'the log is as it was written' : `findings: ${findings.length}`,
]

const exported: Action = async (args, io, load) => {
  if (args.positionals.length > 1) throw new UsageError('name the file by --file')
  const [file, after] = [args.text('file'), args.integer('after', 0, Number.MAX_SAFE_INTEGER)]
  if (file !== undefined && after !== undefined) {
    throw new UsageError('--file goes on by itself: say --file or --after')
  }
  const dsn = databaseOf(args, demandDatabases(load()))
  return await withDatabase(dsn, io, async (sql) => {
    if (file === undefined) {
      for await (const { lines } of exportLinks(sql, BigInt(after ?? 0))) {
        io.out(lines)
        await io.taken()
      }
      return exitCodes.ok
    }
    const done = await exportAudit(sql, file)
    return print(args, io, done, () => exportText(done, file))
  })
}

const exportText = ({ links, entries, head }: Exported, file: string): string =>
  [
    `${entries} entries in ${links} links were added to ${file}`,
    ...(head === undefined ? [] : [`the last link is ${head}`]),
  ].join('\n')

/** @throws UsageError */
const databaseOf = (args: CommandArguments, dsns: readonly string[]): string => {
  const dsn = dsns[(args.integer('database', 1, databasesMax) ?? 1) - 1]
  if (dsn === undefined) throw new UsageError('there is one database')
  return dsn
}

/** @throws UsageError */
const anchorOf = (text: string | undefined): Anchor | undefined => {
  if (text === undefined) return undefined
  const [, seq = '', hash = ''] = anchorForm.exec(text) ?? []
  if (hash === '') throw new UsageError('--anchor must be number:hash, as the log has it')
  return { seq: BigInt(seq), hash }
}

const actions: Readonly<Record<string, Action>> = { verify, export: exported }
