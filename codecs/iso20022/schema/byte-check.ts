import type { Limits } from './builtin.ts'
import { dotOf, forms, isPlain } from './byte-form.ts'
import { ByteSet } from './byte-set.ts'
import type { LinearPattern, PatternMatcher } from './pattern/index.ts'

/** A character of XML is at most four bytes long. */
const characterBytesMax = 4

/** The SPI's form of date and time; each 0 stands for any digit. */
const plainDateTime = '0000-00-00T00:00:00.000Z'

/** A type's only pattern, if it has just one linear alternative. */
const onlyLinear = ({ patterns }: Limits): LinearPattern | undefined => {
  const linear = patterns.length === 1 ? patterns[0]?.matcher.linear : undefined
  return linear?.length === 1 ? linear[0] : undefined
}

/**
 * Checks the bytes of a value without making strings: true means valid, false means unknown. Fields without `#`:
 * JavaScriptCore is slow with those, and this runs for every value of every message.
 */
export class ByteCheck {
  /** False for a type whose values can never be judged so. */
  private readonly isQuick: boolean
  private readonly form: number
  private readonly patterns: readonly PatternMatcher[]
  /** The type's only demand, if that is one linear pattern. */
  private readonly only: LinearPattern | undefined
  /** The length at which every plain date-time matches the pattern; -1 if none is sure to match. */
  private readonly plainBytes: number
  private readonly enumeration: ByteSet | undefined
  private readonly lengthMin: number
  private readonly lengthMax: number
  private readonly digitsMax: number
  private readonly fractionMax: number

  constructor(limits: Limits) {
    const { builtIn, bounds, enumeration } = limits
    const { primitive } = builtIn
    const isText = primitive === 'string'
    const hasLength =
      limits.length !== undefined ||
      limits.minLength !== undefined ||
      limits.maxLength !== undefined
    this.isQuick =
      (isText ? limits.whiteSpace === 'preserve' && builtIn.lexical === undefined : !hasLength) &&
      // Plain numbers are never negative.
      bounds.every(({ rule, written }) => rule === 'minInclusive' && written === '0')
    this.form = forms[primitive]
    this.patterns = limits.patterns.map(({ matcher }) => matcher)
    this.enumeration = enumeration && new ByteSet(enumeration)
    this.digitsMax = limits.totalDigits ?? Number.MAX_SAFE_INTEGER
    this.fractionMax = limits.fractionDigits ?? Number.MAX_SAFE_INTEGER
    this.lengthMin = Math.max(limits.length ?? 0, limits.minLength ?? 0)
    this.lengthMax = Math.min(
      limits.length ?? Number.MAX_SAFE_INTEGER,
      limits.maxLength ?? Number.MAX_SAFE_INTEGER,
    )
    const linear = onlyLinear(limits)
    this.plainBytes =
      primitive === 'dateTime' && enumeration === undefined && linear?.takesAll(plainDateTime)
        ? plainDateTime.length
        : -1
    this.only =
      (isText || (primitive === 'integer' && linear?.isDigits())) &&
      enumeration === undefined &&
      linear !== undefined &&
      linear.lengthMin >= this.lengthMin &&
      linear.lengthMax <= Math.min(this.lengthMax, this.digitsMax)
        ? linear
        : undefined
  }

  accepts(bytes: Uint8Array, start: number, end: number): boolean {
    if (!this.isQuick) return false
    if (this.only !== undefined) return this.only.matches(bytes, start, end)
    if (!isPlain(this.form, bytes, start, end)) return false
    if (end - start === this.plainBytes) return true
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

  /** Whether a text that needs decoding is surely valid. Decoding only makes it shorter. */
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
    // Each character has exactly one byte that is not a continuation byte.
    for (let i = start; i < end; i++) if (((bytes[i] as number) & 0xc0) !== 0x80) characters++
    return characters >= this.lengthMin && characters <= this.lengthMax
  }
}
