/** Code points as sorted, disjoint, inclusive ranges: [from, to, from, to, …]. */
export type CharSet = readonly number[]

const lastCodePoint = 0x10ffff

/** Sorts and joins ranges that were written in any order. */
export const normalised = (ranges: readonly number[]): CharSet => {
  const pairs: [number, number][] = []
  for (let i = 0; i < ranges.length; i += 2) {
    pairs.push([ranges[i] as number, ranges[i + 1] as number])
  }
  pairs.sort((a, b) => a[0] - b[0])
  const result: number[] = []
  for (const [from, to] of pairs) {
    const last = result.length - 1
    if (result.length > 0 && from <= (result[last] as number) + 1) {
      result[last] = Math.max(result[last] as number, to)
    } else result.push(from, to)
  }
  return result
}

export const complement = (set: CharSet): CharSet => {
  const result: number[] = []
  let from = 0
  for (let i = 0; i < set.length; i += 2) {
    if ((set[i] as number) > from) result.push(from, (set[i] as number) - 1)
    from = (set[i + 1] as number) + 1
  }
  if (from <= lastCodePoint) result.push(from, lastCodePoint)
  return result
}

const union = (a: CharSet, b: CharSet): CharSet => normalised([...a, ...b])

export const difference = (a: CharSet, b: CharSet): CharSet => complement(union(complement(a), b))

export const contains = (set: CharSet, codePoint: number): boolean => {
  for (let i = 0; i < set.length; i += 2) {
    if (codePoint < (set[i] as number)) return false
    if (codePoint <= (set[i + 1] as number)) return true
  }
  return false
}

const space: CharSet = [0x09, 0x0a, 0x0d, 0x0d, 0x20, 0x20]

/** NameStartChar and NameChar of XML 1.0, 5th edition (2.3). */
const nameStart = normalised([
  0x3a, 0x3a, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a, 0xc0, 0xd6, 0xd8, 0xf6, 0xf8, 0x2ff, 0x370, 0x37d,
  0x37f, 0x1fff, 0x200c, 0x200d, 0x2070, 0x218f, 0x2c00, 0x2fef, 0x3001, 0xd7ff, 0xf900, 0xfdcf,
  0xfdf0, 0xfffd, 0x10000, 0xeffff,
])
const nameChar = union(
  nameStart,
  [0x2d, 0x2e, 0x30, 0x39, 0xb7, 0xb7, 0x300, 0x36f, 0x203f, 0x2040],
)

const categories = new Map<string, CharSet>()

/** All code points of a Unicode general category; tries each code point, once per category. */
export const category = (name: string): CharSet => {
  const known = categories.get(name)
  if (known !== undefined) return known
  const pattern = new RegExp(`\\p{${name}}`, 'u')
  const ranges: number[] = []
  for (let code = 0; code <= lastCodePoint; code++) {
    if (!pattern.test(String.fromCodePoint(code))) continue
    if (ranges.at(-1) === code - 1) ranges[ranges.length - 1] = code
    else ranges.push(code, code)
  }
  categories.set(name, ranges)
  return ranges
}

/** The multi-character escapes of XML Schema part 2, F.1.1; undefined for any other letter. */
export const multiCharacterEscape = (letter: string): CharSet | undefined => {
  switch (letter) {
    case 's':
      return space
    case 'S':
      return complement(space)
    case 'i':
      return nameStart
    case 'I':
      return complement(nameStart)
    case 'c':
      return nameChar
    case 'C':
      return complement(nameChar)
    case 'd':
      return category('Nd')
    case 'D':
      return complement(category('Nd'))
    case 'w':
      return complement(notWord())
    case 'W':
      return notWord()
    default:
      return undefined
  }
}

const notWord = (): CharSet => union(union(category('P'), category('Z')), category('C'))
