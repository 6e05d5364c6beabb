import { loadSettings, textTable } from '#src/platform/config/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import {
  commandActor,
  createOutsideReader,
  outsideSettings,
  type ReadOutside,
} from '#src/platform/http/index.ts'
import {
  createLists,
  differencesOf,
  type ListName,
  type Lists,
  listNames,
  type Provenance,
  participantUrls,
  readHolidays,
  readList,
  readParticipants,
  storeList,
} from '#src/reference/index.ts'
import {
  actionOf,
  type Command,
  type CommandArguments,
  demandSettings,
  inDatabase,
  print,
  UsageError,
} from './command.ts'
import type { Io, Program } from './program.ts'

/** Takes the lists that others publish: holidays, and who takes part in Pix. */
export const listsCommand: Command = {
  name: 'lists',
  summary: 'Shows and refreshes the lists of holidays and of participants.',
  usage: 'show <holidays|participants> [year|ispb] | refresh <holidays|participants>',
  description: `The program brings the holidays that the laws name and some large participants. refresh reads a list whole, says
what it changes, and puts it in their place in the database of DATABASE_DSN; every process takes it within a minute.
participants: the CSV of the central bank, of Pix, the SPI or the STR. Without --from, today's file of Pix from the bank's
site, or the last of the week before.
holidays: --from names a CSV whose lines begin with the day (dd/mm/yyyy or YYYY-MM-DD) and end with its name, such as
ANBIMA's table saved as CSV, or a JSON array of objects with date and name. It must have the years that it names whole:
other years stay as the laws have them.
Addresses are read by the rules of TRILHO_FETCH_ALLOWED_TARGETS.`,
  options: {
    from: { value: 'file|url', doc: 'refresh: where the list is.' },
    'as-of': {
      value: 'YYYY-MM-DD',
      doc: 'refresh: the day that the list is of; today if not given.',
    },
    json: { doc: 'One JSON object.' },
  },
  examples: [
    'trilho lists refresh participants',
    'trilho lists refresh holidays --from feriados.csv',
    'trilho lists show holidays 2027',
    'trilho lists show participants 00000000',
  ],
  positionalsMax: 3,
  run: (args, io, program) => actionOf(actions, args)(args, io, program),
}

type Action = (args: CommandArguments, io: Io, program: Program) => Promise<number>

const nameOf = (args: CommandArguments): ListName => {
  const name = listNames.find((one) => one === args.positionals[1])
  if (name === undefined) throw new UsageError(`say ${listNames.join(' or ')}`)
  return name
}

/** The lists as every process has them. */
const listsIn = async (sql: Client): Promise<Lists> => {
  const lists = createLists()
  await lists.renew(sql)
  return lists
}

const asOfText = ({ source, asOf }: Provenance): string => `as of ${asOf}: ${source}`

const show: Action = (args, io, program) => {
  const name = nameOf(args)
  const wanted = args.positionals[2]
  return inDatabase(program, io, async (sql) => {
    const lists = await listsIn(sql)
    if (name === 'holidays') return showHolidays(lists, wanted, args, io)
    const { all, provenance } = lists.participants()
    const found = [...all.values()].filter(({ ispb }) => wanted === undefined || ispb === wanted)
    if (found.length === 0) throw new Error(`the list has no ISPB ${wanted}`)
    return print(args, io, { ...provenance, participants: found }, () =>
      [
        textTable(
          ['ISPB', 'NAME', 'SETTLES', 'MODALITY'],
          found.map((one) => [one.ispb, one.name, one.settlement ?? '', one.modality ?? '']),
        ),
        asOfText(provenance),
      ].join('\n\n'),
    )
  })
}

const showHolidays = (
  lists: Lists,
  wanted = String(new Date().getFullYear()),
  args: CommandArguments,
  io: Io,
): number => {
  if (!/^\d{4}$/.test(wanted)) throw new UsageError('a year has four digits')
  const { holidays, provenance } = lists.holidaysOf(Number(wanted))
  return print(args, io, { ...provenance, holidays }, () =>
    [
      textTable(
        ['DAY', 'NAME'],
        holidays.map(({ day, name }) => [day, name]),
      ),
      asOfText(provenance),
    ].join('\n\n'),
  )
}

type Found = { readonly text: string; readonly source: string; readonly asOf: string }

const refresh: Action = async (args, io, program) => {
  const name = nameOf(args)
  if (args.positionals.length > 2) throw new UsageError('name the list by --from')
  const found = await find(name, args, outsideReader(io, program))
  const { items, changesFrom } = takers[name](found.text)
  const list = { source: found.source, asOf: found.asOf, items }
  return inDatabase(program, io, async (sql) => {
    const changes = await changesFrom(sql)
    await storeList(sql, name, list, commandActor())
    const { source, asOf } = list
    const told = { list: name, source, asOf, items: items.length, changes }
    return print(args, io, told, () =>
      [`${items.length} ${name} of ${list.asOf} are stored, from ${list.source}`, ...changes].join(
        '\n',
      ),
    )
  })
}

/** The items of a list, and the changes that it makes, in words. */
type Taken = {
  readonly items: readonly unknown[]
  readonly changesFrom: (sql: Client) => Promise<readonly string[]>
}

const takers: Readonly<Record<ListName, (text: string) => Taken>> = {
  holidays: (text) => {
    const items = readHolidays(text)
    const { added, absent } = differencesOf(items)
    const changes = [
      ...added.map(({ day, name }) => `not in the laws: ${day} ${name}`),
      ...absent.map(({ day, name }) => `no holiday any more: ${day} ${name}`),
    ]
    return { items, changesFrom: async () => changes }
  },
  participants: (text) => {
    const items = readParticipants(text)
    return {
      items,
      changesFrom: async (sql) => {
        const before = (await listsIn(sql)).participants().all
        const now = new Set(items.map(({ ispb }) => ispb))
        const come = items.filter(({ ispb }) => !before.has(ispb)).length
        const gone = [...before.values()].filter(({ ispb }) => !now.has(ispb))
        return [
          `${come} are new`,
          ...gone.map(({ ispb, name }) => `not listed any more: ${ispb} ${name}`),
        ]
      },
    }
  },
}

const outsideReader = (io: Io, { version }: Program): ReadOutside => {
  const { values } = demandSettings(loadSettings({ outside: outsideSettings }, io.env))
  return createOutsideReader(values.outside, version)
}

const find = async (
  name: ListName,
  args: CommandArguments,
  readOutside: ReadOutside,
): Promise<Found> => {
  const from = args.text('from')
  const asOf = args.text('as-of')
  if (asOf !== undefined && !/^\d{4}-\d\d-\d\d$/.test(asOf)) {
    throw new UsageError('--as-of must be a day as YYYY-MM-DD')
  }
  const urls = participantUrls(new Date())
  const today = urls[0]?.day ?? ''
  if (from !== undefined) {
    return { text: await readList(from, readOutside), source: from, asOf: asOf ?? today }
  }
  if (name === 'holidays') throw new UsageError('say --from')
  let failure: unknown
  for (const { url, day } of urls) {
    try {
      return { text: await readList(url, readOutside), source: url, asOf: day }
    } catch (error) {
      // The first is today's, which tells most.
      failure ??= error
    }
  }
  throw failure
}

const actions: Readonly<Record<string, Action>> = { show, refresh }
