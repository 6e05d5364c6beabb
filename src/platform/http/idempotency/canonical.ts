const depthMax = 64
/** An exponent with more digits is kept as it is written. */
const exponentDigitsMax = 15

const quote = 0x22
const backslash = 0x5c
const digit0 = 0x30
const digit1 = 0x31
const digit9 = 0x39

class NotJsonError extends Error {
  override readonly name = 'NotJsonError'
}

/**
 * One text for all spellings of a JSON value (RFC 8259): white space, the order of members, escapes in strings and the
 * spelling of numbers do not count. Numbers are compared as decimals of any size, never as floats. If members share a
 * name, the last counts, as for `JSON.parse`.
 *
 * @returns undefined for text that is not JSON, or is nested more than 64 deep
 * @example canonicalJson('{"b": 1.0, "a": "\\u0041"}') // '{"a":"A","b":1e0}'
 */
export const canonicalJson = (text: string): string | undefined => {
  const reader = createReader(text)
  try {
    const value = reader.value(0)
    return reader.isAtEnd() ? value : undefined
  } catch (error) {
    if (error instanceof NotJsonError || error instanceof SyntaxError) return undefined
    throw error
  }
}

const createReader = (text: string) => {
  const hasEscapes = text.includes('\\')
  let at = 0

  /** The next character that is no white space. */
  const next = (): number => {
    for (;;) {
      const code = text.charCodeAt(at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code
      at++
    }
  }

  const takes = (code: number): boolean => {
    if (next() !== code) return false
    at++
    return true
  }

  const string = (): string => {
    const start = at
    at++
    for (;;) {
      const end = text.indexOf('"', at)
      if (end === -1) throw new NotJsonError()
      at = end + 1
      if (!hasEscapes || !isEscaped(text, end)) break
    }
    const written = text.slice(start, at)
    return hasEscapes && written.includes('\\') ? JSON.stringify(JSON.parse(written)) : written
  }

  const items = (depth: number): string => {
    at++
    if (takes(0x5d)) return '[]'
    let out = `[${value(depth)}`
    while (takes(0x2c)) out += `,${value(depth)}`
    if (!takes(0x5d)) throw new NotJsonError()
    return `${out}]`
  }

  const members = (depth: number): string => {
    at++
    if (takes(0x7d)) return '{}'
    const names: string[] = []
    const values: string[] = []
    do {
      if (next() !== quote) throw new NotJsonError()
      const name = string()
      if (!takes(0x3a)) throw new NotJsonError()
      names.push(name)
      values.push(value(depth))
    } while (takes(0x2c))
    if (!takes(0x7d)) throw new NotJsonError()
    return joinedByName(names, values)
  }

  const value = (depth: number): string => {
    const code = next()
    if (code === quote) return string()
    if (code === 0x7b || code === 0x5b) {
      if (depth === depthMax) throw new NotJsonError()
      return code === 0x7b ? members(depth + 1) : items(depth + 1)
    }
    const end = code >= digit1 && code <= digit9 ? integerEnd(text, at) : undefined
    if (end !== undefined) {
      const written = text.slice(at, end)
      at = end
      return integer(written)
    }
    word.lastIndex = at
    const found = word.exec(text)
    if (found === null) throw new NotJsonError()
    at = word.lastIndex
    const [written, sign, whole, fraction = '', exponent = ''] = found
    return whole === undefined ? written : decimal(written, `${sign}`, whole, fraction, exponent)
  }

  return {
    value,
    isAtEnd: () => Number.isNaN(next()),
  }
}

const joined = (names: readonly string[], values: readonly string[]): string => {
  let out = '{'
  for (let at = 0; at < names.length; at++) {
    out += `${at === 0 ? '' : ','}${names[at]}:${values[at]}`
  }
  return `${out}}`
}

/** The runtime sorts more names than these: it takes longer to begin. */
const fewMax = 16

/** Joins members in the order of their names; of members with the same name, only the last. */
const joinedByName = (names: string[], values: string[]): string => {
  if (names.length > fewMax) {
    const last = new Map(names.map((name, at) => [name, values[at] as string]))
    const sorted = [...last.keys()].sort()
    return joined(
      sorted,
      sorted.map((name) => last.get(name) as string),
    )
  }
  let count = 0
  for (let at = 0; at < names.length; at++) {
    const [name, value] = [names[at] as string, values[at] as string]
    let to = count
    while (to > 0 && (names[to - 1] as string) > name) to--
    if (to > 0 && names[to - 1] === name) values[to - 1] = value
    else {
      for (let moved = count++; moved > to; moved--) {
        names[moved] = names[moved - 1] as string
        values[moved] = values[moved - 1] as string
      }
      names[to] = name
      values[to] = value
    }
  }
  names.length = count
  return joined(names, values)
}

const word = /true|false|null|(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y

/** The end of a number without fraction and exponent: most are, and need no regular expression. */
const integerEnd = (text: string, start: number): number | undefined => {
  let end = start + 1
  for (;;) {
    const code = text.charCodeAt(end)
    // A fraction, e or E.
    if (code === 0x2e || code === 0x65 || code === 0x45) return undefined
    if (!(code >= digit0 && code <= digit9)) return end
    end++
  }
}

const integer = (digits: string): string => {
  let end = digits.length
  while (digits.charCodeAt(end - 1) === digit0) end--
  return `${digits.slice(0, end)}e${digits.length - end}`
}

/** Whether an odd number of backslashes stands before the quote. */
export const isEscaped = (text: string, quoteAt: number): boolean => {
  let from = quoteAt
  while (text.charCodeAt(from - 1) === backslash) from--
  return (quoteAt - from) % 2 === 1
}

/** A number as its digits, without zeros at either end, and a power of ten. */
const decimal = (
  written: string,
  sign: string,
  whole: string,
  fraction: string,
  exponent: string,
): string => {
  const digits = whole + fraction
  let start = 0
  while (digits.charCodeAt(start) === 0x30) start++
  if (start === digits.length) return '0'
  if (exponent.length > exponentDigitsMax) return written
  let end = digits.length
  while (digits.charCodeAt(end - 1) === 0x30) end--
  const power = Number(exponent) - fraction.length + digits.length - end
  return `${sign}${digits.slice(start, end)}e${power}`
}
