import { expect, test } from 'bun:test'
import { once } from 'node:events'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { pacs008 } from '../../../support/messages.ts'
import { encodeRequest, rawClient, service, startRig, withKey } from './support.ts'

const frameHeadBytes = 9
const ping = 6
const acknowledged = 1
const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  // Settings without any.
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
])

test('a connection whose other end does not answer pings is closed, one that does stays', async () => {
  const times = { keepaliveMs: 200, keepaliveTimeoutMs: 1_500 }
  const rig = await startRig({ times })
  const polite = http2.connect(`http://127.0.0.1:${rig.port}`)
  let asked = 0
  polite.on('ping', () => asked++)
  await once(polite, 'connect')
  const silent = connect(rig.port, '127.0.0.1')
  const types: number[] = []
  silent.on('data', (bytes: Buffer) => {
    for (let at = 0; at + frameHeadBytes <= bytes.length; ) {
      if (((bytes[at + 4] ?? 0) & acknowledged) === 0) types.push(bytes[at + 3] ?? -1)
      at += frameHeadBytes + bytes.readUIntBE(at, 3)
    }
  })
  const begun = performance.now()
  silent.write(preface)
  await once(silent, 'close')
  expect(performance.now() - begun).toBeGreaterThan(
    times.keepaliveMs + times.keepaliveTimeoutMs - 50,
  )
  expect(types).toContain(ping)
  while (asked < 3) await once(polite, 'ping')
  expect(polite.closed).toBe(false)
  polite.destroy()
  await rig.stop()
})

test('a connection without calls is told to go and closed; one with a call stays', async () => {
  const idleMs = 250
  const rig = await startRig({ times: { idleMs } })
  const client = rawClient(rig.target)
  const call = client.stream(`${service}/TransformStream`, withKey(rig.key))
  const status = Promise.withResolvers<number>()
  call.on('status', ({ code }) => status.resolve(code))
  call.on('error', () => {})
  const request = encodeRequest({ message: Buffer.from(pacs008()) })
  call.write(request)
  await once(call, 'data')
  const idle = http2.connect(`http://127.0.0.1:${rig.port}`)
  const begun = performance.now()
  const [[code]] = await Promise.all([once(idle, 'goaway'), once(idle, 'close')])
  expect(code).toBe(http2.constants.NGHTTP2_NO_ERROR)
  expect(performance.now() - begun).toBeGreaterThan(idleMs - 50)
  call.write(request)
  await once(call, 'data')
  call.end()
  expect(await status.promise).toBe(0)
  client.close()
  await rig.stop()
})
