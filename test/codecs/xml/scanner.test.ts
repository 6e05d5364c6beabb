import { describe, expect, test } from 'bun:test'
import { CodecError } from '#codecs/bytes'
import { messageVocabulary } from '#codecs/iso20022'
import { createXmlScanner, createXmlVocabulary, type XmlDocument, xmlLimits } from '#codecs/xml'
import { nodeStride } from '../../../codecs/xml/layout.ts'
import { pacs008, utf8 } from '../../support/messages.ts'

const scanner = createXmlScanner()
const scan = (text: string): XmlDocument => scanner.scan(utf8(text))

const refusal = (input: string | Uint8Array, instance = scanner): string => {
  try {
    instance.scan(typeof input === 'string' ? utf8(input) : input)
  } catch (error) {
    if (error instanceof CodecError) return error.code
    throw error
  }
  return 'accepted'
}

describe('what is refused, and why', () => {
  test.each([
    ['', 'root_missing'],
    ['  ', 'root_missing'],
    ['<a>', 'document_truncated'],
    ['<a', 'document_truncated'],
    ['<a></b>', 'tag_mismatch'],
    ['<a></ab>', 'tag_mismatch'],
    ['<ab></a>', 'tag_mismatch'],
    ['<a/><b/>', 'content_after_root'],
    ['<a/>x', 'text_outside_root'],
    ['x<a/>', 'text_outside_root'],
    ['<a b="1" b="2"/>', 'attribute_duplicate'],
    ['<a xmlns:p="u" xmlns:q="u" p:b="1" q:b="2"/>', 'attribute_duplicate'],
    ['<p:a/>', 'prefix_unbound'],
    ['<a p:b="1"/>', 'prefix_unbound'],
    ['<a xmlns:p=""/>', 'namespace_invalid'],
    ['<a xmlns:xmlns="u"/>', 'namespace_invalid'],
    ['<a xmlns:xml="u"/>', 'namespace_invalid'],
    ['<a xmlns="http://www.w3.org/2000/xmlns/"/>', 'namespace_invalid'],
    ['<a b=1/>', 'attribute_invalid'],
    ['<a b/>', 'attribute_invalid'],
    ['<a b="<"/>', 'attribute_less_than'],
    ['<a b="1"c="2"/>', 'markup_invalid'],
    ['<a>&x;</a>', 'entity_undefined'],
    ['<a>&</a>', 'reference_invalid'],
    ['<a>&amp</a>', 'reference_invalid'],
    ['<a>&#0;</a>', 'character_forbidden'],
    ['<a>&#xD800;</a>', 'character_forbidden'],
    ['<a>&#99999999999999999999;</a>', 'character_forbidden'],
    ['<a>\u0001</a>', 'character_forbidden'],
    ['<a>\uFFFE</a>', 'character_forbidden'],
    ['<a>]]></a>', 'cdata_end_in_text'],
    ['<a><!-- -- --></a>', 'comment_invalid'],
    ['<a><!-- ---></a>', 'comment_invalid'],
    ['<a><![CDATA[x</a>', 'document_truncated'],
    ['<![CDATA[x]]><a/>', 'markup_invalid'],
    ['<!DOCTYPE a><a/>', 'doctype_forbidden'],
    ['<a><?p x?></a>', 'processing_instruction_forbidden'],
    ['<?p x?><a/>', 'processing_instruction_forbidden'],
    ['<?xml version="1.0"?><?xml version="1.0"?><a/>', 'processing_instruction_forbidden'],
    [' <?xml version="1.0"?><a/>', 'processing_instruction_forbidden'],
    ['<?xml encoding="UTF-8"?><a/>', 'declaration_invalid'],
    ['<?xml version="1.0" encoding="ISO-8859-1"?><a/>', 'encoding_unsupported'],
    ['<1a/>', 'markup_invalid'],
    ['<a:/>', 'name_invalid'],
    ['<\u00D7a/>', 'name_invalid'],
  ])('%p: %s', (text, code) => {
    expect(refusal(text)).toBe(code)
  })

  test('bytes that are no UTF-8, at their offset', () => {
    const bytes = utf8('<a>xx</a>')
    bytes[4] = 0xff
    expect(() => scanner.scan(bytes)).toThrow(
      expect.objectContaining({ code: 'utf8_invalid', offset: 4 }),
    )
  })
})

