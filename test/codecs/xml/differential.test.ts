import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { CodecError } from '#codecs/bytes'
import { createXmlScanner, nodeKind, type XmlDocument } from '#codecs/xml'
import { layouts } from '../../support/layouts.ts'
import { pacs008, utf8 } from '../../support/messages.ts'

/** 100 000 in the long lane. */
const runs = process.env['TRILHO_LONG'] === '1' ? 100_000 : 2000

const scanner = createXmlScanner()
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder()

type Verdict = { readonly accepted: boolean; readonly events: string }

/** Elements with namespace, attributes with namespace and value, string values: what both can tell. */
const ours = (bytes: Uint8Array): Verdict => {
  try {
    const document = scanner.scan(bytes)
    return { accepted: true, events: eventsOf(document, document.root).join('\n') }
  } catch (error) {
    if (error instanceof CodecError) return { accepted: false, events: error.code }
    throw error
  }
}

const eventsOf = (document: XmlDocument, node: number): string[] => {
  const kind = document.kind(node)
  if (kind === nodeKind.comment) return []
  if (kind !== nodeKind.element) return [`text ${document.textOf(node)}`]
  const first = document.firstAttribute(node)
  const attributes = Array.from({ length: document.attributeCount(node) }, (_, index) => {
    const uri = document.namespaces[document.attributeNamespaceId(first + index)]
    return ` ${document.attributeName(first + index)}{${uri}}=${JSON.stringify(document.attributeValue(first + index))}`
  })
  const events = [
    `open ${document.qualifiedName(node)}{${document.namespaceUri(node)}}${attributes.join('')}`,
  ]
  for (let child = node + 1; child < document.next(node); child = document.next(child)) {
    events.push(...eventsOf(document, child))
  }
  return [...joined(events), 'close']
}

/** Text beside text is one text: where a parser cuts it is its own business. */
const joined = (events: readonly string[]): string[] => {
  const all: string[] = []
  for (const event of events) {
    const last = all.at(-1)
    if (event.startsWith('text ') && last?.startsWith('text ')) {
      all[all.length - 1] = last + event.slice(5)
    } else if (event !== 'text ') all.push(event)
  }
  return all
}

const theirs = (bytes: Uint8Array): Verdict => {
  const events: string[] = []
  try {
    const text = strict.decode(bytes).replace(/^\uFEFF/, '')
    if (isOutsideSubset(text)) return { accepted: false, events: 'outside the subset' }
    // Any version 1.x is read by the rules of 1.0 (XML 1.0, 2.8), as ours reads it.
    const parser = new SaxesParser({
      xmlns: true,
      forceXMLVersion: true,
      defaultXMLVersion: '1.0',
    })
    parser.on('opentag', (tag) => {
      const attributes = Object.values(tag.attributes).map(
        ({ name, uri, value }) => ` ${name}{${uri}}=${JSON.stringify(value)}`,
      )
      events.push(`open ${tag.name}{${tag.uri}}${attributes.join('')}`)
    })
    const onText = (chunk: string) => {
      if (events.length > 0) events.push(`text ${chunk}`)
    }
    parser.on('text', onText)
    parser.on('cdata', onText)
    parser.on('closetag', () => events.push('close'))
    parser.on('doctype', () => parser.fail('doctype'))
    parser.on('processinginstruction', () => parser.fail('processing instruction'))
    parser.write(text).close()
    const end = events.lastIndexOf('close')
    return { accepted: true, events: joined(events.slice(0, end + 1)).join('\n') }
  } catch (error) {
    return { accepted: false, events: error instanceof Error ? error.message : '' }
  }
}

/** What saxes takes and we refuse by intent, beyond DOCTYPE and processing instructions. */
const isOutsideSubset = (text: string): boolean => {
  const declaration = /^<\?xml\s[^>]*\?>/.exec(text)?.[0] ?? ''
  const encoding = /encoding\s*=\s*["']([^"']*)["']/.exec(declaration)?.[1]
  return encoding !== undefined && encoding.toLowerCase() !== 'utf-8'
}

/**
 * A namespace name that begins or ends with white space: saxes cuts that off, though names are the same only where
 * every character is (Namespaces in XML 1.0, section 2.3).
 */
