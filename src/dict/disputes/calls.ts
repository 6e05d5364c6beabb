/** What the directory is asked about disputes, of whichever kind. */
import { type Element, nodeAt, readPage } from '#codecs/dict'
import type { XmlDocument } from '#codecs/xml'
import type { Client } from '#src/platform/database/index.ts'
import type { Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { DirectoryAwayError } from '../exchange.ts'
import { searchList } from '../following.ts'
import { type DirectoryList, listRequest } from '../lists.ts'
import type { Lane, Refused } from '../wire.ts'
import type { Dispute, Kind, Seen, Wanted } from './domain.ts'
import type { Telling } from './show.ts'
import { isShown } from './store.ts'

/** A kind of dispute: how it is shown here, and how the directory names, reads and writes one. */
export type DisputeForm<Item, C, W extends Wanted> = Pick<Telling<C>, 'eventOf'> & {
  readonly kind: Kind<C>
  readonly view: (dispute: Dispute<C, W>) => object
  /** Its paths begin with it: `/refunds/`. */
  readonly base: string
  /** Its elements are named by it: `Refund`. */
  readonly noun: string
  readonly read: (document: XmlDocument, node: number) => Item
  /** Undefined: this institution is no party of it. */
  readonly seenIn: (item: Item, ispb: string) => Seen<C> | undefined
  readonly newElement: (asked: Dispute<C, W>) => Element
  /** What an act says beside which dispute it is of, and who acts. */
  readonly actElements: (dispute: Dispute<C, W>, wanted: W) => readonly Element[]
  /** Its lists, by the names under which it is kept until when they have been read, with their parameters. */
  readonly lists: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The name of the one that shows what we ask for, and the parameters by which it shows nothing else. */
  readonly askedIn: string
  readonly askedBy?: Readonly<Record<string, string>>
}

type Shown<C> = { readonly kind: 'seen'; readonly seen: Seen<C> }
type Told<C> = Promise<Shown<C> | Refused>

/** An item of a list. */
type Listed<C> = { readonly modifiedMs: number; readonly seen: Seen<C> | undefined }

/** Each throws DirectoryAwayError: it may have been done. Only `create` may not be repeated without looking. */
export type DisputeCalls<C, W extends Wanted> = {
  readonly create: (dispute: Dispute<C, W>) => Told<C>
  readonly act: (dispute: Dispute<C, W>, wanted: W) => Told<C>
  readonly find: (directoryId: string) => Told<C>
  /** What has changed since then of those that we have asked for; false: there may be more. */
  readonly asked: (
    since: Date,
    round?: Round,
  ) => Promise<{ readonly seen: readonly Seen<C>[]; readonly isWhole: boolean }>
  readonly lists: readonly DirectoryList<Listed<C>>[]
}

type CallsDeps = {
  readonly sql: Client
  readonly lane: Lane
  readonly ispb: string
  readonly logger: Logger
  readonly now: () => Date
}

/** Lists know late of a change, and two clocks differ. */
export const overlapMs = 600_000

const detailed = (more: Readonly<Record<string, string>> = {}) => ({
  ...more,
  IncludeDetails: 'true',
})

/** Source: DICT API 2.12.1, /infraction-reports/ and /refunds/. */
export const createDisputeCalls = <
  Item extends { readonly modifiedMs: number },
  C,
  W extends Wanted,
>(
  form: DisputeForm<Item, C, W>,
  { sql, lane: { tell, see }, ispb, logger, now }: CallsDeps,
): DisputeCalls<C, W> => {
  const { base, noun, read, seenIn } = form
  const { kind } = form.kind
  const seenOf = (document: XmlDocument): Shown<C> => {
    const node = nodeAt(document, document.root, noun) ?? document.root
    const seen = seenIn(read(document, node), ispb)
    if (seen !== undefined) return { kind: 'seen', seen }
    throw new DirectoryAwayError('document', `the answer is about others’ ${kind}`)
  }
  const post = (operation: string, path: string, body: Element): Told<C> =>
    tell(`${operation}_${kind}`, { method: 'POST', path, body }, seenOf)
  const participant: Element = ['Participant', ispb]
  const listOf = (name: string, only = form.lists[name]): DirectoryList<Listed<C>> => ({
    name,
    ask: (query) =>
      see(`list_${kind}s`, listRequest(base, ispb, query, detailed(only)), (document) => {
        const page = readPage(document, { list: `${noun}s`, item: noun }, (_, node) => {
          const item = read(document, node)
          return { modifiedMs: item.modifiedMs, seen: seenIn(item, ispb) }
        })
        return { kind: 'page', page }
      }),
  })
  return {
    create: (dispute) =>
      post('create', base, [`Create${noun}Request`, [participant, form.newElement(dispute)]]),
    act: (dispute, wanted) => {
      const { act } = wanted
      const id = dispute.directoryId ?? ''
      const name = `${act.charAt(0).toUpperCase()}${act.slice(1)}${noun}Request`
      const more = form.actElements(dispute, wanted)
      return post(act, `${base}${id}/${act}`, [name, [[`${noun}Id`, id], participant, ...more]])
    },
    find: (id) => see(`find_${kind}`, { path: base + id }, seenOf),
    asked: async (since, round) => {
      const found: Seen<C>[] = []
      const isWhole = await searchList(sql, listOf(form.askedIn, form.askedBy), {
        from: since,
        overlapMs,
        isKnown: (id) => isShown(sql, kind, id),
        nowMs: now().getTime(),
        logger,
        round,
        take: async (items) => {
          found.push(...items.flatMap(({ seen }) => (seen?.role === 'asking' ? [seen] : [])))
        },
      })
      return { seen: found, isWhole }
    },
    lists: Object.keys(form.lists).map((name) => listOf(name)),
  }
}
