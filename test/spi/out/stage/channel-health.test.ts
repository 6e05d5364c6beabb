import { expect, test } from 'bun:test'
import { createLogger } from '#src/platform/observe/index.ts'
import type { Channel } from '#src/spi/messages/index.ts'
import {
  accessRefusalsMin,
  createChannelHealth,
  downMs,
  failuresMax,
  RefusedTogetherError,
  refusedMax,
} from '../../../../src/spi/out/stage/channel-health.ts'
import type { MessageOutcome } from '../../../../src/spi/out/stage/transport.ts'

const accepted: MessageOutcome = { kind: 'accepted', resourceId: 'R', channel: 'PRIMARY' }
const unknown: MessageOutcome = { kind: 'unknown', reason: 'no answer' }
const lockedOut = (status: number): MessageOutcome => ({
  kind: 'unreachable',
  reason: 'access refused',
  isDown: true,
  refusal: { status, problem: { type: 'https://x/error/forbidden', title: '', detail: '' } },
})
const refusedWith = (status: number): MessageOutcome => ({
  kind: 'refused',
  status,
  problem: { type: 'https://x/error/forbidden', title: '', detail: '' },
})

const healthOf = (...channels: Channel[]) => {
  const lines: Record<string, unknown>[] = []
  const sink = { write: (line: string) => lines.push(JSON.parse(line)) }
  const logger = createLogger({ level: 'info', format: 'json', sink })
  const health = createChannelHealth({ channels, logger })
  let noted = 0
  return {
    lines,
    check: health.check,
    note: (channel: Channel, outcome: MessageOutcome) =>
      health.noted(channel, async () => [outcome], [`${noted++}`]),
    refuseTogether: (channel: Channel, ids: readonly string[]) =>
      health
        .noted(channel, () => Promise.reject(new RefusedTogetherError('status 403')), ids)
        .catch(() => {}),
    noteOf: (channel: Channel, id: string, outcome: MessageOutcome) =>
      health.noted(channel, async () => [outcome], [id]),
    isToBlame: health.isToBlame,
    isPaused: health.isPaused,
  }
}

test('refused access is told once, and shown until a message is taken', async () => {
  const { lines, check, note } = healthOf('PRIMARY', 'SECONDARY')
  expect(check()).toMatchObject({ status: 'ok', ready: true })
  await note('PRIMARY', lockedOut(403))
  await note('PRIMARY', lockedOut(401))
  // Says nothing of access.
  await note('PRIMARY', unknown)
  expect(check()).toEqual({
    status: 'degraded',
    ready: true,
    detail: {
      primary: { up: true, access_refused: true, refusals: 2, round_trip_ms: expect.any(Number) },
      secondary: { up: true, access_refused: false, refusals: 0, round_trip_ms: null },
    },
  })
  await note('SECONDARY', lockedOut(403))
  await note('SECONDARY', lockedOut(403))
  expect(check()).toMatchObject({ status: 'down', ready: true })
  expect(lines).toMatchObject([
    { level: 'error', channel: 'PRIMARY', status: 403 },
    { level: 'error', channel: 'SECONDARY', status: 403 },
  ])
  await note('PRIMARY', accepted)
  // A message that is refused for itself was let in.
  await note('SECONDARY', refusedWith(400))
  expect(check()).toMatchObject({ status: 'ok' })
  expect(lines.slice(2)).toMatchObject([
    { level: 'info', channel: 'PRIMARY', failures: 2 },
    { level: 'info', channel: 'SECONDARY', failures: 2 },
  ])
})

test('a channel that leaves requests without an answer is shown and told as well', async () => {
  const { lines, check, note } = healthOf('PRIMARY')
  for (let count = 1; count < failuresMax; count++) await note('PRIMARY', unknown)
  expect([check().status, lines]).toEqual(['ok', []])
  await note('PRIMARY', unknown)
  expect(check()).toMatchObject({ status: 'down', detail: { primary: { up: false } } })
  await note('PRIMARY', accepted)
  expect(check().status).toBe('ok')
  expect(lines).toMatchObject([
    { level: 'error', channel: 'PRIMARY', requests_without_answer: failuresMax },
    { level: 'info', channel: 'PRIMARY' },
  ])
})

test('what waits for its turn says nothing of the channel', async () => {
  const full = { kind: 'unreachable', reason: 'full', isDown: false, retryAfterMs: 1 } as const
  const { check, note } = healthOf('SECONDARY')
  await note('SECONDARY', full)
  expect(check()).toMatchObject({ detail: { secondary: { round_trip_ms: null } } })
  for (let count = 0; count < failuresMax; count++) {
    await note('SECONDARY', unknown)
    await note('SECONDARY', full)
  }
  expect(check()).toMatchObject({ status: 'down', detail: { secondary: { up: false } } })
})

