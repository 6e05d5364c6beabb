import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import { recordOf, viewOf } from '../domain.ts'
import { hashBytes, hexOf, origin, type SealedEntry } from './hash.ts'
import { entriesById, type Link, linksAfter } from './store.ts'

const linksMax = 20
/** The most bytes of a line; an entry of ours has a tenth of it. */
const lineBytesMax = 65_536
/** The most entries of a link; a link of ours has a fifth of it. */
const linkEntriesMax = 10_000
const newline = 0x0a
const gzipMagic = Buffer.of(0x1f, 0x8b)

const hex = z.string().regex(/^[0-9a-f]{64}$/)
const number = z.string().regex(/^[1-9]\d{0,17}$/)
const text = z.string()

const entryLine = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/),
  at: text,
  actor: text,
  action: text,
  object: text,
  outcome: text,
  request_id: text.nullable(),
  hash: hex,
})

const linkLine = z.strictObject({
  link: number,
  /** Lines of entries before it; null where they are gone or stand in another file. */
  entries: z.int().min(0).nullable(),
  before: hex,
  hash: hex,
})

const anyLine = z.union([entryLine, linkLine])

/** A whole link: its entries as they are now with the hashes that they were sealed with, then itself. */
const linesOf = (
  { seq, ids, hashes, hash }: Link,
  before: Uint8Array,
  found: readonly SealedEntry[],
): string => {
  const byId = new Map(found.map((entry) => [entry.id, entry]))
  const entries = (ids ?? []).flatMap((id, at) => {
    const entry = byId.get(id)
    const sealed = (hashes ?? origin).subarray(at * hashBytes, (at + 1) * hashBytes)
    return entry === undefined ? [] : [{ ...viewOf(entry), hash: hexOf(sealed) }]
  })
  const end = {
    link: String(seq),
    entries: ids === null ? null : ids.length,
    before: hexOf(before),
    hash: hexOf(hash),
  }
  return [...entries, end].map((line) => `${JSON.stringify(line)}\n`).join('')
}

export type ExportedLink = {
  readonly seq: bigint
  /** Hex; that of the link before. */
  readonly before: string
  readonly hash: string
  readonly entries: number
  readonly lines: string
}

/** The chain has no such link. */
export class UnknownLinkError extends Error {
  override readonly name = 'UnknownLinkError'
  constructor(seq: bigint) {
    super(`the chain has no link ${seq}`)
  }
}

/** The links behind one, oldest first. @throws UnknownLinkError */
export async function* exportLinks(sql: Client, after: bigint): AsyncGenerator<ExportedLink> {
  const [last] = after === 0n ? [] : await linksAfter(sql, after - 1n, 1)
  if (after > 0n && last?.seq !== after) throw new UnknownLinkError(after)
  let before = last?.hash ?? origin
  for (let seq = after; ; ) {
    const page = await linksAfter(sql, seq, linksMax)
    for (const link of page) {
      const found = await entriesById(sql, link.ids ?? [])
      yield {
        seq: link.seq,
        before: hexOf(before),
        hash: hexOf(link.hash),
        entries: found.length,
        lines: linesOf(link, before, found),
      }
      ;({ seq, hash: before } = link)
    }
    if (page.length < linksMax) return
  }
}

/** A link of an archive, and what stood before it. */
export type ArchivedLink = Pick<Link, 'seq' | 'ids' | 'hashes' | 'hash'> & {
  readonly before: Uint8Array
  /** The number of entries that the link states. */
  readonly count: number
  readonly found: readonly SealedEntry[]
  /** Bytes of the content up to its end. */
  readonly end: number
  /** Entries whose moment differs from that of their id. */
  readonly mistimed: readonly string[]
}

/** The file is no export, or not a whole one. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
  /** All before is whole: its writer was stopped. */
  readonly isTorn: boolean
  constructor(message: string, isTorn = false) {
    super(message)
    this.isTorn = isTorn
  }
}

const noExport = (path: string) => new ArchiveError(`${path} is no export`)
const torn = (path: string) => new ArchiveError(`${path} ends within a link`, true)

/** The links of an archive, in its order. @throws ArchiveError for what is none */
export async function* archivedLinks(path: string): AsyncGenerator<ArchivedLink> {
  let entries: z.infer<typeof entryLine>[] = []
  let at = 0
  for await (const { text: line, end } of linesIn(path)) {
    at++
    const value = parsed(line)
    if (value === undefined || entries.length > linkEntriesMax) {
      throw new ArchiveError(`line ${at} of ${path} is no line of an export`)
    }
    if ('link' in value) {
      yield linkOf(value, entries, end)
      entries = []
    } else {
      entries.push(value)
    }
  }
  if (entries.length > 0) throw torn(path)
}

const parsed = (line: string): z.infer<typeof anyLine> | undefined => {
  try {
    return anyLine.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

const linkOf = (
  { link, entries, before, hash }: z.infer<typeof linkLine>,
  lines: readonly z.infer<typeof entryLine>[],
  end: number,
): ArchivedLink => {
  const found = lines.map(recordOf)
  return {
    seq: BigInt(link),
    ids: entries === null && lines.length === 0 ? null : found.map(({ id }) => id),
    hashes: Buffer.from(lines.map((line) => line.hash).join(''), 'hex'),
    hash: Buffer.from(hash, 'hex'),
    before: Buffer.from(before, 'hex'),
    count: entries ?? 0,
    found,
    end,
    mistimed: lines.filter((line, at) => viewOf(found[at]!).at !== line.at).map(({ id }) => id),
  }
}

type Line = {
  readonly text: string
  /** Bytes of the file up to its end; of a compressed one those of its content. */
  readonly end: number
}

/** Reads the lines of a file, compressed or not. */
const linesIn = async function* (path: string): AsyncGenerator<Line> {
  let rest = Buffer.alloc(0)
  let end = 0
  for await (const chunk of await contentOf(path)) {
    rest = Buffer.concat([rest, chunk])
    for (let at = rest.indexOf(newline); at >= 0; at = rest.indexOf(newline)) {
      end += at + 1
      yield { text: rest.toString('utf8', 0, at), end }
      rest = rest.subarray(at + 1)
    }
    if (rest.length > lineBytesMax) throw noExport(path)
  }
  // Without one whole line the file may be anybody's: it must not pass for one that a stopped writer left.
  if (rest.length > 0) throw end === 0 ? noExport(path) : torn(path)
}

export const isCompressed = async (path: string): Promise<boolean> => {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && gzipMagic.equals(buffer)
  } finally {
    await handle.close()
  }
}

const contentOf = async (path: string): Promise<AsyncIterable<Buffer>> => {
  const isGzip = await isCompressed(path)
  const file = createReadStream(path)
  // If either fails, both end, and the reader learns of it.
  return isGzip ? pipeline(file, createGunzip(), () => undefined) : file
}
