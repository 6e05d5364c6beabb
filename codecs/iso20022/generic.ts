import { CodecError } from '#codecs/bytes'
import { absent, createXmlScanner, type XmlDocument, xmlLimits } from '#codecs/xml'
import { escaped } from './building/template.ts'
import {
  addChild,
  addText,
  attributesAsJson,
  isPlain,
  namespaceMember,
  plainJson,
} from './generic-plain.ts'
import { pointerStep } from './pointer.ts'
import {
  type CompiledElement,
  type CompiledSchema,
  type CompiledType,
  type SchemaViolation,
  validateDocument,
} from './schema/index.ts'
import { messageVocabulary } from './vocabulary.ts'

/**
 * Any message as JSON, by its schema alone. All is kept but spelling: white space between elements, comments and
 * prefixes. So the signature of a message that is spelled differently does not fit the XML that is built back.
 *
 * An element is a member of its parent's object, in an array where the schema lets it repeat. Text is a string as
 * written; an element with attributes has them as `@name` and its text as `#text`:
 *
 * ```json
 * { "Envelope": { "AppHdr": { … }, "Document": { "FIToFICstmrCdtTrf": { …,
 *     "CdtTrfTxInf": [{ "IntrBkSttlmAmt": { "@Ccy": "BRL", "#text": "10.00" }, … }] } } } }
 * ```
 */
type GenericMessage = { readonly [name: string]: unknown }

/** A part of a JSON message that has no place in its schema. */
export type GenericProblem = { readonly pointer: string; readonly message: string }

export type ToJson = {
  readonly message: GenericMessage
  /** Empty for a valid message; an empty `Sgntr` is allowed. */
  readonly violations: readonly SchemaViolation[]
}

export type FromJson =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly problems: readonly GenericProblem[] }
  | { readonly ok: false; readonly violations: readonly SchemaViolation[] }
  /** The result would be no document that we read: it holds too much of something, or is not well-formed. */
  | { readonly ok: false; readonly error: CodecError }

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const encoder = new TextEncoder()
const problemsMax = 100

/** Characters outside the Char production (XML 1.0, 2.2). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const noCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

/** Ignores that the signature is still missing. */
const violationsOf = (schema: CompiledSchema, document: XmlDocument): readonly SchemaViolation[] =>
  validateDocument(schema, document).violations.filter(
    ({ path, rule }) => !(rule === 'missing' && path === '/Envelope/AppHdr/Sgntr'),
  )

/**
 * A message as JSON, with the violations of its schema. The JSON also holds elements that the schema does not know, or
 * not in their place: in the order of the document, and as an array if one stands there more than once.
 *
 * @example const { message, violations } = messageToJson(schema, document)
 */
export const messageToJson = (schema: CompiledSchema, document: XmlDocument): ToJson => {
  const violations = violationsOf(schema, document)
  const name = document.localName(document.root)
  const element = schema.globals.get(`{${document.namespaceUri(document.root)}}${name}`)
  const value =
    element === undefined
      ? plainJson(document, document.root, schema.targetNamespace)
      : jsonOf(schema, document, document.root, element, violations.length === 0)
  return { message: { [name]: value }, violations }
}

const jsonOf = (
  schema: CompiledSchema,
  document: XmlDocument,
  node: number,
  element: number,
  isValid: boolean,
): unknown => {
  const type = typeOf(schema, element)
  if (type.simple !== undefined && document.firstChild(node) !== absent) {
    return plainJson(document, node, document.namespaceUri(node))
  }
  const value = attributesAsJson(document, node)
  if (type.simple !== undefined) {
    const text = document.textOf(node)
    if (type.attributes.length === 0 && Object.keys(value).length === 0) return text
    value['#text'] = text
    return value
  }
  if (type.mixed || !isValid) addText(document, node, value)
  const members = new Map(type.members.map((member) => [member.name, member]))
  for (let at = document.firstChild(node); at !== absent; at = document.nextSibling(at, node)) {
    const name = document.localName(at)
    const member = members.get(name)
    const found = member?.element ?? schema.globals.get(`{${document.namespaceUri(at)}}${name}`)
    const inner =
      found === undefined
        ? plainJson(document, at, document.namespaceUri(node))
        : jsonOf(schema, document, at, found, isValid)
    addChild(value, name, inner, member?.repeated === true)
  }
  return value
}