test('a channel that refuses us access is paused, but for one look at a time', async () => {
  let nowMs = 0
  const logger = createLogger({ level: 'error', sink: { write: () => {} } })
  const health = createChannelHealth({ channels: ['PRIMARY'], logger, nowMs: () => nowMs })
  const note = (outcome: MessageOutcome, id = 'a') =>
    health.noted('PRIMARY', async () => [outcome], [id])
  await note(lockedOut(403))
  expect([health.isPaused('PRIMARY'), health.isUp('PRIMARY')]).toEqual([false, true])
  await note(lockedOut(403), 'b')
  expect([health.isPaused('PRIMARY'), health.isUp('PRIMARY')]).toEqual([true, false])
  nowMs += downMs
  expect(health.isPaused('PRIMARY')).toBe(false)
  const look = Promise.withResolvers<readonly MessageOutcome[]>()
  const looking = health.noted('PRIMARY', () => look.promise, ['c'])
  expect(health.isPaused('PRIMARY')).toBe(true)
  look.resolve([lockedOut(401)])
  await looking
  expect(health.isPaused('PRIMARY')).toBe(true)
  nowMs += downMs
  await note(accepted)
  expect([health.isPaused('PRIMARY'), health.isUp('PRIMARY')]).toEqual([false, true])
})

test('one message pauses no channel, however often it is refused, and keeps none paused', async () => {
  let nowMs = 0
  const logger = createLogger({ level: 'error', sink: { write: () => {} } })
  const health = createChannelHealth({ channels: ['PRIMARY'], logger, nowMs: () => nowMs })
  const refuse = (id: string) => health.noted('PRIMARY', async () => [lockedOut(403)], [id])
  for (let count = 0; count <= accessRefusalsMin; count++) await refuse('a')
  // Nobody can tell yet whether it is this message or us: people are told, nothing is held up.
  expect([health.isPaused('PRIMARY'), health.check().status]).toEqual([false, 'down'])
  await refuse('b')
  expect(health.isPaused('PRIMARY')).toBe(true)
  nowMs += downMs
  // What has been refused before looks for nobody: others may go beside it and after it.
  const again = Promise.withResolvers<readonly MessageOutcome[]>()
  const going = health.noted('PRIMARY', () => again.promise, ['a'])
  expect(health.isPaused('PRIMARY')).toBe(false)
  again.resolve([lockedOut(403)])
  await going
  await refuse('b')
  expect([health.isPaused('PRIMARY'), health.check().status]).toEqual([false, 'down'])
  await refuse('c')
  expect(health.isPaused('PRIMARY')).toBe(true)
})

test('beyond those that it knows by name, any message refused pauses the channel anew', async () => {
  let nowMs = 0
  const logger = createLogger({ level: 'error', sink: { write: () => {} } })
  const health = createChannelHealth({ channels: ['PRIMARY'], logger, nowMs: () => nowMs })
  const refuse = (id: number) => health.noted('PRIMARY', async () => [lockedOut(403)], [`${id}`])
  for (let id = 0; id <= refusedMax; id++) await refuse(id)
  nowMs += downMs
  await refuse(refusedMax - 1)
  expect(health.isPaused('PRIMARY')).toBe(false)
  await refuse(refusedMax)
  expect(health.isPaused('PRIMARY')).toBe(true)
})

test('a message that is refused access while others are let in is to blame itself', async () => {
  const { lines, check, noteOf, refuseTogether, isToBlame, isPaused } = healthOf('PRIMARY')
  // Cut in two, the request shows who is meant.
  await refuseTogether('PRIMARY', ['bad', 'sound', 'worse'])
  await noteOf('PRIMARY', 'sound', accepted)
  for (const id of ['bad', 'worse', 'bad', 'worse']) await noteOf('PRIMARY', id, lockedOut(403))
  expect(['bad', 'sound', 'worse'].map((id) => isToBlame('PRIMARY', id))).toEqual([
    true,
    false,
    true,
  ])
  expect([isPaused('PRIMARY'), check().status, lines]).toEqual([false, 'ok', []])
  // Refused before all others, it does not stop them, and shows once they are let in.
  await noteOf('PRIMARY', 'third', lockedOut(403))
  expect([isPaused('PRIMARY'), isToBlame('PRIMARY', 'third')]).toEqual([false, false])
  await noteOf('PRIMARY', 'sound', accepted)
  expect(lines.splice(0)).toMatchObject([{ level: 'error' }, { level: 'info' }])
  for (let count = 0; count < accessRefusalsMin; count++) {
    await noteOf('PRIMARY', 'third', lockedOut(403))
  }
  expect([isPaused('PRIMARY'), check().status, lines]).toEqual([false, 'ok', []])
  // Let in at last, it is as good as any.
  await noteOf('PRIMARY', 'third', accepted)
  expect(isToBlame('PRIMARY', 'third')).toBe(false)
})
