import { describe, expect, spyOn, test } from 'bun:test'
import zlib from 'node:zlib'
import { createRecordsBatch } from '@platformatic/kafka'
import { readBatches } from '../../../../src/platform/broker/kafka/batches.ts'
import { batchBytesMax } from '../../../../src/platform/broker/kafka/inflate.ts'

const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
type Codec = (typeof codecs)[number]

/** As a broker gives it, from an offset on. */
const batchOf = (values: readonly Uint8Array[], compression: Codec, offset = 0n): Buffer => {
  const messages = values.map((value) => ({ topic: 't', value: Buffer.from(value) }))
  const { buffer } = createRecordsBatch(messages, { compression })
  const bytes = Buffer.from(buffer)
  bytes.writeBigInt64BE(offset)
  return bytes
}

const room = () => ({ left: batchBytesMax })
/** The values of a batch; of one that cannot be read its last offset. */
const told = (bytes: Buffer, left = room()) =>
  readBatches(bytes, left).map((batch) =>
    'failure' in batch
      ? `unread ${batch.lastOffset}`
      : batch.records.map(({ value }) => value?.toString()).join(),
  )

const small = [Buffer.from('first'), Buffer.from('second')]
const hostile = Buffer.alloc(batchBytesMax + 1)

describe.each(codecs.map((codec) => [codec] as const))('batches in %s', (codec) => {
  test('are read', () => {
    expect(told(batchOf(small, codec))).toEqual(['first,second'])
    const large = Buffer.alloc(6 * 1024 * 1024, 'large')
    expect(told(batchOf([large], codec))[0]?.length).toBe(large.length)
  })

  test('that cannot be read stand alone, and what is behind them is read', () => {
    const cut = batchOf(small, codec, 7n)
    // More records than there are bytes for.
    cut.writeInt32BE(90_000, 57)
    expect(told(Buffer.concat([cut, batchOf(small, codec, 9n)]))).toEqual([
      'unread 8',
      'first,second',
    ])
  })
})

test.each(codecs.slice(1).map((codec) => [codec] as const))(
  'what %s has made small and is too large is not inflated, and costs the room of the whole answer',
  (codec) => {
    const bomb = batchOf([small[0] ?? hostile, hostile], codec, 3n)
    Bun.gc(true)
    const before = process.memoryUsage().rss
    expect(told(Buffer.concat(Array(50).fill(bomb)))).toEqual(['unread 4'])
    // It is tried twice, and its codec once with half as much.
    expect(process.memoryUsage().rss - before).toBeLessThan(5 * batchBytesMax)
  },
)

test('Snappy in pieces, as the clients of Java send it, has the bounds of all its pieces', () => {
  const bytes = batchOf([Buffer.alloc(1_000_000)], 'snappy')
  const [head, piece] = [bytes.subarray(0, 61), bytes.subarray(61)]
  const pieces = (count: number): Buffer => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(piece.length)
    const magic = Buffer.from('82534e41505059000000000100000001', 'hex')
    const whole = Buffer.concat([head, magic, ...Array(count).fill([length, piece]).flat()])
    whole.writeInt32BE(whole.length - 12, 8)
    return whole
  }
  expect(told(pieces(1))[0]?.length).toBe(1_000_000)
  expect(told(pieces(17))).toEqual(['unread 0'])
})

test('of many that inflate one answer reads as much as it has room for, and at least one', () => {
  const one = batchOf([Buffer.alloc(5 * 1024 * 1024)], 'zstd')
  expect(told(Buffer.concat(Array(50).fill(one)))).toHaveLength(4)
  expect(told(one, { left: 1 })).toHaveLength(1)
  // What follows is another answer's, whole or not.
  expect(told(Buffer.concat([one, one.subarray(0, -1)]))).toHaveLength(1)
})

test('where the codec itself fails no batch is to blame: it is asked for again, and read once the codec works', () => {
  const bytes = batchOf(small, 'gzip')
  const inflating = spyOn(zlib, 'gunzipSync').mockImplementation(() => {
    throw new RangeError('Out of memory')
  })
  try {
    expect(() => told(bytes)).toThrow('Out of memory')
  } finally {
    inflating.mockRestore()
  }
  expect(told(bytes)).toEqual(['first,second'])
})

