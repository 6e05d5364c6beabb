import { describe, expect, test } from 'bun:test'
import { type OutgoingMessage, PublishRefusedError, topics } from '#src/platform/broker/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createPull, inboundHeaders, pullTimes } from '#src/spi/in/pull/index.ts'
import { readAgainMs } from '../../../../src/spi/link/patience.ts'
import { readRetryAfterMaxMs } from '../../../../src/spi/link/streams.ts'
import { quietLogger } from '../../../support/database.ts'
import { createRandom } from '../../../support/mutations.ts'
import { seed } from '../../../support/seed.ts'
import { until } from '../../../support/until.ts'
import { interfaceClient } from '../../link/support.ts'
import { faults, type Held, hostileBank, type Wrong } from './hostile-bank.ts'

/*
 * A bank that answers wrongly, each wrong way in a loop while messages wait: afterwards the channel is read within five
 * seconds, and every message is published, or its bytes are in dlq. TRILHO_LONG=1 goes through all wrong ways in another
 * order 200 times, TRILHO_SEED repeats a run.
 */

const recoveryMs = 5_000
const wrongReads = 6

const letterBytesShown = 4_096

const plainOf = ({ value, headers }: OutgoingMessage): string => {
  const isCompressed = headers?.[inboundHeaders.encoding] === 'zstd'
  const plain = isCompressed ? Bun.zstdDecompressSync(value) : value
  return Buffer.from(plain.subarray(0, letterBytesShown)).toString('latin1')
}

/** The client of a test gives up soon, and the bank forgets soon; of a real one neither does. */
const hasty = { timeoutSeconds: 0.2, forgottenMs: 1_000 }
const asInProduction = { timeoutSeconds: 45, forgottenMs: 60_000 }

/**
 * Reads all of `messages` messages from a bank that answers so, and nothing of them is lost.
 *
 * @param wrongOf - how the next answer is wrong; undefined: it is right
 * @returns how long after its last wrong answer all was read
 */
const survives = async (
  wrongOf: () => Wrong | undefined,
  messages: number,
  streams = 1,
  { timeoutSeconds, forgottenMs } = hasty,
): Promise<number> => {
  const bank = hostileBank((answer, held) => wrongOf()?.(answer, held), forgottenMs)
  const all = Array.from({ length: messages }, (_, i) => ({
    resourceId: `r${i}`,
    xml: `<Envelope><m>${i}</m></Envelope>`,
  }))
  bank.waiting.push(...all)
  const read = new Set<string | undefined>()
  const letters: string[] = []
  const pull = createPull({
    client: interfaceClient({ PRIMARY: bank.url }, { timeoutSeconds }),
    broker: {
      publish: async (messages) => {
        if (messages.some(({ value }) => value.length === 0)) throw new PublishRefusedError('empty')
        for (const message of messages) {
          const id = message.headers?.[inboundHeaders.resourceId]
          if (message.topic !== topics.deadLetters || id !== undefined) read.add(id)
          if (message.topic === topics.deadLetters) letters.push(plainOf(message))
        }
      },
    },
    settings: { streams },
    times: { retry: { ...pullTimes.retry, backoffFirstMs: 20, backoffMaxMs: 100 } },
    logger: { ...quietLogger, error: () => {}, warn: () => {} },
    metrics: createMetrics({ version: 'test', withProcess: false }),
  })
  await pull.start?.()
  const isKept = ({ resourceId }: Held): boolean =>
    read.has(resourceId) ||
    letters.some((letter) => new RegExp(`: ${resourceId}\\r?\\n`).test(letter))
  await until(() => bank.waiting.length === 0 && all.every(isKept))
  const afterMs = performance.now() - bank.state.wrongMs
  await pull.stop?.()
  bank.stop()
  return afterMs
}

describe.concurrent('a bank that answers wrongly in a loop', () => {
  test.each(Object.entries(faults))(
    '%s: nothing is lost, and the channel goes on',
    async (_, wrong) => {
      let left = wrongReads
      await survives(() => (left-- > 0 ? wrong : undefined), 12)
    },
  )
})

/** Right and wrong by turns, each of these once. */
const inTurn = (all: readonly Wrong[]) => {
  let turn = 0
  return () => {
    const place = turn++
    return place % 2 === 0 ? undefined : all[Math.floor(place / 2)]
  }
}

const isLong = process.env['TRILHO_LONG'] === '1'

test('every wrong answer in turn, amid right ones: nothing is lost, and the channel goes on', async () => {
  const all = Object.values(faults)
  await survives(inTurn(all), 6 * all.length)
})

test.skipIf(!isLong)(
  'every wrong answer again and again, in any order, on two streams: nothing is lost',
  async () => {
    const random = createRandom(seed)
    const rounds = 200
    const afterMs: number[] = []
    for (let round = 0; round < rounds; round++) {
      const left = Object.values(faults)
      const all = Array.from(left, () => left.splice(random.next(left.length), 1)[0] as Wrong)
      afterMs.push(await survives(inTurn(all), 6 * all.length, 2))
    }
    afterMs.sort((a, b) => a - b)
    const at = (share: number) => Math.round(afterMs[Math.floor(share * (rounds - 1))] ?? 0)
    const faulty = rounds * Object.keys(faults).length
    process.stderr.write(
      `seed ${seed}: ${rounds} rounds, ${faulty} wrong answers; all read after the last of a round: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms\n`,
    )
  },
  3_600_000,
)

describe.concurrent('with the times of production', () => {
  test
    .skipIf(!isLong)
    .each([
      'no answer, and a connection that stays open',
      'half a body, and then nothing',
      'a Content-Length that says more than comes, and then nothing',
    ])(
    '%s: the channel is read again within five seconds',
    async (name) => {
      // Its own answer opens the stream: what one that nobody knows holds comes when the bank forgets it.
      let answers = 0
      const wrongOf = () => (++answers > 1 && answers < 5 ? faults[name] : undefined)
      expect(await survives(wrongOf, 12, 1, asInProduction)).toBeLessThan(recoveryMs)
    },
    120_000,
  )
})

test('the longest wait between two reads, and the longest that we grant, are shorter than that', () => {
  expect(pullTimes.retry.backoffMaxMs).toBeLessThan(recoveryMs)
  expect(readRetryAfterMaxMs).toBeLessThan(recoveryMs)
  expect(readAgainMs).toBeLessThan(recoveryMs)
})
