import { beforeEach, expect, test } from 'bun:test'
import { Outbound } from '../../../src/cards/networks/outbound.ts'
import { networkOptions } from '../../support/card-network.ts'

const frame = new Uint8Array(100).fill(0x41)
const enoughMs = 60_000
/** Bytes that the kernel took, and how many more it takes. */
let taken = 0
let room = 0
let stale = 0
let outbound: Outbound

beforeEach(() => {
  ;[taken, room, stale] = [0, Number.POSITIVE_INFINITY, 0]
  const write = ({ length }: Uint8Array): number => {
    const now = Math.min(length, room)
    taken += now
    room -= now
    return now
  }
  outbound = new Outbound(networkOptions(1), write, () => stale++)
})

test('frames go while their time lasts, those of one turn together', async () => {
  outbound.appendBytes(frame, enoughMs)
  outbound.appendBytes(frame, enoughMs)
  expect(taken).toBe(0)
  await Bun.sleep(0)
  expect([taken, stale]).toEqual([204, 0])
})

test('no byte of a frame goes whose time is over, however often it is tried', async () => {
  outbound.appendBytes(frame, 5)
  Bun.sleepSync(6)
  await Bun.sleep(0)
  outbound.flush()
  expect([taken, stale]).toEqual([0, 1])
})

test('the rest of a frame does not go when its time is over', () => {
  room = 60
  outbound.appendBytes(frame, 5)
  outbound.flush()
  expect(taken).toBe(60)
  Bun.sleepSync(6)
  outbound.flush()
  expect([taken, stale]).toEqual([60, 1])
})

test('what the kernel has no longer counts', async () => {
  room = 0
  outbound.appendBytes(frame, 20)
  await Bun.sleep(0)
  outbound.appendBytes(frame, enoughMs)
  room = 150
  outbound.flush()
  Bun.sleepSync(21)
  room = Number.POSITIVE_INFINITY
  outbound.flush()
  expect([taken, stale]).toEqual([204, 0])
})

test('of frames of one turn, the one with the least time counts', () => {
  outbound.appendBytes(frame, enoughMs)
  outbound.appendBytes(frame, 5)
  outbound.appendBytes(frame, enoughMs)
  Bun.sleepSync(6)
  outbound.flush()
  expect([taken, stale]).toEqual([0, 1])
})

test('after a new beginning, what was too late is forgotten', async () => {
  outbound.appendBytes(frame, 5)
  Bun.sleepSync(6)
  outbound.flush()
  outbound.clear()
  outbound.appendBytes(frame, enoughMs)
  await Bun.sleep(0)
  expect([taken, stale]).toEqual([102, 1])
})
