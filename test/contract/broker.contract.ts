import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import {
  type Broker,
  type Consumer,
  type Delivery,
  deadLetterHeaders,
  type OutgoingMessage,
  PoisonMessageError,
  PublishRefusedError,
  topics,
  valueBytesMax,
} from '#src/platform/broker/index.ts'
import { backlogOf } from '../support/backlog.ts'
import { until } from '../support/until.ts'

export type BrokerUnderTest = {
  /** A broker that shares its messages with others of `open`, as another process would. */
  readonly open: () => Promise<Broker>
  /** The dead letters, as far as they are there. */
  readonly letters: (broker: Broker) => () => Promise<readonly Letter[]>
  readonly timeoutMs?: number
}

type Letter = Pick<Delivery, 'value' | 'headers'> & { readonly key: string | null | undefined }

const text = (value: Uint8Array): string => Buffer.from(value).toString('utf8')

let serial = 0
/** A name that no other test has used, in this run or another. */
const fresh = (stem: string): string => `${stem}.${process.pid}.${Date.now()}.${serial++}`

const numbered = (topic: string, count: number, keys: number): OutgoingMessage[] =>
  Array.from({ length: count }, (_, index) => ({
    topic,
    key: `key-${index % keys}`,
    value: Buffer.from(String(index)),
  }))

