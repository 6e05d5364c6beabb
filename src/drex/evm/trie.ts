/** The root of a list in a Merkle Patricia trie (Yellow Paper, appendix D): keys are the items' numbers in RLP. */

import { bytesToHex, type Hex } from './hex.ts'
import { keccak256 } from './keccak.ts'
import { type RlpItem, rlpEncode, rlpInteger } from './rlp.ts'

type Entry = { readonly path: readonly number[]; readonly value: Uint8Array }

const empty = new Uint8Array(0)
const hashBytes = 32

/** @param values the items as the trie holds them, in the list's order */
export const listRoot = (values: readonly Uint8Array[]): Hex => {
  if (values.length === 0) return bytesToHex(keccak256(rlpEncode(empty)))
  const entries = values.map(
    (value, i): Entry => ({ path: nibbles(rlpEncode(rlpInteger(i))), value }),
  )
  return bytesToHex(keccak256(rlpEncode(node(entries, 0))))
}

const nibbles = (bytes: Uint8Array): readonly number[] =>
  [...bytes].flatMap((byte) => [byte >> 4, byte & 15])

/** @param depth nibbles of the paths that lie above; no path is the beginning of another */
const node = (entries: readonly Entry[], depth: number): RlpItem => {
  const [first] = entries
  if (first === undefined) return empty
  if (entries.length === 1) return [packed(first.path.slice(depth), true), first.value]
  const shared = sharedPrefix(entries, depth)
  if (shared > 0) {
    const path = first.path.slice(depth, depth + shared)
    return [packed(path, false), reference(node(entries, depth + shared))]
  }
  const children = Array.from({ length: 16 }, (): Entry[] => [])
  for (const entry of entries) children[entry.path[depth]!]!.push(entry)
  return [
    ...children.map((child) => (child.length === 0 ? empty : reference(node(child, depth + 1)))),
    empty,
  ]
}

const sharedPrefix = (entries: readonly Entry[], depth: number): number => {
  const [first] = entries
  let shared = 0
  for (;;) {
    const nibble = first?.path[depth + shared]
    if (nibble === undefined || entries.some(({ path }) => path[depth + shared] !== nibble)) {
      return shared
    }
    shared++
  }
}

/** A node of fewer than 32 bytes stands in its parent itself; others by their hash. */
const reference = (item: RlpItem): RlpItem => {
  const encoded = rlpEncode(item)
  return encoded.length < hashBytes ? item : keccak256(encoded)
}

/** Hex prefix: whether it is a leaf and whether the path is odd stand in the first nibble (appendix C). */
const packed = (path: readonly number[], isLeaf: boolean): Uint8Array => {
  const isOdd = path.length % 2 === 1
  const flag = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0)
  const all = isOdd ? [flag, ...path] : [flag, 0, ...path]
  return Uint8Array.from({ length: all.length / 2 }, (_, i) => all[2 * i]! * 16 + all[2 * i + 1]!)
}