describe('limits hold at the bound and refuse one past it', () => {
  const limited = createXmlScanner({
    limits: {
      documentBytesMax: 400,
      depthMax: 3,
      attributesMax: 2,
      nameBytesMax: 5,
      textBytesMax: 6,
      elementsMax: 4,
    },
  })
  test.each([
    ['<a><b><c/></b></a>', '<a><b><c><d/></c></b></a>', 'depth_exceeded'],
    ['<a b="1" c="2"/>', '<a b="1" c="2" d="3"/>', 'attributes_exceeded'],
    ['<abcde/>', '<abcdef/>', 'name_too_long'],
    ['<a abcde=""/>', '<a abcdef=""/>', 'name_too_long'],
    ['<a>123456</a>', '<a>1234567</a>', 'text_too_long'],
    ['<a b="123456"/>', '<a b="1234567"/>', 'text_too_long'],
    ['<a><![CDATA[123456]]></a>', '<a><![CDATA[1234567]]></a>', 'text_too_long'],
    ['<a><!--123456--></a>', '<a><!--1234567--></a>', 'text_too_long'],
    ['<a><b/><b/><b/></a>', '<a><b/><b/><b/><b/></a>', 'elements_exceeded'],
    [`<a/>${' '.repeat(396)}`, `<a/>${' '.repeat(397)}`, 'document_too_large'],
  ])('%s', (atBound, past, code) => {
    expect(refusal(atBound, limited)).toBe('accepted')
    expect(refusal(past, limited)).toBe(code)
  })

  test('the defaults are those that are documented', () => {
    expect(xmlLimits).toEqual({
      documentBytesMax: 4_194_304,
      depthMax: 64,
      attributesMax: 64,
      nameBytesMax: 256,
      textBytesMax: 1_048_576,
      elementsMax: 200_000,
    })
  })
})

