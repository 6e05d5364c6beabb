/** One that always fails holds up no other: each sweep sets it aside and does those behind it. */
import { afterAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Emit } from '#src/events/index.ts'
import type { AdvanceDeps } from '../../src/dict/claims/advance.ts'
import type { ListedClaim } from '../../src/dict/claims/calls.ts'
import { enterClaimed } from '../../src/dict/claims/changes.ts'
import { doDueClaims } from '../../src/dict/claims/due.ts'
import { pollClaims } from '../../src/dict/claims/poll.ts'
import { addClaim, dueClaims, findKnown } from '../../src/dict/claims/store.ts'
import { retryDisputes } from '../../src/dict/disputes/service.ts'
import { addDispute, openDisputes } from '../../src/dict/disputes/store.ts'
import { newEntry, registered } from '../../src/dict/entries/domain.ts'
import { retryEntries } from '../../src/dict/entries/service.ts'
import { addEntry, findEntry, openEntries } from '../../src/dict/entries/store.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'

const database = await createTestDatabase()
afterAll(database.close)
const { sql } = database
const now = (): Date => new Date()
/** What was tried before a minute from now: all. */
const laterMs = -60_000
const later = (): Date => new Date(Date.now() + 60_000)
const content = {
  owner: { taxIdNumber: '98765432100', name: 'Ana' },
  account: { participant: '12345678', accountNumber: '1', accountType: 'CACC' },
  openedAt: '2020-01-01T03:00:00.000Z',
} as const
const logger = quietLogger

/** Fails for the first that it is given, however often. */
const failing = () => {
  const [tried, done]: string[][] = [[], []]
  return {
    done,
    work: async (id: string) => {
      tried?.push(id)
      if (id === tried?.[0]) throw new Error('it fails for good')
      done?.push(id)
    },
  }
}

const claimOf = (id: string, key: string) =>
  ({
    id,
    key,
    claimId: null,
    createdBy: 'k',
    role: 'claimer',
    type: 'PORTABILITY',
    keyType: 'EMAIL',
    counterparty: null,
    status: 'opening',
    content,
    wanted: { act: 'open' },
    refusal: null,
    resolutionEndsAt: null,
    completionEndsAt: null,
    confirmReason: null,
    cancelReason: null,
    cancelledBy: null,
    modifiedAt: null,
    toldAt: null,
    version: 0,
    createdAt: now(),
  }) as const

const claimDeps = (more: Partial<AdvanceDeps> = {}): AdvanceDeps => ({
  sql,
  ispb: '12345678',
  emit: async () => undefined,
  now,
  quietMs: 60_000,
  logger,
  calls: {} as AdvanceDeps['calls'],
  ...more,
})

test('of due claims', async () => {
  const ids = [randomUUID(), randomUUID()]
  for (const [at, id] of ids.entries()) {
    await addClaim(sql, claimOf(id, `${id}@example.com`), new Date(at))
  }
  const { done, work } = failing()
  await doDueClaims(claimDeps(), async (claim) => {
    await work(claim.id)
    return { claim, isDone: true }
  })
  expect(done).toEqual(ids.slice(1))
  const [next] = await dueClaims(sql, later(), 10)
  expect(next).toEqual({ id: ids[1] ?? '' })
})

test('of claims that the directory lists', async () => {
  const seen = ['a', 'b'].map(
    (name): ListedClaim => ({
      id: randomUUID(),
      type: 'PORTABILITY',
      keyType: 'EMAIL',
      key: `${name}@listed.example.com`,
      claimer: content.owner,
      account: { ...content.account, participant: '87654321' },
      openedAt: content.openedAt,
      donor: '12345678',
      resolutionEndsAt: later().toISOString(),
      completionEndsAt: undefined,
      confirmReason: undefined,
      cancelReason: undefined,
      cancelledBy: undefined,
      status: 'WAITING_RESOLUTION',
      modifiedAt: new Date(Date.now() - 60_000).toISOString(),
      modifiedMs: Date.now() - 60_000,
    }),
  )
  const { work } = failing()
  const emit = ((_tx, [event]) => work((event as { full: { key: string } }).full.key)) as Emit
  const calls = {
    list: (role: string) => ({
      name: `claims_${role}`,
      ask: async () => ({
        kind: 'page',
        page: { items: role === 'donor' ? seen : [], unreadable: [], hasMore: false },
      }),
    }),
  } as unknown as AdvanceDeps['calls']
  const advance = () => Promise.reject(new Error('not asked'))
  await pollClaims(claimDeps({ emit, calls }), advance)
  const known = await Promise.all(seen.map(({ id }) => findKnown(sql, id, 'donor')))
  expect(known.map((one) => one?.claimId)).toEqual([undefined, seen[1]?.id])
})

test('of unanswered entries', async () => {
  const ids = [randomUUID(), randomUUID()]
  for (const [at, id] of ids.entries()) {
    const entry = { id, keyType: 'EMAIL', key: `${id}@example.com`, content } as const
    await addEntry(sql, newEntry(entry, 'k', new Date(at)))
  }
  const { done, work } = failing()
  await retryEntries({ sql, logger }, work, laterMs)
  expect(done).toEqual(ids.slice(1))
  expect((await openEntries(sql, laterMs, 10)).map(({ id }) => id)).toEqual(ids.toReversed())
})

test('of unanswered entries goes by the clock of the database, whatever that of who asked says', async () => {
  const hourMs = 3_600_000
  const ids: string[] = []
  for (const aheadMs of [hourMs, -hourMs]) {
    const id = randomUUID()
    ids.push(id)
    const entry = { id, keyType: 'EMAIL', key: `${id}@example.com`, content } as const
    await addEntry(sql, newEntry(entry, 'k', new Date(Date.now() + aheadMs)))
  }
  const open = async (quietMs: number): Promise<readonly string[]> =>
    (await openEntries(sql, quietMs, 100)).map(({ id }) => id).filter((id) => ids.includes(id))
  expect([await open(15_000), await open(laterMs)]).toEqual([[], ids])
})

test('of unanswered disputes', async () => {
  const ids = [randomUUID(), randomUUID()]
  for (const id of ids) {
    await addDispute(sql, 'infraction', {
      id,
      directoryId: null,
      role: 'asking',
      status: 'requested',
      transactionId: id,
      reason: 'REFUND_REQUEST',
      other: null,
      content: {},
      wanted: null,
      refusal: null,
      returnId: null,
      returnedAt: null,
      createdBy: 'k',
      createdAt: now(),
      modifiedAt: null,
    })
  }
  const { done, work } = failing()
  await retryDisputes({ sql, logger }, { kind: 'infraction', retry: work }, laterMs)
  expect(done).toEqual(ids.slice(1))
  const open = await openDisputes(sql, 'infraction', laterMs, 10)
  expect(open.map(({ id }) => id)).toEqual(ids.toReversed())
})

test('a completed claim whose entry is in the book already leaves it as it is', async () => {
  const claim = { ...claimOf(randomUUID(), 'adopted@example.com'), claimId: randomUUID() }
  await addClaim(sql, claim, null)
  const { id, key, keyType } = claim
  const made = newEntry({ id, key, keyType, content }, 'k', now())
  await addEntry(sql, registered(made, key, content, '2026-01-01'))
  await sql.begin((tx) => enterClaimed(tx, claim, '2026-01-02', now()))
  expect(await findEntry(sql, id)).toMatchObject({ status: 'registered', ownedSince: '2026-01-01' })
})
