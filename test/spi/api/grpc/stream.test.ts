import { afterAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import http2 from 'node:http2'
import { status } from '@grpc/grpc-js'
import { pacs008 } from '../../../support/messages.ts'
import { until } from '../../../support/until.ts'
import {
  decodeResponse,
  encodeRequest,
  jsonOf,
  type Response,
  rawClient,
  service,
  startRig,
  withKey,
} from './support.ts'

const rig = await startRig()
const client = rawClient(rig.target)

afterAll(async () => {
  client.close()
  await rig.stop()
})

const path = `${service}/TransformStream`
const xml = pacs008()
const identifier = (index: number): string =>
  `E1234567820260302140500${String(index).padStart(9, '0')}`

/** A payment that can be told from the others. */
const numbered = (index: number): Buffer =>
  encodeRequest({
    source_format: 'pacs.008',
    message: Buffer.from(xml.replace(/<EndToEndId>[^<]+/, `<EndToEndId>${identifier(index)}`)),
  })

const open = (metadata = withKey(rig.key), deadlineMs?: number) => {
  const call = client.stream(path, metadata, deadlineMs)
  const ended = Promise.withResolvers<number>()
  call.on('status', ({ code }) => ended.resolve(code))
  call.on('error', () => {})
  return { call, ended: ended.promise }
}

const transformed = async (): Promise<number> => {
  const { text } = await rig.metrics.render()
  const found = /^spigw_transformations_total\{source_type="pacs\.008".*status="success"\} (\d+)$/m
  return Number(found.exec(text)?.[1] ?? 0)
}

describe('TransformStream', () => {
  test('answers a large message in its turn, the last of a stream too', async () => {
    const large = encodeRequest({
      source_format: 'pacs.008',
      message: Buffer.from(pacs008({ transactions: 200 })),
    })
    const { call, ended } = open()
    const counts: unknown[] = []
    call.on('data', (bytes: Buffer) =>
      counts.push(jsonOf(decodeResponse(bytes))['transaction_count']),
    )
    for (const request of [large, numbered(1), large, numbered(2), numbered(3), large])
      call.write(request)
    call.end()
    expect(await ended).toBe(status.OK)
    expect(counts).toEqual([200, 1, 200, 1, 1, 200])
  })

  const itemsCount = 5_000
  test(`answers ${itemsCount} requests in their order, and takes none while its results are not taken`, async () => {
    const before = await transformed()
    const { stream, close } = openHttp2()
    stream.pause()
    const writing = (async () => {
      for (let index = 0; index < itemsCount; index++) {
        if (!stream.write(framed(numbered(index)))) await once(stream, 'drain')
      }
      stream.end()
    })()
    // Nothing is read: what is transformed settles far below what there is.
    await until(async () => (await transformed()) > before)
    let count = -1
    for (let now = await transformed(); now !== count; now = await transformed()) {
      count = now
      await Bun.sleep(500)
    }
    expect(count - before).toBeLessThan(itemsCount / 2)
    let index = 0
    for await (const bytes of messages(stream)) {
      if (jsonOf(decodeResponse(bytes))['end_to_end_id'] !== identifier(index)) {
        throw new Error(`result ${index} is not that of request ${index}`)
      }
      index++
    }
    await writing
    expect(index).toBe(itemsCount)
    close()
  }, 60_000)

  test('answers a bad item by its own status and goes on', async () => {
    const { call, ended } = open()
    const results: Response[] = []
    call.on('data', (bytes: Buffer) => results.push(decodeResponse(bytes)))
    call.write(numbered(1))
    call.write(encodeRequest({ message: Buffer.from('<a>') }))
    call.write(Buffer.from([0x0a, 0xff]))
    call.write(encodeRequest({ source_format: 'cobol' }))
    call.write(Buffer.alloc(0))
    call.write(numbered(2))
    call.end()
    expect(await ended).toBe(status.OK)
    expect(results.map((result) => result.status)).toEqual([
      'SUCCESS',
      'PARSE_ERROR',
      'PARSE_ERROR',
      'UNSUPPORTED_FORMAT',
      'PARSE_ERROR',
      'SUCCESS',
    ])
    expect(jsonOf(results[2] as Response)).toMatchObject({
      code: 'bad_request',
      detail: 'The request ends within a number.',
    })
    expect(jsonOf(results[5] as Response)).toMatchObject({ end_to_end_id: identifier(2) })
  })

  test('ends with DEADLINE_EXCEEDED when its time is over', async () => {
    const { stream, close } = openHttp2({ 'grpc-timeout': '200m' })
    const code = Promise.withResolvers<unknown>()
    const note = (headers: http2.IncomingHttpHeaders): void => {
      if (headers['grpc-status'] !== undefined) code.resolve(headers['grpc-status'])
    }
    // With the headers where nothing was answered before.
    stream.on('response', note)
    stream.on('trailers', note)
    stream.write(framed(numbered(1)))
    stream.resume()
    expect(await code.promise).toBe(String(status.DEADLINE_EXCEEDED))
    await logged('"code":"DEADLINE_EXCEEDED"')
    close()
  })

  test('ends when the client cancels', async () => {
    const { call, ended } = open()
    call.write(numbered(1))
    await once(call, 'data')
    call.cancel()
    expect(await ended).toBe(status.CANCELLED)
    await logged('"code":"CANCELLED"')
  })

  test('needs a key with the scope', async () => {
    const { call, ended } = open(withKey(rig.weakKey))
    call.write(numbered(1))
    expect(await ended).toBe(status.PERMISSION_DENIED)
  })

  const losses = [
    ['is revoked', { revokedAt: new Date(0) }, status.UNAUTHENTICATED],
    ['expires', { expiresAt: new Date(0) }, status.UNAUTHENTICATED],
    ['loses the scope', { grants: ['messages:read'] }, status.PERMISSION_DENIED],
    ['is restricted', { restrictions: { addresses: ['192.0.2.0/24'] } }, status.PERMISSION_DENIED],
  ] as const
  test.each(losses)('answers no further request once its key %s', async (_, change, code) => {
    await using own = await startRig({ keyCacheMs: 0 })
    const ownClient = rawClient(own.target)
    const call = ownClient.stream(path, withKey(own.key))
    const answered: unknown[] = []
    const ended = Promise.withResolvers<number>()
    call.on('data', (bytes: Buffer) =>
      answered.push(jsonOf(decodeResponse(bytes))['end_to_end_id']),
    )
    call.on('status', (told) => ended.resolve(told.code))
    call.on('error', () => {})
    for (const index of [1, 2, 3]) call.write(numbered(index))
    await until(() => answered.length === 3)
    own.changeKey(change)
    call.write(numbered(4))
    call.end()
    expect(await ended.promise).toBe(code)
    expect(answered).toEqual([1, 2, 3].map(identifier))
    ownClient.close()
  })
})

/** Waits for a line of the server's log. */
const logged = (text: string): Promise<void> =>
  until(() => rig.lines.some((line) => line.includes(text)))

/** A call that is nothing but HTTP/2: gRPC's own client reads ahead, whether its results are wanted or not. */
const openHttp2 = (headers: Readonly<Record<string, string>> = {}) => {
  const session = http2.connect(`http://127.0.0.1:${rig.port}`)
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${rig.key}`,
    ...headers,
  })
  return { stream, close: () => session.destroy() }
}

const framed = (message: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

async function* messages(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1)
      yield rest.subarray(5, end)
      rest = rest.subarray(end)
    }
  }
}
