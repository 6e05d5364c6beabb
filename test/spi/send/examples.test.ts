import { expect, test } from 'bun:test'
import {
  buildableMessages,
  buildMessage,
  createRandomText,
  isBuildableMessage,
  messageVocabulary,
  ourCatalogue,
  revisions,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { sendBody } from '../../../src/spi/send/documents.ts'
import { sendExamples } from '../../../src/spi/send/examples.ts'
import { shapedSignature } from '../../support/messages.ts'

const random = createRandomText((bytes) => crypto.getRandomValues(bytes))
const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const signature = shapedSignature.replaceAll('q=', 'A=')

test('every message type has an example', () => {
  const types = Object.values(sendExamples).map((example) => sendBody.parse(example).message_type)
  expect([...new Set(types)].sort()).toEqual([...buildableMessages].sort())
})

for (const [name, example] of Object.entries(sendExamples)) {
  test(`the example ${name} is a request, and its message is valid in every revision`, () => {
    const { message_type, version, params } = sendBody.parse(JSON.parse(JSON.stringify(example)))
    if (!isBuildableMessage(message_type)) throw new Error(`${message_type} is not built`)
    for (const revision of revisions) {
      const context = { ispb: '12345678', nowMs: Date.now(), random, revision }
      const build = buildMessage(message_type, params, {
        ...context,
        ...(version === undefined ? {} : { version }),
      })
      if (!build.ok) throw new Error(JSON.stringify(build.problems))
      const { bytes, signatureAt, type, version: built } = build.message
      const schema = ourCatalogue.schemaOf(type, built)
      if (schema === undefined) throw new Error(`no schema for ${type} ${built}`)
      const signed = Buffer.concat([
        bytes.subarray(0, signatureAt),
        Buffer.from(signature),
        bytes.subarray(signatureAt),
      ])
      expect(validateDocument(schema, scanner.scan(signed)).violations).toEqual([])
    }
  })
}
