import {
  type AnyNamespaces,
  type AttributeUse,
  type ComplexType,
  type ElementDeclaration,
  type Facet,
  type Occurs,
  type Particle,
  type QName,
  qName,
  type SimpleType,
  type TypeDefinition,
  type UniqueConstraint,
  unbounded,
} from './model.ts'
import type { XsdElement } from './xsd-element.ts'

/** Repetitions that are written out as states; a schema with more is refused. */
export const occursMax = 2000

/** Reads the declarations of one document. */
export class Declarations {
  readonly #namespace: string
  readonly #qualified: boolean
  readonly #qualifiedAttributes: boolean

  constructor(namespace: string, qualified: boolean, qualifiedAttributes: boolean) {
    this.#namespace = namespace
    this.#qualified = qualified
    this.#qualifiedAttributes = qualifiedAttributes
  }

  element(node: XsdElement, global: boolean): ElementDeclaration {
    node.only('name', 'type', 'minOccurs', 'maxOccurs', 'fixed', 'form')
    const form = node.attribute('form')
    const qualified = global || (form === undefined ? this.#qualified : form === 'qualified')
    const children = node.children()
    const typed = children.filter((child) => /^(?:simple|complex)Type$/.test(child.name))
    const unique = children.filter((child) => child.name === 'unique')
    const other = children.find((child) => !typed.includes(child) && !unique.includes(child))
    if (other !== undefined) throw other.error(`<${other.name}> is not supported here`)
    const name = node.attribute('type')
    const anonymous = typed[0] === undefined ? undefined : this.type(typed[0])
    if ((name === undefined) === (anonymous === undefined) || typed.length > 1) {
      throw node.error('an element has either a type attribute or one type of its own')
    }
    return {
      name: qName(qualified ? this.#namespace : '', node.required('name')),
      type: anonymous ?? node.reference(name ?? ''),
      fixed: node.attribute('fixed'),
      unique: unique.map((constraint) => uniqueConstraint(constraint)),
      place: node.place,
    }
  }

  type(node: XsdElement): TypeDefinition {
    return node.name === 'simpleType' ? this.#simpleType(node) : this.#complexType(node)
  }

  #simpleType(node: XsdElement): SimpleType {
    node.only('name', 'final')
    const [restriction, ...more] = node.children()
    if (restriction?.name !== 'restriction' || more.length > 0) {
      throw node.error('only a restriction is supported in a simple type')
    }
    const children = restriction.children()
    const inner = children[0]?.name === 'simpleType' ? children.shift() : undefined
    return {
      kind: 'simple',
      base:
        inner === undefined
          ? restriction.reference(restriction.required('base'))
          : this.#simpleType(inner),
      facets: facets(children),
      place: node.place,
    }
  }

  #complexType(node: XsdElement): ComplexType {
    node.only('name', 'mixed', 'final', 'block')
    const children = node.children()
    const [first, ...more] = children
    const common = { kind: 'complex', place: node.place } as const
    const mixed = node.boolean('mixed')
    if (first?.name !== 'simpleContent' && first?.name !== 'complexContent') {
      const none = { simpleContent: undefined, facets: [], extends: undefined }
      return { ...common, mixed, ...this.#content(children), ...none, restricts: undefined }
    }
    if (more.length > 0) throw node.error(`nothing stands beside <${first.name}>`)
    first.only('mixed')
    const [derivation] = first.children()
    if (derivation === undefined) throw first.error(`<${first.name}> is empty`)
    const isExtension = derivation.name === 'extension'
    if (!isExtension && derivation.name !== 'restriction') {
      throw derivation.error(`<${derivation.name}> is not supported here`)
    }
    derivation.only('base')
    const base = derivation.reference(derivation.required('base'))
    const derived = {
      ...common,
      mixed: mixed || first.boolean('mixed'),
      extends: isExtension ? base : undefined,
      restricts: isExtension ? undefined : base,
    }
    const parts = derivation.children()
    if (first.name === 'complexContent') {
      return { ...derived, ...this.#content(parts), simpleContent: undefined, facets: [] }
    }
    const isFacet = (child: XsdElement) => !/^(?:attribute|anyAttribute)$/.test(child.name)
    const content = this.#content(parts.filter((part) => !isFacet(part)))
    const limits = facets(parts.filter(isFacet))
    return { ...derived, ...content, simpleContent: base, facets: limits }
  }

  #content(
    children: readonly XsdElement[],
  ): Pick<ComplexType, 'particle' | 'attributes' | 'prohibited' | 'anyAttribute'> {
    let particle: Particle | undefined
    const attributes: AttributeUse[] = []
    const prohibited: QName[] = []
    let anyAttribute = false
    for (const child of children) {
      if (child.name === 'attribute') {
        if (child.attribute('use') === 'prohibited') prohibited.push(this.#attributeName(child))
        else attributes.push(this.#attribute(child))
      } else if (child.name === 'anyAttribute') {
        requireOpen(child)
        anyAttribute = true
      } else if (particle === undefined) particle = this.particle(child)
      else throw child.error('a type has one content model')
    }
    return { particle, attributes, prohibited, anyAttribute }
  }

  #attributeName(node: XsdElement): QName {
    const form = node.attribute('form')
    const qualified = form === undefined ? this.#qualifiedAttributes : form === 'qualified'
    return qName(qualified ? this.#namespace : '', node.required('name'))
  }

  #attribute(node: XsdElement): AttributeUse {
    node.only('name', 'type', 'use', 'fixed', 'form')
    const [inline] = node.children()
    const type =
      inline === undefined ? node.reference(node.required('type')) : this.#simpleType(inline)
    return {
      name: this.#attributeName(node),
      type,
      required: node.attribute('use') === 'required',
      fixed: node.attribute('fixed'),
    }
  }

  particle(node: XsdElement): Particle {
    const occurs = occursOf(node)
    switch (node.name) {
      case 'sequence':
      case 'choice':
        return {
          kind: node.name,
          ...occurs,
          items: node.children().map((child) => this.particle(child)),
        }
      case 'element': {
        const ref = node.attribute('ref')
        if (ref === undefined)
          return { kind: 'element', ...occurs, element: this.element(node, false) }
        return { kind: 'element-ref', ...occurs, name: node.reference(ref), place: node.place }
      }
      case 'group': {
        const name = node.reference(node.required('ref'))
        return { kind: 'group-ref', ...occurs, name, place: node.place }
      }
      case 'any':
        return this.#any(node, occurs)
      default:
        throw node.error(`<${node.name}> is not supported`)
    }
  }

  #any(node: XsdElement, occurs: Occurs): Particle {
    const processContents = node.attribute('processContents') ?? 'strict'
    if (processContents !== 'strict' && processContents !== 'lax' && processContents !== 'skip') {
      throw node.error('processContents is strict, lax or skip')
    }
    const written = node.attribute('namespace') ?? '##any'
    return {
      kind: 'any',
      ...occurs,
      namespaces: this.#anyNamespaces(written),
      processContents,
      place: node.place,
    }
  }

  #anyNamespaces(written: string): AnyNamespaces {
    if (written === '##any') return { kind: 'any' }
    if (written === '##other') return { kind: 'not', namespace: this.#namespace }
    const namespaces = written.split(/\s+/).map((name) => {
      if (name === '##targetNamespace') return this.#namespace
      return name === '##local' ? '' : name
    })
    return { kind: 'list', namespaces }
  }
}

/** A wildcard for attributes must admit all of them unchecked; others are not supported. */
const requireOpen = (node: XsdElement): void => {
  const namespace = node.attribute('namespace') ?? '##any'
  const contents = node.attribute('processContents') ?? 'strict'
  if (namespace === '##any' && (contents === 'skip' || contents === 'lax')) return
  throw node.error('<anyAttribute> is supported for any namespace, lax or skip, only')
}

const facetNames = new Set([
  'pattern',
  'enumeration',
  'length',
  'minLength',
  'maxLength',
  'minInclusive',
  'maxInclusive',
  'minExclusive',
  'maxExclusive',
  'totalDigits',
  'fractionDigits',
  'whiteSpace',
])

const facets = (nodes: readonly XsdElement[]): readonly Facet[] =>
  nodes.map((node) => {
    if (!facetNames.has(node.name)) throw node.error(`<${node.name}> is not supported here`)
    return { name: node.name, value: node.required('value'), place: node.place }
  })

const occursOf = (node: XsdElement): Occurs => {
  const bound = (name: 'minOccurs' | 'maxOccurs'): number => {
    const written = node.attribute(name) ?? '1'
    if (name === 'maxOccurs' && written === 'unbounded') return unbounded
    const value = Number(written)
    if (!/^[0-9]{1,9}$/.test(written) || value > occursMax) {
      throw node.error(`${name} is a number up to ${occursMax}`)
    }
    return value
  }
  const occurs = { min: bound('minOccurs'), max: bound('maxOccurs') }
  if (occurs.max < occurs.min) throw node.error('maxOccurs is below minOccurs')
  return occurs
}

const uniqueConstraint = (node: XsdElement): UniqueConstraint => {
  const steps = (child: XsdElement): readonly QName[] => {
    const path = child.required('xpath')
    if (path === '.') return []
    if (!/^[\w.:-]+(?:\/[\w.:-]+)*$/.test(path)) {
      throw child.error('only child steps are supported in an XPath')
    }
    // Unprefixed names in these paths mean no namespace, even if a default namespace is declared.
    return path
      .split('/')
      .map((step) => (step.includes(':') ? child.reference(step) : qName('', step)))
  }
  const [selector, ...fields] = node.children()
  if (selector?.name !== 'selector' || fields.some(({ name }) => name !== 'field')) {
    throw node.error('a unique constraint is one selector and its fields')
  }
  return {
    name: node.required('name'),
    selector: steps(selector),
    fields: fields.map(steps),
  }
}
