import { parsePattern, parseSchema } from '#codecs/iso20022'
import {
  type ComplexType,
  type ElementDeclaration,
  localOf,
  type Occurs,
  type Particle,
  type QName,
  type SchemaModel,
  type SimpleType,
  type TypeDefinition,
  unbounded,
  xsdNamespace,
} from '../../codecs/iso20022/schema/model.ts'
import { readSharedData } from './shared-data.ts'

/** What is said of one element or attribute: the columns of a facet table without its path, each as written there. */
export type FacetRow = Readonly<Record<(typeof facetColumns)[number], string>>

/** The columns that are compared; which option of a choice an element is, no table tells reliably. */
const facetColumns = [
  'kind',
  'min',
  'max',
  'base',
  'pattern',
  'minLength',
  'maxLength',
  'totalDigits',
  'fractionDigits',
  'minInclusive',
  'maxInclusive',
  'enum',
] as const

/** Rows by path; the paths of one table in its order. A path that stands in two options of a choice has two rows. */
export type FacetTable = ReadonlyMap<string, FacetRow>

/** A facet table of the shared data, such as `pain.011-1.3`. */
export const readFacetTable = (name: string): FacetTable => {
  const lines = new TextDecoder().decode(readSharedData(`spi/facets/${name}.tsv`)).trimEnd()
  const [header = '', ...rows] = lines.split('\n')
  const columns = header.split('\t')
  const table = new Map<string, FacetRow>()
  for (const line of rows) {
    const values = line.split('\t')
    const value = (column: string): string => values[columns.indexOf(column)] ?? ''
    const row = Object.fromEntries(facetColumns.map((column) => [column, value(column)]))
    const option = /^c[0-9]+\.(s[0-9]+)$/.exec(value('choice'))?.[1]
    const place = option === undefined ? value('path') : `${value('path')} (${option})`
    table.set(place, normal(row as FacetRow))
  }
  return table
}

/** What a message schema says of the header and of the content of `Document`: the same tables. */
export const facetsOf = (
  file: string,
  source: (file: string) => Uint8Array | undefined,
): { readonly header: FacetTable; readonly document: FacetTable } => {
  const model = parseSchema(file, source)
  const root = model.elements.get(`{${model.targetNamespace}}Envelope`)
  if (root === undefined) throw new Error(`${file} has no Envelope`)
  const type = typeOf(model, root.type)
  if (typeof type === 'string' || type.kind !== 'complex') throw new Error('Envelope is simple')
  const table = new Map<string, FacetRow>()
  addContent(model, table, '', type)
  const beneath = [...table].filter(([path]) => path.startsWith('Document/'))
  return {
    header: new Map([...table].filter(([path]) => path.startsWith('AppHdr'))),
    document: new Map(beneath.map(([path, row]) => [path.slice('Document/'.length), row])),
  }
}

const addContent = (
  model: SchemaModel,
  table: Map<string, FacetRow>,
  path: string,
  type: ComplexType,
): void => {
  const outer = type.extends === undefined ? undefined : model.types.get(type.extends)
  if (outer?.kind === 'complex') addContent(model, table, path, outer)
  if (type.particle !== undefined) addParticle(model, table, path, type.particle, '')
}

const once: Occurs = { min: 1, max: 1 }

/** @param option `(s1)` within the first sequence of a choice of several */
const addParticle = (
  model: SchemaModel,
  table: Map<string, FacetRow>,
  path: string,
  particle: Particle,
  option: string,
): void => {
  switch (particle.kind) {
    case 'sequence':
    case 'choice': {
      if (particle.min !== once.min || particle.max !== once.max) {
        throw new Error(`${path}: a group that repeats cannot be compared`)
      }
      const several = particle.kind === 'choice' && particle.items.length > 1
      for (const [index, item] of particle.items.entries()) {
        const own = several && item.kind === 'sequence' ? ` (s${index + 1})` : option
        addParticle(model, table, path, item, own)
      }
      return
    }
    case 'element':
      addElement(model, table, path, particle.element, particle, option)
      return
    case 'any':
      // The element that holds the wildcard stands in the table for it.
      table.set(path, { ...(table.get(path) ?? blank), kind: 'any' })
      return
    case 'element-ref': {
      const element = model.elements.get(particle.name)
      if (element === undefined) throw new Error(`there is no element ${particle.name}`)
      addElement(model, table, path, element, particle, option)
      return
    }
    case 'group-ref': {
      const group = model.groups.get(particle.name)
      if (group === undefined) throw new Error(`there is no group ${particle.name}`)
      addParticle(model, table, path, group, option)
      return
    }
  }
}

