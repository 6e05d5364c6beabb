import { dlopen } from 'bun:ffi'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageTypes, schemaText } from '#codecs/iso20022'
import { schemaTexts } from '../../codecs/iso20022/catalogue/catalogue.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import type { SetMessage } from '../sets.ts'

const headers = '/usr/include/libxml2'
const source = join(import.meta.dir, 'libxml2.c')

/** Whether this machine can build libxml2's program: gcc, and libxml2 with its headers (Debian: libxml2-dev). */
export const hasLibxml2 = (): boolean =>
  Bun.which('gcc') !== null &&
  Bun.spawnSync(['gcc', '-fsyntax-only', `-I${headers}`, source]).success

const build = () => {
  const library = join(temporaryDirectory(), 'libxml2-peer.so')
  const { success, stderr } = Bun.spawnSync(
    `gcc -O2 -shared -fPIC -I${headers} -o ${library} ${source} -lxml2`.split(' '),
  )
  if (!success) throw new Error(stderr.toString())
  const documents = ['ptr', 'ptr'] as const
  return dlopen(library, {
    scan: { args: [...documents, 'i32', 'i32'], returns: 'i64' },
    load_schema: { args: ['i32', 'ptr'], returns: 'i32' },
    validate: { args: [...documents, 'ptr', 'i32', 'i32'], returns: 'i64' },
  }).symbols
}

/** The documents in one memory, and where each ends. */
const inOneMemory = (messages: readonly SetMessage[]) => {
  let end = 0
  return {
    bytes: Buffer.concat(messages.map(({ xml }) => xml)),
    ends: Uint32Array.from(messages, ({ xml }) => (end += xml.length)),
  }
}

/** Reads with SAX2, its fastest interface, and counts the elements. */
export const libxml2Scan = (messages: readonly SetMessage[]): ((times: number) => bigint) => {
  const { bytes, ends } = inOneMemory(messages)
  const { scan } = build()
  return (times) => scan(bytes, ends, ends.length, times)
}

/** Writes a schema that holds those of message and signature, beside the files that it names. */
const schemaFile = (directory: string, index: number, namespace: string): string => {
  const [name, version = ''] = namespace.split('/').slice(-2)
  const type = messageTypes.find((one) => one === name)
  if (type === undefined) throw new Error(`no type of ${namespace}`)
  const file = join(directory, `${index}.xsd`)
  const message = `${type}-${version}.xsd`
  writeFileSync(join(directory, message), schemaText(type, version) ?? '')
  writeFileSync(
    file,
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="${namespace}"><xs:include schemaLocation="${message}"/><xs:import namespace="http://www.w3.org/2000/09/xmldsig#" schemaLocation="xmldsig.xsd"/></xs:schema>`,
  )
  return file
}

/** Reads into a tree, validates, and counts the valid documents. */
export const libxml2Validate = (messages: readonly SetMessage[]): ((times: number) => bigint) => {
  const { bytes, ends } = inOneMemory(messages)
  const { load_schema: load, validate } = build()
  const directory = join(temporaryDirectory(), 'schemas')
  mkdirSync(directory)
  for (const [file, text] of schemaTexts) writeFileSync(join(directory, file), text)
  const namespaces = [...new Set(messages.map(({ schema }) => schema.targetNamespace))]
  for (const [index, namespace] of namespaces.entries()) {
    const file = schemaFile(directory, index, namespace)
    if (load(index, Buffer.from(`${file}\0`)) !== 0) throw new Error(`no schema of ${namespace}`)
  }
  const kinds = Uint8Array.from(messages, ({ schema }) =>
    namespaces.indexOf(schema.targetNamespace),
  )
  return (times) => validate(bytes, ends, kinds, ends.length, times)
}
