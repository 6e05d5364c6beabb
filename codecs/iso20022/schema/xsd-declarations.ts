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
  UNBOUNDED,
  type UniqueConstraint,
} from './model.ts'
import type { XsdElement } from './xsd-element.ts'

/** Repetitions that are written out as states; beyond, a schema is refused. */
export const occursMax = 2000

/** Reads the declarations of one document. */
export class Declarations {
  readonly #namespace: string
  readonly #qualified: boolean

  constructor(namespace: string, qualified: boolean) {
    this.#namespace = namespace
    this.#qualified = qualified
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
    const [first] = children
    const common = {
      kind: 'complex',
      mixed: node.attribute('mixed') === 'true',
      place: node.place,
    } as const
    if (first?.name !== 'simpleContent' && first?.name !== 'complexContent') {
      return {
        ...common,
        ...this.#content(children),
        simpleContent: undefined,
        facets: [],
        extends: undefined,
      }
    }
    const [derivation] = first.children()
    if (derivation === undefined) throw first.error(`<${first.name}> is empty`)
    const base = derivation.reference(derivation.required('base'))
    if (first.name === 'simpleContent') {
      const isFacet = (child: XsdElement) => !/^(?:attribute|anyAttribute)$/.test(child.name)
      const parts = derivation.children()
      const limits = facets(parts.filter(isFacet))
      const content = this.#content(parts.filter((part) => !isFacet(part)))
      return { ...common, ...content, simpleContent: base, facets: limits, extends: undefined }
    }
    // A restriction repeats what stays of the base, so it stands on its own.
    const extended = derivation.name === 'extension' ? base : undefined
    return {
      ...common,
      ...this.#content(derivation.children()),
      simpleContent: undefined,
      facets: [],
      extends: extended,
    }
  }

  #content(
    children: readonly XsdElement[],
  ): Pick<ComplexType, 'particle' | 'attributes' | 'anyAttribute'> {
    let particle: Particle | undefined
    const attributes: AttributeUse[] = []
    let anyAttribute = false
    for (const child of children) {
      if (child.name === 'attribute') {
        if (child.attribute('use') !== 'prohibited') attributes.push(this.#attribute(child))
      } else if (child.name === 'anyAttribute') anyAttribute = true
      else if (particle === undefined) particle = this.particle(child)
      else throw child.error('a type has one content model')
    }
    return { particle, attributes, anyAttribute }
  }

  #attribute(node: XsdElement): AttributeUse {
    node.only('name', 'type', 'use', 'fixed', 'form')
    const [inline] = node.children()
    const type =
      inline === undefined ? node.reference(node.required('type')) : this.#simpleType(inline)
    const qualified = node.attribute('form') === 'qualified'
    return {
      name: qName(qualified ? this.#namespace : '', node.required('name')),
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
    if (name === 'maxOccurs' && written === 'unbounded') return UNBOUNDED
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
    // Unprefixed names in these paths mean no namespace, also where a default namespace is declared.
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
