import { type Client, uuidBound } from '#src/platform/database/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import { hashBytes, hashOf, hexOf, origin, type SealedEntry } from './hash.ts'
import { UnknownLinkError } from './lines.ts'
import { entriesById, type Link, lastLink, lateFrom, linksAfter, unsealedSince } from './store.ts'

const linksMax = 100
const entriesMax = 10_000
/** Entries of one link that are looked for in other places: each costs as many hashes as the link has entries. */
const movedMax = 20

/** Something that differs from what was sealed. */
export type Finding = {
  readonly kind:
    | 'altered'
    | 'deleted'
    | 'inserted'
    | 'reordered'
    | 'link'
    | 'dropped'
    | 'anchor'
    | 'file'
  /** Id of the entry, or number of the link. */
  readonly at: string
  readonly message: string
}

export type Verification = {
  readonly links: number
  readonly entries: number
  /** How many of these were committed after their time was sealed, within an hour. */
  readonly late: number
  /** Links whose entries retention has dropped: their hashes hold the chain together, and nothing more is known. */
  readonly dropped: number
  /** The last link, `<number>:<hash>`, to compare with next time. */
  readonly head: string | undefined
  readonly findings: readonly Finding[]
}

export type Anchor = { readonly seq: bigint; readonly hash: string }

/**
 * Goes through the chain from its first link.
 *
 * @param anchor a link that was noted outside the database
 * @param retentionDays what is younger than that must be there
 */
export const verifyAudit = async (
  sql: Client,
  {
    anchor,
    retentionDays,
    onProgress,
  }: {
    readonly anchor?: Anchor | undefined
    readonly retentionDays: number
    readonly onProgress?: (links: number, total: number) => void
  },
  nowMs = Date.now(),
): Promise<Verification> => {
  // Numbers have no gap, or a finding says so.
  const total = Number((await lastLink(sql))?.seq ?? 0n)
  const findings: Finding[] = []
  let [links, entries, late, dropped] = [0, 0, 0, 0]
  let head: string | undefined
  let next: bigint | undefined = 0n
  while (next !== undefined) {
    const wanted = { after: next, linksMax, entriesMax: Number.POSITIVE_INFINITY }
    const page: VerifiedPage = await verifyPage(sql, { ...wanted, anchor, retentionDays }, nowMs)
    findings.push(...page.findings)
    links += page.links
    entries += page.entries
    late += page.late
    dropped += page.dropped
    head = page.head ?? head
    next = page.next
    onProgress?.(links, total)
  }
  return { links, entries, late, dropped, head, findings }
}

/** The first id that retention has not dropped yet: it drops whole months. */
const keptFromOf = (retentionDays: number, nowMs: number): string => {
  const kept = new Date(nowMs - retentionDays * dayMs)
  return uuidBound(new Date(Date.UTC(kept.getUTCFullYear(), kept.getUTCMonth())))
}

/** The findings in one link. @param before the link before; undefined for the first */
const judgeLink = async (
  sql: Client,
  link: Link,
  before: Link | undefined,
  { anchor, keptFrom }: { readonly anchor: Anchor | undefined; readonly keptFrom: string },
) => {
  const findings = [...placeFindings(link, before)]
  if (anchor?.seq === link.seq && hexOf(link.hash) !== anchor.hash) {
    findings.push(notAnchored(anchor))
  }
  if (link.ids === null || link.hashes === null) {
    if (link.toId > keptFrom) findings.push(droppedTooSoon(link))
    return { findings, isDropped: true, entries: 0, late: 0 }
  }
  const found = await entriesById(sql, link.ids)
  findings.push(...entryFindings(link, before?.hash ?? origin, found))
  const entries = link.ids.length
  return { findings, isDropped: false, entries, late: link.isLate ? entries : 0 }
}

export type VerifiedPage = Verification & {
  /** The number of the link behind which the next page begins; undefined: the chain ends here. */
  readonly next: bigint | undefined
}

/**
 * Goes through a part of the chain.
 *
 * @param after the number of the link before the page; 0 for the first
 * @param linksMax of the page; it ends too with the link that brings it to `entriesMax`, by default as many as one query reads
 * @throws UnknownLinkError
 */
