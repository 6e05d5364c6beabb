type Named = { readonly name: string }

type Range<N extends Named> = {
  readonly digits: number
  readonly from: number
  readonly to: number
  readonly network: N
}

/** A prefix, `4`, or a range of prefixes of one length, `51-55`. */
const rangeOf = <N extends Named>(written: string, network: N): Range<N> => {
  const [from = '', to = from] = written.split('-')
  if (from.length !== to.length || Number(from) > Number(to) || !/^\d{1,8}$/.test(from)) {
    throw new Error(`card network ${network.name}: ${written} is no range of card number prefixes`)
  }
  return { digits: from.length, from: Number(from), to: Number(to), network }
}

/**
 * Finds the network of a card number by its longest prefix. Works on the bytes and makes no string of the number.
 *
 * @throws Error when two networks claim the same prefix
 */
export const createRouting = <N extends Named>(
  claims: readonly { readonly network: N; readonly prefixes: readonly string[] }[],
): ((pan: Uint8Array) => N | undefined) => {
  const ranges = claims
    .flatMap(({ network, prefixes }) => prefixes.map((written) => rangeOf(written, network)))
    .sort((left, right) => right.digits - left.digits || left.from - right.from)
  for (const [index, range] of ranges.entries()) {
    const next = ranges[index + 1]
    if (next !== undefined && next.digits === range.digits && next.from <= range.to) {
      throw new Error(
        `card networks ${range.network.name} and ${next.network.name} claim the same card numbers`,
      )
    }
  }
  return (pan) => {
    for (const { digits, from, to, network } of ranges) {
      const prefix = prefixOf(pan, digits)
      if (prefix >= from && prefix <= to) return network
    }
    return undefined
  }
}

/** The first digits as a number; -1 if there are fewer, or one is not a digit. */
const prefixOf = (pan: Uint8Array, digits: number): number => {
  if (pan.length < digits) return -1
  let prefix = 0
  for (let at = 0; at < digits; at++) {
    const digit = (pan[at] ?? 0) - 0x30
    if (digit < 0 || digit > 9) return -1
    prefix = prefix * 10 + digit
  }
  return prefix
}
