import { nodeKind, type XmlDocument } from '#codecs/xml'
import type { Random } from './mutations.ts'

/** Another way to write a document; `isSame` where XML Schema must judge both alike. */
export type Respelling = { readonly name: string; readonly isSame: boolean; readonly text: string }

const xsi = 'http://www.w3.org/2001/XMLSchema-instance'

/** Replaces one range of the document. */
const replaced = (document: XmlDocument, from: number, to: number, text: string): string =>
  document.raw(0, from) + text + document.raw(to, document.bytes.length)

const nodesOf = (document: XmlDocument, kind: number): number[] => {
  const found: number[] = []
  for (let node = document.root + 1; node < document.endNode; node++) {
    if (document.kind(node) === kind) found.push(node)
  }
  return found
}

/** One text written otherwise: references, sections, comments, white space, characters beyond ASCII. */
const ofText = (document: XmlDocument, random: Random): Respelling[] => {
  const texts = nodesOf(document, nodeKind.text).filter(
    (node) => document.textOf(node).trim() !== '',
  )
  if (texts.length === 0) return []
  const node = random.pick(texts)
  const [from, to] = [document.start(node), document.end(node)]
  const written = document.raw(from, to)
  const value = document.textOf(node)
  const cut = random.next(value.length)
  const code = value.codePointAt(cut) ?? 0x41
  const isPlain = !/[&\r]/.test(written)
  const change = (name: string, isSame: boolean, text: string): Respelling => ({
    name,
    isSame,
    text: replaced(document, from, to, text),
  })
  const reference = random.next(2) === 0 ? `&#${code};` : `&#x${code.toString(16)};`
  return [
    ...(isPlain && code < 0x80
      ? [change('a reference', true, value.slice(0, cut) + reference + value.slice(cut + 1))]
      : []),
    ...(isPlain ? [change('a section', true, `<![CDATA[${value}]]>`)] : []),
    ...(isPlain
      ? [change('half a section', true, `${value.slice(0, cut)}<![CDATA[${value.slice(cut)}]]>`)]
      : []),
    change('a comment within', true, `<!-- ${cut} -->${written}`),
    change('a blank before', false, ` ${written}`),
    change('a line behind', false, `${written}\r\n`),
    change('a tab as a reference', false, `${written}&#9;`),
    change('a character beyond ASCII', false, `${written}é`),
    change('a character of four bytes', false, `😀${written}`),
    change('a reference to markup', false, `${written}&lt;`),
    change('nothing', false, ''),
  ]
}

/** Tags and what is between elements. */
const ofTags = (document: XmlDocument, random: Random): Respelling[] => {
  const node = random.pick(nodesOf(document, nodeKind.element))
  const start = document.start(node)
  const name = document.qualifiedName(node)
  const nameEnd = start + 1 + name.length
  const whole = document.raw(0, document.bytes.length)
  const inside = document.contentStart(node)
  const add = (label: string, isSame: boolean, attribute: string): Respelling => ({
    name: label,
    isSame,
    text: replaced(document, nameEnd, nameEnd, ` ${attribute}`),
  })
  const put = (label: string, isSame: boolean, text: string): Respelling => ({
    name: label,
    isSame,
    text: replaced(document, start, start, text),
  })
  return [
    { name: 'a blank in the tag', isSame: true, text: replaced(document, nameEnd, nameEnd, ' \n') },
    {
      name: 'a blank in the end tag',
      isSame: true,
      text: whole.replace(`</${name}>`, `</${name}\t>`),
    },
    { name: 'other quotes', isSame: true, text: whole.replace(/="([^"']*)"/g, "='$1'") },
    {
      name: 'empty tags',
      isSame: true,
      text: whole.replaceAll(/<([\w:.]+)([^<>]*)><\/\1>/g, '<$1$2/>'),
    },
    {
      name: 'no empty tags',
      isSame: true,
      text: whole.replaceAll(/<([\w:.]+)([^<>]*)\/>/g, '<$1$2></$1>'),
    },
    put('a comment before', true, '<!-- & < -->'),
    put('a section before', false, '<![CDATA[ ]]>'),
    put('text before', false, 'x'),
    put('a reference before', false, '&#x41;'),
    ...(document.next(node) > node + 1 && document.isElement(node + 1)
      ? [
          {
            name: 'a line within',
            isSame: true,
            text: replaced(document, inside, inside, '\r\n  '),
          },
          {
            name: 'a blank as a reference',
            isSame: true,
            text: replaced(document, inside, inside, '&#32;'),
          },
        ]
      : []),
    add('a declaration', true, 'xmlns:zz="urn:zz"'),
    add('the same default', true, `xmlns="${document.namespaceUri(node)}"`),
    add('another default', false, 'xmlns="urn:zz"'),
    add('a schema location', true, `xmlns:x="${xsi}" x:schemaLocation="urn:a a.xsd"`),
    add('xsi:type', false, `xmlns:x="${xsi}" x:type="y"`),
    add('xsi:nil', false, `xmlns:x="${xsi}" x:nil="true"`),
    add('an attribute', false, 'zz="1"'),
    add('an attribute of XML', false, 'xml:lang="pt"'),
    add('a prefixed attribute', false, 'xmlns:zz="urn:zz" zz:Ccy="BRL"'),
  ]
}

/** The whole document. */
const ofWhole = (document: XmlDocument): Respelling[] => {
  const whole = document.raw(0, document.bytes.length)
  const prefixed = whole
    .replaceAll(/<(\/?)([\w.]+)(?=[\s/>])/g, '<$1pp:$2')
    .replace(/ xmlns="([^"]*)"/, ' xmlns:pp="$1"')
  return [
    { name: 'a byte order mark', isSame: true, text: `\ufeff${whole}` },
    { name: 'a comment behind', isSame: true, text: `${whole}\n<!-- end -->\n` },
    { name: 'a prefix everywhere', isSame: true, text: prefixed },
    { name: 'lines between elements', isSame: true, text: linesBetween(whole) },
  ]
}

/** A line break before each tag that follows another, not between a start tag and its own end tag. */
const linesBetween = (whole: string): string =>
  whole.replaceAll(/>(?=<)/g, (close, at: number) => {
    const open = /<(\/?)([\w:.]+)[^<>]*$/.exec(whole.slice(0, at))
    const isOwnEnd = open?.[1] === '' && whole.startsWith(`</${open[2]}>`, at + 1)
    return isOwnEnd ? close : `${close}\n`
  })

export const respellings = (document: XmlDocument, random: Random): readonly Respelling[] => [
  ...ofText(document, random),
  ...ofTags(document, random),
  ...ofWhole(document),
]
