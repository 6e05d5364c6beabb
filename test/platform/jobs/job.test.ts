import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Client } from '#src/platform/database/index.ts'
import type { Clock } from '../../../src/platform/jobs/clock.ts'
import {
  createJob,
  type JobOptions,
  nothingFound,
  runningJobs,
} from '../../../src/platform/jobs/job.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

/** A clock that moves when told, and ends the rounds that come due on its way. */
const createClock = () => {
  let nowMs = 0
  let waiting: { readonly atMs: number; readonly run: () => void }[] = []
  const clock: Clock = {
    nowMs: () => nowMs,
    after: (ms, run) => {
      const entry = { atMs: nowMs + ms, run }
      waiting.push(entry)
      return () => {
        waiting = waiting.filter((one) => one !== entry)
      }
    },
  }
  const pass = async (ms: number): Promise<void> => {
    const endMs = nowMs + ms
    for (;;) {
      const [next] = waiting.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)
      if (next === undefined) break
      nowMs = next.atMs
      waiting = waiting.filter((one) => one !== next)
      next.run()
      await settled()
    }
    nowMs = endMs
  }
  return { clock, pass, waiting: () => waiting.length }
}

/** Statements of the jobs that have no answer yet. */
let statementsUnderWay = 0

/** A moment, and as long as statements are under way. */
const settled = async (): Promise<void> => {
  do await Bun.sleep(30)
  while (statementsUnderWay > 0)
}

const everyMs = 10_000
/** The database has a clock of its own, which passes while the test runs. */
const leaseMs = 60_000

const jobOf = (options: Partial<JobOptions>, clock = createClock()) => {
  const lines: string[] = []
  const note = (_: unknown, line: string) => lines.push(line)
  const logger = { ...quietLogger, info: note, warn: note, error: note }
  const job = createJob({
    name: 'test',
    everyMs,
    run: async () => {},
    logger,
    ...clock,
    ...options,
  })
  return { ...job, ...clock, lines }
}

/** The jobs of this file: other tests of the process may have left theirs. */
const ourJobs = () => runningJobs().filter(({ name }) => name === 'test')

const gate = () => Promise.withResolvers<void>()

describe('a job', () => {
  test('does a round at once and one in each period, is seen while it runs and not afterwards', async () => {
    let rounds = 0
    const job = jobOf({ run: async () => rounds++ })
    expect(ourJobs()).toHaveLength(0)
    await job.start()
    await job.start()
    await settled()
    expect([rounds, ourJobs().map(({ name }) => name)]).toEqual([1, ['test']])
    await job.pass(everyMs * 5.5)
    expect(rounds).toBe(6)
    await job.stop()
    expect(ourJobs()).toHaveLength(0)
    await job.pass(everyMs * 10)
    expect([rounds, job.waiting()]).toEqual([6, 0])
  })

  test('never runs twice at a time; kicks during a round make one more', async () => {
    const gates = [gate(), gate(), gate()]
    let begun = 0
    const job = jobOf({ run: () => gates[begun++]!.promise })
    void job.start()
    for (let kick = 0; kick < 5; kick++) job.kick()
    await job.pass(everyMs * 3)
    expect(begun).toBe(1)
    gates[0]!.resolve()
    await settled()
    expect(begun).toBe(2)
    let isStopped = false
    const stopped = job.stop().then(() => {
      isStopped = true
    })
    job.kick()
    await settled()
    expect(isStopped).toBe(false)
    gates[1]!.resolve()
    await stopped
    expect(begun).toBe(2)
  })

  test('gathers kicks', async () => {
    let rounds = 0
    const job = jobOf({ run: async () => rounds++, gatherMs: 3 })
    await job.start()
    await settled()
    job.kick()
    job.kick()
    await job.pass(2)
    expect(rounds).toBe(1)
    await job.pass(2)
    expect(rounds).toBe(2)
    await job.stop()
  })

  test('is tried again soon after a failure, later each time, and tells once of an outage', async () => {
    const atMs: number[] = []
    let isAway = true
    const clock = createClock()
    const run = async () => {
      atMs.push(clock.clock.nowMs())
      if (isAway) throw new Error('away')
    }
    const job = jobOf({ run }, clock)
    await job.start()
    await settled()
    await job.pass(30_000)
    const pauses = atMs.slice(1).map((ms, index) => ms - atMs[index]!)
    for (const [index, expected] of [1_000, 2_000, 4_000, 8_000, 10_000].entries()) {
      expect(pauses[index]!).toBeWithin(expected * 0.95, expected * 1.05 + 1)
    }
    isAway = false
    await job.pass(everyMs * 1.1)
    expect(job.lines).toEqual(['test: failed', 'test: works again'])
    await job.stop()
  })

  test('comes ever later while it finds nothing, up to its rest, and as usual after it found something', async () => {
    const atMs: number[] = []
    let found: unknown = nothingFound
    const clock = createClock()
    const run = async () => {
      atMs.push(clock.clock.nowMs())
      return found
    }
    const job = jobOf({ run, everyMs: 1_000, restMs: 4_000 }, clock)
    await job.start()
    await settled()
    await job.pass(11_000)
    found = undefined
    await job.pass(6_000)
    const pauses = atMs.slice(1).map((ms, index) => ms - atMs[index]!)
    for (const [index, expected] of [2_000, 4_000, 4_000, 4_000, 1_000].entries()) {
      expect(pauses[index]!).toBeWithin(expected * 0.95, expected * 1.05 + 1)
    }
    await job.stop()
  })

  test('that is vital and fails is stuck; another is stuck only in a round that does not end', async () => {
    const fail = async () => {
      throw new Error('away')
    }
    const vital = jobOf({ run: fail, isVital: true })
    await vital.start()
    await settled()
    expect(ourJobs()[0]?.stuckSinceMs()).toBeNumber()
    await vital.stop()
    const other = jobOf({ run: fail })
    await other.start()
    await settled()
    expect(ourJobs()[0]?.stuckSinceMs()).toBeUndefined()
    await other.stop()
    const { promise, resolve } = gate()
    const hung = jobOf({ run: () => promise })
    await hung.start()
    expect(ourJobs()[0]?.stuckSinceMs()).toBeNumber()
    resolve()
    await hung.stop()
  })
})

