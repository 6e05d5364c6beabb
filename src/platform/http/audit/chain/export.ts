import { open, readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { archiveLines, type Client } from '#src/platform/database/index.ts'
import type { Round } from '#src/platform/jobs/index.ts'
import { putOnDisk } from '#src/platform/runtime/index.ts'
import { hexOf } from './hash.ts'
import {
  ArchiveError,
  archivedLinks,
  type ExportedLink,
  exportLinks,
  isCompressed,
} from './lines.ts'
import { forgettable } from './store.ts'

type Place = { readonly seq: bigint; readonly hash: string }

export type Exported = {
  readonly links: number
  readonly entries: number
  /** The last link that the file has now, `<number>:<hash>`. */
  readonly head: string | undefined
}

/**
 * Appends to a file the entries sealed since, whole links at a time; it cuts off the part of a link that an interrupted
 * call left.
 *
 * @throws Error where the chain does not go on from the file's last link: one of the two was changed; or where the file
 *   is no export, and then it stays as it is
 */
export const exportAudit = async (sql: Client, path: string): Promise<Exported> => {
  const file = await open(path, 'a+', 0o600)
  try {
    const { last, end } = await endOf(path)
    let head = last
    let [links, entries] = [0, 0]
    for await (const link of goingOn(exportLinks(sql, last?.seq ?? 0n), last, path)) {
      // This link brings back what we cut off; without a link, that may be all that is left of it.
      if (links === 0) await file.truncate(end)
      await file.appendFile(link.lines)
      links++
      entries += link.entries
      head = link
    }
    await file.sync()
    await putOnDisk(dirname(path))
    return { links, entries, head: head && `${head.seq}:${head.hash}` }
  } finally {
    await file.close()
  }
}

/** The last whole link of a file, and the byte behind it. */
const endOf = async (
  path: string,
): Promise<{ readonly last: Place | undefined; readonly end: number }> => {
  if (await isCompressed(path)) {
    throw new Error(`${path} is compressed: export to another file, from its last link on`)
  }
  let last: Place | undefined
  let end = 0
  try {
    for await (const link of archivedLinks(path)) {
      last = { seq: link.seq, hash: hexOf(link.hash) }
      ;({ end } = link)
    }
  } catch (error) {
    if (!(error instanceof ArchiveError && error.isTorn)) throw error
  }
  return { last, end }
}

async function* goingOn(
  links: AsyncIterable<ExportedLink>,
  last: Place | undefined,
  path: string,
): AsyncGenerator<ExportedLink> {
  let before = last
  for await (const link of links) {
    if (before !== undefined && link.before !== before.hash) {
      throw new Error(`the chain does not go on from link ${before.seq} of ${path}: verify both`)
    }
    before = link
    yield link
  }
}

const archiveForm = /^audit_chain_\d{12}-(\d{12})\.jsonl\.gz$/

/**
 * Writes the links whose entries retention is about to drop, and those between them, to a file of its own, which
 * `trilho audit verify` takes.
 *
 * @param before the entries from this id on stay
 */
export const archiveChain = async (
  sql: Client,
  directory: string,
  before: string,
  round: Round | undefined,
): Promise<void> => {
  const span = await forgettable(sql, before)
  if (span === undefined) return
  // Entries that were written before the last process died must not be written again, without those that are gone.
  const written = BigInt((await archivedUntil(directory)) ?? 0)
  const first = written >= span.first ? written + 1n : span.first
  if (first > span.last) return
  const file = `audit_chain_${numbered(first)}-${numbered(span.last)}`
  const lines = linesUntil(exportLinks(sql, first - 1n), span.last)
  await archiveLines(lines, directory, file, round)
}

const archivedUntil = async (directory: string): Promise<string | undefined> => {
  const names = await readdir(directory).catch((): string[] => [])
  return names
    .flatMap((name) => archiveForm.exec(name)?.[1] ?? [])
    .sort()
    .at(-1)
}

/** So that names sort as numbers do. */
const numbered = (seq: bigint): string => String(seq).padStart(12, '0')

async function* linesUntil(
  links: AsyncIterable<ExportedLink>,
  last: bigint,
): AsyncGenerator<string> {
  for await (const link of links) {
    yield link.lines
    if (link.seq >= last) return
  }
}
