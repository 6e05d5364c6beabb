import { describe, expect, test } from 'bun:test'
import { dialects } from '#codecs/iso8583'
import type { Metrics } from '#src/platform/observe/index.ts'
import { contentForm, createContent } from '../../../src/cards/content/index.ts'
import type { Network } from '../../../src/cards/networks/index.ts'
import { renewReversal } from '../../../src/cards/reversals/index.ts'
import { testTokens } from '../../../src/simulators/card-network/index.ts'
import { quietLogger, until } from '../../support/card-network.ts'
import { createReversalRig, isEnded, reversalOf } from './support.ts'

const ascii = dialects['ascii']!

/** Waits until a scrape holds the text. */
const untilScraped = async (metrics: Metrics, text: string): Promise<string> => {
  const deadline = performance.now() + 40_000
  for (;;) {
    const scraped = (await metrics.render()).text
    if (scraped.includes(text)) return scraped
    if (performance.now() > deadline) throw new Error(`no ${text} in ${scraped}`)
    await Bun.sleep(5)
  }
}

describe('what is reversed', () => {
  test('an authorization without an answer, and one whose connection was lost', async () => {
    await using rig = await createReversalRig()
    await rig.reverse(1, 'tok_visa_timeout')
    await rig.reverse(2, 'tok_visa_drop')
    await until(() => rig.network.health().connectionsUp === 1)
    rig.engine()
    const confirmed = { status: 'confirmed', attempts: 1, responseCode: '00' }
    expect(await rig.until(isEnded)).toMatchObject([confirmed, confirmed])
    const reversed = { authorizedAmount: 10_000, reversedAmount: 10_000, requests: 1, reversals: 1 }
    expect(rig.simulator.book()).toMatchObject([
      { stan: '000001', ...reversed },
      { stan: '000002', ...reversed },
    ])
    expect(rig.ended.map(({ outcome }) => outcome)).toEqual(['confirmed', 'confirmed'])
  })

  test('what the network never saw ends with code 25', async () => {
    await using rig = await createReversalRig()
    await rig.insert(reversalOf(7))
    rig.engine()
    expect(await rig.until(isEnded)).toMatchObject([{ status: 'confirmed', responseCode: '25' }])
    expect(rig.simulator.book()).toEqual([])
  })

  test('ends with code 25 only when the original can no longer be on its way', async () => {
    await using rig = await createReversalRig()
    await rig.insert(reversalOf(7))
    const windowMs = 3_600_000
    rig.engine({ timing: { pollMs: 10, windowMs } })
    await rig.until(([row]) => row?.responseCode === '25')
    const [first] = await rig.rows()
    expect(first).toMatchObject({ status: 'pending', attempts: 1 })
    // The window begins with the reversal, however late its first attempt is.
    const { sql } = rig.database
    const isHeld = sql`
      select from card_reversals
      where next_attempt_at = created_at + make_interval(secs => ${windowMs / 1_000})`
    expect(await isHeld).toHaveLength(1)
    await sql`
      update card_reversals set created_at = created_at - make_interval(secs => ${windowMs / 1_000}),
        next_attempt_at = now()`
    const [last] = await rig.until(isEnded)
    expect(last).toMatchObject({ status: 'confirmed', attempts: 2, stan: first?.stan as string })
  })

  test('in a dialect without DE 90, by its RRN', async () => {
    const { 90: _, ...fields } = ascii.fields
    await using rig = await createReversalRig({ dialect: { ...ascii, fields } })
    await rig.reverse(1, 'tok_visa_timeout')
    rig.engine()
    expect(await rig.until(isEnded)).toMatchObject([{ responseCode: '00' }])
    expect(rig.simulator.book()).toMatchObject([{ reversedAmount: 10_000 }])
  })

  test('at once when the engine is told', async () => {
    await using rig = await createReversalRig()
    const engine = rig.engine({ timing: { pollMs: 60_000 } })
    await rig.reverse(1, 'tok_visa_timeout')
    engine.kick()
    expect(await rig.until(isEnded)).toMatchObject([{ status: 'confirmed' }])
  })
})