const typeOf = (schema: CompiledSchema, element: number): CompiledType => {
  const { type } = schema.elements[element] as CompiledElement
  return schema.types[type] as CompiledType
}

/**
 * Builds the XML of a JSON message, children in the order of the schema, and validates it.
 *
 * @example const built = messageFromJson(schema, message)
 * if (built.ok) built.bytes
 */
export const messageFromJson = (schema: CompiledSchema, message: unknown): FromJson => {
  const writer = new Writer(schema)
  try {
    const bytes = encoder.encode(writer.whole(message))
    if (writer.problems.length > 0) return { ok: false, problems: writer.problems }
    const violations = violationsOf(schema, scanner.scan(bytes))
    return violations.length === 0 ? { ok: true, bytes } : { ok: false, violations }
  } catch (error) {
    if (error instanceof CodecError) return { ok: false, error }
    throw error
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Names in ASCII are enough for what is written from JSON. */
const plainName = /^[A-Za-z_][A-Za-z0-9._-]{0,127}$/

class Writer {
  readonly problems: GenericProblem[] = []
  readonly #schema: CompiledSchema

  constructor(schema: CompiledSchema) {
    this.#schema = schema
  }

  whole(message: unknown): string {
    const root = this.#schema.globals.get(`{${this.#schema.targetNamespace}}Envelope`)
    if (root === undefined || !isObject(message) || Object.keys(message).join() !== 'Envelope') {
      this.#problem('', 'must be an object with the one member Envelope')
      return ''
    }
    const xml = this.#element(root, message['Envelope'], '/Envelope', '')
    return `<?xml version="1.0" encoding="UTF-8"?>${xml}`
  }

  #problem(pointer: string, message: string): string {
    if (this.problems.length < problemsMax) this.problems.push({ pointer, message })
    return ''
  }

  /** @param outer the namespace around it */
  #element(index: number, value: unknown, pointer: string, outer: string): string {
    const { name, namespace } = this.#schema.elements[index] as CompiledElement
    const type = typeOf(this.#schema, index)
    const isMessage = namespace === this.#schema.targetNamespace
    const tag = isMessage ? name : `ds:${name}`
    const declared = namespace === outer ? '' : ` xmlns${isMessage ? '' : ':ds'}="${namespace}"`
    const opened = `${tag}${declared}`
    if (type.simple !== undefined && type.attributes.length === 0) {
      if (typeof value !== 'string') return this.#problem(pointer, 'must be a string')
      return `<${opened}>${this.#text(value, pointer)}</${tag}>`
    }
    if (!isObject(value)) return this.#problem(pointer, 'must be an object')
    const attributes = this.#attributes(type, value, pointer)
    const content =
      type.simple === undefined
        ? this.#children(type, value, pointer, namespace)
        : this.#simple(type, value, pointer)
    return `<${opened}${attributes}>${content}</${tag}>`
  }

  #text(value: string, pointer: string): string {
    if (!value.isWellFormed() || noCharacter.test(value)) {
      return this.#problem(pointer, 'holds a character that XML cannot hold')
    }
    return escaped(value)
  }

  #attributes(type: CompiledType, value: GenericMessage, pointer: string): string {
    return type.attributes
      .map(({ name }) => {
        const written = value[`@${name}`]
        if (written === undefined) return ''
        const at = `${pointer}/@${name}`
        if (typeof written !== 'string') return this.#problem(at, 'must be a string')
        return ` ${name}="${this.#quoted(written, at)}"`
      })
      .sort()
      .join('')
  }

  #simple(type: CompiledType, value: GenericMessage, pointer: string): string {
    const known = new Set(['#text', ...type.attributes.map(({ name }) => `@${name}`)])
    for (const name of Object.keys(value)) {
      if (!known.has(name)) this.#problem(`${pointer}/${pointerStep(name)}`, 'is not known here')
    }
    const text = value['#text']
    return typeof text === 'string'
      ? this.#text(text, `${pointer}/#text`)
      : this.#problem(`${pointer}/#text`, 'must be a string')
  }

  #children(type: CompiledType, value: GenericMessage, pointer: string, namespace: string): string {
    const known = new Set(type.attributes.map(({ name }) => `@${name}`))
    let xml = ''
    if (type.mixed && typeof value['#text'] === 'string') {
      known.add('#text')
      xml += this.#text(value['#text'], `${pointer}/#text`)
    }
    for (const { name, element, repeated } of type.members) {
      known.add(name)
      const inner = Object.hasOwn(value, name) ? value[name] : undefined
      if (inner === undefined) continue
      const at = `${pointer}/${name}`
      if (!repeated) xml += this.#element(element, inner, at, namespace)
      else if (!Array.isArray(inner)) this.#problem(at, 'must be an array')
      else {
        xml += inner
          .map((item, i) => this.#element(element, item, `${at}/${i}`, namespace))
          .join('')
      }
    }
    for (const name of Object.keys(value)) {
      if (known.has(name)) continue
      const at = `${pointer}/${pointerStep(name)}`
      const global = type.wildcardMembers ? this.#global(name) : undefined
      const items = Array.isArray(value[name]) ? value[name] : [value[name]]
      if (global === undefined && type.wildcardMembers && items.every(isPlain)) {
        xml += items.map((item) => this.#plain(name, item, at, namespace)).join('')
      } else if (global === undefined) this.#problem(at, 'is not known here')
      else xml += items.map((item) => this.#element(global, item, at, namespace)).join('')
    }
    return xml
  }

  /** An element of which no schema is known. @param depth how many such are around it */
  #plain(name: string, value: unknown, pointer: string, outer: string, depth = 0): string {
    if (depth === xmlLimits.depthMax) {
      throw new CodecError('depth_exceeded', 0, 'elements nest deeper than the limit')
    }
    if (!plainName.test(name)) return this.#problem(pointer, 'is no name of an element')
    if (typeof value === 'string') return `<${name}>${this.#text(value, pointer)}</${name}>`
    if (!isObject(value)) return this.#problem(pointer, 'must be a string or an object')
    const namespace = value[namespaceMember] ?? outer
    if (typeof namespace !== 'string') return this.#problem(pointer, 'has no namespace')
    let opened = `${name}${namespace === outer ? '' : ` xmlns="${this.#quoted(namespace, pointer)}"`}`
    let xml = ''
    for (const [key, inner] of Object.entries(value)) {
      const at = `${pointer}/${pointerStep(key)}`
      if (key === namespaceMember) continue
      const items = Array.isArray(inner) ? inner : [inner]
      if (key === '#text' && typeof inner === 'string') xml += this.#text(inner, at)
      else if (!key.startsWith('@')) {
        xml += items.map((item) => this.#plain(key, item, at, namespace, depth + 1)).join('')
      } else if (typeof inner !== 'string' || !plainName.test(key.slice(1))) {
        this.#problem(at, 'is no attribute')
      } else opened += ` ${key.slice(1)}="${this.#quoted(inner, at)}"`
    }
    return `<${opened}>${xml}</${name}>`
  }

  #quoted(value: string, pointer: string): string {
    const text = this.#text(value, pointer).replaceAll('"', '&quot;').replaceAll('&gt;', '>')
    return text.replaceAll('\t', '&#x9;').replaceAll('\n', '&#xA;')
  }

  /** Finds an element of another namespace, for a wildcard. */
  #global(name: string): number | undefined {
    for (const [key, index] of this.#schema.globals) {
      if (key.endsWith(`}${name}`) && !key.startsWith(`{${this.#schema.targetNamespace}}`))
        return index
    }
    return undefined
  }
}
