import { describe, expect, test } from 'bun:test'
import {
  type CompiledSchema,
  knownVersions,
  type MessageType,
  messageTypes,
  ourCatalogue,
} from '#codecs/iso20022'
import { hasSharedData, readSharedData, skipReason } from '../support/shared-data.ts'

/*
 * Our schemas against the table of fields that they were written from: every path is there, is needed or not, repeats
 * or not, and has the codes that the table tells.
 */

type Row = {
  readonly type: MessageType
  readonly versions: readonly string[]
  readonly path: string
  readonly cardinality: string
  readonly kind: string
  readonly rule: string
}

const rows = (): readonly Row[] =>
  new TextDecoder()
    .decode(readSharedData('spi/catalogue-fields.tsv'))
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [type = '', versions = '', path = '', cardinality = '', kind = '', rule = ''] =
        line.split('\t')
      return {
        type: type as MessageType,
        versions: versions.split(';'),
        path,
        cardinality,
        kind,
        rule,
      }
    })

/** Groups that repeat here and stand once in the table of facets, which is the surer one. */
const contradicted: ReadonlySet<string> = new Set(['pain.011 MndtCxlReq/UndrlygCxlDtls'])

/** `A/{B,C?}/D` as its paths; what stands for a tree (`*`) is left to the tree's own rows. */
const expanded = (written: string): readonly string[] => {
  // Counts stand behind a name, and a tree right behind its count.
  const path = written.replace(/ \d\.\.\d\{/g, '/{').replace(/ (?:\d\.\.\d|C)/g, '')
  const braces = /\{([^{}]*)\}/.exec(path)
  if (braces === null) return path.includes('*') ? [] : [path]
  const [whole, inner = ''] = braces
  const outer = path.slice(0, braces.index)
  const rest = path.slice(braces.index + whole.length)
  return inner.split(',').flatMap((one) => expanded(`${outer}${one.trim()}${rest}`))
}

type Found = {
  readonly type: CompiledSchema['types'][number]
  /** Whether itself, and whether it or one around it, may be absent. */
  readonly optional: boolean
  readonly conditional: boolean
  readonly repeated: boolean
}

/** The element at a path beneath `Document`. */
const findElement = (schema: CompiledSchema, path: string): Found | string => {
  const envelope = schema.globals.get(`{${schema.targetNamespace}}Envelope`) as number
  let type = schema.types[schema.elements[envelope]?.type as number]
  let found: Found | undefined
  for (const step of ['Document', ...path.split('/')]) {
    const name = step.replace(/\?$/, '')
    const member = type?.members.find((one) => one.name === name)
    if (member === undefined) return `there is no ${name}`
    type = schema.types[schema.elements[member.element]?.type as number]
    if (type === undefined) return `${name} has no type`
    const optional = !member.required
    const conditional = optional || found?.conditional === true
    found = { type, optional, conditional, repeated: member.repeated }
  }
  return found ?? 'the path is empty'
}

const codesIn = (rule: string): readonly string[] => {
  const [codes = ''] = /^[A-Z0-9]+(?:\|[A-Z0-9]+)+/.exec(rule) ?? []
  return codes === '' ? [] : codes.split('|')
}

describe.if(hasSharedData)(`our schemas and the table of fields${skipReason}`, () => {
  const table = hasSharedData ? rows() : []

  test('the table has all types but those of payments', () => {
    const types = new Set(table.map(({ type }) => type))
    expect([...types].sort()).toEqual(
      messageTypes.filter((type) => !type.startsWith('pacs')).toSorted(),
    )
  })

  for (const row of table) {
    const { type, path, cardinality, kind, rule } = row
    test(`${type} ${path}`, () => {
      for (const version of row.versions) {
        expect(knownVersions(type)).toContain(version)
        const schema = ourCatalogue.schemaOf(type, version)
        if (schema === undefined) throw new Error(`no schema for ${type} ${version}`)
        const [plain = '', currency] = path.split('@')
        for (const one of expanded(plain)) {
          const found = findElement(schema, one.replace(/=[A-Za-z0-9]+/g, ''))
          if (typeof found === 'string') throw new Error(`${one}: ${found}`)
          if (currency !== undefined) {
            expect(found.type.attributes.map(({ name, required }) => [name, required])).toEqual([
              ['Ccy', true],
            ])
          }
          if (/\.\.(?:n|[2-9]|500)$/.test(cardinality) && kind === 'group') {
            expect(found.repeated).toBe(!contradicted.has(`${type} ${one}`))
          }
          if (cardinality === '1' && !one.includes('?')) expect(found.optional).toBe(false)
          if (/^(?:C|0\.\.1)$/.test(cardinality)) expect(found.conditional).toBe(true)
          if (kind === 'code' && !path.includes('{')) {
            const admitted = found.type.simple?.limits.enumeration ?? []
            for (const code of codesIn(rule)) expect(admitted).toContain(code)
          }
        }
      }
    })
  }
})
