import { createCertificateService, ispbForm, namedKeys } from '#src/certificates/index.ts'
import { loadSettings } from '#src/platform/config/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import {
  type OpenedMessage,
  type RsfnParty,
  rsfnMissing,
  rsfnProblems,
  rsfnServiceOf,
  rsfnSpecialUses,
  rsfnTypes,
  spiSettings,
} from '#src/spi/index.ts'
import { openStore } from './certificate-store.ts'
import {
  actionOf,
  type Command,
  type CommandArguments,
  demandSettings,
  exitCodes,
  print,
  readDocument,
  UsageError,
  writeBytes,
} from './command.ts'
import type { Io } from './program.ts'

type Service = NonNullable<ReturnType<typeof rsfnServiceOf>>
/** Records the use of a key of the database in the audit log, before we show the result. */
type RecordUse = (action: 'rsfn.seal' | 'rsfn.open', outcome: string) => Promise<void>
type Action = (
  service: Service,
  args: CommandArguments,
  io: Io,
  recordUse: RecordUse,
) => Promise<number>

const centralBank = '00038166'

/** Seals and opens messages of the national network. */
export const rsfnCommand: Command = {
  name: 'rsfn',
  summary: 'Seals and opens messages with the security header of the network (RSFN).',
  usage: 'seal|open [file|-]',
  description: `Reads the file, or standard input. Keys are those of RSFN_PRIVATE_KEY_PATH and RSFN_PUBLIC_KEY_PATH, or with
RSFN_KEY_SOURCE=store the certificates of types ${rsfnTypes.join(' and ')}. seal takes text in UTF-8, or with --binary bytes as they are,
and prints the message in hexadecimal; open takes it binary or in hexadecimal, and prints the content.`,
  options: {
    out: {
      value: 'path',
      doc: 'Write the message, or the content, to this file, binary; - is standard output.',
    },
    type: { value: 'type', doc: `seal: type of the certificates, ${rsfnTypes.join(' or ')}.` },
    to: { value: 'ispb', doc: `seal: the recipient; the central bank if not given.` },
    'special-use': { value: 'n', doc: `seal: C04, one of ${rsfnSpecialUses.join(', ')}.` },
    binary: { doc: 'seal: the input is no text.' },
    sender: { value: 'a:serial', doc: 'seal: authority and serial of our certificate (files).' },
    recipient: { value: 'a:serial', doc: 'seal: those of the recipient\u2019s.' },
    'accept-clear': { doc: 'open: take a message too that nothing protects.' },
    'accept-second': { doc: 'open: take a message of the second version too (3DES).' },
    dir: { value: 'path', doc: 'Take the certificates of this folder.' },
    json: { doc: 'One JSON object.' },
  },
  examples: [
    'trilho rsfn seal message.xml --to 00038166 --out message.bin',
    'trilho rsfn open message.bin',
  ],
  positionalsMax: 2,
  run: async (args, io) => {
    const action = actionOf(actions, args)
    const { values, problems } = demandSettings(loadSettings({ spi: spiSettings }, io.env))
    demandSettings({ problems: [...problems, ...rsfnProblems(values.spi)] })
    const isStore = args.text('dir') !== undefined || values.spi.rsfnKeySource === 'store'
    const settings = { ...values.spi, rsfnKeySource: isStore ? 'store' : 'files' } as const
    const opened = isStore ? openStore(args.text('dir'), io) : undefined
    try {
      const now = () => new Date()
      const certificates =
        opened && namedKeys(createCertificateService({ store: opened.store, now }))
      const service = rsfnServiceOf({ settings, certificates })
      if (service === undefined) throw new UsageError(`set ISPB, and ${rsfnMissing}`)
      return await action(service, args, io, async (action, outcome) => {
        const object = `trilho ${action.replace('.', ' ')}`
        await opened?.recordAct({ actor: commandActor(), action, object, outcome })
      })
    } finally {
      await opened?.close()
    }
  },
}

