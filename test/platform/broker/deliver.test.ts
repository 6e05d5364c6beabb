import { expect, test } from 'bun:test'
import {
  DeliveryLostError,
  PoisonMessageError,
  PublishRefusedError,
} from '#src/platform/broker/index.ts'
import { createLogger, type Logger } from '#src/platform/observe/index.ts'
import { deliver } from '../../../src/platform/broker/deliver.ts'
import type { ConsumeOptions, Delivery } from '../../../src/platform/broker/types.ts'
import { quietLogger } from '../../support/database.ts'

const silent = { ...quietLogger, error: () => {}, warn: () => {} }
const count = 10

const deliveryOf = (index: number, attempt = 1): Delivery => ({
  topic: 't',
  partition: 0,
  key: 'k',
  headers: {},
  publishedAt: new Date(),
  attempt,
  offset: BigInt(index),
  value: Buffer.from(String(index)),
})

const numberOf = ({ offset }: Delivery): number => Number(offset)

/** What becomes of a batch that `handler` gets, and what was asked of the source meanwhile. */
const delivered = async (
  batch: readonly Delivery[],
  handler: ConsumeOptions['handler'],
  over: {
    readonly isSuspect?: boolean
    readonly remaining?: (left: readonly Delivery[]) => readonly Delivery[]
    readonly signal?: AbortSignal
    /** The longest value that `dlq` takes. */
    readonly letterBytesMax?: number
    readonly logger?: Logger
  } = {},
) => {
  const attempts: string[] = []
  const letters: string[] = []
  const bytes: string[] = []
  const settled = await deliver(
    batch,
    {
      topic: 't',
      group: 'g',
      batchSizeMax: count,
      handler,
      retry: { attemptsMax: 2, backoffFirstMs: 1, backoffMaxMs: 1 },
      isTransient: (error) => error instanceof Error && error.message === 'away',
    },
    {
      publish: async () => {},
      bury: async ({ headers = {}, value }) => {
        if (value.length > (over.letterBytesMax ?? value.length)) {
          throw new PublishRefusedError('over max.message.bytes')
        }
        bytes.push(`${value.length} of ${headers['dlq-bytes'] ?? 'as many'}`)
        letters.push(
          `${headers['dlq-offset']} ${headers['dlq-error-code']} ${headers['dlq-attempt']}`,
        )
      },
      remaining: async (left) => over.remaining?.(left) ?? left,
      keepAttempt: async ({ offset }, attempt) => {
        attempts.push(`${offset}: ${attempt}`)
      },
      isSuspect: over.isSuspect === true,
      onDeadLetter: () => {},
      logger: over.logger ?? silent,
      signal: over.signal ?? new AbortController().signal,
      onProgress: () => {},
    },
  )
  return { settled: settled.map(numberOf), attempts, letters, bytes }
}

/** Sizes of the batches that a handler was given, in order, until it has handled every message. */
const batchesOf = async (fails: (values: readonly number[], call: number) => Error | undefined) => {
  const sizes: number[] = []
  const handled = new Set<number>()
  const batch = Array.from({ length: count }, (_, index) => deliveryOf(index))
  await delivered(batch, async (given) => {
    const values = given.map(numberOf)
    sizes.push(values.length)
    const error = fails(values, sizes.length)
    if (error !== undefined) throw error
    for (const value of values) handled.add(value)
  })
  return { sizes, handled: handled.size }
}

test('when what was away is back, the rest of a batch goes together again', async () => {
  const { sizes, handled } = await batchesOf((_, call) =>
    call <= 3 ? new Error('away') : undefined,
  )
  // The batch, its first message until that goes through, and all the others at once.
  expect(sizes).toEqual([10, 1, 1, 1, 9])
  expect(handled).toBe(count)
})

test('what cannot be read goes to dlq, and no handler gets it', async () => {
  const failure = new PoisonMessageError('unreadable_batch', 'too large')
  const seen: number[] = []
  const { settled, letters } = await delivered(
    [deliveryOf(0), { ...deliveryOf(1), failure }, deliveryOf(2)],
    async (given) => {
      seen.push(...given.map(numberOf))
    },
  )
  expect([seen, settled, letters]).toEqual([[0, 2], [0, 1, 2], ['1 unreadable_batch 1']])
})

