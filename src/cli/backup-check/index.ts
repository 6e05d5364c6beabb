import { textTable } from '#src/platform/config/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { commandActor, verifyAudit } from '#src/platform/http/index.ts'
import {
  type BookLine,
  bookCountedMax,
  type Check,
  checkOf,
  type Feature,
} from '#src/platform/lifecycle/index.ts'
import { createKeyTableStore, type ListedKey } from '#src/platform/security/index.ts'
import {
  type Command,
  demandDatabases,
  demandSettings,
  errorLogger,
  exitCodes,
  idleFeatures,
  print,
  UsageError,
  withDatabase,
} from '../command.ts'
import { ofDatabase, settingOf } from '../doctor/database.ts'
import { checkLines } from '../doctor/index.ts'
import { reasonOf } from '../doctor/reason.ts'
import type { Io, LoadedProgram, Program } from '../program.ts'
import { inProgress } from '../progress.ts'
import {
  checkAlone,
  checkConstraints,
  checkPages,
  checkSchema,
  checkSequences,
} from './structure.ts'

/** Looks at a restored database before any gateway works on it. */
export const backupCheckCommand: Command = {
  name: 'backup-check',
  summary: 'Checks a restored database before a gateway works on it, and says what to reconcile.',
  usage: '[--quick] [--hold] [--json]',
  description: `Works on the restored copy in DATABASE_DSN (and CARDGW_DATABASE_URL) with the settings of the gateway,
while no gateway runs. Looks at the schema, indexes, constraints and sequences, reads every page, verifies the audit log,
and opens everything that is sealed under TRILHO_MASTER_KEY. Then it lists what is open in the copy, and from which moment
on it must be compared with the books of the counterparties, and which API keys count in it. Changes nothing but with
--hold; ends with 1 when something failed.`,
  options: {
    quick: { doc: 'Leaves out what reads all data: pages and the audit log.' },
    hold: {
      doc: 'Holds card payments that the copy has open, so that a person decides on each; not where something failed.',
    },
    json: { doc: 'One JSON object: checks, book, keys, held, last.' },
  },
  examples: ['DATABASE_DSN=postgres://trilho@restored/trilho trilho backup-check'],
  run: async (args, io, program) => {
    const loaded = demandSettings(program.load(io.env))
    const isQuick = args.flag('quick')
    const all = idleFeatures(program, loaded, errorLogger(io))
    const holding = args.flag('hold') ? holdingOf(all) : []
    const checks: Check[] = []
    const databases = demandDatabases(loaded)
    for (const dsn of databases) {
      const setting = settingOf(dsn, loaded)
      const found = await checksOf(dsn, { setting, isQuick, io, program, loaded })
      checks.push(...ofDatabase(setting, found))
    }
    const isWhole = checks.every(({ status }) => status !== 'failed')
    const features = isWhole ? all : []
    checks.push(...(await checkSealed(features, io)))
    const book = (await Promise.all(features.map((feature) => feature.book?.() ?? []))).flat()
    const lastMs = Math.max(...book.map(({ last }) => last?.getTime() ?? 0))
    const last = lastMs > 0 ? new Date(lastMs) : null
    const keys = isWhole ? await activeKeys(databases[0], io) : []
    const failed = checks.some(({ status }) => status === 'failed')
    const held = args.flag('hold') && !failed ? await holdAll(holding) : null
    print(args, io, { ok: !failed, last, checks, book, keys, held }, () =>
      textOf({ checks, book, keys, held, last }),
    )
    return failed ? exitCodes.failed : exitCodes.ok
  },
}

type Hold = NonNullable<Feature['hold']>

/** @throws UsageError before anything is read, which may take hours */
const holdingOf = (features: readonly Feature[]): readonly Hold[] => {
  const holding = features.flatMap(({ hold }) => hold ?? [])
  if (holding.length === 0) throw new UsageError('--hold needs the settings of cards')
  return holding
}

const holdAll = async (holding: readonly Hold[]): Promise<number> => {
  const held = await Promise.all(holding.map((hold) => hold()))
  return held.reduce((sum, count) => sum + count, 0)
}

type Context = {
  readonly setting: string
  readonly isQuick: boolean
  readonly io: Io
  readonly program: Program
  readonly loaded: LoadedProgram
}

/** The checks of a copy; if it has no schema, that one alone. */
const checksOf = async (dsn: string, context: Context): Promise<readonly Check[]> => {
  const schema = await checkSchema(dsn, context.program.migrations, context.setting)
  if (schema.status === 'failed') return [schema]
  const { isQuick, io, loaded } = context
  return withDatabase(
    dsn,
    io,
    async (sql) => [
      schema,
      await checkAlone(sql),
      await checkConstraints(sql, context.program.structure),
      await checkSequences(sql),
      ...(isQuick
        ? []
        : [
            await inProgress(io, 'pages', (onProgress) => checkPages(sql, onProgress)),
            await checkAudit(sql, loaded, io),
          ]),
    ],
    0,
  )
}

