import { dotOf, forms, isPlain } from './byte-form.ts'
import { ByteSet } from './byte-set.ts'
import type { PatternMatcher } from './pattern/index.ts'
import type { Limits } from './simple.ts'

/** A character of XML is at most four bytes long. */
const characterBytesMax = 4

/**
 * A simple type that judges bytes without making strings: its yes is sure, its no says nothing. Fields without
 * `#`: JavaScriptCore is slow with those, and this runs for every value of every message.
 */
export class ByteCheck {
  /** False for a type of which no value is sure. */
  private readonly isQuick: boolean
  private readonly form: number
  private readonly patterns: readonly PatternMatcher[]
  private readonly enumeration: ByteSet | undefined
  private readonly lengthMin: number
  private readonly lengthMax: number
  private readonly digitsMax: number
  private readonly fractionMax: number

  constructor(limits: Limits) {
    const { builtIn, bounds } = limits
    const { primitive } = builtIn
    const isText = primitive === 'string'
    const hasLength =
      limits.length !== undefined ||
      limits.minLength !== undefined ||
      limits.maxLength !== undefined
    this.isQuick =
      (isText ? limits.whiteSpace === 'preserve' && builtIn.lexical === undefined : !hasLength) &&
      // Plain numbers are not below zero.
      bounds.every(({ rule, written }) => rule === 'minInclusive' && written === '0')
    this.form = forms[primitive]
    this.patterns = limits.patterns.map(({ matcher }) => matcher)
    this.enumeration = limits.enumeration && new ByteSet(limits.enumeration)
    this.lengthMin = Math.max(limits.length ?? 0, limits.minLength ?? 0)
    this.lengthMax = Math.min(
      limits.length ?? Number.MAX_SAFE_INTEGER,
      limits.maxLength ?? Number.MAX_SAFE_INTEGER,
    )
    this.digitsMax = limits.totalDigits ?? Number.MAX_SAFE_INTEGER
    this.fractionMax = limits.fractionDigits ?? Number.MAX_SAFE_INTEGER
  }

  accepts(bytes: Uint8Array, start: number, end: number): boolean {
    if (!this.isQuick || !isPlain(this.form, bytes, start, end)) return false
    const { patterns } = this
    for (let i = 0; i < patterns.length; i++) {
      if (!(patterns[i] as PatternMatcher).matchesAscii(bytes, start, end)) return false
    }
    if (this.enumeration !== undefined && !this.enumeration.has(bytes, start, end)) {
      return false
    }
    return this.form === forms.decimal || this.form === forms.integer
      ? this.hasDigits(bytes, start, end)
      : this.hasLength(bytes, start, end)
  }

  /** Whether text with references or line ends to resolve is surely valid: what they stand for is shorter. */
  acceptsEncoded(start: number, end: number): boolean {
    return (
      this.isQuick &&
      this.form === forms.string &&
      this.patterns.length === 0 &&
      this.enumeration === undefined &&
      this.lengthMin <= 1 &&
      end > start &&
      end - start <= this.lengthMax
    )
  }

  private hasDigits(bytes: Uint8Array, start: number, end: number): boolean {
    const dot = dotOf(bytes, start, end)
    return (
      end - start - (dot === end ? 0 : 1) <= this.digitsMax && end - dot - 1 <= this.fractionMax
    )
  }

  private hasLength(bytes: Uint8Array, start: number, end: number): boolean {
    const size = end - start
    if (size <= this.lengthMax && size >= this.lengthMin * characterBytesMax) return true
    let characters = 0
    // Each character has one byte that does not go on with another.
    for (let i = start; i < end; i++) if (((bytes[i] as number) & 0xc0) !== 0x80) characters++
    return characters >= this.lengthMin && characters <= this.lengthMax
  }
}