test('what is away a second time within a batch is waited for in the same way', async () => {
  const { sizes, handled } = await batchesOf((_, call) =>
    [1, 2, 4].includes(call) ? new Error('away') : undefined,
  )
  expect(sizes).toEqual([10, 1, 1, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1])
  expect(handled).toBe(count)
})

test.each([0, 4, 9])('a message to blame is found one by one, in place %d', async (place) => {
  const { sizes, handled } = await batchesOf((values) =>
    values.includes(place) ? new PoisonMessageError('bad', 'bad') : undefined,
  )
  expect(sizes).toEqual([10, ...Array<number>(10).fill(1)])
  expect(handled).toBe(count - 1)
})

test('what was settled within the transaction of its effects is not handed out again', async () => {
  const seen: (readonly number[])[] = []
  const batch = [0, 1, 2, 3].map((index) => deliveryOf(index))
  const { settled } = await delivered(
    batch,
    async (given) => {
      seen.push(given.map(numberOf))
      if (given.length === 4) throw new DeliveryLostError('one is settled already')
    },
    { remaining: (left) => left.filter((one) => numberOf(one) !== 2) },
  )
  expect(seen).toEqual([
    [0, 1, 2, 3],
    [0, 1, 3],
  ])
  expect(settled).toEqual([0, 1, 3])
})

test('what ended its processes goes alone, is counted before, and ends in dlq', async () => {
  const handled: number[] = []
  const batch = [deliveryOf(0, 2), deliveryOf(1, 3)]
  const { settled, attempts, letters } = await delivered(
    batch,
    async ([one, ...others]) => {
      expect(others).toEqual([])
      if (one !== undefined) handled.push(numberOf(one))
    },
    { isSuspect: true },
  )
  expect(handled).toEqual([0])
  expect(attempts).toEqual(['0: 2'])
  expect(letters).toEqual(['1 attempts_exhausted 2'])
  expect(settled).toEqual([0, 1])
})

test('an attempt that its surroundings ended does not count', async () => {
  let calls = 0
  const { attempts, letters } = await delivered([deliveryOf(0, 2)], async () => {
    if (++calls === 1) throw new Error('away')
  })
  expect(attempts).toEqual(['0: 2', '0: 1', '0: 2'])
  expect(letters).toEqual([])
})

test('a partition that is lost is left as it is', async () => {
  const lost = new AbortController()
  const { settled } = await delivered(
    [deliveryOf(0), deliveryOf(1)],
    async () => {
      lost.abort()
      throw new Error('no')
    },
    { signal: lost.signal },
  )
  expect(settled).toEqual([])
})

test('a letter that dlq refuses is cut, and what it refuses even so holds nothing up', async () => {
  const large = { ...deliveryOf(0), value: new Uint8Array(1_000_000) }
  const batch = [large, deliveryOf(1)]
  const poison = async (): Promise<void> => {
    throw new PoisonMessageError('poison', 'poison')
  }
  const bytesWith = async (letterBytesMax: number) => {
    const { settled, bytes } = await delivered(batch, poison, { letterBytesMax })
    expect(settled).toEqual([0, 1])
    return bytes
  }
  expect(await bytesWith(1_000_000)).toEqual(['1000000 of as many', '1 of as many'])
  expect(await bytesWith(900_000)).toEqual(['524288 of 1000000', '1 of as many'])
  expect(await bytesWith(10_000)).toEqual(['8192 of 1000000', '1 of as many'])
  expect(await bytesWith(1_000)).toEqual(['1 of as many'])
})

test('the log names what goes to dlq, though its number looks like that of a card', async () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'info', sink: { write: (line) => lines.push(line) } })
  const offset = 378_282_246_310_005n
  const handler = async (): Promise<void> => {
    throw new PoisonMessageError('bad', 'cannot be read')
  }
  const { letters } = await delivered([{ ...deliveryOf(0), offset }], handler, { logger })
  expect(letters).toEqual([`${offset} bad 1`])
  const told = lines.map((line) => JSON.parse(line)).find(({ code }) => code === 'bad')
  expect(told.offset).toBe('378,282,246,310,005')
})
