import { linesAt, type XmlDocument } from '#codecs/xml'
import { pathOf } from '../reader.ts'

/** The broken demand of the schema: its structure, or a facet by its XSD name. */
export type ViolationRule =
  | 'root'
  | 'unexpected'
  | 'missing'
  | 'text'
  | 'element-content'
  | 'attribute-missing'
  | 'attribute-unknown'
  | 'fixed'
  | 'unique'
  | 'xsi'
  | 'type'
  | 'pattern'
  | 'enumeration'
  | 'length'
  | 'minLength'
  | 'maxLength'
  | 'totalDigits'
  | 'fractionDigits'
  | 'minInclusive'
  | 'maxInclusive'
  | 'minExclusive'
  | 'maxExclusive'

/** One broken demand. Holds the shape of what was found, never the value: it may be personal data. */
export type SchemaViolation = {
  /** XPath from the root by local names, with positions where siblings of one name repeat; may end in `/@name`. */
  readonly path: string
  /** Byte offset of the element's start tag. */
  readonly offset: number
  /** Line of that offset, from 1. */
  readonly line: number
  readonly rule: ViolationRule
  /** The shape: `5 characters, A9999`, or the name of an element. */
  readonly got: string
  readonly expected: string
}

export type Verdict = {
  readonly valid: boolean
  /** In the order found: a missing child is found at its parent's end. */
  readonly violations: readonly SchemaViolation[]
  /** True if there are more than {@link violationsMax}. */
  readonly truncated: boolean
}

/** Violations reported for one document. */
export const violationsMax = 100

const shapeMax = 40

/** Writes letters as `A` and `a`, digits as `9`, white space as `_`, and keeps punctuation. */
export const shapeOf = (text: string): string => {
  const size = [...text.slice(0, 100_000)].length
  const shape = text
    .slice(0, shapeMax)
    .replace(/\s/g, '_')
    .replace(/[0-9]/g, '9')
    .replace(/[A-Z]/g, 'A')
    .replace(/[a-z]/g, 'a')
    .replace(/[^\x20-\x7e]/g, '?')
  const more = text.length > shapeMax ? '…' : ''
  return `${size} character${size === 1 ? '' : 's'}${shape === '' ? '' : `, ${shape}${more}`}`
}

/** A name from the document, cut to a length that is safe to repeat. */
export const shownName = (name: string): string =>
  name.length > 64 ? `${name.slice(0, 64).toWellFormed()}…` : name

export type Finding = {
  readonly node: number
  readonly suffix: string
  readonly rule: ViolationRule
  readonly got: string
  readonly expected: string
}

/** Reports a fault at a node. @param suffix appended to the node's path */
export type Report = (
  node: number,
  rule: ViolationRule,
  got: string,
  expected: string,
  suffix?: string,
) => void

/** Adds paths and lines to the findings. */
export const locate = (
  document: XmlDocument,
  findings: readonly Finding[],
): readonly SchemaViolation[] => {
  const lines = linesAt(
    document.bytes,
    findings.map(({ node }) => document.start(node)),
  )
  return findings.map(({ node, suffix, rule, got, expected }) => ({
    path: pathOf(document, node) + suffix,
    offset: document.start(node),
    line: lines.get(document.start(node)) as number,
    rule,
    got,
    expected,
  }))
}
