import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { status } from '@grpc/grpc-js'
import { callerMsMax, createRooms } from '#src/platform/http/index.ts'
import { lookEveryMs, patienceMs } from '#src/platform/http/limits/callers.ts'
import { requestsMin } from '#src/platform/http/limits/congestion.ts'
import { pacs008 } from '../../../support/messages.ts'
import { timedRooms } from '../../../support/timed-rooms.ts'
import { until } from '../../../support/until.ts'
import { encodeRequest, failure, rawClient, service, startRig, withKey } from './support.ts'

const bound = 3

test('one call more than there is room for is refused at once; the others are served', async () => {
  let shed = 0
  let inside = 0
  const counted = createRooms('spi', bound, () => {
    shed++
  })
  const rooms = {
    ...counted,
    enter: () => {
      counted.enter()
      inside++
    },
    leave: (use?: 'reading' | 'writing') => {
      counted.leave(use)
      inside--
    },
  }
  const rig = await startRig({ rooms })
  const client = rawClient(rig.target)
  const request = encodeRequest({ source_format: 'pacs.008', message: Buffer.from(pacs008()) })
  const unary = () => client.unary(`${service}/Transform`, request, withKey(rig.key))
  const open = async () => {
    const call = client.stream(`${service}/TransformStream`, withKey(rig.key))
    call.on('error', () => {})
    call.write(request)
    // It is inside when it has answered.
    await once(call, 'data')
    return call
  }
  const close = async (call: Awaited<ReturnType<typeof open>>) => {
    const ended = once(call, 'status')
    call.end()
    await ended
  }
  const [first, ...others] = await Promise.all(Array.from({ length: bound }, open))
  const refused = await failure(unary())
  expect(refused.code).toBe(status.UNAVAILABLE)
  expect(refused.metadata.get('grpc-retry-pushback-ms')).toEqual(['1000'])
  expect(shed).toBe(1)
  // The calls inside go on, and a call without the right takes no room.
  const [open1] = others
  open1?.write(request)
  if (open1 !== undefined) await once(open1, 'data')
  const weak = client.unary(`${service}/Transform`, request, withKey(rig.weakKey))
  expect((await failure(weak)).code).toBe(status.PERMISSION_DENIED)
  if (first !== undefined) await close(first)
  // A room is free again, whether the call that had it ended well or was cancelled.
  for (let at = 0; at < 2 * bound; at++) await unary()
  const cancelled = await open()
  cancelled.cancel()
  await Promise.all(others.map(close))
  await until(() => inside === 0)
  await Promise.all(Array.from({ length: bound }, open).map(async (call) => close(await call)))
  expect(shed).toBe(1)
  client.close()
  await rig.stop()
})

test('where more calls come than are done, what is inside is answered and the rest is refused at once', async () => {
  const { rooms, pass } = timedRooms('spi')
  const rig = await startRig({ rooms })
  const client = rawClient(rig.target)
  const request = encodeRequest({ source_format: 'pacs.008', message: Buffer.from(pacs008()) })
  const unary = () => client.unary(`${service}/Transform`, request, withKey(rig.key))
  // Others have been asking for much longer than they should wait: the bound falls to its least.
  const fill = (count: number) => {
    for (let at = 0; at < count; at++) rooms.enter('reading')
  }
  const empty = (count: number) => {
    for (let at = 0; at < count; at++) rooms.leave('reading')
  }
  for (let round = 0; round < 10; round++) {
    fill(requestsMin)
    pass(5_000)
    empty(requestsMin)
  }
  fill(requestsMin - 1)
  await unary()
  // A stream lasts as long as its caller wants, which tells nothing, so it is bounded by its room alone.
  fill(1)
  const refused = await failure(unary())
  expect(refused.code).toBe(status.UNAVAILABLE)
  expect(refused.metadata.get('grpc-retry-pushback-ms')).toEqual(['1000'])
  const stream = client.stream(`${service}/TransformStream`, withKey(rig.key))
  stream.write(request)
  await once(stream, 'data')
  const ended = once(stream, 'status')
  stream.end()
  await ended
  // Work that moves money is judged by itself.
  rooms.enter('writing')
  rooms.leave('writing')
  empty(1)
  await unary()
  // A call that waits for its caller's message takes nobody's time.
  empty(requestsMin - 1)
  client.close()
  await rig.stop()
})

test('calls that wait for their caller hold no room that another needs', async () => {
  const { rooms, pass } = timedRooms('spi', bound)
  const rig = await startRig({ rooms })
  const client = rawClient(rig.target)
  const request = encodeRequest({ source_format: 'pacs.008', message: Buffer.from(pacs008()) })
  const unary = () => client.unary(`${service}/Transform`, request, withKey(rig.key))
  const open = (method: string) => {
    const call = client.stream(`${service}/${method}`, withKey(rig.key))
    const ended = new Promise<number>((resolve) => {
      call.on('error', ({ code }: { readonly code: number }) => resolve(code))
      call.on('end', () => resolve(status.OK))
    })
    call.on('data', () => {})
    return { call, ended }
  }
  const isFull = async () => {
    const refused = await unary().then(
      () => undefined,
      ({ code }: { readonly code: number }) => code,
    )
    return refused === status.UNAVAILABLE
  }
  const spoken = open('TransformStream')
  spoken.call.write(request)
  await once(spoken.call, 'data')
  const silent = open('TransformStream')
  const unended = open('Transform')
  unended.call.write(request)
  await until(isFull)
  await Bun.sleep(lookEveryMs + 100)
  // Who is asked for something again waits from then on.
  pass(patienceMs - 1)
  expect(await isFull()).toBe(true)
  spoken.call.write(request)
  await once(spoken.call, 'data')
  pass(1 + lookEveryMs)
  await unary()
  expect(await Promise.race([silent.ended, unended.ended])).toBe(status.UNAVAILABLE)
  // A stream may be silent as long as it likes where nobody needs its room, a single call may not.
  const late = open('Transform')
  await until(async () => {
    // It may not have come in yet.
    pass(callerMsMax + lookEveryMs)
    return (await Promise.race([late.ended, Bun.sleep(10)])) === status.DEADLINE_EXCEEDED
  })
  spoken.call.write(request)
  await once(spoken.call, 'data')
  spoken.call.end()
  expect(await spoken.ended).toBe(status.OK)
  client.close()
  await rig.stop()
}, 60_000)