const checkAudit = async (
  sql: Client,
  { auditRetentionDays: retentionDays }: LoadedProgram,
  io: Io,
): Promise<Check> => {
  const check = checkOf('Audit log')
  const { entries, head, findings } = await inProgress(io, 'links of the audit log', (onProgress) =>
    verifyAudit(sql, { retentionDays, onProgress }),
  )
  const detail = `${entries} entries are as they were sealed${head === undefined ? '' : `, the last link is ${head}`}`
  if (findings.length === 0) return check.ok(detail)
  const fix = 'trilho audit verify names each; restore from another copy'
  return check.failed(`findings: ${findings.length}`, fix)
}

/** Without its master key, a copy can neither sign nor send. */
const checkSealed = async (features: readonly Feature[], io: Io): Promise<readonly Check[]> => {
  const checks: Check[] = []
  for (const { sealed } of features) {
    if (sealed === undefined) continue
    const check = checkOf(`Sealed ${sealed.what}`)
    try {
      const { readable, unreadable } = await inProgress(io, sealed.what, () => sealed.verify())
      const detail = `${readable} can be opened`
      if (unreadable === 0) checks.push(check.ok(detail))
      else {
        const fix = 'set the TRILHO_MASTER_KEY of the time of the copy'
        checks.push(check.failed(`${detail}, ${unreadable} cannot`, fix))
      }
    } catch (error) {
      const fix = 'set the TRILHO_MASTER_KEY of the time of the copy'
      checks.push(check.failed(reasonOf(error), fix))
    }
  }
  return checks
}

type ActiveKey = Pick<ListedKey, 'id' | 'name' | 'account' | 'expires_at'>

/** Includes keys that were revoked after the copy. */
const activeKeys = (dsn: string, io: Io): Promise<readonly ActiveKey[]> =>
  withDatabase(dsn, io, async (sql) =>
    (await createKeyTableStore(sql, commandActor()).list())
      .filter(
        ({ revoked_at: revoked, expires_at: end }) =>
          revoked === null && (end === null || Date.parse(end) > Date.now()),
      )
      .map(({ id, name, account, expires_at }) => ({ id, name, account, expires_at })),
  )

const textOf = ({
  checks,
  book,
  keys,
  held,
  last,
}: {
  readonly checks: readonly Check[]
  readonly book: readonly BookLine[]
  readonly keys: readonly ActiveKey[]
  readonly held: number | null
  readonly last: Date | null
}): string => {
  const open = book.filter((line) => line.open > 0)
  const table = textTable(['OPEN IN THE COPY', 'COUNT', 'OLDEST'], open.map(rowOf))
  return [
    checkLines(checks),
    ...(book.length === 0 ? [] : ['', open.length === 0 ? 'nothing is open in the copy' : table]),
    ...(keys.length === 0 ? [] : ['', keysTable(keys), keysStep]),
    ...(held === null
      ? []
      : ['', `${held} card payments are held: GET /v1/transactions?needs_attention=true`]),
    ...(last === null ? [] : ['', stepsFrom(last)]),
  ].join('\n')
}

const keysTable = (keys: readonly ActiveKey[]): string =>
  textTable(
    ['API KEY THAT COUNTS', 'NAME', 'ACCOUNT', 'EXPIRES'],
    keys.map(({ id, name, account, expires_at: end }) => [id, name, account, end ?? 'never']),
  )

const keysStep =
  'revoke, restrict or rotate again what was after the copy: its keys and secrets are those of then'

const rowOf = ({ what, open, oldestOpen }: BookLine): readonly string[] => [
  what,
  open < bookCountedMax ? String(open) : `${bookCountedMax} or more`,
  oldestOpen?.toISOString() ?? '',
]

const stepsFrom = (last: Date): string => {
  const at = last.toISOString()
  return `the copy ends at ${at}. Whatever was paid after that is not in it. From then on compare
  instant payments         trilho reconcile <camt.054 of each day since>
  cards                    the networks' files, by their reference numbers
  digital currency         read from the chain again; what was sent after the copy is found there, and what
                           may have been waits for a decision: GET /v1/drex/held
and start one process with TRILHO_ROLES=pull,worker SPI_ROLES=INBOUND_PULL,WORKER before any that sends.
cards that are pending in the copy are reversed once a process with the role cards starts, unless --hold has held them.`
}