describe('what is read', () => {
  test('text is the XPath string value: references, CDATA, comments, line ends', () => {
    const document = scan('<a>x&lt;&#x41;\r\n<!-- c --><![CDATA[<&>\r]]>é<b> y</b></a>')
    expect(document.textOf(document.root)).toBe('x<A\n<&>\né y')
  })

  test('attribute values are normalised', () => {
    const document = scan('<a b=" x\t\r\n&#10;&quot; "/>')
    expect(document.attribute(document.root, 'b')).toBe(' x  \n" ')
  })

  test('namespaces: default, prefixed, undeclared, restored', () => {
    const document = scan('<a xmlns="u"><p:b xmlns:p="v"/><c xmlns=""/><d/></a>')
    const uris: string[] = []
    for (
      let child = document.firstChild(document.root);
      child !== -1;
      child = document.nextSibling(child, document.root)
    ) {
      uris.push(`${document.qualifiedName(child)} ${document.namespaceUri(child)}`)
    }
    expect(uris).toEqual(['p:b v', 'c ', 'd u'])
  })

  test('names of the vocabulary have its ids, others their own beyond', () => {
    const vocabulary = createXmlVocabulary(['a', 'b'])
    const document = createXmlScanner({ vocabulary }).scan(utf8('<b><a/><x/><y/><x/></b>'))
    const ids = [0, 1, 2, 3, 4].map((index) => document.nameId(document.firstNode + index))
    expect(ids).toEqual([1, 0, 2, 3, 2])
  })

  test('what a vocabulary holds that is no name is no element for that', () => {
    const names = ['', '1a', '-a', 'a:b', 'é', '×', 'a b', 'ok']
    const own = createXmlScanner({ vocabulary: createXmlVocabulary(names) })
    for (const name of ['1a', '-a', '×', '']) {
      expect(refusal(`<ok><${name}></${name}></ok>`, own)).toMatch(/^(name|markup)_invalid$/)
    }
    expect(refusal('<ok><a:b></a:b></ok>', own)).toBe('prefix_unbound')
    const document = own.scan(utf8('<ok><é></é><ok></ok></ok>'))
    expect(document.childrenOf(document.root).map((node) => document.nameId(node))).toEqual([4, 7])
    expect(document.isAscii).toBe(false)
    // Its bytes are judged although the name is known: here is only the first of them.
    expect(refusal(Uint8Array.of(...utf8('<ok><'), 0xc3, ...utf8('></ok>')), own)).toBe(
      'utf8_invalid',
    )
  })

  test('a prefix means what it was last bound to, whatever it meant before', () => {
    const own = createXmlScanner({ vocabulary: createXmlVocabulary(['a', 'b', 'c']) })
    const uris = (text: string) => {
      const document = own.scan(utf8(text))
      return Array.from({ length: document.endNode - document.firstNode }, (_, i) =>
        document.namespaceUri(document.firstNode + i),
      )
    }
    expect(
      uris(
        '<p:a xmlns:p="u"><p:b></p:b><p:b xmlns:p="v"><p:c></p:c><c></c></p:b><p:c></p:c></p:a>',
      ),
    ).toEqual(['u', 'u', 'v', 'v', '', 'u'])
    expect(uris('<p:a xmlns:p="w"><p:b></p:b></p:a>')).toEqual(['w', 'w'])
    for (const text of [
      '<p:a></p:a>',
      '<a><p:b xmlns:p="u"></p:b><p:b></p:b></a>',
      '<p:a xmlns:p="u"><p:b></p:b><q:b></q:b></p:a>',
    ]) {
      expect(refusal(text, own)).toBe('prefix_unbound')
    }
  })

  test.each([1, 2, 3, 4, 5, 8])('a name of the vocabulary is refused past %d bytes', (bytes) => {
    const name = 'abcdefgh'.slice(0, bytes)
    const own = (nameBytesMax: number) =>
      createXmlScanner({ vocabulary: createXmlVocabulary([name]), limits: { nameBytesMax } })
    const text = `<${name}><${name}></${name}></${name}>`
    expect(own(bytes).scan(utf8(text)).elementCount).toBe(2)
    if (bytes > 1) expect(refusal(text, own(bytes - 1))).toBe('name_too_long')
    // The declaration has a name of seven bytes itself.
    if (bytes < 6) return
    const prefixed = `<p:${name} xmlns:p="u"><p:${name}></p:${name}></p:${name}>`
    expect(own(bytes + 2).scan(utf8(prefixed)).elementCount).toBe(2)
    expect(refusal(prefixed, own(bytes + 1))).toBe('name_too_long')
  })

  test('offsets span an element from its < to behind its end tag', () => {
    const bytes = utf8('<a>é<b>x</b> </a>')
    const document = scanner.scan(bytes)
    const child = document.firstChild(document.root)
    const slice = bytes.subarray(document.start(child), document.end(child))
    expect(new TextDecoder().decode(slice)).toBe('<b>x</b>')
    expect(slice.buffer).toBe(bytes.buffer)
  })

  test('the content of an element begins behind its start tag, with attributes or without', () => {
    for (const tag of ['<b>', '<b >', '<b x="1">', '<b x=\'1\' y="2>" \n>', '<b x="1"/>', '<b/>']) {
      const end = tag.endsWith('/>') ? '' : '</b>'
      const document = scan(`<a>${tag}${end}</a>`)
      const child = document.firstChild(document.root)
      expect(document.contentStart(child)).toBe('<a>'.length + tag.length)
    }
  })

  test('keeps of a large document a tape of less than twice its bytes', () => {
    const bytes = utf8(pacs008({ transactions: 500 }))
    const document = createXmlScanner({ vocabulary: messageVocabulary }).scan(bytes)
    const [nodes, attributes] = [document['nodes'], document['attributes']]
    const tape = nodes.byteLength + attributes.byteLength
    expect(tape / bytes.length).toBeLessThan(2)
    expect(nodes.length).toBe(document.endNode * nodeStride)
  })

  test('a document stays whole when the scanner goes on to the next', () => {
    const first = scan('<a><b>1</b></a>')
    scan('<other><thing x="y"/></other>')
    expect(first.textOf(first.root)).toBe('1')
  })

  test('a tag that differs from a remembered one in any single byte is read anew', () => {
    for (let length = 2; length <= 30; length++) {
      const name = 'abcdefghijklmnopqrstuvwxyzabcd'.slice(0, length)
      const own = createXmlScanner({ vocabulary: createXmlVocabulary(['root', name]) })
      for (let round = 0; round < 2; round++) own.scan(utf8(`<root><${name}>1</${name}></root>`))
      for (let at = 0; at < length; at++) {
        const other = `${name.slice(0, at)}Z${name.slice(at + 1)}`
        const document = own.scan(utf8(`<root><${other}>2</${other}></root>`))
        expect(document.nameId(document.firstChild(document.root))).toBe(2)
        expect(refusal(`<root><${name}>1</${other}></root>`, own)).toBe('tag_mismatch')
        own.scan(utf8(`<root><${name}>1</${name}></root>`))
      }
    }
  })

  test('a tag that is another in every document is read in every document', () => {
    const vocabulary = createXmlVocabulary(['root', 'key', 'other'])
    const own = createXmlScanner({ vocabulary })
    for (let round = 0; round < 3000; round++) {
      const document = own.scan(
        utf8(`<root><key Id="k${round}" x="${round % 7}">t</key><other>${round}</other></root>`),
      )
      const key = document.firstChild(document.root)
      expect(document.nameId(key)).toBe(1)
      expect(document.attribute(key, 'Id')).toBe(`k${round}`)
      expect(document.attribute(key, 'x')).toBe(String(round % 7))
      expect(document.textOf(document.nextSibling(key, document.root))).toBe(String(round))
    }
  })

  test('a tag with bytes beyond ASCII is judged anew in every document', () => {
    const instance = createXmlScanner()
    const invalid = Buffer.concat([utf8('<root><a b="x'), Buffer.of(0xff), utf8('yy"/></root>')])
    for (let time = 0; time < 3; time++) expect(refusal(invalid, instance)).toBe('utf8_invalid')
    for (let time = 0; time < 3; time++) {
      const document = instance.scan(utf8('<root><a b="xçy"/></root>'))
      expect(document.attribute(document.firstChild(document.root), 'b')).toBe('xçy')
    }
  })

  test('a remembered tag declares its namespaces in every document, and only for itself', () => {
    const instance = createXmlScanner()
    const uris = (text: string): readonly string[] => {
      const document = instance.scan(utf8(text))
      const all: string[] = []
      for (let node = document.firstNode; node < document.endNode; node++) {
        all.push(document.namespaceUri(node))
      }
      return all
    }
    const inner = '<p:node xmlns:p="two" xmlns="three"><p:leaf/><leaf/></p:node>'
    const nested = `<p:root xmlns:p="one">${inner}<p:leaf/><leaf/></p:root>`
    for (let time = 0; time < 3; time++) {
      expect(uris(nested)).toEqual(['one', 'two', 'two', 'three', 'one', ''])
    }
    expect(refusal(`<root>${inner}<p:leaf/></root>`, instance)).toBe('prefix_unbound')
    for (let time = 0; time < 3; time++) {
      expect(uris(`<q:root xmlns:q="four">${inner}</q:root>`)).toEqual([
        'four',
        'two',
        'two',
        'three',
      ])
    }
  })

  test('what ends plain text is found at every offset, whatever stands around it', () => {
    for (const filler of ['x', '\t', '\n', 'é', '>', '\u007f']) {
      for (let before = 0; before < 9; before++) {
        const text = `x${filler.repeat(before)}`
        const document = scan(`<a>${text}&amp;${text}]${text}<b/>${filler}</a>`)
        expect(document.textOf(document.root)).toBe(`${text}&${text}]${text}${filler}`)
        expect(refusal(`<a>${text}\u0001${text}</a>`)).toBe('character_forbidden')
        expect(refusal(`<a>${text}]]>${text}</a>`)).toBe('cdata_end_in_text')
        expect(refusal(`<a>${text}&${text}</a>`)).toBe('reference_invalid')
      }
    }
  })
})

test('the name of a node that is not there ends with the document', () => {
  const document = scan('<a><b>1</b></a>')
  expect(document.qualifiedName(Number.NaN)).toBe('')
})
