import { readFile } from 'node:fs/promises'
import {
  type CertificateRecord,
  type CertificateService,
  type CertificateSource,
  certificateTypeMeanings,
  certificateTypes,
  createCertificateService,
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
import { textTable } from '#src/platform/config/index.ts'
import { commandActor, type RecordAct } from '#src/platform/http/index.ts'
import { openStore } from './certificate-store.ts'
import {
  actionOf,
  type Command,
  type CommandArguments,
  exitCodes,
  print,
  UsageError,
} from './command.ts'
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
    dir: { value: 'path', doc: 'Work on this folder.' },
    ispb: { value: 'ispb', doc: 'import: the institution.' },
    type: { value: 'type', doc: 'import: what the certificate is for.' },
    version: { value: 'n', doc: 'import: the version; the next one if not given.' },
    'password-file': {
      value: 'path',
      doc: 'import: file with the password of a PFX/PKCS#12 file, or of the key in a PEM file.',
    },
    'private-key': { doc: 'export: the private key too.' },
    namespace: { value: 'name', doc: 'manifest: the Kubernetes namespace.' },
    json: { doc: 'One JSON object.' },
  },
  examples: [
    'trilho certs import pia.pfx --ispb 99999010 --type PIA --password-file password.txt',
    'trilho certs list',
    'trilho certs manifest 99999010.PIA.1 --namespace payments | kubectl apply -f -',
  ],
  positionalsMax: 2,
  run: async (args, io) => {
    const action = actionOf(actions, args)
    const { store, recordAct, close } = openStore(args.text('dir'), io)
    try {
      const service = createCertificateService({ store, now: () => new Date() })
      return await action(service, args, io, recordAct)
    } finally {
      await close()
    }
  },
}

const sourceOf = async (path: string, args: CommandArguments): Promise<CertificateSource> => {
  const bytes = new Uint8Array(await readFile(path))
  const text = Buffer.from(bytes).toString('latin1')
  const passwordFile = args.text('password-file')
  const password =
    passwordFile === undefined ? '' : (await readFile(passwordFile, 'utf8')).replace(/\r?\n$/, '')
  if (text.includes('-----BEGIN ')) return { format: 'pem', content: text, password }
  return { format: 'pkcs12', content: bytes, password }
}

type Action = (
  service: CertificateService,
  args: CommandArguments,
  io: Io,
  recordAct: RecordAct,
) => Promise<number>

const importFile: Action = async (service, args, io) => {
  const path = args.positionals[1]
  const ispb = args.text('ispb') ?? ''
  const type = certificateTypes.find((candidate) => candidate === args.text('type'))
  const version = args.integer('version', 1, versionMax)
  if (path === undefined) throw new UsageError('say the file to import')
  if (!ispbForm.test(ispb)) throw new UsageError('--ispb must be 8 digits or capital letters')
  if (type === undefined) throw new UsageError(`--type must be ${certificateTypes.join(', ')}`)
  const wanted = { ispb, type, version, source: await sourceOf(path, args) }
  const outcome = await service.importCertificate(wanted, commandActor())
  if (outcome.ok) return printAll([outcome.record], args, io)
  io.err(`trilho certs: ${failureText(outcome)}\n`)
  return exitCodes.failed
}

const failureText = (outcome: Extract<ImportOutcome, { readonly ok: false }>): string => {
  switch (outcome.kind) {
    case 'wrong_password':
      return `${outcome.message}: give the right one with --password-file`
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

const printAll = (
  records: readonly CertificateRecord[],
  args: CommandArguments,
  io: Io,
): number => {
  const now = new Date()
  const views = records.map((record) => viewOf(record, now))
  return print(args, io, { certificates: views }, () => {
    const rows = views.map((view, i) => [
      nameText(records[i]!),
      view.status,
      String(view.days_until_expiry),
      view.has_private_key ? 'yes' : 'no',
      view.subject,
    ])
    return textTable(['NAME', 'STATUS', 'DAYS', 'KEY', 'SUBJECT'], rows)
  })
}

/** The certificate that the command line names. */
const findOne = async (
  service: CertificateService,
  { positionals: [, text = ''] }: CommandArguments,
): Promise<CertificateRecord> => {
  const name = parseNameText(text)
  if (name === undefined) throw new UsageError('say a name: <ispb>.<type>.<version>')
  const record = await service.find(name.ispb, name.type, name.version)
  if (record === undefined) throw new Error(`no certificate ${text}`)
  return record
}

const show: Action = async (service, args, io) => {
  const view = viewOf(await findOne(service, args), new Date())
  const rows = Object.entries(view).map(([name, value]) => [name, String(value)])
  return print(args, io, view, () => textTable(['FIELD', 'VALUE'], rows))
}

/** Writes the act to the audit log before it shows a key. */
const exportedKey = async (
  service: CertificateService,
  record: CertificateRecord,
  recordAct: RecordAct,
): Promise<Uint8Array> => {
  const object = nameText(record)
  const key = await service.readKey(record)
  if (key === undefined) throw new Error(`${object} is stored without its private key`)
  const actor = commandActor()
  await recordAct({ actor, action: 'certificates.export', object, outcome: 'done' })
  return key
}

const exportPem: Action = async (service, args, io, recordAct) => {
  const record = await findOne(service, args)
  io.out(fullChain(record))
  if (args.flag('private-key')) io.out(keyPem(await exportedKey(service, record, recordAct)))
  return exitCodes.ok
}

const manifest: Action = async (service, args, io, recordAct) => {
  const namespace = args.text('namespace')
  if (namespace !== undefined && !isKubernetesNamespace(namespace)) {
    throw new UsageError('--namespace is not a Kubernetes name')
  }
  const record = await findOne(service, args)
  const key = await exportedKey(service, record, recordAct)
  io.out(secretManifest(record, key, namespace))
  return exitCodes.ok
}

const actions: Readonly<Record<string, Action>> = {
  import: importFile,
  list: async (service, args, io) => printAll(await service.list(), args, io),
  show,
  export: exportPem,
  manifest,
}
