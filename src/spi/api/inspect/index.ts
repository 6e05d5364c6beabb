import { CodecError } from '#codecs/bytes'
import {
  identifyMessage,
  isMessageType,
  type MessageIdentity,
  messageVocabulary,
  readMessage,
  type SchemaCatalogue,
  validateDocument,
} from '#codecs/iso20022'
import {
  absent,
  createXmlScanner,
  explainXmlError,
  lineColumnAt,
  type XmlDocument,
} from '#codecs/xml'
import { type Environment, loadSettings } from '#src/platform/config/index.ts'
import type { Language } from '#src/platform/http/index.ts'
import type { ExplainedField, Explanation, Inspector } from '#src/platform/lifecycle/index.ts'
import { scanned } from '../../scanned.ts'
import { schemaSettings } from '../schemas/config.ts'
import { builtInSchemas, loadSchemas } from '../schemas/load.ts'
import { meaningOf, nameOfElement } from './words.ts'

const blank = /[\s\ufeff]/

/** Explains SPI messages: the whole tree with plain names and meanings of codes, and what is missing. */
export const iso20022Inspector: Inspector = {
  name: 'iso20022',
  summary: 'an ISO 20022 message of the SPI, in XML',
  matches: (input) => {
    const start = Buffer.from(input.subarray(0, 64)).toString('utf8')
    const [first] = [...start].filter((character) => !blank.test(character))
    return first === '<'
  },
  explain: (input, options) => {
    const { validateWith, language = 'en' } = options ?? {}
    const document = scan(input)
    const identity = identifyMessage(document)
    const explanation =
      identity === undefined
        ? { title: 'XML, but no message of the SPI', ...tree(document, language) }
        : explainMessage(document, identity, language)
    return validateWith === undefined
      ? explanation
      : judged(explanation, document, identity, catalogueOf(validateWith))
  },
}

/** @throws Error when a setting is wrong or we cannot read SPI_SCHEMA_DIR */
const catalogueOf = (env: Environment): SchemaCatalogue => {
  const { values, problems } = loadSettings({ schemas: schemaSettings }, env)
  const [problem] = problems
  if (problem !== undefined) throw new Error(`${problem.name} ${problem.problem}`)
  const { folder } = values.schemas
  return (folder === undefined ? builtInSchemas : loadSchemas(folder)).catalogue
}

/** The explanation, with the verdict of the schema for the message's version. */
const judged = (
  explanation: Explanation,
  document: XmlDocument,
  identity: MessageIdentity | undefined,
  catalogue: SchemaCatalogue,
): Explanation => {
  const schema = identity && catalogue.schemaOf(identity.type, identity.version)
  if (schema === undefined) {
    return { ...explanation, failure: { message: 'there is no schema for this message' } }
  }
  const { valid, violations, truncated } = validateDocument(schema, document)
  if (valid) return { ...explanation, title: `${explanation.title}, valid` }
  const children = violations.map(
    ({ path, line, rule, got, expected }): ExplainedField => ({
      name: path,
      value: rule,
      meaning: `line ${line}; got ${got}, expected ${expected}`,
    }),
  )
  const count = `${truncated ? 'more than ' : ''}${violations.length}`
  return {
    ...explanation,
    fields: [{ name: 'Violations', children }, ...explanation.fields],
    failure: { message: `the message breaks its schema at ${count} place(s)`, violations },
  }
}

const scan = (input: Uint8Array): XmlDocument => {
  const document = scanned(createXmlScanner({ vocabulary: messageVocabulary }), input)
  if (!(document instanceof CodecError)) return document
  const { line, column, reason } = explainXmlError(input, document)
  throw new Error(`line ${line}, column ${column}: ${reason}`)
}

