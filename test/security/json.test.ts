import { describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { ApiError, parseJson } from '#src/platform/http/index.ts'
import { countedBytesMin, membersMax, valuesMaxDefault } from '../../src/platform/http/json.ts'

const outcome = (text: string): unknown => {
  try {
    return parseJson(new TextEncoder().encode(text))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.errors[0] ?? error.definition.code
  }
}

/** A large body of so many values: one array, and what is in it. */
const bodyOf = (values: number, item: string, ofItem: number): string => {
  const items = Array.from({ length: Math.floor((values - 1) / ofItem) }, () => item)
  const rest = Array.from({ length: (values - 1) % ofItem }, () => '0')
  return `[${[...items, ...rest].join()}]`.padEnd(countedBytesMin)
}

describe('a large body in JSON', () => {
  const shapes: readonly (readonly [item: string, values: number])[] = [
    ['0', 1],
    ['""', 1],
    ['"a, b: [{\\"\\\\"', 1],
    ['[0]', 2],
    ['{"a":0}', 2],
    ['{"a":[1,{"b":",,"}],"c":null}', 6],
  ]
  test.each(shapes)('of %p has so many values, and not one more', (item, ofItem) => {
    const text = bodyOf(valuesMaxDefault, item, ofItem)
    expect(outcome(text)).toEqual(JSON.parse(text))
    const parse = spyOn(JSON, 'parse')
    const refused = outcome(bodyOf(valuesMaxDefault + 1, item, ofItem))
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
    expect(refused).toEqual({
      pointer: '',
      rule: 'values',
      message: `holds more than ${valuesMaxDefault} values`,
    })
  })

  test('that ends in a string is no JSON, as ever', () => {
    expect(outcome(`["${'\\"'.repeat(countedBytesMin)}`)).toBe('bad_request')
  })

  const objectOf = (members: number): string =>
    `{${Array.from({ length: members }, (_, i) => `"m${i}":[{"a":0,"b":",{"}]`).join()}}`
  const wholes: readonly ((object: string) => string)[] = [
    (object) => object,
    (object) => `[0,[${object}],{"x":${object}}]`,
    (object) => `{"x":[{}],"y":[0,1],"z":${object}}`,
  ]
  test.each(wholes)('has objects of so many members, and none of one more: %p', (whole) => {
    const text = whole(objectOf(membersMax)).padEnd(countedBytesMin)
    expect(outcome(text)).toEqual(JSON.parse(text))
    expect(outcome(whole(objectOf(membersMax + 1)).padEnd(countedBytesMin))).toEqual({
      pointer: '',
      rule: 'members',
      message: `holds an object of more than ${membersMax} members`,
    })
  })

  test('is none below a size that cannot hold much', () => {
    const most = Array.from(
      { length: countedBytesMin / 8 - 1 },
      (_, i) => `"${i.toString(36).padStart(3, '0')}":1`,
    )
    const text = `{${most.join()}}`
    expect(text.length).toBeLessThan(countedBytesMin)
    expect(outcome(text)).toEqual(JSON.parse(text))
    expect(most.length).toBeLessThan(3 * membersMax)
  })

  test('may have more where its route says so', () => {
    const bytes = new TextEncoder().encode(bodyOf(valuesMaxDefault + 1, '0', 1))
    expect(parseJson(bytes, valuesMaxDefault + 1)).toHaveLength(valuesMaxDefault)
  })
})

describe('a body in JSON', () => {
  test.each([
    ['{"amount":1,"amount":100}', '/amount', 'unique'],
    ['{"a":[0,{"b":1,"\\u0062":2}]}', '/a/1/b', 'unique'],
    ['{"a":{"x":1},"b":{"x":1},"a":0}', '/a', 'unique'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__', 'name'],
    ['{"__proto__":1}', '/__proto__', 'name'],
    ['{"a":[{"b":{"\\u005f_proto__":{"c":1}}}]}', '/a/0/b/__proto__', 'name'],
    ['{"s":"a\\\\\\"b\\\\","s":","}', '/s', 'unique'],
    ['{"amount":10000.00000000000000000001}', '/amount', 'exact'],
    ['{"a":[1,2,9007199254740993]}', '/a/2', 'exact'],
    ['[1e400]', '/0', 'exact'],
    ['{"a":1e-400}', '/a', 'exact'],
    ['-0.1234567890123456789', '', 'exact'],
  ])('%s is refused at %s', (text, pointer, rule) => {
    expect(outcome(text)).toMatchObject({ pointer, rule })
  })

  test.each([
    '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}',
    '{"amount":10000,"same":10000.000000000000000000,"power":1e4,"most":9007199254740991}',
    '[0.1,-0,1.5e300,123456789012345]',
    '{"text":"{\\"a\\":1,\\"a\\":2, 1e999","end":"\\\\"}',
    ' "10000.00000000000000000001" ',
    'null',
  ])('%s is what JSON.parse reads', (text) => {
    expect(outcome(text)).toEqual(JSON.parse(text))
  })

  test('of any value, in any layout, nothing is refused', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 2, '\t'), (value, layout) => {
        const text = JSON.stringify(value, null, layout)
        if (text.includes('\\u') || text.includes('"__proto__":')) return
        expect(outcome(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('an object that repeats any of its members is refused', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 })
    fc.assert(
      fc.property(object, fc.nat(), (value, pick) => {
        const names = Object.keys(value)
        const name = JSON.stringify(names[pick % names.length])
        const text = JSON.stringify([value]).replace('{', () => `{${name}:0,`)
        if (text.includes('\\u') || text.includes('"__proto__":')) return
        expect(outcome(text)).toMatchObject({ rule: 'unique' })
      }),
    )
  })
})
