import { readFile } from 'node:fs/promises'
import {
  type CertificateRecord,
  type CertificateService,
  type CertificateSource,
  type CertificateStore,
  certificateSettings,
  certificateTypeMeanings,
  certificateTypes,
  createCertificateService,
  createDatabaseStore,
  createFolderStore,
  fullChain,
  type ImportOutcome,
  isKubernetesNamespace,
  ispbForm,
  keyPem,
  nameText,
  parseNameText,
  secretManifest,
  versionMax,
  viewOf,
} from '#src/certificates/index.ts'
import {
  loadSettings,
  platformSettings,
  problemsTable,
  textTable,
} from '#src/platform/config/index.ts'
import { databaseSettings, openDatabase } from '#src/platform/database/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import { createLogger } from '#src/platform/observe/index.ts'
import { createSealer } from '#src/platform/security/index.ts'
import { type Command, type CommandArguments, exitCodes, UsageError } from './command.ts'
import type { Io } from './program.ts'

/** Imports, lists, shows and exports certificates. */
export const certsCommand: Command = {
  name: 'certs',
  summary: 'Imports, lists, shows and exports certificates.',
  usage: 'import <file> | list | show <name> | export <name> | manifest <name>',
  description: `A name is <ispb>.<type>.<version>. Certificates are kept in the folder of TRILHO_CERTS_DIR (or --dir),
else in the database of DATABASE_DSN, private keys sealed under TRILHO_MASTER_KEY.
Types: ${certificateTypes.map((type) => `${type} ${certificateTypeMeanings[type]}`).join('; ')}.`,
  options: {
    dir: { type: 'string', value: 'path', doc: 'Work on this folder.' },
    ispb: { type: 'string', value: 'ispb', doc: 'import: the institution.' },
    type: { type: 'string', value: 'type', doc: 'import: what the certificate is for.' },
    version: { type: 'string', value: 'n', doc: 'import: the version; the next one if not given.' },
    'password-file': {
      type: 'string',
      value: 'path',
      doc: 'import: file with the password of a PFX/PKCS#12 file.',
    },
    'private-key': { type: 'boolean', doc: 'export: the private key too.' },
    namespace: { type: 'string', value: 'name', doc: 'manifest: the Kubernetes namespace.' },
    json: { type: 'boolean', doc: 'One JSON object.' },
  },
  examples: [
    'trilho certs import pia.pfx --ispb 99999010 --type PIA --password-file password.txt',
    'trilho certs list',
    'trilho certs manifest 99999010.PIA.1 --namespace payments | kubectl apply -f -',
  ],
  positionalsMax: 2,
  run: async (args, io) => {
    const store = await openStore(args, io)
    if (typeof store === 'number') return store
    try {
      const service = createCertificateService({ store: store.store, now: () => new Date() })
      return await runAction(service, args, io)
    } finally {
      await store.close()
    }
  },
}

const runAction = (
  service: CertificateService,
  args: CommandArguments,
  io: Io,
): Promise<number> => {
  const [action, subject] = args.positionals
  switch (action) {
    case 'import':
      return importFile(service, subject, args, io)
    case 'list':
      return list(service, args, io)
    case 'show':
      return show(service, subject, args, io)
    case 'export':
      return exportPem(service, subject, args, io)
    case 'manifest':
      return manifest(service, subject, args, io)
    default:
      throw new UsageError('say import, list, show, export or manifest')
  }
}

type OpenStore = { readonly store: CertificateStore; readonly close: () => Promise<void> }

const openStore = async (args: CommandArguments, io: Io): Promise<OpenStore | number> => {
  const { values, problems } = loadSettings(
    { platform: platformSettings, database: databaseSettings, certificates: certificateSettings },
    io.env,
  )
  if (problems.length > 0) {
    io.err(`${problemsTable(problems)}\n`)
    return exitCodes.config
  }
  const folder = args.text('dir') ?? values.certificates.folder
  if (folder !== undefined) {
    const onProblem = (name: string, error: Error) => io.err(`${name}: ${error.message}\n`)
    return { store: createFolderStore(folder, true, onProblem), close: async () => {} }
  }
  const { dsn, connectionsMax, statementTimeoutSeconds } = values.database
  if (dsn === undefined) throw new UsageError('say --dir, or set TRILHO_CERTS_DIR or DATABASE_DSN')
  const { masterKey, previousMasterKey } = values.platform
  const previous = previousMasterKey === undefined ? [] : [previousMasterKey]
  const database = openDatabase({
    dsn,
    connectionsMax,
    statementTimeoutMs: statementTimeoutSeconds * 1000,
    logger: createLogger({ level: 'error', sink: { write: io.err } }),
  })
  const sealer = masterKey === undefined ? undefined : createSealer(masterKey, previous)
  return { store: createDatabaseStore(database.sql, sealer), close: database.close }
}