const explainMessage = (
  document: XmlDocument,
  { type, version }: MessageIdentity,
  language: Language,
): Explanation => {
  const title = `${type}, version ${version}`
  const whole = tree(document, language)
  if (!isMessageType(type)) return { title, ...whole }
  const reading = readMessage(document, { type, version })
  if (reading.ok) return { title, fields: whole.fields, value: reading.message }
  const problems = reading.problems.map((problem): ExplainedField => {
    const { line, column } = lineColumnAt(document.bytes, problem.offset)
    return { name: problem.path, value: problem.rule, meaning: `line ${line}, column ${column}` }
  })
  return {
    title: `${title}; problems: ${problems.length}`,
    fields: [{ name: 'Problems', children: problems }, ...whole.fields],
    value: { type, version, problems: reading.problems },
  }
}

type Tree = { readonly fields: readonly ExplainedField[]; readonly value: unknown }

/** A line before we make its label: an element, or a chain of elements that each hold only the next. */
type Branch = {
  readonly names: readonly string[]
  readonly text?: string
  readonly meaning?: string
  /** The path of the last of the names. */
  readonly path: string
  readonly branches: readonly Branch[]
}

/** The elements below a node, as lines to show and as an object. */
const tree = (document: XmlDocument, language: Language): Tree => {
  const { branches, value } = walk(document, document.root, {
    names: [],
    path: `/${document.localName(document.root)}`,
    language,
  })
  return { fields: branches.map((branch) => fieldOf(branch, language)), value }
}

/** What stands around a node. */
type Around = {
  /** Names of the elements around, nearest first. */
  readonly names: readonly string[]
  readonly path: string
  readonly language: Language
}

const walk = (
  document: XmlDocument,
  node: number,
  around: Around,
): { readonly branches: readonly Branch[]; readonly value: unknown } => {
  const branches: Branch[] = []
  // A map: a name of the document may be one that every object has.
  const value = new Map<string, unknown[]>()
  const stepOf = steps(document, node)
  for (let at = document.firstChild(node); at !== absent; at = document.nextSibling(at, node)) {
    const name = document.localName(at)
    const path = around.path + stepOf(name)
    const inner = walk(document, at, { ...around, names: [name, ...around.names], path })
    const text = inner.branches.length === 0 ? leafText(document, at) : undefined
    branches.push(branchOf(name, text, inner.branches, { ...around, path }))
    const values = value.get(name) ?? []
    values.push(text ?? inner.value)
    value.set(name, values)
  }
  return { branches, value: Object.fromEntries(value) }
}

/** The steps of an XPath below a node, in the order of its children; positions where names repeat. */
const steps = (document: XmlDocument, node: number): ((name: string) => string) => {
  const all = new Map<string, number>()
  for (let at = document.firstChild(node); at !== absent; at = document.nextSibling(at, node)) {
    const name = document.localName(at)
    all.set(name, (all.get(name) ?? 0) + 1)
  }
  const passed = new Map<string, number>()
  return (name) => {
    const position = (passed.get(name) ?? 0) + 1
    passed.set(name, position)
    return all.get(name) === 1 ? `/${name}` : `/${name}[${position}]`
  }
}

const branchOf = (
  name: string,
  text: string | undefined,
  branches: readonly Branch[],
  { names, path, language }: Around,
): Branch => {
  const [only] = branches
  if (only !== undefined && branches.length === 1) return { ...only, names: [name, ...only.names] }
  if (text === undefined) return { names: [name], path, branches }
  const meaning = meaningOf(name, text, names, language)
  return { names: [name], text, path, branches, ...(meaning === undefined ? {} : { meaning }) }
}

const fieldOf = (
  { names, text, meaning, path, branches }: Branch,
  language: Language,
): ExplainedField => {
  const name = names.join('/')
  const plain = names
    .map((each) => nameOfElement(each, language))
    .find((found) => found !== undefined)
  return {
    name: plain === undefined ? name : `${name} (${plain})`,
    path,
    ...(text === undefined
      ? { children: branches.map((branch) => fieldOf(branch, language)) }
      : { value: text }),
    ...(meaning === undefined ? {} : { meaning }),
  }
}

/** The text, with the currency of an amount after it. */
const leafText = (document: XmlDocument, node: number): string => {
  const currency = document.attribute(node, 'Ccy')
  const text = document.textOf(node)
  return currency === undefined ? text : `${text} ${currency}`
}