describe('a job of the fleet', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase(4)
  })
  afterAll(() => database.close())

  /** The database, as the jobs have it. */
  const sql = (async (strings: TemplateStringsArray, ...values: never[]) => {
    statementsUnderWay++
    try {
      return await database.sql(strings, ...values)
    } finally {
      statementsUnderWay--
    }
  }) as unknown as Client
  const leases = () => database.sql<
    { owner: string; fence: bigint; until: string; heldMs: number }[]
  >`
    select owner, fence, until::text, extract(epoch from until - now())::float8 * 1000 as "heldMs"
    from job_leases where name = 'test'`
  /** Time passes for the database alone. */
  const passInDatabase = (ms: number) => database.sql`
    update job_leases set until = until - make_interval(secs => ${ms / 1000})`
  const rounds: string[] = []
  const member = (owner: string, run: JobOptions['run'] = async () => {}) =>
    jobOf({
      fleet: { sql, owner, leaseMs },
      run: (round) => {
        rounds.push(owner)
        return run(round)
      },
    })
  const fresh = async () => {
    rounds.length = 0
    await database.sql`delete from job_leases`
  }

  test('runs in one of two processes, once in each period for both', async () => {
    await fresh()
    const [one, other] = [member('one'), member('other')]
    await one.start()
    await settled()
    await other.start()
    await settled()
    expect(rounds).toEqual(['one'])
    expect((await leases())[0]).toMatchObject({ owner: 'one', fence: 1n })
    await other.pass(everyMs * 0.5)
    expect(rounds).toEqual(['one'])
    await passInDatabase(everyMs)
    await other.pass(everyMs)
    await one.pass(everyMs)
    expect(rounds).toEqual(['one', 'other'])
    expect((await leases())[0]).toMatchObject({ owner: 'other', fence: 2n })
    await Promise.all([one.stop(), other.stop()])
  })

  test('that failed does not say that it works again because it is not its turn', async () => {
    await fresh()
    const failing = member('one', async () => {
      throw new Error('away')
    })
    await failing.start()
    await until(() => failing.lines.length > 0)
    await database.sql`update job_leases set owner = 'other', until = now() + interval '60 seconds'`
    await failing.pass(1_100)
    await settled()
    expect(rounds).toEqual(['one'])
    expect(failing.lines).toEqual(['test: failed'])
    await failing.stop()
  })

  test('is taken from a process that froze in a round, which learns it and leaves the lease alone', async () => {
    await fresh()
    let frozenSignal: AbortSignal | undefined
    const { promise, resolve } = gate()
    const frozen = member('frozen', ({ signal }) => {
      frozenSignal = signal
      return promise
    })
    const heir = member('heir')
    await frozen.start()
    await settled()
    await heir.start()
    await settled()
    expect(rounds).toEqual(['frozen'])
    await passInDatabase(leaseMs)
    await heir.pass(everyMs * 1.05)
    expect(rounds).toEqual(['frozen', 'heir'])
    expect(frozenSignal?.aborted).toBe(false)
    const [before] = await leases()
    await frozen.pass(leaseMs / 3)
    expect(frozenSignal?.aborted).toBe(true)
    resolve()
    await settled()
    const [after] = await leases()
    expect(after).toMatchObject({ owner: 'heir', fence: 2n, until: before!.until })
    await Promise.all([frozen.stop(), heir.stop()])
  })

  test('is kept by a process whose round takes longer than a lease', async () => {
    await fresh()
    const { promise, resolve } = gate()
    const slow = member('slow', () => promise)
    const other = member('other')
    await slow.start()
    await settled()
    for (let part = 0; part < 4; part++) {
      await passInDatabase(leaseMs / 3)
      await slow.pass(leaseMs / 3)
    }
    await other.start()
    await settled()
    expect(rounds).toEqual(['slow'])
    resolve()
    await Promise.all([slow.stop(), other.stop()])
  })

  test('is lost by a process whose renewals get no answer, when its lease ends', async () => {
    await fresh()
    const never = new Promise(() => {})
    const hanging = ((strings: TemplateStringsArray, ...values: never[]) =>
      strings.join().includes('and until >') ? never : sql(strings, ...values)) as never
    let isLost = () => false
    const { promise, resolve } = gate()
    const hung = jobOf({
      fleet: { sql: hanging, owner: 'hung', leaseMs },
      run: ({ signal }) => {
        isLost = () => signal.aborted
        return promise
      },
    })
    await hung.start()
    await settled()
    await hung.pass(leaseMs - 100)
    expect(isLost()).toBe(false)
    await hung.pass(200)
    expect(isLost()).toBe(true)
    resolve()
    await hung.stop()
    expect(hung.waiting()).toBe(0)
  })

  test('that is brief holds its lease for a period, gives nothing back, and finds it over', async () => {
    await fresh()
    const brief = jobOf({
      fleet: { sql, owner: 'brief', isBrief: true },
      run: async () => rounds.push('brief'),
    })
    await brief.start()
    await settled()
    const [held] = await leases()
    expect(held).toMatchObject({ owner: 'brief', fence: 1n })
    // Less than a period: its own next look, a twentieth of it early at most, finds it over.
    expect(held?.heldMs).toBeWithin(1, everyMs * 0.95)
    await passInDatabase(everyMs * 0.95)
    await brief.pass(everyMs * 1.05)
    expect([rounds, (await leases())[0]?.fence]).toEqual([['brief', 'brief'], 2n])
    await brief.stop()
  })

  test('is given back at once by a process that stops in a round', async () => {
    await fresh()
    const stopping = member(
      'stopping',
      ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    )
    const next = member('next')
    await stopping.start()
    await settled()
    await stopping.stop()
    expect((await leases())[0]?.heldMs).toBeLessThan(1)
    await next.start()
    await settled()
    expect(rounds).toEqual(['stopping', 'next'])
    await next.stop()
  })

  test('goes on soon after a round that failed, in whichever process', async () => {
    await fresh()
    const failing = member('failing', async () => {
      throw new Error('no')
    })
    const other = member('other')
    await failing.start()
    await settled()
    await passInDatabase(1_100)
    await other.start()
    await settled()
    expect(rounds).toEqual(['failing', 'other'])
    await Promise.all([failing.stop(), other.stop()])
  })

  test('is not kept by a lease that a clock wrote which was set back since', async () => {
    await fresh()
    await database.sql`
      insert into job_leases values ('test', 'gone', now() + interval '1 day', 7)`
    const one = member('one')
    await one.start()
    await settled()
    expect((await leases())[0]).toMatchObject({ owner: 'one', fence: 8n })
    await one.stop()
  })
})
