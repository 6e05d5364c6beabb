const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#xD;',
}
const encoder = new TextEncoder()
const special = /[&<>\r]/

/** Escapes text as canonical XML does (Canonical XML 1.0, 2.3). */
export const escaped = (text: string): string =>
  special.test(text) ? text.replaceAll(/[&<>\r]/g, (one) => references[one] ?? one) : text

/** The names of the holes of a template: those of `<A>{one}</><B>{two}</>` are `one` and `two`. */
type HolesOf<
  Text extends string,
  Found extends string = never,
> = Text extends `${string}{${infer Hole}}${infer Rest}` ? HolesOf<Rest, Found | Hole> : Found

/** Content of a hole: text that XML holds without escapes, other pieces, or nothing. */
export type Content = string | Piece | readonly Piece[] | undefined

/** A template with the contents of its holes. */
export type Piece = { readonly template: Compiled; readonly values: Values }

type Values = Readonly<Record<string, Content>>

type Compiled = {
  readonly holes: readonly {
    readonly name: string
    /** All before the hole, with and without the elements that an absent value removes. */
    readonly opening: Uint8Array
    readonly before: Uint8Array
    readonly closing: Uint8Array
  }[]
  readonly ending: Uint8Array
}

type Token = { readonly text: string; readonly kind: 'open' | 'close' | 'text' }

/** A tag; the path of `</>` is empty. */
const tag = /<(\/?)([^<> ]*)((?: [^<>]*)?)>/g

/**
 * Makes a template of canonical XML (Canonical XML 1.0, 2.3). `<A/B/C>` opens three elements, and `</>` closes those of
 * the last open tag. Line breaks and the spaces behind them are left out.
 *
 * An absent value removes the element around it if that holds nothing else, and then its parent by the same rule.
 *
 * @example template('<Dbtr><Nm>{name}</><Id/PrvtId>{document}</></>')({ name: 'Ana', document: undefined })
 * // <Dbtr><Nm>Ana</Nm></Dbtr>
 * @throws Error if tags do not match
 */
export const template = <const Text extends string>(
  text: Text,
): ((values: Readonly<Record<HolesOf<Text>, Content>>) => Piece) => {
  const open: string[][] = []
  const pieces = text.replaceAll(/\n\s*/g, '').split(/[{}]/)
  const parts = pieces.filter((_, i) => i % 2 === 0).map((part) => tokensOf(part, open))
  if (open.length > 0) throw new Error(`a template does not close ${open.flat().join('/')}`)
  const wraps = parts.map((tokens, i) => wrapping(tokens, parts[i + 1] ?? []))
  const holes = parts.slice(0, -1).map((tokens, i) => {
    const from = wraps[i - 1] ?? 0
    const wrap = wraps[i] ?? 0
    return {
      name: pieces[2 * i + 1] ?? '',
      opening: bytesOf(tokens.slice(from)),
      before: bytesOf(tokens.slice(from, tokens.length - wrap)),
      closing: bytesOf((parts[i + 1] ?? []).slice(0, wrap)),
    }
  })
  const compiled = { holes, ending: bytesOf((parts.at(-1) ?? []).slice(wraps.at(-2) ?? 0)) }
  return (values) => ({ template: compiled, values })
}

const bytesOf = (tokens: readonly Token[]): Uint8Array =>
  encoder.encode(tokens.map(({ text }) => text).join(''))

/** How many elements hold only the value between two parts. */
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
    const names = slash === '/' ? open.pop() : path.split('/')
    if (names === undefined) throw new Error('a template closes what is not open')
    if (slash === '/') {
      for (const name of names.toReversed()) tokens.push({ text: `</${name}>`, kind: 'close' })
      continue
    }
    open.push(names)
    names.forEach((name, i) => {
      const isLast = i === names.length - 1
      tokens.push({ text: `<${name}${isLast ? attributes : ''}>`, kind: 'open' })
    })
  }
  if (at < text.length) tokens.push({ text: text.slice(at), kind: 'text' })
  return tokens
}

const bytesAtFirst = 4096
/** A larger buffer is not kept. */
const bytesKeptMax = 1_048_576

/** A buffer for messages, written one after the other. */
export class XmlOutput {
  private bytes = new Uint8Array(bytesAtFirst)
  length = 0

  /** Starts another message. */
  clear(): void {
    if (this.bytes.length > bytesKeptMax) this.bytes = new Uint8Array(bytesAtFirst)
    this.length = 0
  }

  /** A copy of the message as far as it is written. */
  written(): Uint8Array {
    return this.bytes.slice(0, this.length)
  }

  write(content: Content): void {
    if (content === undefined) return
    if (typeof content === 'string') this.text(content)
    else if ('template' in content) this.piece(content)
    else for (const piece of content) this.piece(piece)
  }

  private piece({ template: { holes, ending }, values }: Piece): void {
    for (const { name, opening, before, closing } of holes) {
      const content = values[name]
      if (content === undefined) {
        this.constant(before)
        continue
      }
      this.constant(opening)
      this.write(content)
      this.constant(closing)
    }
    this.constant(ending)
  }

  private constant(constant: Uint8Array): void {
    this.reserve(constant.length)
    const { bytes, length } = this
    for (let i = 0; i < constant.length; i++) bytes[length + i] = constant[i] as number
    this.length += constant.length
  }

  private text(text: string): void {
    // A unit of UTF-16 takes at most three bytes.
    this.reserve(text.length * 3)
    const { bytes, length } = this
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit >= 0x80) {
        this.length += encoder.encodeInto(text, bytes.subarray(length)).written
        return
      }
      bytes[length + i] = unit
    }
    this.length += text.length
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return
    const larger = new Uint8Array(2 * (this.length + more))
    larger.set(this.bytes.subarray(0, this.length))
    this.bytes = larger
  }
}
