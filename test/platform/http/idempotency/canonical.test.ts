import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { canonicalJson } from '#src/platform/http/idempotency/canonical.ts'
import { countProcessorMs } from '../../../support/processor-ms.ts'

/** A number as it means: digits times a power of ten. */
type Decimal = { readonly digits: bigint; readonly power: number }
type Value = string | boolean | null | Decimal | readonly Value[] | Members
type Members = { readonly members: readonly (readonly [string, Value])[] }

const decimal = fc.record({
  digits: fc.oneof(
    fc.bigInt({ min: -200n, max: 200n }),
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
  ),
  power: fc.integer({ min: -30, max: 30 }),
})
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('"', '\\', '\\"', '/', '\u0000', '\ud800', '\u2028', '__proto__'),
)
const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.boolean(),
    fc.constant(null),
    decimal,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .uniqueArray(fc.tuple(text, tie('value')), { maxLength: 4, selector: ([name]) => name })
      .map((members) => ({ members })),
  ),
}))

/** Chooses among spellings; the same numbers give the same choices. */
const chooser = (seed: readonly number[]) => {
  let at = 0
  return (count: number): number => (seed[at++ % seed.length] ?? 0) % count
}
type Choose = ReturnType<typeof chooser>

const spaces = ['', ' ', '\n', '\t \r\n']
const space = (choose: Choose): string => spaces[choose(spaces.length)] ?? ''

const spellText = (content: string, choose: Choose): string => {
  const inside = [...Array(content.length).keys()].map((at) => {
    const unit = content[at] ?? ''
    const code = content.charCodeAt(at)
    const escaped = `\\u${code.toString(16).padStart(4, '0')}`
    if (unit === '/' && choose(2) === 1) return '\\/'
    if (code < 0x20 || (code >= 0xd800 && code < 0xe000) || unit === '"' || unit === '\\')
      return escaped
    return choose(3) === 0
      ? choose(2) === 0
        ? escaped
        : escaped.toUpperCase().replace('U', 'u')
      : unit
  })
  return `"${inside.join('')}"`
}

