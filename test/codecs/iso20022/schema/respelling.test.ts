import { describe, expect, test } from 'bun:test'
import {
  createSchemaValidator,
  knownVersions,
  messageTypes,
  messageVocabulary,
  ourCatalogue,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { QuickPass } from '../../../../codecs/iso20022/schema/quick.ts'
import { generateMessage } from '../../../support/generated-messages.ts'
import { utf8 } from '../../../support/messages.ts'
import { createRandom } from '../../../support/mutations.ts'
import { respellings } from '../../../support/respellings.ts'

const validate = createSchemaValidator()

const documentsPerVersion = process.env['TRILHO_LONG'] === '1' ? 150 : 5
const scanner = createXmlScanner({ vocabulary: messageVocabulary })

const scanned = (text: string): XmlDocument | undefined => {
  try {
    return scanner.scan(utf8(text))
  } catch {
    return undefined
  }
}

describe('the quick verdict and the thorough one agree, however a document is written', () => {
  for (const type of messageTypes) {
    test(type, () => {
      const seen = new Set<string>()
      for (const version of knownVersions(type)) {
        const schema = ourCatalogue.schemaOf(type, version)
        if (schema === undefined) throw new Error(`no schema for ${type} ${version}`)
        const quick = new QuickPass(schema)
        const random = createRandom(type.charCodeAt(5) * 131 + version.length)
        for (let i = 0; i < documentsPerVersion; i++) {
          const document = scanner.scan(utf8(generateMessage(schema, random)))
          const { valid } = validateDocument(schema, document)
          for (const { name, isSame, text } of respellings(document, random)) {
            const other = scanned(text)
            if (other === undefined) continue
            const thorough = validateDocument(schema, other).valid
            const verdicts = {
              name,
              text,
              quick: quick.accepts(other) && thorough,
              whole: validate(schema, other).valid,
            }
            expect(verdicts).toEqual({ name, text, quick: quick.accepts(other), whole: thorough })
            if (isSame) expect({ name, text, valid: thorough }).toEqual({ name, text, valid })
            seen.add(`${name}${isSame ? '' : thorough}`)
          }
        }
      }
      expect(seen.size).toBeGreaterThan(30)
    })
  }
})
