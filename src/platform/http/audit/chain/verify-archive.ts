import { hexOf, origin } from './hash.ts'
import { type ArchivedLink, ArchiveError, archivedLinks } from './lines.ts'
import {
  type Anchor,
  entryFindings,
  type Finding,
  notAnchored,
  type Verification,
} from './verify.ts'

export type ArchiveVerification = Omit<Verification, 'late'> & {
  /** The link that the first one goes on from, `<number>:<hash>`: the head of what was exported before. */
  readonly follows: string | undefined
}

/**
 * Goes through exported files without a database. Each must go on where those before it ended, or begin within the one
 * before it.
 *
 * @param anchor a link that was noted elsewhere
 */
export const verifyArchive = async (
  paths: readonly string[],
  anchor?: Anchor,
): Promise<ArchiveVerification> => {
  const findings: Finding[] = []
  let [links, entries, dropped] = [0, 0, 0]
  let isAnchored = anchor === undefined
  let follows: string | undefined
  let head: ArchivedLink | undefined
  let earlier = new Map<bigint, string>()
  for (const path of paths) {
    const known = new Map<bigint, string>()
    const before = head?.seq
    const hashAt = (seq: bigint) => known.get(seq) ?? earlier.get(seq)
    const read = async (): Promise<void> => {
      for await (const link of archivedLinks(path)) {
        follows ??= `${link.seq - 1n}:${hexOf(link.before)}`
        findings.push(...placeFindings(link, head, known.size === 0, hashAt))
        findings.push(...contentFindings(link))
        if (anchor?.seq === link.seq) {
          isAnchored = true
          if (hexOf(link.hash) !== anchor.hash) findings.push(notAnchored(anchor))
        }
        links++
        entries += link.found.length
        if (link.ids === null) dropped++
        known.set(link.seq, hexOf(link.hash))
        head = link
      }
    }
    const failure = await failureOf(read, path)
    if (failure !== undefined) findings.push(failure)
    if (before !== undefined && (head?.seq ?? 0n) < before) {
      findings.push({ kind: 'file', at: path, message: `it ends before link ${before}` })
    }
    earlier = known
  }
  if (!isAnchored && anchor !== undefined) findings.push(notAnchored(anchor))
  const last = head && `${head.seq}:${hexOf(head.hash)}`
  return { links, entries, dropped, follows, head: last, findings }
}

/** The finding of a file that cannot be read as such. */
const failureOf = async (read: () => Promise<void>, at: string): Promise<Finding | undefined> => {
  try {
    await read()
    return undefined
  } catch (error) {
    if (error instanceof ArchiveError) return { kind: 'file', at, message: error.message }
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (!code.startsWith('Z_')) throw error
    return { kind: 'file', at, message: `its compression is broken (${code})` }
  }
}

/** @param hashAt the hash of a link in this file, or in the one before */
const placeFindings = (
  { seq, before, hash }: ArchivedLink,
  last: ArchivedLink | undefined,
  isFirstOfFile: boolean,
  hashAt: (seq: bigint) => string | undefined,
): readonly Finding[] => {
  const at = String(seq)
  const [hashBefore, again] = [seq === 1n ? hexOf(origin) : hashAt(seq - 1n), hashAt(seq)]
  // A file may begin anywhere within those before it, so it also holds links that the last of them has.
  const isPlaced = isFirstOfFile
    ? last === undefined || seq <= last.seq + 1n
    : again !== undefined || hashAt(seq - 1n) !== undefined
  if (!isPlaced) return [{ kind: 'link', at, message: `it stands behind link ${last?.seq}` }]
  const isNext =
    (hashBefore ?? hexOf(before)) === hexOf(before) && (again ?? hexOf(hash)) === hexOf(hash)
  return isNext ? [] : [{ kind: 'link', at, message: 'it does not go on from the link before' }]
}

const contentFindings = (link: ArchivedLink): readonly Finding[] => {
  const { seq, ids, count, found, before, mistimed } = link
  if (ids === null) return []
  const missing: Finding = {
    kind: 'deleted',
    at: String(seq),
    message: `${found.length} of its ${count} entries are there`,
  }
  return [
    ...(found.length === count ? [] : [missing]),
    ...mistimed.map(
      (at): Finding => ({ kind: 'altered', at, message: 'its time is not that of its id' }),
    ),
    ...entryFindings(link, before, found),
  ]
}
