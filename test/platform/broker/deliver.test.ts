import { expect, test } from 'bun:test'
import { createMemoryBroker, PoisonMessageError } from '#src/platform/broker/index.ts'
import { quietLogger } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const silent = { ...quietLogger, error: () => {}, warn: () => {} }
const count = 10

/** Sizes of the batches that a handler was given, in order, until it has handled every message. */
const batchesOf = async (fails: (values: readonly number[], call: number) => Error | undefined) => {
  const broker = createMemoryBroker({ logger: silent })
  const sizes: number[] = []
  const handled = new Set<number>()
  const consumer = broker.consume({
    topic: 't',
    group: 'g',
    batchSizeMax: count,
    retry: { attemptsMax: 2, backoffFirstMs: 1, backoffMaxMs: 1 },
    isTransient: (error) => error instanceof Error && error.message === 'away',
    handler: async (batch) => {
      const values = batch.map(({ value }) => Number(Buffer.from(value).toString()))
      sizes.push(values.length)
      const error = fails(values, sizes.length)
      if (error !== undefined) throw error
      for (const value of values) handled.add(value)
    },
  })
  await broker.publish(
    Array.from({ length: count }, (_, index) => ({
      topic: 't',
      key: 'k',
      value: Buffer.from(String(index)),
    })),
  )
  await until(() => handled.has(count - 1))
  await consumer.stop()
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

test('what is away a second time within a batch is waited for in the same way', async () => {
  const { sizes, handled } = await batchesOf((_, call) =>
    [1, 2, 4].includes(call) ? new Error('away') : undefined,
  )
  expect(sizes).toEqual([10, 1, 1, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1])
  expect(handled).toBe(count)
})

test('a message to blame is found one by one', async () => {
  const { sizes, handled } = await batchesOf((values) =>
    values.includes(4) ? new PoisonMessageError('bad', 'bad') : undefined,
  )
  expect(sizes).toEqual([10, ...Array<number>(10).fill(1)])
  expect(handled).toBe(count - 1)
})