/** What every broker promises; run against each implementation. */
export const brokerContract = (name: string, underTest: BrokerUnderTest): void => {
  const timeoutMs = underTest.timeoutMs ?? 50_000
  const opened: Broker[] = []
  const open = async (): Promise<Broker> => {
    const broker = await underTest.open()
    opened.push(broker)
    return broker
  }
  const retry = { attemptsMax: 3, backoffFirstMs: 1, backoffMaxMs: 5 }

  describe(`${name} broker`, () => {
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((broker) => broker.stop()))
    })
    afterAll(async () => {
      await Promise.all(opened.splice(0).map((broker) => broker.stop()))
    })

    test(
      'delivers key, value and headers as they were published',
      async () => {
        const broker = await open()
        const topic = fresh('plain')
        const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
        const seen: Delivery[] = []
        const headers = { traceparent: '00-ab-cd-01', ação: 'é' }
        await broker.publish([{ topic, key: 'k', value: bytes, headers }])
        await broker.publish([{ topic, value: new Uint8Array(0) }])
        broker.consume({
          topic,
          group: 'g',
          batchSizeMax: 10,
          handler: async (batch) => {
            seen.push(...batch)
          },
        })
        await until(() => seen.length === 2)
        const full = seen.find(({ key }) => key === 'k')
        const empty = seen.find(({ key }) => key === undefined)
        expect(new Uint8Array(full?.value ?? [])).toEqual(bytes)
        expect(full?.headers).toEqual(headers)
        expect(full?.topic).toBe(topic)
        expect(empty?.value.length).toBe(0)
        expect(empty?.headers).toEqual({})
        expect(Math.abs(Date.now() - (full?.publishedAt.getTime() ?? 0))).toBeLessThan(60_000)
      },
      timeoutMs,
    )

    test(
      'keeps the order of a key, in batches no larger than asked',
      async () => {
        const broker = await open()
        const topic = fresh('order')
        const byKey = new Map<string, number[]>()
        let largest = 0
        let count = 0
        broker.consume({
          topic,
          group: 'g',
          batchSizeMax: 7,
          handler: async (batch) => {
            largest = Math.max(largest, batch.length)
            await Bun.sleep(Math.random() * 3)
            for (const { key = '', value } of batch) {
              byKey.set(key, [...(byKey.get(key) ?? []), Number(text(value))])
              count++
            }
          },
        })
        const all = numbered(topic, 600, 13)
        for (let at = 0; at < all.length; at += 50) await broker.publish(all.slice(at, at + 50))
        await until(() => count === 600)
        expect(largest).toBeLessThanOrEqual(7)
        expect(largest).toBeGreaterThan(1)
        expect(byKey.size).toBe(13)
        for (const numbers of byKey.values()) {
          expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
        }
      },
      timeoutMs,
    )

    test(
      'shares partitions between members without a message lost or, once calm, doubled',
      async () => {
        const first = await open()
        const topic = fresh('members')
        const byMember: string[][] = [[], []]
        const join = (broker: Broker, member: number): Consumer =>
          broker.consume({
            topic,
            group: 'g',
            batchSizeMax: 10,
            handler: async (batch) => {
              byMember[member]?.push(...batch.map(({ value }) => text(value)))
            },
          })
        const one = join(first, 0)
        await first.publish(numbered(topic, 80, 40))
        await until(() => (byMember[0]?.length ?? 0) >= 80)
        const two = join(await open(), 1)
        // Work goes on until the second member has its part.
        let published = 80
        await until(async () => {
          await first.publish(
            numbered(topic, 10, 40).map((m) => ({ ...m, value: Buffer.from(`x${published++}`) })),
          )
          return (byMember[1]?.length ?? 0) > 0
        }, timeoutMs)
        await one.stop()
        await first.publish([
          { topic, key: 'last', value: Buffer.from('end') },
          ...numbered(topic, 40, 40),
        ])
        await until(() => (byMember[1] ?? []).includes('end'), timeoutMs)
        await two.stop()
        expect(byMember[0]).not.toContain('end')
      },
      timeoutMs * 2,
    )

    test(
      'delivers again what was not settled when a consumer went away',
      async () => {
        const topic = fresh('again')
        const first = await open()
        await first.publish(numbered(topic, 20, 1))
        const reached = Promise.withResolvers<void>()
        const stuck = Promise.withResolvers<void>()
        let settled = 0
        const consumer = first.consume({
          topic,
          group: 'g',
          batchSizeMax: 5,
          handler: async (batch) => {
            if (settled >= 10) {
              reached.resolve()
              await stuck.promise
              throw new Error('gone')
            }
            settled += batch.length
          },
        })
        await reached.promise
        const stopped = consumer.stop()
        stuck.resolve()
        await stopped
        const seen: number[] = []
        const second = await open()
        second.consume({
          topic,
          group: 'g',
          batchSizeMax: 100,
          handler: async (batch) => {
            seen.push(...batch.map(({ value }) => Number(text(value))))
          },
        })
        await until(() => seen.includes(19), timeoutMs)
        expect(seen[0]).toBe(settled)
      },
      timeoutMs,
    )

    test(
      'puts poison in dlq with its story and goes on with the partition',
      async () => {
        const broker = await open()
        const topic = fresh('poison')
        const good: string[] = []
        const list = underTest.letters(broker)
        const lettersNow = async () =>
          (await list()).filter(({ headers }) => headers[deadLetterHeaders.topic] === topic)
        broker.consume({
          topic,
          group: 'g',
          batchSizeMax: 10,
          retry,
          handler: async (batch) => {
            for (const { value } of batch) {
              if (text(value) === '3') throw new PoisonMessageError('unreadable', 'no XML')
              if (text(value) === '5') throw new Error('fails every time')
            }
            good.push(...batch.map(({ value }) => text(value)))
          },
        })
        const started = Date.now()
        const all = numbered(topic, 8, 1).map((m) => ({ ...m, headers: { traceparent: 't' } }))
        await broker.publish(all)
        await until(async () => (await lettersNow()).length === 2 && good.includes('7'), timeoutMs)
        const letters = await lettersNow()
        const byCode = new Map(letters.map((l) => [l.headers[deadLetterHeaders.errorCode], l]))
        const unreadable = byCode.get('unreadable')
        const exhausted = byCode.get('attempts_exhausted')
        expect([...new Set(good)]).toEqual(['0', '1', '2', '4', '6', '7'])
        expect(text(unreadable?.value ?? new Uint8Array())).toBe('3')
        expect(unreadable?.key).toBe('key-0')
        expect(unreadable?.headers['traceparent']).toBe('t')
        expect(unreadable?.headers[deadLetterHeaders.attempt]).toBe('1')
        expect(unreadable?.headers[deadLetterHeaders.group]).toBe('g')
        expect(unreadable?.headers[deadLetterHeaders.offset]).toMatch(/^\d+$/)
        expect(unreadable?.headers[deadLetterHeaders.partition]).toMatch(/^\d+$/)
        const since = Date.parse(unreadable?.headers[deadLetterHeaders.firstFailure] ?? '')
        expect(since).toBeGreaterThanOrEqual(started)
        expect(exhausted?.headers[deadLetterHeaders.attempt]).toBe(String(retry.attemptsMax))
      },
      timeoutMs * 2,
    )

    test(
      'has poison buried by the consumer that wants to, again until it is done',
      async () => {
        const broker = await open()
        const topic = fresh('buried')
        const buried: string[] = []
        const good: string[] = []
        broker.consume({
          topic,
          group: 'g',
          batchSizeMax: 10,
          retry,
          handler: async (batch) => {
            if (batch.some(({ value }) => text(value) === '1')) {
              throw new PoisonMessageError('unreadable', 'no XML')
            }
            good.push(...batch.map(({ value }) => text(value)))
          },
          bury: async (letter, message, errorCode) => {
            expect(letter.topic).toBe(topics.deadLetters)
            buried.push(`${text(message.value)} ${errorCode}`)
            if (buried.length === 1) throw new Error('not yet')
          },
        })
        await broker.publish(numbered(topic, 3, 1))
        await until(() => good.includes('2'), timeoutMs)
        expect(buried).toEqual(['1 unreadable', '1 unreadable'])
      },
      timeoutMs * 2,
    )

    test(
      'waits without counting while a dependency is away',
      async () => {
        const broker = await open()
        const topic = fresh('transient')
        let calls = 0
        const attempts: number[] = []
        broker.consume({
          topic,
          group: 'g',
          batchSizeMax: 10,
          retry: { ...retry, attemptsMax: 1 },
          isTransient: () => true,
          handler: async (batch) => {
            if (++calls <= 4) throw new Error('database away')
            attempts.push(...batch.map(({ attempt }) => attempt))
          },
        })
        await broker.publish([{ topic, key: 'a', value: Buffer.from('1') }])
        await until(() => attempts.length === 1, timeoutMs)
        expect(attempts).toEqual([1])
      },
      timeoutMs,
    )

    test(
      'reads no further while handlers are busy, and drains',
      async () => {
        const broker = await open()
        const topic = fresh('pressure')
        await broker.publish(numbered(topic, 90, 1))
        const gate = Promise.withResolvers<void>()
        let taken = 0
        let done = 0
        const consumer = broker.consume({
          topic,
          group: 'g',
          batchSizeMax: 10,
          handler: async (batch) => {
            taken += batch.length
            await gate.promise
            done += batch.length
          },
        })
        await until(() => taken > 0, timeoutMs)
        await Bun.sleep(300)
        expect(taken).toBeLessThanOrEqual(10)
        const drained = consumer.drain()
        gate.resolve()
        await drained
        expect(done).toBe(taken)
        const before = taken
        await Bun.sleep(50)
        expect(taken).toBe(before)
        await consumer.stop()
        const waiting = await backlogOf(broker, topic, 'g')
        expect(waiting.depth).toBe(90 - done)
        expect(waiting.ageSeconds).toBeGreaterThan(0)
      },
      timeoutMs,
    )

    test(
      'takes and gives a value of the largest size, beside others, and refuses one byte more',
      async () => {
        const broker = await open()
        const topic = fresh('large')
        const value = new Uint8Array(valueBytesMax).fill(7)
        const small = Buffer.from('small')
        await broker.publish([
          { topic, key: 'k', value: small },
          { topic, key: 'k', value },
          { topic, key: 'k', value: small },
        ])
        const seen: Uint8Array[] = []
        broker.consume({
          topic,
          group: 'g',
          batchSizeMax: 10,
          handler: async (batch) => {
            seen.push(...batch.map((one) => one.value))
          },
        })
        await until(() => seen.length === 3)
        expect(seen.map(({ length }) => length)).toEqual([5, valueBytesMax, 5])
        expect(Buffer.compare(seen[1] ?? small, value)).toBe(0)
        const over = { topic, value: new Uint8Array(valueBytesMax + 1) }
        expect(broker.publish([over])).rejects.toThrow(PublishRefusedError)
        await broker.ping()
      },
      timeoutMs,
    )
  })
}