const addElement = (
  model: SchemaModel,
  table: Map<string, FacetRow>,
  outer: string,
  element: ElementDeclaration,
  occurs: Occurs,
  option: string,
): void => {
  const path = `${outer}${outer === '' ? '' : '/'}${localOf(element.name)}`
  const type = typeOf(model, element.type)
  const place = `${path}${option}`
  if (typeof type !== 'string' && type.kind === 'complex') {
    const { simpleContent } = type
    if (simpleContent === undefined) {
      table.set(place, normal({ ...blank, kind: 'complex', ...counts(occurs) }))
      addContent(model, table, path, type)
      return
    }
    const row = { ...simpleFacets(model, simpleContent), kind: 'simple+attributes' }
    table.set(place, normal({ ...row, ...counts(occurs) }))
    for (const attribute of type.attributes) {
      const facets = { ...simpleFacets(model, attribute.type), kind: 'attribute', max: '1' }
      const min = attribute.required ? '1' : '0'
      table.set(`${path}/@${localOf(attribute.name)}`, normal({ ...facets, min }))
    }
    return
  }
  const row = { ...simpleFacets(model, element.type as QName | SimpleType), kind: 'simple' }
  table.set(place, normal({ ...row, ...counts(occurs) }))
}

const blank = Object.fromEntries(facetColumns.map((column) => [column, ''])) as FacetRow

const counts = ({ min, max }: Occurs) => ({
  min: String(min),
  max: max === unbounded ? 'unbounded' : String(max),
})

const typeOf = (model: SchemaModel, type: QName | TypeDefinition): QName | TypeDefinition =>
  typeof type === 'string' ? (model.types.get(type) ?? type) : type

const simpleFacets = (model: SchemaModel, written: QName | SimpleType): FacetRow => {
  const type = typeOf(model, written)
  if (typeof type === 'string') {
    if (!type.startsWith(`{${xsdNamespace}}`)) throw new Error(`there is no type ${type}`)
    return { ...blank, base: localOf(type) }
  }
  if (type.kind === 'complex') throw new Error('a complex type has no facets')
  const row: Record<string, string> = { ...simpleFacets(model, type.base) }
  const codes: string[] = []
  for (const { name, value } of type.facets) {
    if (name === 'enumeration') codes.push(value)
    else if (!facetColumns.some((column) => column === name)) {
      throw new Error(`${name} cannot be compared`)
    } else row[name] = value
  }
  if (codes.length > 0) row['enum'] = codes.join('|')
  return row as FacetRow
}

/** Codes in one order, and no length that the pattern says already. */
const normal = (row: FacetRow): FacetRow => {
  const codes = row.enum.split('|').toSorted().join('|')
  if (row.pattern === '') return { ...row, enum: codes }
  const { min, max } = lengthsOf(parsePattern(row.pattern))
  return {
    ...row,
    enum: codes,
    minLength: Number(row.minLength) <= min ? '' : row.minLength,
    maxLength: Number(row.maxLength) >= max ? '' : row.maxLength,
  }
}

/** The shortest and the longest text of a pattern, in characters. */
const lengthsOf = (node: ReturnType<typeof parsePattern>): Occurs => {
  switch (node.kind) {
    case 'set':
      return once
    case 'sequence': {
      const items = node.items.map(lengthsOf)
      const sum = (of: 'min' | 'max') => items.reduce((total, item) => total + item[of], 0)
      return { min: sum('min'), max: sum('max') }
    }
    case 'choice': {
      const items = node.items.map(lengthsOf)
      return {
        min: Math.min(...items.map(({ min }) => min)),
        max: Math.max(...items.map(({ max }) => max)),
      }
    }
    case 'repeat': {
      const item = lengthsOf(node.item)
      return { min: item.min * node.min, max: item.max * node.max }
    }
  }
}

/** Every difference between what the table says and what the schema says, one line each; empty if they agree. */
export const facetDifferences = (table: FacetTable, schema: FacetTable): readonly string[] => {
  const differences: string[] = []
  for (const [path, row] of table) {
    const ours = schema.get(path)
    if (ours === undefined) {
      differences.push(`${path}: missing`)
      continue
    }
    for (const column of facetColumns) {
      if (row[column] === ours[column]) continue
      differences.push(`${path} ${column}: ${ours[column] || 'none'} for ${row[column] || 'none'}`)
    }
  }
  for (const path of schema.keys()) if (!table.has(path)) differences.push(`${path}: added`)
  if (differences.length > 0) return differences
  const order = [...table.keys()].findIndex((path, index) => path !== [...schema.keys()][index])
  return order === -1 ? [] : [`${[...table.keys()][order]}: out of order`]
}
