import { expect, test } from 'bun:test'
import type { ExchangeOutcome } from '../../src/cards/networks/index.ts'
import { createNetworkRig, payment, stanOf } from '../support/card-network.ts'

const answers = 8_000
const workers = 300

test('whatever the network does, an outcome says no more than is true', async () => {
  let late = 0
  await using rig = await createNetworkRig(
    {
      poolSize: 5,
      window: 100,
      signOn: true,
      reconnect: { backoffFirstMs: 2, backoffMaxMs: 10 },
      onLateAnswer: () => late++,
    },
    {
      seed: 20_261_120,
      latencyMs: { min: 0, max: 5 },
      lateMs: 120,
      faults: {
        no_answer: 0.01,
        late: 0.01,
        duplicate: 0.01,
        delay: 0.02,
        drop_before: 0.0004,
        drop_after: 0.0004,
        garbage: 0.0004,
        wrong_rrn: 0.005,
        wrong_terminal: 0.005,
      },
    },
  )
  const outcomes = new Map<number, ExchangeOutcome>()
  let next = 0
  let answered = 0
  const work = async (): Promise<void> => {
    while (answered < answers) {
      const number = ++next
      const amount = String(number).padStart(12, '0')
      const outcome = await rig.network.exchange(payment(number, { amount }), 100)
      outcomes.set(number, outcome)
      if (outcome.kind === 'answered') answered++
      if (outcome.kind === 'not_sent') await Bun.sleep(5)
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
  const book = new Map(rig.simulator.book().map((entry) => [entry.stan, entry]))
  const kinds = new Map<string, number>()
  for (const [number, outcome] of outcomes) {
    kinds.set(outcome.kind, (kinds.get(outcome.kind) ?? 0) + 1)
    const entry = book.get(stanOf(number))
    if (outcome.kind === 'not_sent') expect([number, entry]).toEqual([number, undefined])
    if (outcome.kind !== 'answered') continue
    expect(Number(outcome.response.amount)).toBe(number)
    expect(entry?.authorizedAmount).toBe(number)
  }
  expect([...book.values()].every(({ requests }) => requests === 1)).toBe(true)
  // Every kind of end was seen.
  expect([...kinds.keys()].sort()).toEqual(
    expect.arrayContaining(['answered', 'connection_lost', 'timed_out']),
  )
  expect(late).toBeGreaterThan(0)
  expect(rig.network.health().inFlight).toBe(0)
}, 60_000)