const sourceOf = async (path: string, args: CommandArguments): Promise<CertificateSource> => {
  const bytes = new Uint8Array(await readFile(path))
  const text = Buffer.from(bytes).toString('latin1')
  if (text.includes('-----BEGIN ')) return { format: 'pem', content: text }
  const passwordFile = args.text('password-file')
  const password =
    passwordFile === undefined ? '' : (await readFile(passwordFile, 'utf8')).replace(/\r?\n$/, '')
  return { format: 'pkcs12', content: bytes, password }
}

const importFile = async (
  service: CertificateService,
  path: string | undefined,
  args: CommandArguments,
  io: Io,
): Promise<number> => {
  const ispb = args.text('ispb') ?? ''
  const type = certificateTypes.find((candidate) => candidate === args.text('type'))
  const version = args.text('version')
  if (path === undefined) throw new UsageError('say the file to import')
  if (!ispbForm.test(ispb)) throw new UsageError('--ispb must be 8 digits or capital letters')
  if (type === undefined) throw new UsageError(`--type must be ${certificateTypes.join(', ')}`)
  if (version !== undefined && !(/^[1-9]\d{0,3}$/.test(version) && Number(version) <= versionMax)) {
    throw new UsageError(`--version must be 1 to ${versionMax}`)
  }
  const outcome = await service.importCertificate(
    {
      ispb,
      type,
      version: version === undefined ? undefined : Number(version),
      source: await sourceOf(path, args),
    },
    commandActor(),
  )
  if (!outcome.ok) {
    io.err(`trilho certs: ${failureText(outcome)}\n`)
    return exitCodes.failed
  }
  print([outcome.record], args, io)
  return exitCodes.ok
}

const failureText = (outcome: Extract<ImportOutcome, { readonly ok: false }>): string => {
  switch (outcome.kind) {
    case 'wrong_password':
      return 'the password is wrong; give it with --password-file'
    case 'unreadable':
      return outcome.message
    case 'unusable':
      return outcome.problems.map(({ message }) => message).join('; ')
    case 'exists':
      return `${outcome.name}, or the same certificate under another version, is stored already`
    case 'read_only':
      return 'the store is read-only'
    case 'busy':
      return 'other certificate files are being read'
  }
}

const print = (records: readonly CertificateRecord[], args: CommandArguments, io: Io): void => {
  const now = new Date()
  const views = records.map((record) => viewOf(record, now))
  if (args.flag('json')) {
    io.out(`${JSON.stringify({ certificates: views })}\n`)
    return
  }
  const rows = views.map((view, i) => [
    nameText(records[i]!),
    view.status,
    String(view.days_until_expiry),
    view.has_private_key ? 'yes' : 'no',
    view.subject,
  ])
  io.out(`${textTable(['NAME', 'STATUS', 'DAYS', 'KEY', 'SUBJECT'], rows)}\n`)
}

const list = async (
  service: CertificateService,
  args: CommandArguments,
  io: Io,
): Promise<number> => {
  print(await service.list(), args, io)
  return exitCodes.ok
}

const findOne = async (
  service: CertificateService,
  text: string | undefined,
): Promise<CertificateRecord> => {
  const name = parseNameText(text ?? '')
  if (name === undefined) throw new UsageError('say a name: <ispb>.<type>.<version>')
  const record = await service.find(name.ispb, name.type, name.version)
  if (record === undefined) throw new Error(`no certificate ${text}`)
  return record
}

const show = async (
  service: CertificateService,
  subject: string | undefined,
  args: CommandArguments,
  io: Io,
): Promise<number> => {
  const record = await findOne(service, subject)
  const view = viewOf(record, new Date())
  if (args.flag('json')) io.out(`${JSON.stringify(view)}\n`)
  else {
    const rows = Object.entries(view).map(([name, value]) => [name, String(value)])
    io.out(`${textTable(['FIELD', 'VALUE'], rows)}\n`)
  }
  return exitCodes.ok
}

const keyOf = async (service: CertificateService, record: CertificateRecord) => {
  const key = await service.readKey(record)
  if (key === undefined) throw new Error(`${nameText(record)} is stored without its private key`)
  return key
}

const exportPem = async (
  service: CertificateService,
  subject: string | undefined,
  args: CommandArguments,
  io: Io,
): Promise<number> => {
  const record = await findOne(service, subject)
  io.out(fullChain(record))
  if (args.flag('private-key')) io.out(keyPem(await keyOf(service, record)))
  return exitCodes.ok
}

const manifest = async (
  service: CertificateService,
  subject: string | undefined,
  args: CommandArguments,
  io: Io,
): Promise<number> => {
  const namespace = args.text('namespace')
  if (namespace !== undefined && !isKubernetesNamespace(namespace)) {
    throw new UsageError('--namespace is not a Kubernetes name')
  }
  const record = await findOne(service, subject)
  io.out(secretManifest(record, await keyOf(service, record), namespace))
  return exitCodes.ok
}
