import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type Composite,
  type CompositeEntry,
  compositeShapes,
  createCompositeWriter,
  entryEncodings,
  type ReadEntry,
  readComposite,
} from '#codecs/iso8583'

/** Values by the path of their entry. */
type Values = Readonly<Record<string, string>>
type Source = (values: Values) => string | undefined
type Encoding = CompositeEntry<Source>['encoding']

const entryOf = (
  path: string,
  id: string,
  change: Partial<CompositeEntry<Source>> = {},
): CompositeEntry<Source> => ({
  id,
  name: '',
  encoding: 'ascii',
  length: undefined,
  pad: 'blanks',
  isSensitive: false,
  source: (values) => values[path],
  composite: undefined,
  ...change,
})

const compositeOf = (change: Partial<Composite<Source>>): Composite<Source> => ({
  shape: 'tlv',
  leading: '',
  idDigits: 2,
  lengthDigits: 2,
  lengthEncoding: 'ascii',
  bitmapBytes: 1,
  entries: [],
  ...change,
})

const valuesOf = (entries: readonly ReadEntry[], above = ''): Values =>
  Object.assign(
    {},
    ...entries.map(({ id, value, entries: inside }) =>
      inside.length > 0 ? valuesOf(inside, `${above}${id}.`) : { [above + id]: value },
    ),
  )

const bytes = (text: string) => Buffer.from(text, 'latin1')
const hex = (given: Uint8Array | undefined) => given && Buffer.from(given).toString('hex')

/** A value that the writer takes, as long as its place at most; of bytes, exactly as long. */
const valueFor = (encoding: Encoding, length: number | undefined): fc.Arbitrary<string> => {
  const max = length ?? 4
  if (encoding === 'hex' || encoding === 'base64') {
    return fc
      .uint8Array({ minLength: length ?? 0, maxLength: max })
      .map((one) => Buffer.from(one).toString(encoding))
  }
  return encoding === 'bcd'
    ? fc.stringMatching(new RegExp(`^[0-9]{0,${max}}$`))
    : fc.string({ unit: 'binary-ascii', maxLength: max })
}

type Drawn = { readonly entry: CompositeEntry<Source>; readonly value: string | undefined }

const drawn = (id: string, isPlaced: boolean): fc.Arbitrary<Drawn> =>
  fc
    .record({
      encoding: fc.constantFrom(...entryEncodings),
      length: isPlaced ? fc.integer({ min: 1, max: 5 }) : fc.constantFrom(undefined, 1, 2, 3),
      pad: fc.constantFrom('zeros', 'blanks'),
    })
    .chain((form) =>
      fc
        .option(valueFor(form.encoding, form.length), { nil: undefined })
        .map((value) => ({ entry: entryOf(id, id, form), value })),
    )

const composites = fc
  .record({
    shape: fc.constantFrom(...compositeShapes),
    leading: fc.constantFrom('', 'T'),
    lengthDigits: fc.integer({ min: 1, max: 4 }),
    lengthEncoding: fc.constantFrom('ascii', 'bcd'),
  })
  .chain((form) => {
    const isPlaced = form.shape === 'bitmap' || form.shape === 'fixed'
    const ids = isPlaced ? ['1', '3', '8'] : ['01', '02', 'EC']
    return fc.tuple(...ids.map((id) => drawn(id, isPlaced))).map((all) => ({
      composite: compositeOf({
        ...form,
        leading: form.shape === 'bitmap' ? '' : form.leading,
        entries: all.map(({ entry }) => entry),
      }),
      values: Object.fromEntries(
        all.flatMap(({ entry: { id }, value }) => (value === undefined ? [] : [[id, value]])),
      ),
    }))
  })

describe('a composite', () => {
  test('that was read writes the bytes that it was read from', () => {
    fc.assert(
      fc.property(composites, ({ composite, values }) => {
        const write = createCompositeWriter(composite, '63')
        const written = write(values)
        if (written === undefined) return
        const read = valuesOf(readComposite(written, composite, '63'))
        expect(hex(write(read))).toBe(hex(written) as string)
      }),
      { numRuns: 1000 },
    )
  })

  test('within another is read back, too', () => {
    const inner = compositeOf({
      shape: 'fixed',
      entries: [
        entryOf('02.a', 'a', { encoding: 'bcd', length: 3 }),
        entryOf('02.b', 'b', { length: 2 }),
      ],
    })
    const entries = [
      entryOf('01', '01'),
      entryOf('', '02', { source: undefined, composite: inner }),
    ]
    const composite = compositeOf({ entries })
    const values = { '01': 'x', '02.a': '123', '02.b': 'BR' }
    const written = createCompositeWriter(composite, '48')(values)
    expect(valuesOf(readComposite(written ?? bytes(''), composite, '48'))).toEqual(values)
  })

  test('gives packed digits without the nibble that fills them, bytes as the text that they are written from', () => {
    const entries = [
      entryOf('1', '1', { encoding: 'bcd', length: 5 }),
      entryOf('2', '2', { encoding: 'base64', length: 2 }),
      entryOf('3', '3', { encoding: 'hex', length: 2 }),
    ]
    const composite = compositeOf({ shape: 'fixed', entries })
    const values = { 1: '12345', 2: '//8=', 3: '0AFF' }
    const written = createCompositeWriter(composite, '63')(values)
    expect(hex(written)).toBe('012345ffff0aff')
    expect(valuesOf(readComposite(written ?? bytes(''), composite, '63'))).toEqual(values)
    // What another filled otherwise is shown as it came.
    const [first] = readComposite(Buffer.from('f12345', 'hex'), composite, '63')
    expect(first?.value).toBe('F12345')
  })

  test('of lengths in one packed digit is read as it is written', () => {
    const composite = compositeOf({
      shape: 'ltv',
      lengthDigits: 1,
      lengthEncoding: 'bcd',
      entries: [entryOf('EC', 'EC')],
    })
    const written = createCompositeWriter(composite, '63')({ EC: '05' })
    expect(hex(written)).toBe(hex(bytes('\u0004EC05')) as string)
    expect(valuesOf(readComposite(written ?? bytes(''), composite, '63'))).toEqual({ EC: '05' })
  })
})