const isMisreadBySaxes = (text: string): boolean =>
  /xmlns[^=<>]*=\s*(?:"(?:\s|&#|[^"]*(?:\s|&#\w+;)")|'(?:\s|&#|[^']*(?:\s|&#\w+;)'))/.test(text)

const fixtures = [
  pacs008(),
  pacs008({ transactions: 2, signature: '' }),
  ...Object.values(layouts(pacs008({ signature: '' }))),
  '<a xmlns="u" xmlns:p="v" p:x="1" x="&lt;&#65;\t"><p:b/>t<!-- c --><![CDATA[<&]]>]<c xmlns=""/></a>',
].map(utf8)

const snippets = [
  '<',
  '>',
  '/',
  '&',
  ';',
  '"',
  "'",
  '=',
  ' ',
  '\r',
  '\n',
  ']]>',
  '--',
  '<!--',
  '-->',
  '<![CDATA[',
  '<?',
  '?>',
  '<!DOCTYPE a>',
  '&amp;',
  '&#0;',
  '&#x10FFFF;',
  '&x;',
  'xmlns',
  'xmlns:p="v"',
  ':',
  'p:',
  '\u0000',
  '\u0001',
  '\uFFFE',
  '\u{1F600}',
  'é',
  '<a/>',
  '</a>',
  ' x="1"',
  ' x="1" x="2"',
  'xml',
  '<?xml version="1.0"?>',
].map(utf8)

type Edit = { readonly at: number; readonly remove: number; readonly insert: Uint8Array }

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  remove: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(3), fc.nat(200)),
  insert: fc.oneof(
    fc.constantFrom(...snippets),
    fc.uint8Array({ maxLength: 3 }),
    fc.constant(new Uint8Array()),
  ),
})

const mutated = (bytes: Uint8Array, edits: readonly Edit[]): Uint8Array => {
  let current = bytes
  for (const { at, remove, insert } of edits) {
    const from = Math.floor(at * current.length)
    current = Uint8Array.from([
      ...current.subarray(0, from),
      ...insert,
      ...current.subarray(from + remove),
    ])
  }
  return current
}

describe('the scanner and saxes', () => {
  test('agree on the fixtures', () => {
    for (const bytes of fixtures) {
      const verdict = ours(bytes)
      expect(verdict.accepted).toBe(true)
      expect(verdict).toEqual(theirs(bytes))
    }
  })

  test.each(['1.0', '1.1', '1.08', '1.', '2.0', '1.0.0', ''])(
    'agree on a document of version %p',
    (version) => {
      const bytes = utf8(`<?xml version="${version}"?><a>\u0085</a>`)
      const verdict = ours(bytes)
      const oracle = theirs(bytes)
      expect(verdict.accepted).toBe(/^1\.[0-9]+$/.test(version))
      expect(verdict.accepted ? verdict : verdict.accepted).toEqual(
        oracle.accepted ? oracle : oracle.accepted,
      )
    },
  )

  test('a blank in a namespace name is part of it, and saxes does not see it', () => {
    const bytes = utf8('<a xmlns=" u"/>')
    expect(ours(bytes).events).toBe('open a{ u} xmlns{http://www.w3.org/2000/xmlns/}=" u"\nclose')
    expect(theirs(bytes).events).toStartWith('open a{u}')
  })

  test(`agree on ${runs} mutated messages: accepted or not, and every event`, () => {
    let accepted = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...fixtures),
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        (fixture, edits) => {
          const bytes = mutated(fixture, edits)
          fc.pre(!isMisreadBySaxes(lenient.decode(bytes)))
          const verdict = ours(bytes)
          const oracle = theirs(bytes)
          if (verdict.accepted) accepted++
          expect(verdict.accepted ? verdict : verdict.accepted).toEqual(
            oracle.accepted ? oracle : oracle.accepted,
          )
        },
      ),
      { numRuns: runs },
    )
    // Mutations that all break the document would prove little.
    expect(accepted / runs).toBeGreaterThan(0.1)
  }, 600_000)
})

test('a message cut at any byte is refused as truncated, wherever the cut falls', () => {
  const bytes = utf8(pacs008({ signature: '' }))
  for (let length = 0; length < bytes.length; length++) {
    const { accepted, events } = ours(bytes.subarray(0, length))
    expect(accepted).toBe(false)
    // A declaration that is cut off within its first five characters may still become any instruction.
    const isCutDeclaration =
      length < '<?xml'.length && events === 'processing_instruction_forbidden'
    if (isCutDeclaration) continue
    expect(['document_truncated', 'root_missing', 'utf8_invalid']).toContain(events)
  }
})

test('what was learned from one document never leaks into the next', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...fixtures),
      fc.array(edit, { maxLength: 2 }),
      (fixture, edits) => {
        const bytes = mutated(fixture, edits)
        const fresh = createXmlScanner()
        const read = (instance: typeof fresh): string => {
          try {
            const document = instance.scan(bytes)
            return eventsOf(document, document.root).join('\n')
          } catch (error) {
            return error instanceof CodecError ? `${error.code} ${error.offset}` : String(error)
          }
        }
        expect(read(scanner)).toBe(read(fresh))
      },
    ),
    { numRuns: 500 },
  )
})