const partyOf = (args: CommandArguments, option: string): RsfnParty | undefined => {
  const text = args.text(option)
  if (text === undefined) return undefined
  const [, authority, serial] = /^([1-7]):([0-9A-Fa-f]{1,32})$/.exec(text) ?? []
  if (authority === undefined || serial === undefined) {
    throw new UsageError(
      `--${option} must be an authority from 1 to 7, a colon and a serial number`,
    )
  }
  return { authority: Number(authority), serial }
}

const seal: Action = async (service, args, io, recordUse) => {
  const input = await readDocument(args.positionals[1], io)
  const wantedType = args.text('type') ?? 'SPB'
  const type = rsfnTypes.find((one) => one === wantedType)
  if (type === undefined) throw new UsageError(`--type must be ${rsfnTypes.join(' or ')}`)
  const use = args.integer('special-use', 0, 10) ?? 0
  const specialUse = rsfnSpecialUses.find((one) => one === use)
  if (specialUse === undefined) {
    throw new UsageError(`--special-use must be one of ${rsfnSpecialUses.join(', ')}`)
  }
  const recipientIspb = args.text('to') ?? centralBank
  if (!ispbForm.test(recipientIspb))
    throw new UsageError('--to must be 8 digits or capital letters')
  const content = args.flag('binary') ? input : textOf(input)
  const parties = { sender: partyOf(args, 'sender'), recipient: partyOf(args, 'recipient') }
  const sealed = await service.seal({ content, type, specialUse, recipientIspb, ...parties })
  await recordUse('rsfn.seal', 'done')
  const { message, sender, recipient } = sealed
  const path = args.text('out')
  const about = { bytes: message.length, sender, recipient }
  if (path !== undefined) {
    const told = await writeBytes(path, message, io)
    return print(args, told, about, () => `${message.length} bytes in ${path}`)
  }
  return print(args, io, { message: message.toBase64(), ...about }, () => message.toHex())
}

const textOf = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UsageError('the input is no text in UTF-8; say --binary')
  }
}

/** The bytes of a message, given as they are or in hexadecimal. */
const messageOf = (input: Uint8Array): Uint8Array => {
  if (input[0] === 0x02 && input[1] === 0x4c) return input
  const hex = Buffer.from(input).toString('latin1').replace(/\s+/g, '')
  try {
    return Uint8Array.fromHex(hex)
  } catch {
    throw new UsageError('the input is no message, neither binary nor in hexadecimal')
  }
}

const open: Action = async (service, args, io, recordUse) => {
  const opened = await service.open(messageOf(await readDocument(args.positionals[1], io)), {
    acceptClear: args.flag('accept-clear'),
    acceptSecondVersion: args.flag('accept-second'),
  })
  await recordUse('rsfn.open', opened.ok ? 'done' : 'rsfn_refused')
  if (!opened.ok) return refused(opened, args, io)
  const { content, contentEncoding } = opened
  const path = args.text('out')
  const bytes = Buffer.from(content, contentEncoding)
  const told = path === undefined ? io : await writeBytes(path, bytes, io)
  const { ok, contentEncoding: encoding, specialUse, ...view } = opened
  const about = { ...view, content_encoding: encoding, special_use: specialUse }
  return print(args, told, about, () =>
    path === undefined ? content : `the content is in ${path}`,
  )
}

const refused = (
  { code, field, message, isReport }: Extract<OpenedMessage, { readonly ok: false }>,
  args: CommandArguments,
  io: Io,
): number => {
  const what = isReport ? 'no answer is due' : `answer with C03 = ${code}`
  if (args.flag('json')) {
    io.out(`${JSON.stringify({ error: { code, field, message, is_report: isReport } })}\n`)
  } else {
    io.err(`trilho rsfn: ${field}: ${message}; ${what}\n`)
  }
  return exitCodes.failed
}

const actions: Readonly<Record<string, Action>> = { seal, open }