test('a failure that was of the moment condemns no batch', () => {
  const inflating = spyOn(zlib, 'gunzipSync').mockImplementationOnce(() => {
    throw new RangeError('Out of memory')
  })
  try {
    expect(told(batchOf(small, 'gzip'))).toEqual(['first,second'])
  } finally {
    inflating.mockRestore()
  }
})

const emptyRecords = (count: number, headersEach = 0): Buffer => {
  const nothing = Buffer.alloc(0)
  const headers = new Map(Array.from({ length: headersEach }, (_, at) => [Buffer.of(at), nothing]))
  const messages = Array.from({ length: count }, () => ({ topic: 't', value: nothing, headers }))
  return Buffer.from(createRecordsBatch(messages, { compression: 'zstd' }).buffer)
}

test.each([
  ['records', emptyRecords(100_000)],
  ['headers', emptyRecords(1000, 90)],
] as const)('%s without bytes take room, too', (_, batch) => {
  expect(readBatches(Buffer.concat(Array(17).fill(batch)), room())).toHaveLength(2)
})

test('a batch with more headers than we take is not read', () => {
  expect(told(emptyRecords(1000, 101))).toEqual(['unread 999'])
})

test('a batch whose lengths lead back to what was read is not read', () => {
  const batch = batchOf([Buffer.from('value')], 'none')
  const length = batch.indexOf('value') - 1
  batch.writeUInt8(0x03, length)
  expect(told(batch)).toEqual(['unread 0'])
})

test.each(codecs)(
  'a batch in %s of which compaction has left nothing is read as empty',
  (codec) => {
    const batch = batchOf(small, codec).subarray(0, 61)
    batch.writeInt32BE(61 - 12, 8)
    batch.writeInt32BE(0, 57)
    expect(readBatches(batch, room())).toMatchObject([{ lastOffsetDelta: 1, records: [] }])
  },
)

test('a batch that says it has more records than we take is not read', () => {
  const batch = batchOf(small, 'none')
  batch.writeInt32BE(100_001, 57)
  expect(told(batch)).toEqual(['unread 1'])
})

/** A message as clients before Kafka 0.11 wrote it; `attributes` name the codec of those that are in it. */
const oldMessage = (magic: number, offset: bigint, value: Buffer, attributes = 0): Buffer => {
  const head = Buffer.alloc(magic === 1 ? 26 : 18)
  head.writeBigInt64BE(offset)
  head.writeInt32BE(head.length + 8 + value.length - 12, 8)
  head.writeInt8(magic, 16)
  head.writeInt8(attributes, 17)
  if (magic === 1) head.writeBigInt64BE(1_500_000_000_000n, 18)
  const lengths = Buffer.alloc(8)
  lengths.writeInt32BE(-1)
  lengths.writeInt32BE(value.length, 4)
  return Buffer.concat([head, lengths, value])
}

test.each([0, 1])('a message of magic %i is refused by that name, at its own offset', (magic) => {
  // In magic 1 those inside count from 0, and the one around them has the offset of the last.
  const inner = [0n, 1n].map((at) =>
    oldMessage(magic, magic === 1 ? at : 4n + at, Buffer.from('a')),
  )
  const packed = oldMessage(magic, 5n, zlib.gzipSync(Buffer.concat(inner)), 1)
  const all = Buffer.concat([
    oldMessage(magic, 3n, Buffer.from('a')),
    packed,
    batchOf(small, 'none', 6n),
  ])
  expect(told(all)).toEqual(['unread 3', 'unread 5', 'first,second'])
  const [first] = readBatches(all, room())
  if (first === undefined || !('failure' in first)) throw new Error('it was read')
  expect(first.failure).toMatchObject({
    code: 'unreadable_batch',
    message: `a batch of Kafka has magic ${magic}, and only 2 is read`,
  })
  expect(first.bytes).toEqual(oldMessage(magic, 3n, Buffer.from('a')))
  if (magic === 1) expect(first.publishedAt).toEqual(new Date(1_500_000_000_000))
})

test('an old message that is cut off is left for the next answer', () => {
  const message = oldMessage(1, 3n, Buffer.from('a'))
  expect(told(message.subarray(0, -1))).toEqual([])
  expect(told(message.subarray(0, 16))).toEqual([])
})