const spellNumber = ({ digits, power }: Decimal, choose: Choose): string => {
  const sign = digits < 0n ? '-' : ''
  // The same value with more zeros and a smaller power.
  const zeros = choose(4)
  const all = `${digits < 0n ? -digits : digits}${'0'.repeat(zeros)}`
  const split = choose(all.length) + 1
  const whole = all.slice(0, split).replace(/^0+(?=\d)/, '')
  const fraction = all.slice(split)
  const exponent = power - zeros + fraction.length
  const mark = ['e', 'E', 'e+', 'E-'][choose(2)] ?? 'e'
  const shown = exponent === 0 && choose(2) === 0 ? '' : `${mark}${exponent}`
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}${shown}`
}

const spell = (of: Value, choose: Choose): string => {
  const around = (content: string): string => space(choose) + content + space(choose)
  if (typeof of === 'string') return around(spellText(of, choose))
  if (of === null || typeof of === 'boolean') return around(String(of))
  if ('digits' in of) return around(spellNumber(of, choose))
  if ('members' in of) {
    const turn = choose(of.members.length + 1)
    const members = [...of.members.slice(turn), ...of.members.slice(0, turn)]
    const shown = members.map(
      ([name, each]) => `${around(spellText(name, choose))}:${spell(each, choose)}`,
    )
    return around(`{${shown.join() || space(choose)}}`)
  }
  return around(`[${of.map((each) => spell(each, choose)).join() || space(choose)}]`)
}

/** Whether two values are the same, by arithmetic. */
const isSame = (a: Value, b: Value): boolean => {
  if (typeof a === 'string' || typeof b === 'string' || a === null || b === null) return a === b
  if (typeof a === 'boolean' || typeof b === 'boolean') return a === b
  if ('digits' in a || 'digits' in b) {
    if (!('digits' in a && 'digits' in b)) return false
    const least = Math.min(a.power, b.power)
    const whole = ({ digits, power }: Decimal): bigint => digits * 10n ** BigInt(power - least)
    return whole(a) === whole(b)
  }
  if ('members' in a || 'members' in b) {
    if (!('members' in a && 'members' in b) || a.members.length !== b.members.length) return false
    const others = new Map(b.members)
    return a.members.every(
      ([name, each]) => others.has(name) && isSame(each, others.get(name) as Value),
    )
  }
  return a.length === b.length && a.every((each, at) => isSame(each, b[at] as Value))
}

const seed = fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 40 })

test('every spelling of a value has one canonical text, which is JSON and its own', () => {
  fc.assert(
    fc.property(value, seed, seed, (one, first, second) => {
      const canonical = canonicalJson(spell(one, chooser(first)))
      expect(canonical).toBeDefined()
      expect(canonicalJson(spell(one, chooser(second)))).toBe(canonical)
      expect(canonicalJson(canonical ?? '')).toBe(canonical)
      JSON.parse(canonical ?? '')
    }),
    { numRuns: 2_000 },
  )
})

test('two values have the same text only where they are the same', () => {
  fc.assert(
    fc.property(value, value, seed, (one, other, choices) => {
      const texts = [one, other].map((each) => canonicalJson(spell(each, chooser(choices))))
      expect(texts[0] === texts[1]).toBe(isSame(one, other))
    }),
    { numRuns: 2_000 },
  )
})

test('numbers keep every digit', () => {
  for (const [one, other, same] of [
    ['1', '1.0', true],
    ['100', '1e2', true],
    ['0', '-0.00e5', true],
    ['0.1', '1E-1', true],
    ['9007199254740993', '9007199254740992', false],
    ['0.1', '0.10000000000000000001', false],
    ['1e400', '1e401', false],
    ['1', '"1"', false],
  ] as const) {
    expect(canonicalJson(one) === canonicalJson(other)).toBe(same)
  }
})

test('what is no JSON, or too deep, has none', () => {
  for (const text of [
    '',
    ' ',
    '{',
    '[1',
    '{"a"}',
    '{"a":1,}',
    '[1,]',
    '01',
    '1 2',
    'nul',
    '"a',
    '"\\x"',
    '+1',
    '{a:1}',
  ]) {
    expect(canonicalJson(text)).toBeUndefined()
  }
  expect(canonicalJson('['.repeat(64) + ']'.repeat(64))).toBe('['.repeat(64) + ']'.repeat(64))
  expect(canonicalJson('['.repeat(65) + ']'.repeat(65))).toBeUndefined()
})

test('hostile bodies cost time in proportion to their size', () => {
  const hostile = (count: number): readonly string[] => [
    '['.repeat(count),
    `"${'\\'.repeat(count)}`,
    `[${'"\\\\",'.repeat(count / 5)}`,
    `["${'\\"'.repeat(count / 2)}`,
    `1e${'9'.repeat(count)}`,
    `{${'"a":1,'.repeat(count / 6)}`,
  ]
  const usedMs = countProcessorMs()
  for (const text of hostile(1_000_000)) canonicalJson(text)
  expect(usedMs()).toBeLessThan(10_000)
})

test('members are in the order of their names, few and many, and of equal names the last counts', () => {
  const member = fc.tuple(fc.stringMatching(/^[a-zA-Zé]{1,2}$/), fc.integer({ min: 1, max: 9 }))
  fc.assert(
    fc.property(fc.array(member, { maxLength: 40 }), (members) => {
      const text = members.map(([name, value]) => `"${name}":${value}`).join(', ')
      const last = [...new Map(members)].sort(([one], [other]) => (one < other ? -1 : 1))
      const expected = last.map(([name, value]) => `"${name}":${value}e0`).join(',')
      expect(canonicalJson(`{${text}}`)).toBe(`{${expected}}`)
    }),
  )
})