describe('repeats', () => {
  test('are 0401 with the STAN of the 0400', async () => {
    await using rig = await createReversalRig({ timeoutMs: 100 })
    await rig.reverse(1, 'tok_visa_void_timeout')
    rig.engine()
    const [first] = await rig.until(([row]) => row?.stan !== null)
    const [last] = await rig.until(isEnded)
    expect(last).toMatchObject({ status: 'confirmed', stan: first?.stan })
    expect(last?.attempts).toBeGreaterThanOrEqual(2)
    const { received } = rig.simulator.statistics()
    expect(received).toMatchObject({ '0400': 1, '0401': (last?.attempts ?? 0) - 1 })
    expect(rig.simulator.book()).toMatchObject([{ reversedAmount: 10_000 }])
  })

  test('end with the last one that is allowed', async () => {
    await using rig = await createReversalRig()
    await rig.reverse(1, 'tok_visa_void_declined')
    const { metrics } = rig.engine({ settings: { attemptsMax: 3 } })
    expect(await rig.until(isEnded)).toMatchObject([
      { status: 'expired', attempts: 3, responseCode: '57' },
    ])
    expect(rig.simulator.statistics().received).toMatchObject({ '0400': 1, '0401': 2 })
    expect(rig.ended).toEqual([{ transactionId: 'txn_1', outcome: 'expired' }])
    await untilScraped(metrics, 'cardgw_reversals_total{network="neta",outcome="expired"} 1')
    await untilScraped(
      metrics,
      'cardgw_reversal_attempts_total{network="neta",outcome="refused"} 3',
    )
  })

  test.each([
    ['expired', 3],
    ['pending', 3],
    ['expired', 1],
    ['confirmed', 1],
  ] as const)(
    'begin anew where an approval comes after the last one, with the same STAN: %s, %i allowed',
    async (status, attemptsMax) => {
      await using rig = await createReversalRig()
      await rig.reverse(1, 'tok_visa_timeout')
      const { sql } = rig.database
      await sql`
      update card_reversals set status = ${status}, attempts = ${attemptsMax}, stan = '000900',
        transmission = '1120120000', first_attempt_at = now(), last_attempt_at = now()`
      await sql.begin((tx) => renewReversal(tx, reversalOf(1)))
      rig.engine({ settings: { attemptsMax } })
      expect(await rig.until(isEnded)).toMatchObject([{ status: 'confirmed', stan: '000900' }])
      const { received } = rig.simulator.statistics()
      expect([received['0400'], received['0401']]).toEqual([undefined, 1])
    },
  )

  test('follow the void that was sent once, where one is allowed, and what wrote no byte is none', async () => {
    await using rig = await createReversalRig()
    const numbers = { stan: '000900', transmission: '1120120000' }
    await rig.reverse(1, 'tok_visa_void_declined', { ...numbers, reverses: 'void', attempts: 1 })
    let tries = 0
    const exchange: Network['exchange'] = async (...asked) =>
      ++tries < 3 ? { kind: 'not_sent', reason: 'no_connection' } : rig.network.exchange(...asked)
    const network: Network = Object.assign(Object.create(rig.network), { exchange })
    rig.engine({
      settings: { attemptsMax: 1 },
      networks: { all: [network], byName: () => network },
    })
    expect(await rig.until(isEnded)).toMatchObject([{ status: 'expired', attempts: 2 }])
    expect(tries).toBe(3)
    const { received } = rig.simulator.statistics()
    expect([received['0400'], received['0401']]).toEqual([undefined, 1])
  })

  test('follow when the lease ends, where the exchange failed by itself, with the same STAN', async () => {
    await using rig = await createReversalRig()
    await rig.reverse(1, 'tok_visa_timeout')
    let tries = 0
    const exchange: Network['exchange'] = async (...asked) => {
      const outcome = await rig.network.exchange(...asked)
      if (++tries === 1) throw new Error('cut short')
      return outcome
    }
    const network: Network = Object.assign(Object.create(rig.network), { exchange })
    rig.engine({ networks: { all: [network], byName: () => network } })
    await until(() => tries === 1)
    await rig.database.sql`update card_reversals set lease_until = now()`
    expect(await rig.until(isEnded)).toMatchObject([{ status: 'confirmed', attempts: 2 }])
    const { received } = rig.simulator.statistics()
    expect([received['0400'], received['0401']]).toEqual([1, 1])
  })

  test('follow when the lease ends, where the end could not be written', async () => {
    await using rig = await createReversalRig({ timeoutMs: 2_500 })
    await rig.reverse(1, 'tok_visa_timeout')
    let calls = 0
    rig.engine({
      timing: { pollMs: 10, leaseMarginMs: 100, windowMs: 0 },
      onEnded: async (tx) => {
        calls++
        await tx`insert into card_stan_blocks (network, next) values (${`end ${calls}`}, 1)`
        if (calls === 1) throw new Error('not now')
      },
    })
    expect(await rig.until(isEnded)).toMatchObject([{ status: 'confirmed', attempts: 2 }])
    // What the first call wrote went with its transaction.
    const written = await rig.database.sql<{ network: string }[]>`
      select network from card_stan_blocks where network like 'end %'`
    expect([...written]).toEqual([{ network: 'end 2' }])
  })
})

