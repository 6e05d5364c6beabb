import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { status } from '@grpc/grpc-js'
import { createRooms } from '#src/platform/http/index.ts'
import { pacs008 } from '../../../support/messages.ts'
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
    leave: () => {
      counted.leave()
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
  // Those inside go on, and what the key has no right to takes no room.
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
