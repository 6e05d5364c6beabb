import {
  createSchemaValidator,
  findMetadata,
  knownVersions,
  messageTypes,
  messageVocabulary,
  ourCatalogue,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import { batchMessage } from '../messages.ts'

/*
 * A process of its own that does one thing, prints one number and ends:
 *
 *   compile   milliseconds from a cold start to the whole catalogue compiled
 *   memory    what stays of validated batches, over their bytes (which are part of it)
 */

const kept = 100

const compileMs = (): number => {
  const before = performance.now()
  for (const type of messageTypes) {
    for (const version of knownVersions(type)) ourCatalogue.schemaOf(type, version)
  }
  return performance.now() - before
}

/** Keeps documents, each with its own bytes and its own tape, as no caller in the gateway does. */
const memoryRatio = (): number => {
  const schema = ourCatalogue.schemaOf('pacs.008', '1.13')
  if (schema === undefined) throw new Error('no schema')
  const scanner = createXmlScanner({ vocabulary: messageVocabulary, native: nativeText })
  const validate = createSchemaValidator()
  const message = batchMessage()
  const judged = () => {
    const document = scanner.scan(message.slice())
    if (!validate(schema, document).valid) throw new Error('not valid')
    return { document, metadata: findMetadata(document) }
  }
  for (let i = 0; i < 3; i++) judged()
  const all: unknown[] = []
  const before = residentAfterCollection()
  for (let i = 0; i < kept; i++) all.push(judged())
  return (residentAfterCollection() - before) / all.length / message.length
}

const residentAfterCollection = (): number => {
  for (let i = 0; i < 3; i++) Bun.gc(true)
  return process.memoryUsage().rss
}

const [what] = process.argv.slice(2)
console.log(what === 'compile' ? compileMs() : memoryRatio())
