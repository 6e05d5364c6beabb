import { expect, test } from 'bun:test'
import fc from 'fast-check'
import protobuf from 'protobufjs'
import {
  readTransformRequest,
  writeListTransformationsResponse,
  writeTransformResponse,
} from '#src/spi/api/grpc/messages.ts'
import { groupDepthMax, WireError, writeFields } from '#src/spi/api/grpc/wire.ts'
import { decodeResponse, encodeRequest, listType, requestType } from './support.ts'

const text = fc.string({ unit: 'binary', maxLength: 300 }).filter((value) => value.isWellFormed())
const message = fc.uint8Array({ maxLength: 400 })

const request = fc.record(
  {
    source_format: text,
    target_format: text,
    message,
    options: fc.record({ validate: fc.boolean(), enrich: fc.boolean() }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)

/** A field that the definition does not know, in any wire type. */
const unknownField = fc
  .tuple(fc.integer({ min: 5, max: 0x1fffffff }), fc.constantFrom(0, 1, 2, 3, 5), message)
  .map(([number, type, bytes]) => {
    const writer = new protobuf.Writer()
    writer.uint32(((number << 3) | type) >>> 0)
    if (type === 0) writer.uint64(Number.MAX_SAFE_INTEGER)
    else if (type === 1) writer.fixed64(1)
    else if (type === 2) writer.bytes(bytes)
    else if (type === 3) {
      writer.uint32((7 << 3) | 2).bytes(bytes)
      writer.uint32(((number << 3) | 4) >>> 0)
    } else writer.fixed32(1)
    return Buffer.from(writer.finish())
  })

test('requests are read as protobufjs wrote them, whatever unknown fields stand around them', () => {
  fc.assert(
    fc.property(request, fc.array(unknownField), fc.array(unknownField), (given, left, right) => {
      const read = readTransformRequest(Buffer.concat([...left, encodeRequest(given), ...right]))
      expect(read.sourceFormat).toBe(given.source_format || undefined)
      expect(read.targetFormat).toBe(given.target_format || undefined)
      expect(Buffer.from(read.message)).toEqual(Buffer.from(given.message ?? []))
      expect(read.options).toEqual({
        validate: given.options?.validate ?? false,
        enrich: given.options?.enrich ?? false,
      })
    }),
  )
})

test('the last value of a repeated field counts, and messages are merged', () => {
  fc.assert(
    fc.property(request, request, (first, second) => {
      const bytes = Buffer.concat([encodeRequest(first), encodeRequest(second)])
      const read = readTransformRequest(bytes)
      const theirs = requestType.toObject(requestType.decode(bytes), { defaults: true })
      expect(read.sourceFormat).toBe(theirs['sourceFormat'] || undefined)
      expect(read.targetFormat).toBe(theirs['targetFormat'] || undefined)
      expect(Buffer.from(read.message)).toEqual(Buffer.from(theirs['message']))
      expect(read.options).toEqual({ validate: false, enrich: false, ...theirs['options'] })
    }),
  )
})

test('responses are read by protobufjs as they were written', () => {
  fc.assert(
    fc.property(
      text,
      text,
      fc.constantFrom('success', 'validation_error', 'parse_error', 'unsupported_format'),
      (transformationId, result, status) => {
        const read = decodeResponse(writeTransformResponse({ transformationId, result, status }))
        expect(read.transformationId).toBe(transformationId)
        expect(Buffer.from(read.result).toString()).toBe(result)
        expect(read.status).toBe(status.toUpperCase() as typeof read.status)
      },
    ),
  )
  const pairs = fc.array(fc.record({ source_format: text, target_format: text }))
  fc.assert(
    fc.property(pairs, (given) => {
      const read = listType.toObject(listType.decode(writeListTransformationsResponse(given)), {
        defaults: true,
        arrays: true,
      })
      expect(read['transformations']).toEqual(
        given.map((pair) => ({
          sourceFormat: pair.source_format,
          targetFormat: pair.target_format,
        })),
      )
    }),
  )
})

test('numbers are written as protobufjs writes them', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 0xffff_ffff }), (varint) => {
      const theirs = new protobuf.Writer()
        .uint32(3 << 3)
        .uint32(varint)
        .finish()
      expect([...writeFields([{ number: 3, varint }])]).toEqual([...theirs])
    }),
  )
})

test('any bytes are read or refused with a WireError', () => {
  const mangled = fc
    .tuple(request, fc.nat(), fc.nat(255), fc.nat())
    .map(([given, at, byte, cut]) => {
      const bytes = encodeRequest(given)
      if (bytes.length > 0) bytes[at % bytes.length] = byte
      return bytes.subarray(0, bytes.length - (cut % (bytes.length + 1)))
    })
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mangled), (bytes) => {
      try {
        readTransformRequest(bytes)
      } catch (error) {
        expect(error).toBeInstanceOf(WireError)
      }
    }),
    { numRuns: 2_000 },
  )
})

const refused: readonly (readonly [what: string, bytes: readonly number[]])[] = [
  ['a tag that ends too early', [0x80]],
  ['a tag of six bytes', [0x8a, 0x80, 0x80, 0x80, 0x80, 0x00]],
  ['the field number 0', [0x02, 0x00]],
  ['a length beyond the end', [0x0a, 0x05, 0x61]],
  ['a length of eleven bytes', [0x0a, ...Array<number>(10).fill(0xff), 0x01]],
  ['a huge length', [0x1a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
  ['a string that is not UTF-8', [0x0a, 0x01, 0xff]],
  ['the wire type 6', [0x0e, 0x00]],
  ['the wire type 7', [0x2f, 0x00]],
  ['a group that ends without beginning', [0x2c]],
  ['a group that ends as another', [0x2b, 0x34]],
  ['a group that does not end', [0x2b, 0x08, 0x01]],
  ['four of eight bytes', [0x29, 1, 2, 3, 4]],
  ['broken options', [0x22, 0x01, 0x08]],
]

for (const [what, bytes] of refused) {
  test(`refuses ${what}`, () => {
    expect(() => readTransformRequest(Uint8Array.from(bytes))).toThrow(WireError)
  })
}

test('groups may nest so deeply and no deeper', () => {
  const nested = (depth: number): Uint8Array =>
    Uint8Array.from([...Array<number>(depth).fill(0x2b), ...Array<number>(depth).fill(0x2c)])
  readTransformRequest(nested(groupDepthMax))
  expect(() => readTransformRequest(nested(groupDepthMax + 1))).toThrow(WireError)
})

test('a field of another wire type than declared is unknown', () => {
  const read = readTransformRequest(Uint8Array.from([0x08, 0x01, 0x25, 1, 2, 3, 4]))
  expect(read.sourceFormat).toBeUndefined()
  expect(read.options).toEqual({ validate: false, enrich: false })
})
