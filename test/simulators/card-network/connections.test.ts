import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { connectionsMax } from '../../../src/simulators/card-network/network.ts'
import { createNetworkRig, payment, until } from '../../support/card-network.ts'
import { frameOf } from '../../support/raw-peer.ts'

test('a silent network reads and answers nothing, until echo tests find it out', async () => {
  await using rig = await createNetworkRig({ echoMs: 40 })
  rig.simulator.setSilent(true)
  expect((await rig.network.exchange(payment(1), 20)).kind).toBe('timed_out')
  await until(() => rig.network.health().connectionsUp === 0)
  expect(rig.simulator.book()).toEqual([])
  rig.simulator.setSilent(false)
  await until(() => rig.network.health().lastEcho !== undefined)
})

test('its own network management is sent on every connection, and answered', async () => {
  await using rig = await createNetworkRig({ poolSize: 3 })
  rig.simulator.ask('301')
  await until(() => rig.simulator.statistics().received['0810'] === 3)
})

test('connections that it drops come back', async () => {
  await using rig = await createNetworkRig({ poolSize: 2 })
  rig.simulator.dropConnections()
  await until(() => rig.simulator.statistics().connectionsTotal === 4)
  await until(() => rig.network.health().connectionsUp === 2)
  expect((await rig.network.exchange(payment(1), 20_000)).kind).toBe('answered')
})

test('payments before the sign-on close the connection, where that is asked for', async () => {
  await using rig = await createNetworkRig({}, { needsSignOn: true })
  expect((await rig.network.exchange(payment(1), 20_000)).kind).toBe('connection_lost')
  expect(rig.simulator.statistics().refused).toBe(1)
  expect(rig.simulator.book()).toEqual([])
})

test('it takes messages cut anywhere, and closes on what is none', async () => {
  await using rig = await createNetworkRig({ poolSize: 1 })
  const socket = connect(rig.simulator.port(), '127.0.0.1')
  let answered = 0
  let isClosed = false
  socket.on('data', (chunk) => {
    answered += chunk.length
  })
  socket.on('close', () => {
    isClosed = true
  })
  socket.on('error', () => undefined)
  const frame = frameOf(payment(1))
  for (const byte of frame) {
    socket.write(Uint8Array.of(byte))
    await Bun.sleep(0)
  }
  await until(() => answered > 0)
  expect(rig.simulator.book().length).toBe(1)
  socket.write(new Uint8Array(100).fill(0x58))
  await until(() => isClosed)
  expect(rig.simulator.statistics().refused).toBe(1)
})

test('it holds as many connections as it may, and closes one more', async () => {
  await using rig = await createNetworkRig({ poolSize: connectionsMax })
  expect(rig.simulator.statistics().connections).toBe(connectionsMax)
  const closed = Promise.withResolvers<void>()
  const socket = connect(rig.simulator.port(), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.on('close', () => closed.resolve())
  socket.resume()
  await closed.promise
  expect(rig.simulator.statistics().connections).toBe(connectionsMax)
})
