import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { Metadata, status } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { pacs008 } from '../../../support/messages.ts'
import { root } from '../../../support/program.ts'
import { until } from '../../../support/until.ts'
import {
  decodeResponse,
  encodeRequest,
  failure,
  rawClient,
  service,
  startRig,
  withKey,
} from './support.ts'

const request = encodeRequest({ message: Buffer.from(pacs008()) })

const types = protobuf.loadSync(join(root, 'proto/grpc/health/v1/health.proto'))
const requestType = types.lookupType('grpc.health.v1.HealthCheckRequest')
const responseType = types.lookupType('grpc.health.v1.HealthCheckResponse')
const health = '/grpc.health.v1.Health'
const ask = (of: string): Buffer => Buffer.from(requestType.encode({ service: of }).finish())
const statusOf = (bytes: Uint8Array): string =>
  responseType.toObject(responseType.decode(bytes), { enums: String })['status']

describe('health', () => {
  test('Check needs no key and knows the server and its service', async () => {
    const rig = await startRig()
    const client = rawClient(rig.target)
    for (const name of ['', 'spigw.v1.TransformationService']) {
      const { bytes } = await client.unary(`${health}/Check`, ask(name))
      expect(statusOf(bytes)).toBe('SERVING')
    }
    const unknown = await failure(client.unary(`${health}/Check`, ask('nobody')))
    expect(unknown.code).toBe(status.NOT_FOUND)
    const broken = await failure(client.unary(`${health}/Check`, Buffer.from([0x0a, 0xff])))
    expect(broken.code).toBe(status.INVALID_ARGUMENT)
    client.close()
    await rig.stop()
  })

  test('Watch tells of the stop and ends', async () => {
    const rig = await startRig()
    const client = rawClient(rig.target)
    const told = async (name: string) => {
      const call = client.stream(`${health}/Watch`)
      const seen: string[] = []
      const first = Promise.withResolvers<void>()
      call.on('data', (bytes: Buffer) => {
        seen.push(statusOf(bytes))
        first.resolve()
      })
      const ended = once(call, 'end')
      call.end(ask(name))
      await first.promise
      return { seen, ended }
    }
    const [all, unknown] = [await told(''), await told('nobody')]
    await rig.stop()
    await Promise.all([all.ended, unknown.ended])
    expect(all.seen).toEqual(['SERVING', 'NOT_SERVING'])
    expect(unknown.seen).toEqual(['SERVICE_UNKNOWN'])
    client.close()
  })
})

test('while it leaves, every connection is told to go, and one that comes is served', async () => {
  const rig = await startRig()
  const session = connect(`http://${rig.target}`)
  await once(session, 'connect')
  const [[code]] = await Promise.all([
    once(session, 'goaway'),
    once(session, 'close'),
    rig.grpc.leave?.(10_000),
  ])
  expect(code).toBe(0)
  const client = rawClient(rig.target)
  const { bytes } = await client.unary(`${service}/Transform`, request, withKey(rig.key))
  expect(decodeResponse(bytes).status).toBe('SUCCESS')
  expect(statusOf((await client.unary(`${health}/Check`, ask(''))).bytes)).toBe('NOT_SERVING')
  client.close()
  await rig.stop()
})

describe('stopping', () => {
  const openStream = async (stopTimeoutMs?: number) => {
    const rig = await startRig(stopTimeoutMs === undefined ? {} : { stopTimeoutMs })
    const client = rawClient(rig.target)
    const call = client.stream(`${service}/TransformStream`, withKey(rig.key))
    const results: Buffer[] = []
    call.on('data', (bytes: Buffer) => results.push(bytes))
    const ended = Promise.withResolvers<number>()
    call.on('status', ({ code }) => ended.resolve(code))
    call.on('error', () => {})
    call.write(request)
    await once(call, 'data')
    return { rig, client, call, results, ended: ended.promise }
  }

  test('lets a running stream end, and takes no new call', async () => {
    const { rig, client, call, results, ended } = await openStream()
    const stopped = rig.stop()
    const late = rawClient(rig.target)
    const refused = await failure(late.unary(`${service}/Transform`, request, withKey(rig.key)))
    expect(refused.code).toBe(status.UNAVAILABLE)
    late.close()
    call.write(request)
    await once(call, 'data')
    call.end()
    expect(await ended).toBe(status.OK)
    await stopped
    expect(results.map((bytes) => decodeResponse(bytes).status)).toEqual(['SUCCESS', 'SUCCESS'])
    client.close()
  })

  test('cuts off what does not end in time, with UNAVAILABLE', async () => {
    const { rig, client, ended } = await openStream(8_000)
    const before = performance.now()
    await rig.stop()
    // Half of the time; what was told of the end is given a little more to close.
    const tookMs = performance.now() - before
    expect(tookMs).toBeGreaterThanOrEqual(3_999)
    expect(tookMs).toBeLessThan(7_900)
    expect(await ended).toBe(status.UNAVAILABLE)
    await until(() => rig.lines.at(-1)?.includes('"code":"UNAVAILABLE"') === true)
    client.close()
  })

  test('does not wait for idle connections', async () => {
    const rig = await startRig()
    const client = rawClient(rig.target)
    await client.unary(`${health}/Check`, ask(''), new Metadata())
    const before = performance.now()
    await rig.stop()
    // Far from the eight seconds of what does not end.
    expect(performance.now() - before).toBeLessThan(7_000)
    client.close()
  })
})
