import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import { once } from 'node:events'
import http2 from 'node:http2'
import zlib, { gzipSync } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import { metadataBytesMax } from '#src/spi/api/grpc/calls.ts'
import { messageBytesMax } from '#src/spi/api/grpc/index.ts'
import { pacs008 } from '../../../support/messages.ts'
import { decodeResponse, encodeRequest, service, startRig } from './support.ts'

const rig = await startRig()
const session = http2.connect(`http://127.0.0.1:${rig.port}`)
afterAll(async () => {
  session.close()
  await rig.stop()
})

const authorization = `Bearer ${rig.key}`
const request = encodeRequest({ message: Buffer.from(pacs008()) })

const framed = (message: Uint8Array, isCompressed = false): Buffer => {
  const head = Buffer.alloc(5)
  head[0] = isCompressed ? 1 : 0
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** A call as HTTP/2 carries it, with nothing that a library would add. */
const call = async (
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
  method = 'Transform',
): Promise<{ readonly code: number; readonly answer: Buffer }> => {
  const stream = session.request({
    ':method': 'POST',
    ':path': `${service}/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization,
    ...headers,
  })
  let code = -1
  const chunks: Buffer[] = []
  const note = (received: http2.IncomingHttpHeaders): void => {
    if (received['grpc-status'] !== undefined) code = Number(received['grpc-status'])
  }
  stream.on('response', note)
  stream.on('trailers', note)
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('error', () => {})
  stream.end(body)
  await once(stream, 'close')
  return { code, answer: Buffer.concat(chunks) }
}

const statusesIn = (answers: Buffer): readonly string[] => {
  const statuses: string[] = []
  for (let at = 0; at < answers.length; ) {
    const end = at + 5 + answers.readUInt32BE(at + 1)
    statuses.push(decodeResponse(answers.subarray(at + 5, end)).status)
    at = end
  }
  return statuses
}

test('metadata: names and values may come to the limit, not to one byte more', async () => {
  const name = 'x-long'
  const room = metadataBytesMax - 'authorization'.length - authorization.length - name.length
  const filled = (bytes: number) => call(framed(request), { [name]: 'a'.repeat(bytes) })
  expect((await filled(room)).code).toBe(status.OK)
  expect((await filled(room + 1)).code).toBe(status.RESOURCE_EXHAUSTED)
})

/** A request of so many bytes, whose document is not one. */
const sized = (bytes: number): Buffer => {
  const around = encodeRequest({ message: Buffer.alloc(bytes, ' ') }).length - bytes
  return encodeRequest({ message: Buffer.alloc(bytes - around, ' ') })
}

describe.each(['Transform', 'TransformStream'])('%s', (method) => {
  test('takes a message at the limit and none of one byte more', async () => {
    const largest = await call(framed(sized(messageBytesMax)), {}, method)
    expect(largest.code).toBe(status.OK)
    expect(decodeResponse(largest.answer.subarray(5)).status).toBe('PARSE_ERROR')
    const over = await call(framed(sized(messageBytesMax + 1)), {}, method)
    expect(over.code).toBe(status.RESOURCE_EXHAUSTED)
  })

  test('takes a compressed message that is at the limit when unpacked, and none over it', async () => {
    const zipped = (message: Buffer) =>
      call(framed(gzipSync(message), true), { 'grpc-encoding': 'gzip' }, method)
    const small = await zipped(request)
    expect(small.code).toBe(status.OK)
    expect(decodeResponse(small.answer.subarray(5)).status).toBe('SUCCESS')
    expect((await zipped(sized(messageBytesMax))).code).toBe(status.OK)
    expect((await zipped(sized(messageBytesMax + 1))).code).toBe(status.RESOURCE_EXHAUSTED)
  })

  test('refuses a compression that it does not know', async () => {
    const { code } = await call(framed(request, true), { 'grpc-encoding': 'brotli' }, method)
    expect(code).toBe(status.UNIMPLEMENTED)
  })
})

test('a compressed message waits until those before it are answered', async () => {
  const create = zlib.createGunzip
  let created = 0
  let open = 0
  let openMax = 0
  using _ = spyOn(zlib, 'createGunzip').mockImplementation(() => {
    created++
    openMax = Math.max(openMax, ++open)
    return create().once('end', () => open--)
  })
  const bodies = Array.from({ length: 20 }, (_, index) =>
    index % 5 === 3 ? framed(request) : framed(gzipSync(request), true),
  )
  const { code, answer } = await call(
    Buffer.concat(bodies),
    { 'grpc-encoding': 'gzip' },
    'TransformStream',
  )
  expect(code).toBe(status.OK)
  expect(statusesIn(answer)).toEqual(bodies.map(() => 'SUCCESS'))
  expect([created, openMax]).toEqual([16, 1])
})

describe('a deadline', () => {
  /** A stream that its client holds open after a first request that was answered. */
  const open = async (timeout: string) => {
    const begun = performance.now()
    const stream = session.request({
      ':method': 'POST',
      ':path': `${service}/TransformStream`,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization,
      'grpc-timeout': timeout,
    })
    stream.on('error', () => {})
    const ended = Promise.withResolvers<number | undefined>()
    const note = (headers: http2.IncomingHttpHeaders): void => {
      if (headers['grpc-status'] !== undefined) ended.resolve(Number(headers['grpc-status']))
    }
    stream.on('response', note)
    stream.on('trailers', note)
    stream.on('close', () => ended.resolve(undefined))
    stream.resume()
    stream.write(framed(request))
    return {
      stream,
      ended: ended.promise.then((code) => ({ code, tookMs: performance.now() - begun })),
    }
  }

  test('ends a call when it is over, and not before', async () => {
    const { code, tookMs } = await (await open('300m')).ended
    expect(code).toBe(status.DEADLINE_EXCEEDED)
    expect(tookMs).toBeGreaterThan(290)
  })

  test('that is over already ends it at once', async () => {
    // Where the end overtakes its status, a client tells the status itself: the deadline is its own.
    const { code } = await (await open('1n')).ended
    expect([status.DEADLINE_EXCEEDED, undefined]).toContain(code)
  })

  test.each(['100000m', '30S', '1H', '2592000S', '99999999S', '99999999H'])(
    'of %s leaves a call its time',
    async (timeout) => {
      const { stream, ended } = await open(timeout)
      await once(stream, 'response')
      // Longer than a timer whose time was too much for it takes.
      await Bun.sleep(20)
      stream.write(framed(request))
      stream.end()
      expect((await ended).code).toBe(status.OK)
    },
  )

  test('that cannot be read is an error of the caller', async () => {
    const { code } = await call(framed(request), { 'grpc-timeout': 'soon' })
    expect(code).not.toBe(status.OK)
  })
})
