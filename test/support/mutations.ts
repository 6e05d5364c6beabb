import { absent, nodeKind, type XmlDocument } from '#codecs/xml'

/** A small generator of repeatable pseudo-random numbers (xorshift32). */
export const createRandom = (seed: number) => {
  let state = seed | 1
  const next = (below: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new RangeError('nothing to pick from')
    return items[next(items.length)] as T
  }
  return { next, pick }
}

export type Random = ReturnType<typeof createRandom>

const values = [
  ...['', ' ', 'A', 'a1', 'É', 'MANU', 'ZZZZ', 'BRL', 'HIGH', 'RJCT', 'AC03', 'VLCP', 'VLDN'],
  ...['0', '1', '-1', '+1', ' 5 ', '1e3', '.5', '5.', '0.00', '1.234', '1.230', '-0', '00012.50'],
  ...['1234567890123456.78', '12345678901234567.89', '999999999999999999', '1,5', '12345678'],
  ...['2024-02-29T10:00:00.000Z', '2023-02-29T10:00:00.000Z', '2024-04-31T10:00:00.000Z'],
  ...['2024-01-01T24:00:00.000Z', '2024-01-01T23:60:00.000Z', '2024-01-01T10:00:00Z'],
  ...['2024-13-01T10:00:00.000Z', '0000-01-01T10:00:00.000Z', '2024-01-01T10:00:00.000+00:00'],
  ...['2024-01-31', '2024-02-30', '2024-1-1', '2024-01-01Z', ' 2024-01-01 ', '12345678909'],
  ...['12345678000195', 'AB345678000195', 'E9999901012341234123412345678900'],
  ...['D9999901012341234123412345678900', '|9999901012341234123412345678900'],
  ...['M9999901012345678901234567890123', 'm9999901012345678901234567890123'],
  ...['x'.repeat(35), 'x'.repeat(36), 'x'.repeat(77), 'x'.repeat(78), 'x'.repeat(105)],
  ...['x'.repeat(106), 'x'.repeat(140), 'x'.repeat(141), 'é'.repeat(140), '😀'.repeat(140)],
  ...['😀'.repeat(141), 'a&amp;b', '&#65;', '&#32;1', 'tab\there', 'line\nbreak', '9'.repeat(21)],
] as const

const dates: ReadonlySet<string> = new Set(
  'IntrBkSttlmDt Dt FrDt ToDt FrTm ToTm FrstColltnDt FnlColltnDt'.split(' '),
)

type Edit = { readonly from: number; readonly to: number; readonly text: string }

/**
 * Changes a valid document in one place, as a program with a bug would; the result is well-formed. A document with
 * nothing to change (an earlier change may have emptied it) stays as it is.
 */
export const mutate = (document: XmlDocument, random: Random): string => {
  const elements: number[] = []
  for (let node = document.firstNode; node < document.endNode; node++) {
    if (document.isElement(node) && node !== document.root) elements.push(node)
  }
  if (elements.length === 0) return document.raw(0, document.bytes.length)
  const edit = editOf(document, random, random.pick(elements), elements)
  const before = document.raw(0, edit.from)
  return before + edit.text + document.raw(edit.to, document.bytes.length)
}

const editOf = (
  document: XmlDocument,
  random: Random,
  node: number,
  elements: readonly number[],
): Edit => {
  const from = document.start(node)
  const to = document.end(node)
  const whole = document.raw(from, to)
  const name = document.qualifiedName(node)
  const open = `<${name}`
  switch (random.next(12)) {
    case 0:
      return { from, to, text: '' }
    case 1:
      return { from, to, text: whole + (random.next(2) ? whole : `\n${whole}`) }
    case 2: {
      const sibling = siblingOf(document, node)
      if (sibling === absent) return { from, to, text: '' }
      const between = document.raw(to, document.start(sibling))
      const other = document.raw(document.start(sibling), document.end(sibling))
      return { from, to: document.end(sibling), text: other + between + whole }
    }
    case 3: {
      const renamed = random.next(3) ? document.qualifiedName(random.pick(elements)) : 'Unknown'
      return { from, to, text: rename(whole, name, renamed) }
    }
    case 4: {
      const attribute = random.pick([' Ccy="BRL"', ' Ccy="USD"', ' Xx="1"', ' Ccy=""', ' Id="a b"'])
      if (whole.slice(0, whole.indexOf('>')).includes(attribute.slice(0, 4))) {
        return {
          from,
          to,
          text: whole.replace(/ (?:Ccy|Id)="[^"]*"/, random.pick(['', attribute])),
        }
      }
      return { from, to, text: open + attribute + whole.slice(open.length) }
    }
    case 5:
      return {
        from,
        to,
        text: `${whole}${random.pick(['stray', ' \n ', '<!-- note -->', '&#32;'])}`,
      }
    case 6: {
      const inside = from + whole.indexOf('>') + 1
      if (whole.endsWith('/>')) return { from, to, text: '' }
      const child = random.pick([`<${name}/>`, '<Othr>1</Othr>', '<![CDATA[]]>', '<![CDATA[x]]>'])
      return { from: inside, to: inside, text: child }
    }
    case 7:
      return { from, to, text: `${whole.slice(0, whole.search(/[\s/>]/))} xmlns="urn:other"/>` }
    default:
      return newValue(document, random, elements)
  }
}

const newValue = (document: XmlDocument, random: Random, elements: readonly number[]): Edit => {
  // libxml2 overlooks characters outside the alphabet of base64, against XML Schema part 2, 3.2.16.
  const leaves = elements.filter(
    (node) =>
      document.next(node) === node + 2 &&
      document.kind(node + 1) === nodeKind.text &&
      !/^(?:Digest|Signature)Value$/.test(document.localName(node)),
  )
  if (leaves.length === 0) return { from: 0, to: 0, text: '' }
  const leaf = random.pick(leaves) + 1
  const from = document.start(leaf)
  const to = document.end(leaf)
  const old = document.raw(from, to)
  const near = [
    old.slice(1),
    `${old}0`,
    `${old} `,
    ` ${old}`,
    `${old.slice(0, -1)}é`,
    old.toLowerCase(),
    `${old.slice(0, 3)}<![CDATA[${old.slice(3).replace(/&[^;]*;/g, '')}]]>`,
    `${old.slice(0, 1)}<!-- -->${old.slice(1)}`,
  ]
  const chosen = random.next(3) ? random.pick(values) : random.pick(near)
  // libxml2 does not collapse white space around dates, against XML Schema part 2, 4.3.6.
  const text = dates.has(document.localName(leaf - 1)) ? chosen.trim() : chosen
  return { from, to, text: /^[^&]*&[^;]*$/.test(text) ? 'x' : text }
}

const siblingOf = (document: XmlDocument, node: number): number => {
  let next = document.next(node)
  while (next < document.endNode && !document.isElement(next)) next = document.next(next)
  const parentEnd = document.raw(document.end(node), document.start(next))
  return next < document.endNode && !parentEnd.includes('</') ? next : absent
}

const rename = (whole: string, name: string, renamed: string): string => {
  const opened = `<${renamed}${whole.slice(name.length + 1)}`
  return opened.endsWith(`</${name}>`)
    ? `${opened.slice(0, opened.length - name.length - 3)}</${renamed}>`
    : opened
}