export const verifyPage = async (
  sql: Client,
  {
    after,
    linksMax: limit,
    entriesMax: enough = entriesMax,
    anchor,
    retentionDays,
  }: {
    readonly after: bigint
    readonly linksMax: number
    readonly entriesMax?: number
    readonly anchor?: Anchor | undefined
    readonly retentionDays: number
  },
  nowMs = Date.now(),
): Promise<VerifiedPage> => {
  const keptFrom = keptFromOf(retentionDays, nowMs)
  const [start] = after === 0n ? [] : await linksAfter(sql, after - 1n, 1)
  if (after > 0n && start?.seq !== after) throw new UnknownLinkError(after)
  const findings: Finding[] = []
  let [links, entries, late, dropped] = [0, 0, 0, 0]
  let isAnchored = false
  let before = start
  const judged: Link[] = []
  const found = await linksAfter(sql, after, limit + 1)
  for (const link of found.slice(0, limit)) {
    const one = await judgeLink(sql, link, before, { anchor, keptFrom })
    findings.push(...one.findings)
    links++
    entries += one.entries
    late += one.late
    if (one.isDropped) dropped++
    else if (!link.isLate) judged.push(link)
    before = link
    if (anchor?.seq === link.seq) isAnchored = true
    if (entries >= enough) break
  }
  findings.push(...(await insertedWithin(sql, judged, await lateFrom(sql))))
  const isEnd = links === found.length
  const isHere =
    anchor !== undefined &&
    (anchor.seq > after || after === 0n) &&
    (isEnd || anchor.seq <= (before?.seq ?? 0n))
  if (isHere && !isAnchored) findings.push(notAnchored(anchor))
  const head = before && `${before.seq}:${hexOf(before.hash)}`
  return { links, entries, late, dropped, head, findings, next: isEnd ? undefined : before?.seq }
}

/** Entries in the spans of these links that no link holds or will seal. */
const insertedWithin = async (
  sql: Client,
  links: readonly Link[],
  lateId: string | undefined,
): Promise<readonly Finding[]> => {
  const [first] = links
  const last = links.at(-1)
  if (first === undefined || last === undefined || lateId === undefined) return []
  const toId = last.toId < lateId ? last.toId : lateId
  const found = await unsealedSince(sql, { fromId: first.fromId, toId }, entriesMax)
  return found.map(({ id }) => inserted(id))
}

const inserted = (at: string): Finding => ({
  kind: 'inserted',
  at,
  message: 'no link has sealed the entry',
})

export const notAnchored = ({ seq }: Anchor): Finding => ({
  kind: 'anchor',
  at: String(seq),
  message: 'the link is not the one that was noted',
})

const droppedTooSoon = ({ seq }: Link): Finding => ({
  kind: 'dropped',
  at: String(seq),
  message: 'its entries were dropped before their retention was over',
})

/** Numbers without a gap. */
const placeFindings = (link: Link, before: Link | undefined): readonly Finding[] => {
  const at = String(link.seq)
  if (link.seq !== (before?.seq ?? 0n) + 1n) {
    return [{ kind: 'link', at, message: `link ${(before?.seq ?? 0n) + 1n} is missing` }]
  }
  return []
}

/** Compares each entry with the hash that it was sealed with. */
export const entryFindings = (
  { ids, hashes, hash: end, seq }: Pick<Link, 'ids' | 'hashes' | 'hash' | 'seq'>,
  start: Uint8Array,
  found: readonly SealedEntry[],
): readonly Finding[] => {
  const byId = new Map(found.map((entry) => [entry.id, entry]))
  const findings: Finding[] = []
  let before = start
  for (const [at, id] of (ids ?? []).entries()) {
    const sealed = (hashes ?? new Uint8Array()).subarray(at * hashBytes, (at + 1) * hashBytes)
    const entry = byId.get(id)
    if (entry === undefined) {
      findings.push({ kind: 'deleted', at: id, message: 'the entry is gone' })
    } else if (!Buffer.from(hashOf(before, entry)).equals(sealed)) {
      const others = findings.length < movedMax ? (ids ?? []) : []
      findings.push(differing(id, at, others, before, sealed, byId))
    }
    before = sealed
  }
  if (!Buffer.from(before).equals(end)) {
    findings.push({ kind: 'link', at: String(seq), message: 'its hash is not that of its entries' })
  }
  return findings
}

/** If another entry of the link has the hash sealed here, it stood here; else the entry itself was altered. */
const differing = (
  id: string,
  at: number,
  ids: readonly string[],
  before: Uint8Array,
  sealed: Uint8Array,
  byId: ReadonlyMap<string, SealedEntry>,
): Finding => {
  const isMoved = ids.some((other, place) => {
    const entry = byId.get(other)
    if (place === at || entry === undefined) return false
    const asItself = Buffer.from(hashOf(before, entry)).equals(sealed)
    return asItself || Buffer.from(hashOf(before, { ...entry, id })).equals(sealed)
  })
  return isMoved
    ? { kind: 'reordered', at: id, message: 'another entry of its link stood here' }
    : { kind: 'altered', at: id, message: 'the entry, or its hash, is not what was sealed' }
}
