import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createLogger, createMetrics } from '#src/platform/observe/index.ts'
import { createNetwork, createNetworkMetrics } from '../../../src/cards/networks/index.ts'
import { networkOptions, payment, until } from '../../support/card-network.ts'
import { approvalOf, createRawPeer, frameOf, type RawConnection } from '../../support/raw-peer.ts'

test('a network that sends nonsense a hundred times is a network again when it stops', async () => {
  const answer = frameOf(approvalOf(payment(77)))
  const damaged = fc
    .tuple(fc.nat({ max: answer.length - 1 }), fc.nat({ max: 255 }), fc.nat({ max: answer.length }))
    .map(([at, byte, end]) => {
      const bytes = answer.slice(0, Math.max(end, 1))
      if (at < bytes.length) bytes[at] = byte
      return bytes
    })
  const chunks = fc.sample(fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 300 }), damaged), {
    numRuns: 100,
    seed: 8583,
  })
  const good: RawConnection[] = []
  using peer = createRawPeer(({ send }, message) => send(frameOf(approvalOf(message))), {
    onOpen: (connection) => {
      const { send, socket } = connection
      const chunk = chunks.pop()
      if (chunk === undefined) {
        good.push(connection)
        return
      }
      send(chunk)
      // What is a whole message, or the beginning of one, is no reason to close.
      setTimeout(() => socket.end(), 2)
    },
  })
  const network = createNetwork(
    networkOptions(peer.port, { poolSize: 8, reconnect: { backoffFirstMs: 1, backoffMaxMs: 3 } }),
  )
  network.start()
  await until(() => good.length === 8 && network.health().connectionsUp === 8)
  const outcomes = await Promise.all(
    Array.from({ length: 80 }, (_, index) => network.exchange(payment(index + 1), 20_000)),
  )
  expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'answered'))
  await network.stop()
})

test('a flood of answers that nobody asked for is counted in full and logged in part', async () => {
  const lines: string[] = []
  const metrics = createMetrics({ version: '1', withProcess: false })
  using peer = createRawPeer(() => undefined)
  const network = createNetwork(
    networkOptions(peer.port, {
      logger: createLogger({ level: 'warn', sink: { write: (line) => lines.push(line) } }),
      metrics: createNetworkMetrics(metrics),
    }),
  )
  network.start()
  await until(() => network.health().connectionsUp === 1)
  const frame = frameOf(approvalOf(payment(1)))
  peer.connections[0]?.send(Buffer.concat(Array.from({ length: 1_000 }, () => frame)))
  const counted = async () => (await metrics.render()).text
  await until(() => lines.length > 0)
  const startedMs = performance.now()
  while (!(await counted()).includes('cardgw_network_late_answers_total{network="neta"} 1000')) {
    await Bun.sleep(5)
  }
  const seconds = Math.ceil((performance.now() - startedMs) / 1_000)
  expect(lines.length).toBeLessThanOrEqual(20 * (seconds + 1))
  expect(lines.join('')).not.toContain('4000000000000002')
  await network.stop()
})
