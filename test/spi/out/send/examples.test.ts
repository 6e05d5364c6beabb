import { describe, expect, test } from 'bun:test'
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
import { openApiDocument } from '#src/platform/http/index.ts'
import { documentedBody, sendBody } from '../../../../src/spi/out/send/documents.ts'
import { sendExamples } from '../../../../src/spi/out/send/examples.ts'
import { sendParameters } from '../../../../src/spi/out/send/parameters.ts'
import { sendRoutes } from '../../../../src/spi/out/send/routes.ts'
import { shapedSignature } from '../../../support/messages.ts'

const uncalled = () => Promise.reject(new Error('not called'))

// biome-ignore lint/suspicious/noExplicitAny: a part of any request
type Loose = any

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

describe('the API’s document types the parameters', () => {
  const accepts = (body: unknown): boolean => documentedBody().safeParse(body).success
  const changed = (body: object, path: readonly string[], change: (at: Loose) => void): object => {
    const copy = JSON.parse(JSON.stringify(body))
    change(path.reduce((at, step) => at[step], copy.params))
    return copy
  }
  const exampleOf = (name: string): object => sendExamples[name] ?? {}

  test('as every example has them', () => {
    for (const [name, example] of Object.entries(sendExamples)) {
      expect([name, accepts(JSON.parse(JSON.stringify(example)))]).toEqual([name, true])
    }
  })

  test('with what is needed, of the right type, and no other', () => {
    for (const [name, example] of Object.entries(sendExamples)) {
      expect(
        accepts(
          changed(example, [], (at) => {
            at.surprise = 1
          }),
        ),
      ).toBe(false)
      const { message_type: type } = sendBody.parse(example)
      for (const [path, need] of sendParameters[type]) {
        if (need !== 'yes' || /[.[]/.test(path)) continue
        // Absent where several stand in a list.
        if (!(path in sendBody.parse(example).params)) continue
        const without = changed(example, [], (at) => {
          delete at[path]
        })
        expect([name, path, accepts(without)]).toEqual([name, path, false])
      }
    }
    const first = ['transactions', '0']
    const payment = exampleOf('PACS008')
    expect(
      accepts(
        changed(payment, first, (at) => {
          at.amount = '1'
        }),
      ),
    ).toBe(false)
    expect(
      accepts(
        changed(payment, first, (at) => {
          at.amount = 1.5
        }),
      ),
    ).toBe(false)
    expect(
      accepts(
        changed(payment, [...first, 'creditor'], (at) => {
          at.name = 7
        }),
      ),
    ).toBe(false)
    const texts = changed(exampleOf('PACS002'), [], (at) => {
      at.additional_information = ['a', 'b']
    })
    expect(accepts(texts)).toBe(true)
  })

  test('and one alone or several in a list, never both', () => {
    const several = exampleOf('PACS004 of several returns')
    expect(
      accepts(
        changed(several, [], (at) => {
          at.amount = 1
        }),
      ),
    ).toBe(false)
    const alone = exampleOf('PACS004')
    expect(
      accepts(
        changed(alone, [], (at) => {
          at.transactions = []
        }),
      ),
    ).toBe(false)
  })

  test('in its JSON', async () => {
    const routes = sendRoutes({ build: uncalled, send: uncalled })
    const text = JSON.stringify(await openApiDocument(routes, 'test'))
    const has = (part: string): boolean => text.includes(part)
    expect(has('"cash_amount":{"type":"integer","minimum":0')).toBe(true)
    for (const type of buildableMessages) {
      expect([type, has(`"message_type":{"type":"string","enum":["${type}"]}`)]).toEqual([
        type,
        true,
      ])
    }
  })
})