describe('no attempt is used up', () => {
  test('by a network that is down', async () => {
    await using rig = await createReversalRig()
    await rig.reverse(1, 'tok_visa_timeout')
    rig.simulator.stop()
    await until(() => rig.network.health().connectionsUp === 0)
    await rig.database.sql`update card_reversals set created_at = now() - interval '90 seconds'`
    const { metrics } = rig.engine()
    // Its looks at the table take place: this one expires.
    await rig.insert(reversalOf(2))
    await rig.database.sql`
      update card_reversals set created_at = now() - interval '25 hours' where transaction_id = 'txn_2'`
    await rig.until(([, second]) => second?.status === 'expired')
    expect((await rig.rows())[0]).toMatchObject({ status: 'pending', attempts: 0, stan: null })
    const scraped = await untilScraped(metrics, 'cardgw_reversals_pending{network="neta"} 1')
    expect(scraped).toMatch(/cardgw_reversals_oldest_age_seconds\{network="neta"\} (9\d|1\d\d)\./)
    rig.simulator.start()
    const [first] = await rig.until(isEnded)
    expect(first).toMatchObject({ status: 'confirmed', attempts: 1 })
    expect(rig.simulator.statistics().received).toMatchObject({ '0400': 1 })
    expect((await metrics.render()).text).toContain('cardgw_reversals_pending{network="neta"} 0')
  })

  test('by a full window, and then it goes out as 0400', async () => {
    await using rig = await createReversalRig({ window: 1, timeoutMs: 300 })
    rig.simulator.setSilent(true)
    await rig.insert(reversalOf(1), reversalOf(2))
    const { metrics } = rig.engine()
    await untilScraped(metrics, 'outcome="not_sent"')
    rig.simulator.setSilent(false)
    await rig.until(isEnded)
    expect(rig.simulator.statistics().received).toMatchObject({ '0400': 2 })
  })

  test('by a token that the vault does not know: it expires', async () => {
    await using rig = await createReversalRig()
    await rig.insert(reversalOf(1, { cardToken: 'tok_gone' }))
    const { metrics } = rig.engine()
    await untilScraped(metrics, 'outcome="token_unknown"')
    expect(await rig.rows()).toMatchObject([{ status: 'pending', attempts: 0 }])
    await rig.database.sql`update card_reversals set created_at = now() - interval '24 hours'`
    expect(await rig.until(isEnded)).toMatchObject([{ status: 'expired', attempts: 0 }])
    expect(rig.simulator.statistics().received).not.toHaveProperty('0400')
  })

  test('by a reversal that cannot be built', async () => {
    await using rig = await createReversalRig()
    await rig.insert(reversalOf(1, { currency: 'EUR' }))
    const { metrics } = rig.engine()
    await untilScraped(metrics, 'outcome="failed"')
    expect(await rig.rows()).toMatchObject([{ status: 'pending', attempts: 0 }])
  })

  test('by what was kept of the approval, where no message can carry that: it goes out without', async () => {
    const form = contentForm.parse({
      keep: { trace: { field: 41 } },
      messages: { reversal: { fields: { 33: { from: 'kept.trace' } } } },
    })
    await using rig = await createReversalRig({ content: createContent(ascii, form) })
    const lines: object[] = []
    const logger = { ...quietLogger, error: (fields: object) => lines.push(fields) }
    // DE 41 carries the second, DE 33 does not. The last is longer than its place lets it be, and left out at once.
    const kept = ['12345', 'letters', '123456789012']
    await rig.insert(
      ...kept.map((trace, at) => reversalOf(at + 1, { details: { kept: { trace } } })),
    )
    const { metrics } = rig.engine({ logger })
    expect(await rig.until(isEnded)).toMatchObject(
      kept.map(() => ({ status: 'confirmed', attempts: 1 })),
    )
    expect(lines).toMatchObject([{ kept: ['trace'] }])
    expect((await metrics.render()).text).not.toContain('outcome="failed"')
    expect(rig.simulator.statistics().received).toMatchObject({ '0400': 3 })
  })

  test('by another part of it that no message can carry: what was kept stays', async () => {
    const form = contentForm.parse({
      keep: { trace: { field: 32 } },
      messages: { reversal: { fields: { 33: { from: 'kept.trace' } } } },
    })
    await using rig = await createReversalRig({ content: createContent(ascii, form) })
    const details = { kept: { trace: '123' } }
    await rig.insert(
      reversalOf(1, { currency: 'EUR', details }),
      reversalOf(2, { terminalId: 'TERMINAL-TOO-LONG', details }),
    )
    const { metrics } = rig.engine()
    await untilScraped(metrics, 'outcome="failed"} 2')
    const rows = await rig.database.sql`select attempts, details from card_reversals`
    expect([...rows]).toMatchObject([
      { attempts: 0, details },
      { attempts: 0, details },
    ])
  })
})

