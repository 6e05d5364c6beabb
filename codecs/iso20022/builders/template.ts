/**
 * The constant parts of some XML, before, between and behind its values. There are four variants of each: whole,
 * and without what goes with the value behind it (+ 1), with the one before it (+ 2), or with both.
 */
export type Template = {
  /** All variants, eight bytes in each number (the first byte lowest), each variant filled up with zeros. */
  readonly words: Float64Array
  /** Where each variant begins in `words`; one more than there are variants. */
  readonly starts: Int32Array
  /** Of each variant, in bytes. */
  readonly lengths: Int32Array
  /** No more than this many bytes are written for the constant parts. */
  readonly bytesMax: number
}

export const WORD_BYTES = 8

type Token = { readonly text: string; readonly kind: 'open' | 'close' | 'text' }

/** A tag; of `</>` and of declarations the path is empty. */
const tag = /<(\/?)([^<> ?]*)([^<>]*)>/g

/**
 * Compiles XML with values left out. `<A/B/C>` opens three elements, `</>` closes those of the last tag that is
 * open. An element that would hold nothing but an absent value is left out with it, and so is its parent, if that
 * would be all it holds.
 *
 * @param texts the parts of a tagged template, in ASCII
 */
export const compileTemplate = (texts: readonly string[]): Template => {
  const open: string[][] = []
  const parts = texts.map((text) => tokensOf(text, open))
  const variants = parts.flatMap((tokens, i) => {
    const fromStart = wrapping(parts[i - 1] ?? [], tokens)
    const behind = tokens.length - wrapping(tokens, parts[i + 1] ?? [])
    const whole = tokens.length
    return [
      tokens,
      tokens.slice(0, behind),
      tokens.slice(fromStart, whole),
      tokens.slice(fromStart, Math.max(fromStart, behind)),
    ].map((some) => some.map(({ text }) => text).join(''))
  })
  const starts = new Int32Array(variants.length + 1)
  variants.forEach((text, i) => {
    starts[i + 1] = (starts[i] as number) + Math.ceil(text.length / WORD_BYTES)
  })
  const words = new Float64Array(starts.at(-1) ?? 0)
  const view = new DataView(new ArrayBuffer(words.length * WORD_BYTES))
  variants.forEach((text, i) => {
    writeAscii(text, view, (starts[i] as number) * WORD_BYTES)
  })
  for (let i = 0; i < words.length; i++) words[i] = view.getFloat64(i * WORD_BYTES, true)
  const lengths = Int32Array.from(variants, ({ length }) => length)
  const bytesMax = parts.flat().reduce((sum, { text }) => sum + text.length, WORD_BYTES)
  return { words, starts, lengths, bytesMax }
}

/** Of ASCII no eight bytes are a number that is none, of which a processor may change the bits. */
const writeAscii = (text: string, view: DataView, at: number): void => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x7f) throw new Error('a template holds more than ASCII')
    view.setUint8(at + i, code)
  }
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
