import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  XmlDocument as LibxmlDocument,
  XmlBufferInputProvider,
  XmlValidateError,
  XsdValidator,
  xmlCleanupInputProvider,
  xmlRegisterInputProvider,
} from 'libxml2-wasm'
import { CodecError } from '#codecs/bytes'
import {
  createMessageScanner,
  knownVersions,
  type MessageScanner,
  type MessageType,
  messageTypes,
  messageVocabulary,
  namespaceOf,
  ourCatalogue,
  schemaText,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import { schemaTexts } from '../../codecs/iso20022/catalogue/catalogue.ts'
import { generateMessage } from '../support/generated-messages.ts'
import { createRandom, mutate, type Random } from '../support/mutations.ts'

/*
 * Our verdicts against libxml2's, by our own schemas of all types, on documents made from those and changed as a
 * program with a bug would change them: of the validator that judges every document in full, and of the one that
 * learns from documents before. TRILHO_LONG=1 makes a hundred thousand changes, others each time; TRILHO_SEED repeats a
 * run.
 */

const isLong = process.env['TRILHO_LONG'] === '1'
/** Over all versions: a hundred thousand that differ, for some are made twice. */
const longChanges = 115_000
const changesOfOne = 12
const seed = Number(process.env['TRILHO_SEED'] ?? (isLong ? Date.now() % 2 ** 31 : 41))

const encoder = new TextEncoder()
const scanner = createXmlScanner({ vocabulary: messageVocabulary })

const versions = messageTypes.flatMap((type) =>
  knownVersions(type).map((version) => ({ type, version })),
)

/** Changes of each version, a multiple of {@link changesOfOne}. */
const changes = isLong
  ? Math.ceil(longChanges / versions.length / changesOfOne) * changesOfOne
  : 2 * changesOfOne

const fileOf = (type: MessageType, version: string): string => `${type}-${version}.xsd`

beforeAll(() => {
  const texts = [
    ...schemaTexts,
    ...versions.map(
      ({ type, version }) => [fileOf(type, version), schemaText(type, version) ?? ''] as const,
    ),
  ]
  const files = texts.map(([file, text]) => [file, encoder.encode(text)])
  xmlRegisterInputProvider(new XmlBufferInputProvider(Object.fromEntries(files)))
})
afterAll(() => xmlCleanupInputProvider())

/**
 * Gives the lines that may be a document's first violation, 0 where there is none. libxml2 tells of an element when it
 * ends, after what is within, so there are two: what it tells first, and what stands first.
 */
const libxmlJudge = (
  type: MessageType,
  version: string,
): ((document: Uint8Array) => readonly [told: number, standing: number]) => {
  const namespace = namespaceOf({ type, version })
  const whole = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="${namespace}"><xs:include schemaLocation="${fileOf(type, version)}"/><xs:import namespace="http://www.w3.org/2000/09/xmldsig#" schemaLocation="xmldsig.xsd"/></xs:schema>`
  const source = LibxmlDocument.fromString(whole)
  const validator = XsdValidator.fromDoc(source)
  source.dispose()
  return (bytes) => {
    const document = LibxmlDocument.fromBuffer(bytes)
    try {
      validator.validate(document)
      return [0, 0]
    } catch (error) {
      if (!(error instanceof XmlValidateError)) throw error
      const lines = error.details.map(({ line }) => line)
      return [lines[0] ?? -1, Math.min(...lines)]
    } finally {
      document.dispose()
    }
  }
}

/** Each element on a line of its own, so that lines tell elements apart; no text is touched. */
const onLines = (xml: string): string => xml.replace(/>(?=<[^/])/g, '>\n')

/** A change may move a prefix out of its scope; such a document is no matter of a schema. */
const changed = (right: string, random: Random): Uint8Array => {
  for (;;) {
    const bytes = encoder.encode(mutate(scanner.scan(encoder.encode(right)), random))
    try {
      scanner.scan(bytes)
      return bytes
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
    }
  }
}

/** Valid documents, and what becomes of them by one change; those of one origin come one after the other. */
const documentsOf = (type: MessageType, version: string): readonly Uint8Array[] => {
  const schema = ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error(`no schema for ${type} ${version}`)
  // Versions are alike: with one seed for all, they would be judged by the same documents.
  const random = createRandom(Bun.hash.xxHash32(`${type} ${version}`, seed))
  return Array.from({ length: changes / changesOfOne }, () => {
    const right = onLines(generateMessage(schema, random))
    const all = Array.from({ length: changesOfOne }, () => changed(right, random))
    return all.flatMap((bytes, i) => (i % 3 === 0 ? [encoder.encode(right), bytes] : [bytes]))
  }).flat()
}

describe('our schemas as libxml2 reads them', () => {
  let known = 0
  let judged = 0
  /** By the change alone, whatever the version. */
  const different = new Set<number | bigint>()
  const withoutVersion = (bytes: Uint8Array, version: string): number | bigint =>
    Bun.hash(new TextDecoder().decode(bytes).replaceAll(version, ''))

  test.each(versions)(
    '$type $version: the same verdict and the same first line, in full and learning',
    ({ type, version }) => {
      const schema = ourCatalogue.schemaOf(type, version)
      if (schema === undefined) throw new Error(`no schema for ${type} ${version}`)
      const judge = libxmlJudge(type, version)
      const judges: Readonly<Record<string, MessageScanner>> = {
        'in full': createMessageScanner(nativeText, { learning: false }),
        learning: createMessageScanner(nativeText),
      }
      const differing: string[] = []
      const lines = documentsOf(type, version).map((bytes) => {
        const [line, standing] = judge(bytes)
        judged++
        different.add(withoutVersion(bytes, version))
        for (const [how, { scan, validate }] of Object.entries(judges)) {
          const document = scan(bytes)
          if (document.shape !== undefined) known++
          const ours = validate(schema, document).violations[0]?.line ?? 0
          if (ours === line || ours === standing) continue
          const text = new TextDecoder().decode(bytes).split('\n')[(ours || line) - 1]
          differing.push(`${how}: ${ours} for ${line}: ${text}`)
        }
        return line
      })
      expect(differing).toEqual([])
      expect(lines).toContain(0)
      expect(lines.filter((line) => line > 0).length).toBeGreaterThan(lines.length / 4)
    },
    isLong ? 600_000 : 60_000,
  )

  test('signatures of any content: the same verdict', () => {
    const [type, version] = ['pibr.001', '1.3'] as const
    const schema = ourCatalogue.schemaOf(type, version)
    if (schema === undefined) throw new Error('no schema')
    const judge = libxmlJudge(type, version)
    const random = createRandom(41)
    // An id that stands twice and characters outside base64 are no matter of ours, or none of libxml2's.
    const unlike = (xml: string) =>
      xml
        .replace(/ Id="[^"]*"/g, '')
        .replace(/(?<=>)Zm9v(?=<)/g, () => random.pick(['Zm9v', 'Zg==', '']))
    const wrong = [
      ['<ds:X509Certificate>', '<ds:Zz>'],
      ['<ds:Object>', '<ds:Object Zz="1">'],
      ['<ds:KeyName>', 'text<ds:KeyName>'],
      ['<ds:X509IssuerName>', '<ds:X509IssuerSerial>'],
      ['</ds:SignedInfo>', 'text</ds:SignedInfo>'],
      ['</ds:Object>', '<ds:KeyInfo></ds:KeyInfo></ds:Object>'],
    ] as const
    const differing: string[] = []
    let [valid, invalid] = [0, 0]
    for (let i = 0; i < 10 * changes; i++) {
      const right = unlike(generateMessage(schema, random, { ownSignature: true }))
      const [from, to] = random.pick(wrong)
      const closing = from.startsWith('</') ? from : from.replace('<', '</')
      const changed = right
        .replaceAll(from, to)
        .replaceAll(
          closing,
          to.startsWith('<ds:') ? to.replace(/^<(\S+?)[ >].*/, '</$1>') : closing,
        )
      for (const xml of [right, changed]) {
        const bytes = encoder.encode(xml)
        try {
          scanner.scan(bytes)
        } catch {
          continue
        }
        const ours = validateDocument(schema, scanner.scan(bytes)).valid
        if (ours) valid++
        else invalid++
        if (ours !== (judge(bytes)[0] === 0)) differing.push(xml)
      }
    }
    expect(differing.slice(0, 3)).toEqual([])
    expect(Math.min(valid, invalid)).toBeGreaterThan(changes)
  })

  test('many of the documents were like one that was learned', () => {
    expect(known).toBeGreaterThan(4 * versions.length)
  })

  test('the documents of one version are not those of another', () => {
    expect(judged).toBeGreaterThanOrEqual(versions.length * changes)
    // The changes of one origin hold the right document several times.
    expect(different.size).toBeGreaterThan(judged * 0.75)
    if (isLong)
      process.stderr.write(`seed ${seed}: ${judged} judged alike, ${different.size} differ\n`)
  })
})
