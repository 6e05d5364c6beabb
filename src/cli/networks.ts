import { forgetRemembered, listRemembered, type Remembered } from '#src/drex/index.ts'
import { textTable } from '#src/platform/config/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import {
  actionOf,
  type Command,
  type CommandArguments,
  inDatabase,
  print,
  UsageError,
} from './command.ts'
import type { Io } from './program.ts'

/** Shows the facts by which we know networks of digital currency, and forgets wrong ones. */
export const networksCommand: Command = {
  name: 'networks',
  summary: 'Shows what digital-currency networks are known by, and forgets what is wrong of it.',
  usage: 'show | forget <network> [--genesis <hash>]',
  description: `A node that does not have the first block of a network, and a block that was final, is turned away: both are remembered
in the database of DATABASE_DSN. Where a node lied and what is remembered is wrong, the right ones are turned away, too, and
the network is wrong_network. Stop every process with drex, take that node out of the settings, have the block forgotten,
and start again. Compare the blocks with an explorer or the other members first: what is forgotten protects from a chain
that is another, where payments would be made once more. The audit log has an entry of it.`,
  options: {
    genesis: {
      value: 'hash',
      doc: 'forget: the first block of the network, if that is wrong, too.',
    },
    json: { doc: 'One JSON object.' },
  },
  examples: ['trilho networks show', 'trilho networks forget drex_testnet'],
  positionalsMax: 2,
  run: async (args, io, program) => {
    const action = actionOf(actions, args)
    return inDatabase(program, io, (sql) => action(sql, args, io))
  },
}

type Action = (sql: Client, args: CommandArguments, io: Io) => Promise<number>

const show: Action = async (sql, args, io) => {
  const networks = await listRemembered(sql)
  return print(args, io, { networks }, () =>
    networks.length === 0
      ? 'no network is remembered'
      : textTable(['NETWORK', 'FIRST BLOCK', 'FINAL BLOCK', 'ITS HASH'], networks.map(rowOf)),
  )
}

const rowOf = ({ network, genesis, block, hash }: Remembered): string[] => [
  network,
  genesis,
  block === null ? '' : String(block),
  hash ?? '',
]

const forget: Action = async (sql, args, io) => {
  const [, network] = args.positionals
  if (network === undefined) throw new UsageError('name a network that show lists')
  const genesis = genesisOf(args)
  const forgotten = await forgetRemembered(sql, network, genesis, commandActor())
  return print(args, io, { forgotten, genesis: genesis ?? forgotten.genesis }, () => {
    const { block, hash } = forgotten
    const what = block === null ? 'no final block was remembered' : `forgot block ${block}, ${hash}`
    return genesis === undefined
      ? what
      : `${what}\nthe first block is ${genesis} now, and was ${forgotten.genesis}`
  })
}

const genesisOf = (args: CommandArguments): `0x${string}` | undefined => {
  const text = args.text('genesis')
  if (text === undefined) return undefined
  if (!/^0x[0-9a-fA-F]{64}$/.test(text))
    throw new UsageError('--genesis must be 0x and 64 hexadecimal digits')
  return `0x${text.slice(2).toLowerCase()}`
}

const actions: Readonly<Record<string, Action>> = { show, forget }
