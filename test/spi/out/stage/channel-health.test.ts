import { expect, test } from 'bun:test'
import { createLogger } from '#src/platform/observe/index.ts'
import type { Channel } from '#src/spi/messages/index.ts'
import { createChannelHealth, failuresMax } from '../../../../src/spi/out/stage/channel-health.ts'
import type { MessageOutcome } from '../../../../src/spi/out/stage/transport.ts'

const accepted: MessageOutcome = { kind: 'accepted', resourceId: 'R', channel: 'PRIMARY' }
const unknown: MessageOutcome = { kind: 'unknown', reason: 'no answer' }
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
  return {
    lines,
    check: health.check,
    note: (channel: Channel, outcome: MessageOutcome) =>
      health.noted(channel, async () => [outcome]),
  }
}

test('refused access is told once, with the remedy, and shown until a message is taken', async () => {
  const { lines, check, note } = healthOf('PRIMARY', 'SECONDARY')
  expect(check()).toMatchObject({ status: 'ok', ready: true })
  await note('PRIMARY', refusedWith(403))
  await note('PRIMARY', refusedWith(401))
  // Says nothing of access.
  await note('PRIMARY', unknown)
  expect(check()).toEqual({
    status: 'degraded',
    ready: true,
    detail: {
      primary: { up: true, access_refused: true, refusals: 2 },
      secondary: { up: true, access_refused: false, refusals: 0 },
    },
  })
  await note('SECONDARY', refusedWith(403))
  expect(check()).toMatchObject({ status: 'down', ready: true })
  const remedy = 'trilho dlq retry --all --code access_refused'
  expect(lines).toMatchObject([
    { level: 'error', channel: 'PRIMARY', status: 403, remedy },
    { level: 'error', channel: 'SECONDARY', status: 403, remedy },
  ])
  await note('PRIMARY', accepted)
  // A message that is refused for itself was let in.
  await note('SECONDARY', refusedWith(400))
  expect(check()).toMatchObject({ status: 'ok' })
  expect(lines.slice(2)).toMatchObject([
    { level: 'info', channel: 'PRIMARY', failures: 2, remedy },
    { level: 'info', channel: 'SECONDARY', failures: 1, remedy },
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