describe('the end', () => {
  test('what is short of its expiry is sent, what has reached it is not', async () => {
    await using rig = await createReversalRig()
    await rig.insert(reversalOf(1), reversalOf(2))
    await rig.database.sql`
      update card_reversals set created_at = now() - interval '2 hours'
        + case when transaction_id = 'txn_1' then interval '60 seconds' else interval '0' end`
    rig.engine({ settings: { expiryHours: 2 } })
    expect(await rig.until(isEnded)).toMatchObject([
      { status: 'confirmed', attempts: 1 },
      { status: 'expired', attempts: 0 },
    ])
  })

  test('one that cannot be given up keeps no other from it', async () => {
    await using rig = await createReversalRig()
    await rig.insert(reversalOf(1), reversalOf(2), reversalOf(3))
    await rig.database.sql`
      update card_reversals set created_at = now() - interval '2 days' where transaction_id <> 'txn_3'`
    rig.engine({
      onEnded: async (_, { transactionId }) => {
        if (transactionId === 'txn_1') throw new Error('not this one')
      },
    })
    const [first] = await rig.until(
      ([, second, third]) => second?.status === 'expired' && third?.status === 'confirmed',
    )
    expect(first).toMatchObject({ status: 'pending', attempts: 0 })
  })

  test('of an older one comes before a younger one of its transaction begins', async () => {
    await using rig = await createReversalRig({ timeoutMs: 200 })
    await rig.reverse(1, 'tok_visa_void_timeout')
    await rig.insert(
      reversalOf(1, { cardToken: 'tok_visa_void_timeout', reverses: 'void' }),
      reversalOf(2),
    )
    rig.engine()
    const [older, younger, other] = await rig.until(isEnded)
    const endedMs = older?.endedAt?.getTime() ?? 0
    expect(older?.attempts).toBeGreaterThanOrEqual(2)
    expect(younger?.firstAttemptAt?.getTime()).toBeGreaterThanOrEqual(endedMs)
    expect(other?.firstAttemptAt?.getTime()).toBeLessThan(endedMs)
  })
})

test('card numbers are in no row, and in no buffer afterwards', async () => {
  await using rig = await createReversalRig()
  const buffers: Uint8Array[] = []
  const { vault } = rig
  await rig.reverse(1, 'tok_visa_timeout')
  await rig.reverse(2, 'tok_visa_void_declined')
  rig.engine({
    settings: { attemptsMax: 2 },
    vault: {
      resolve: async (token) => {
        const { pan, expiry } = await vault.resolve(token)
        buffers.push(pan)
        return { pan, expiry }
      },
    },
  })
  await rig.until(isEnded)
  const [{ everything = '' } = {}] = await rig.database.sql<{ everything: string }[]>`
    select json_agg(r)::text as everything from card_reversals r`
  expect(everything).toContain('tok_visa_timeout')
  for (const pan of testTokens.values()) {
    expect(everything).not.toContain(new TextDecoder().decode(pan))
  }
  expect(buffers.length).toBeGreaterThanOrEqual(3)
  expect(buffers.every((buffer) => buffer.every((byte) => byte === 0))).toBe(true)
})
