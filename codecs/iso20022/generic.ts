import { absent, createXmlScanner, type XmlDocument } from '#codecs/xml'
import { escaped } from './building/template.ts'
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
export type GenericMessage = { readonly [name: string]: unknown }

/** A part of a JSON message that has no place in its schema. */
export type GenericProblem = { readonly pointer: string; readonly message: string }

export type ToJson =
  | { readonly ok: true; readonly message: GenericMessage }
  | { readonly ok: false; readonly violations: readonly SchemaViolation[] }

export type FromJson =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly problems: readonly GenericProblem[] }
  | { readonly ok: false; readonly violations: readonly SchemaViolation[] }

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
 * A valid message as JSON; an empty `Sgntr` is allowed.
 *
 * @example const json = messageToJson(schema, document)
 * if (json.ok) json.message.Envelope
 */
export const messageToJson = (schema: CompiledSchema, document: XmlDocument): ToJson => {
  const violations = violationsOf(schema, document)
  if (violations.length > 0) return { ok: false, violations }
  const name = document.localName(document.root)
  const element = schema.globals.get(`{${schema.targetNamespace}}${name}`) as number
  return { ok: true, message: { [name]: jsonOf(schema, document, document.root, element) } }
}

const jsonOf = (
  schema: CompiledSchema,
  document: XmlDocument,
  node: number,
  element: number,
): unknown => {
  const type = typeOf(schema, element)
  const value: Record<string, unknown> = {}
  const first = document.firstAttribute(node)
  for (let at = first; at < first + document.attributeCount(node); at++) {
    const name = document.attributeName(at)
    if (!(document.isNamespaceDeclaration(at) || name.includes(':'))) {
      value[`@${name}`] = document.attributeValue(at)
    }
  }
  if (type.simple !== undefined) {
    const text = document.textOf(node)
    if (type.attributes.length === 0) return text
    value['#text'] = text
    return value
  }
  const members = new Map(type.members.map((member) => [member.name, member]))
  for (let at = document.firstChild(node); at !== absent; at = document.nextSibling(at, node)) {
    const name = document.localName(at)
    const member = members.get(name)
    const found =
      member?.element ?? (schema.globals.get(`{${document.namespaceUri(at)}}${name}`) as number)
    const inner = jsonOf(schema, document, at, found)
    if (member?.repeated !== true) value[name] = inner
    else if (value[name] === undefined) value[name] = [inner]
    else (value[name] as unknown[]).push(inner)
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
  const bytes = encoder.encode(writer.whole(message))
  if (writer.problems.length > 0) return { ok: false, problems: writer.problems }
  const violations = violationsOf(schema, scanner.scan(bytes))
  return violations.length === 0 ? { ok: true, bytes } : { ok: false, violations }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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
        const text = this.#text(written, at).replaceAll('"', '&quot;').replaceAll('&gt;', '>')
        return ` ${name}="${text.replaceAll('\t', '&#x9;').replaceAll('\n', '&#xA;')}"`
      })
      .sort()
      .join('')
  }

  #simple(type: CompiledType, value: GenericMessage, pointer: string): string {
    const known = new Set(['#text', ...type.attributes.map(({ name }) => `@${name}`)])
    for (const name of Object.keys(value)) {
      if (!known.has(name)) this.#problem(`${pointer}/${shown(name)}`, 'is not known here')
    }
    const text = value['#text']
    return typeof text === 'string'
      ? this.#text(text, `${pointer}/#text`)
      : this.#problem(`${pointer}/#text`, 'must be a string')
  }

  #children(type: CompiledType, value: GenericMessage, pointer: string, namespace: string): string {
    let xml = ''
    const known = new Set(type.attributes.map(({ name }) => `@${name}`))
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
      const at = `${pointer}/${shown(name)}`
      const global = type.wildcardMembers ? this.#global(name) : undefined
      if (global === undefined) this.#problem(at, 'is not known here')
      else xml += this.#element(global, value[name], at, namespace)
    }
    return xml
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

const shown = (name: string): string =>
  name.slice(0, 64).replaceAll('~', '~0').replaceAll('/', '~1')
