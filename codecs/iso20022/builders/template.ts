import type { Content } from './values.ts'
import { wordBytes, wordOf } from './words.ts'

/** What is written of a template's variable parts, from a place on; gives the place behind it. */
export type ContentWriter = (content: Content, room: DataView, at: number) => number

/** XML of which parts are left out. */
export type Template = {
  /** Writes all of it from `at` on, and gives the place behind it. Up to a word behind that is written too. */
  readonly write: (room: DataView, at: number, contents: readonly (Content | undefined)[]) => number
  /** No more than this many bytes are written besides the contents. */
  readonly bytesMax: number
}

type Token = { readonly text: string; readonly kind: 'open' | 'close' | 'text' }

/** A tag; of `</>` and of declarations the path is empty. */
const tag = /<(\/?)([^<> ?]*)([^<>]*)>/g

/**
 * Compiles XML with values left out. `<A/B/C>` opens three elements, `</>` closes those of the last tag that is
 * open. An element that would hold nothing but an absent value is left out with it, and so is its parent, if that
 * would be all it holds.
 *
 * A template becomes a function that stores the bytes of its constants, eight in each number: loops over them would
 * take twice the time. Its source is made of numbers, and of nothing that comes from outside.
 *
 * @param texts the parts of a tagged template, in ASCII
 */
export const compileTemplate = (
  texts: readonly string[],
  writeContent: ContentWriter,
): Template => {
  const open: string[][] = []
  const parts = texts.map((text) => tokensOf(text, open))
  const wraps = parts.map((tokens, i) => wrapping(tokens, parts[i + 1] ?? []))
  const source = parts.map((tokens, i) => {
    const from = wraps[i - 1] ?? 0
    const to = tokens.length - (wraps[i] ?? 0)
    const always = storing(tokens.slice(from, to))
    const behind = parts[i + 1]
    if (behind === undefined) return always
    return `${always}
if (contents[${i}] !== undefined) {
  ${storing(tokens.slice(to))}
  at = writeContent(contents[${i}], room, at)
  ${storing(behind.slice(0, wraps[i]))}
}`
  })
  const create = new Function(
    'writeContent',
    `return (room, at, contents) => {\n${source.join('\n')}\nreturn at\n}`,
  ) as (writeContent: ContentWriter) => Template['write']
  const bytesMax = parts.flat().reduce((sum, { text }) => sum + text.length, wordBytes)
  return { write: create(writeContent), bytesMax }
}

/** Source that stores what the tokens are. */
const storing = (tokens: readonly Token[]): string => {
  const text = tokens.map((token) => token.text).join('')
  if (text === '') return ''
  const lines: string[] = []
  for (let at = 0; at < text.length; at += wordBytes) {
    const word = wordOf(text.slice(at, at + wordBytes))
    lines.push(`room.setFloat64(at + ${at}, ${word}, true)`)
  }
  return [...lines, `at += ${text.length}`].join('\n')
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
