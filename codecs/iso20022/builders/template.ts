/** The constant bytes before, between and behind the values of a template. */
export type Template = {
  /** One more than there are values. Index: 2 × "the value before is absent" + "the value behind is absent". */
  readonly segments: readonly (readonly [Uint8Array, Uint8Array, Uint8Array, Uint8Array])[]
  /** Bytes of all segments. */
  readonly bytes: number
}

type Token = { readonly text: string; readonly kind: 'open' | 'close' | 'text' }

const encoder = new TextEncoder()
/** A tag; of `</>` and of declarations the path is empty. */
const tag = /<(\/?)([^<> ?]*)([^<>]*)>/g

/**
 * Compiles XML with values left out. `<A/B/C>` opens three elements, `</>` closes those of the last tag that is
 * open. An element that would hold nothing but an absent value is left out with it, and so is its parent, if that
 * would be all it holds.
 *
 * @param texts the parts of a tagged template
 */
export const compileTemplate = (texts: readonly string[]): Template => {
  const open: string[][] = []
  const parts = texts.map((text) => tokensOf(text, open))
  const segments = parts.map((tokens, i) => {
    const fromStart = i === 0 ? 0 : wrapping(parts[i - 1] ?? [], tokens)
    const fromEnd = i === parts.length - 1 ? 0 : wrapping(tokens, parts[i + 1] ?? [])
    const bytesOf = (from: number, to: number): Uint8Array =>
      encoder.encode(
        tokens
          .slice(from, Math.max(from, to))
          .map(({ text }) => text)
          .join(''),
      )
    const { length } = tokens
    return [
      bytesOf(0, length),
      bytesOf(0, length - fromEnd),
      bytesOf(fromStart, length),
      bytesOf(fromStart, length - fromEnd),
    ] as const
  })
  return { segments, bytes: segments.reduce((sum, [whole]) => sum + whole.length, 0) }
}

/** How many elements hold nothing but the value between two parts. */
const wrapping = (before: readonly Token[], after: readonly Token[]): number => {
  let count = 0
  while (before.at(-1 - count)?.kind === 'open' && after[count]?.kind === 'close') count++
  return count
}

const tokensOf = (text: string, open: string[][]): readonly Token[] => {
  const tokens: Token[] = []
  let at = 0
  for (const match of text.matchAll(tag)) {
    const [whole, slash, path = '', attributes = ''] = match
    if (match.index > at) tokens.push({ text: text.slice(at, match.index), kind: 'text' })
    at = match.index + whole.length
    if (attributes.startsWith('?')) tokens.push({ text: whole, kind: 'text' })
    else if (slash === '/') tokens.push(...closing(path, open))
    else {
      const names = path.split('/')
      open.push(names)
      names.forEach((name, i) => {
        const isLast = i === names.length - 1
        tokens.push({ text: `<${name}${isLast ? attributes : ''}>`, kind: 'open' })
      })
    }
  }
  if (at < text.length) tokens.push({ text: text.slice(at), kind: 'text' })
  return tokens
}

/** `</>` closes what is open; `</Name>` what another template has opened. */
const closing = (name: string, open: string[][]): readonly Token[] => {
  const names = name === '' ? open.pop() : [name]
  if (names === undefined) throw new Error('a template closes what is not open')
  return names.toReversed().map((one) => ({ text: `</${one}>`, kind: 'close' }))
}
