import type { Random } from '../test/support/mutations.ts'

/** How one sender writes: everything that XML leaves open. */
type Layout = {
  readonly newline: string
  readonly indent: string
  readonly prefix: string
  readonly quote: string
  readonly blank: string
  readonly endBlank: string
  readonly comments: number
  readonly sections: number
  readonly references: number
}

const layoutBy = (random: Random): Layout => ({
  newline: random.pick(['', '\n', '\n', '\r\n']),
  indent: random.pick(['', ' ', '  ', '    ', '\t']),
  prefix: random.next(3) === 0 ? `${random.pick(['n', 'bc', 'spi', 'ns'])}${random.next(100)}` : '',
  quote: random.pick(['"', '"', "'"]),
  blank: random.pick([' ', ' ', '  ', '\n ']),
  endBlank: random.pick(['', '', ' ']),
  comments: random.pick([0, 0, 4, 12]),
  sections: random.pick([0, 0, 0, 5]),
  references: random.pick([0, 0, 0, 4]),
})

const isOneIn = (random: Random, times: number): boolean => times > 0 && random.next(times) === 0

/** A text as this sender writes it. */
const textIn = ({ sections, references }: Layout, text: string, random: Random): string => {
  if (text === '' || text.includes('&')) return text
  if (isOneIn(random, sections)) return `<![CDATA[${text}]]>`
  if (!isOneIn(random, references)) return text
  const at = random.next(text.length)
  const code = text.charCodeAt(at)
  return code > 0x7f ? text : `${text.slice(0, at)}&#${code};${text.slice(at + 1)}`
}

/** A start tag, or the tag of an empty element, as this sender writes it. */
const tagIn = (layout: Layout, name: string, attributes: string, close: string): string => {
  const { prefix, quote, blank, endBlank } = layout
  const own = name.includes(':') || prefix === '' ? name : `${prefix}:${name}`
  const all = attributes
    .trim()
    .split(/\s+(?=[\w:]+=)/)
    .filter((one) => one !== '')
    .map((one) => one.replaceAll('"', quote))
    .map((one) => (prefix === '' ? one : one.replace(/^xmlns=/, `xmlns:${prefix}=`)))
    .map((one) => blank + one)
    .join('')
  return `<${own}${all}${all === '' ? '' : endBlank}${close}`
}

/** The same message in a layout that no other message shares. */
export const inOwnLayout = (plain: string, random: Random): string => {
  const layout = layoutBy(random)
  const { newline, indent, comments, prefix, endBlank } = layout
  const line = (depth: number): string =>
    newline === '' ? '' : newline + indent.repeat(depth) + ' '.repeat(random.next(3))
  let text = ''
  let depth = 0
  let wasStart = false
  for (const [, name = '', attributes = '', empty = '', end = '', value = ''] of plain
    .replace(/^<\?.*?\?>/, '')
    .matchAll(/<(?:([\w:.]+)((?:\s[^<>]*?)?)(\/?)|\/([\w:.]+))>([^<]*)/g)) {
    if (end === '') {
      text += line(depth)
      if (isOneIn(random, comments)) text += `<!-- ${random.next(1000)} -->`
      text += tagIn(layout, name, attributes, empty === '' ? '>' : '/>')
      if (empty === '') depth++
    } else {
      depth--
      if (!wasStart) text += line(depth)
      text += `</${end.includes(':') || prefix === '' ? end : `${prefix}:${end}`}${endBlank}>`
    }
    wasStart = end === '' && empty === ''
    text += textIn(layout, value, random)
  }
  return `<?xml version="1.0" encoding="UTF-8"?>${text}`
}
