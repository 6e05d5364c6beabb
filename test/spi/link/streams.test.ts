import { afterAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { InterfaceError, StreamGoneError, TooManyStreamsError } from '#src/spi/link/index.ts'
import { createCentralBank } from '../../../src/simulators/central-bank/index.ts'
import { UncutAnswerError } from '../../../src/spi/link/errors.ts'
import { answerBytesMax } from '../../../src/spi/link/exchange.ts'
import { until } from '../../support/until.ts'
import { answer, interfaceClient, ispb, openEnded, type RawAnswer, rawServer } from './support.ts'

const nextHeader = { 'PI-Pull-Next': `/api/v1/out/${ispb}/stream/t2?x=1` }
const multipart = Buffer.from(
  '--simple boundary\r\nContent-Type: application/xml\r\nPI-ResourceId: r1\r\n\r\n<a/>\r\n' +
    '--simple boundary\r\nPI-ResourceId: r2\r\n\r\n<b/>\r\n--simple boundary--\r\n',
)
const multipartHeaders = {
  ...nextHeader,
  'Content-Type': 'multipart/mixed; boundary="simple boundary"',
}

const opened = async (
  replies: readonly RawAnswer[],
  work: (client: ReturnType<typeof interfaceClient>) => Promise<void>,
  more: Parameters<typeof interfaceClient>[1] = {},
) => {
  const server = rawServer((_, count) => replies[count - 1] ?? 'cut')
  await work(interfaceClient({ PRIMARY: server.url }, more))
  server.stop()
  return server.requests.map(({ lines }) => lines)
}

const thrownBy = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

describe('a read stream', () => {
  test('start, next as it was given, DELETE; only headers the interface knows', async () => {
    const requests = await opened(
      [
        answer(200, multipartHeaders, multipart),
        answer(204, { 'PI-Pull-Next': 'http://127.0.0.1/elsewhere' }),
        answer(200, { ...multipartHeaders, 'Content-Encoding': 'gzip' }, gzipSync(multipart)),
        answer(200),
      ],
      async (client) => {
        const stream = await client.openStream('PRIMARY')
        const texts = async () =>
          (await stream.next()).map(
            ({ resourceId, xml }) => `${resourceId} ${Buffer.from(xml).toString()}`,
          )
        expect(await texts()).toEqual(['r1 <a/>', 'r2 <b/>'])
        expect(await texts()).toEqual([])
        expect(await texts()).toEqual(['r1 <a/>', 'r2 <b/>'])
        await stream.close()
      },
    )
    expect(requests.map(([line]) => line)).toEqual([
      `GET /api/v1/out/${ispb}/stream/start HTTP/1.1`,
      `GET /api/v1/out/${ispb}/stream/t2?x=1 HTTP/1.1`,
      'GET /elsewhere HTTP/1.1',
      `DELETE /api/v1/out/${ispb}/stream/t2?x=1 HTTP/1.1`,
    ])
    expect([...(requests[1] ?? [])].slice(1).sort()).toEqual([
      'Accept-Encoding: gzip',
      'Accept: multipart/mixed',
      'Connection: keep-alive',
      'Host: 127.0.0.1',
      'User-Agent: Trilho',
    ])
  })

  test('a single message comes without multipart', async () => {
    const headers = { ...nextHeader, 'Content-Type': 'application/xml', 'PI-ResourceId': 'r9' }
    await opened([answer(200, headers, '<a/>'), answer(410)], async (client) => {
      const stream = await client.openStream('PRIMARY')
      expect((await stream.next())[0]?.resourceId).toBe('r9')
      await stream.close()
    })
  })

  test('410 and 429 have errors of their own, the rest names status and problem', async () => {
    await opened([answer(204, nextHeader), answer(410)], async (client) => {
      const stream = await client.openStream('PRIMARY')
      expect(await stream.next()).toEqual([])
      expect(await thrownBy(stream.next())).toBeInstanceOf(StreamGoneError)
    })
    await opened([answer(429, { 'Retry-After': '3' })], async (client) => {
      const full = await thrownBy(client.openStream('PRIMARY'))
      expect(full).toBeInstanceOf(TooManyStreamsError)
      expect(full).toMatchObject({ retryAfterMs: 3_000 })
    })
    const problem = '<problem xmlns="urn:ietf:rfc:7807"><type>https://x/y</type></problem>'
    await opened([answer(400, {}, problem)], async (client) => {
      const refused = await thrownBy(client.openStream('PRIMARY'))
      expect(refused).toMatchObject({ status: 400, problem: { type: 'https://x/y' } })
    })
  })

  test.each([
    ['no PI-Pull-Next', answer(204)],
    ['PI-Pull-Next of another host', answer(204, { 'PI-Pull-Next': 'https://evil.example/x' })],
    ['an endless PI-Pull-Next', answer(204, { 'PI-Pull-Next': `/${'x'.repeat(2_048)}` })],
    ['a cut connection', 'cut'],
  ] as const)('%s is an error, and nothing is confirmed', async (_, reply) => {
    const requests = await opened([reply], async (client) => {
      expect(await thrownBy(client.openStream('PRIMARY'))).toBeInstanceOf(InterfaceError)
    })
    expect(requests).toHaveLength(1)
  })

  const soon = { readAgainMs: 20, timeoutSeconds: 60 }
  const idsOf = (messages: readonly { readonly resourceId: string | undefined }[]) =>
    messages.map(({ resourceId }) => resourceId)

  test('a read that hangs is asked again beside it, and any of the two may answer', async () => {
    const requests = await opened(
      [answer(204, nextHeader), 'silent', 'silent', answer(200, multipartHeaders, multipart)],
      async (client) => {
        const stream = await client.openStream('PRIMARY')
        await stream.next()
        expect(idsOf(await stream.next())).toEqual(['r1', 'r2'])
      },
      soon,
    )
    expect(requests.map(([line]) => line?.split(' ')[1]).slice(1)).toEqual(
      Array.from({ length: 3 }, () => nextHeader['PI-Pull-Next']),
    )
  })

  test('the request that opens a stream is asked again beside it, too', async () => {
    const requests = await opened(
      ['silent', 'silent', answer(200, multipartHeaders, multipart)],
      async (client) => {
        const stream = await client.openStream('PRIMARY')
        expect(idsOf(await stream.next())).toEqual(['r1', 'r2'])
      },
      soon,
    )
    const asked = requests.map(([line]) => line?.split(' ')[1]?.split('/').at(-1))
    expect(asked.slice(0, 3)).toEqual(['start', 'start', 'start'])
  })

  test.each([
    ['nothing is closed', 204, []],
    ['messages is read, and closed once the next read confirms it', 200, ['r1', 'r2']],
  ])('a stream that was opened twice, and late with %s', async (_, status, ids) => {
    const held: Array<() => void> = []
    const asked: string[] = []
    const bank = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async ({ method, url }) => {
        const place = new URL(url).pathname.split('/').at(-1)
        asked.push(`${method} ${place}`)
        const starts = asked.filter((one) => one === 'GET start').length
        if (method === 'DELETE') return new Response()
        if (place !== 'start' || starts > 1) {
          return new Response(null, { status: 204, headers: nextHeader })
        }
        await new Promise<void>((resolve) => held.push(resolve))
        const headers = { ...multipartHeaders, 'PI-Pull-Next': `/api/v1/out/${ispb}/stream/late` }
        return new Response(status === 200 ? multipart : null, { status, headers })
      },
    })
    const url = `http://127.0.0.1:${bank.port}`
    const stream = await interfaceClient({ PRIMARY: url }, soon).openStream('PRIMARY')
    expect(await stream.next()).toEqual([])
    for (const release of held) release()
    const read: (string | undefined)[] = []
    await until(async () => {
      const before = read.length
      read.push(...idsOf(await stream.next()))
      const isClosed = asked.includes('DELETE late')
      // Nothing confirms what has just come.
      expect(read.length > before && isClosed).toBeFalse()
      return isClosed
    })
    expect(read).toEqual([...ids])
    expect(asked.filter((one) => one === 'DELETE late')).toHaveLength(1)
    await stream.close()
    await bank.stop(true)
  })

  test.each([429, 410, 503, 400])(
    'an interface that answers %d to the second of two equal reads is waited for with the first',
    async (status) => {
      const held: Array<() => void> = []
      const bank = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: async () => {
          asked++
          if (asked === 1) return new Response(null, { status: 204, headers: nextHeader })
          if (asked > 2) {
            for (const release of asked > 4 ? held.splice(0) : []) release()
            return new Response('', { status })
          }
          await new Promise<void>((resolve) => held.push(resolve))
          return new Response(multipart, { headers: multipartHeaders })
        },
      })
      let asked = 0
      const url = `http://127.0.0.1:${bank.port}`
      const stream = await interfaceClient({ PRIMARY: url }, soon).openStream('PRIMARY')
      await stream.next()
      expect(idsOf(await stream.next())).toEqual(['r1', 'r2'])
      await bank.stop(true)
    },
  )

  test('one that ends the first of two equal reads is waited for with the second', async () => {
    const held: Array<(response: Response) => void> = []
    let asked = 0
    const bank = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => {
        asked++
        if (asked === 1) return new Response(null, { status: 204, headers: nextHeader })
        for (const end of held.splice(0)) end(new Response('', { status: 503 }))
        if (asked > 4) return new Response(multipart, { headers: multipartHeaders })
        return new Promise<Response>((resolve) => held.push(resolve))
      },
    })
    const url = `http://127.0.0.1:${bank.port}`
    const stream = await interfaceClient({ PRIMARY: url }, soon).openStream('PRIMARY')
    await stream.next()
    expect(idsOf(await stream.next())).toEqual(['r1', 'r2'])
    await bank.stop(true)
  })

  const lines = multipart.toString().replaceAll('\r\n', '\n')
  test.each([
    ['no boundary', { ...nextHeader, 'Content-Type': 'multipart/mixed' }, multipart.toString()],
    ['no Content-Type', nextHeader, multipart.toString()],
    ['lines that end by LF', multipartHeaders, lines],
    [
      'a header line that is none',
      multipartHeaders,
      multipart.toString().replace('PI-', 'none\r\nPI-'),
    ],
  ])('is read with %s', async (_, headers, body) => {
    await opened([answer(200, headers, body)], async (client) => {
      const messages = await (await client.openStream('PRIMARY')).next()
      const told = messages.map(({ resourceId, xml }) => `${resourceId} ${Buffer.from(xml)}`)
      expect(told).toEqual(['r1 <a/>', 'r2 <b/>'])
    })
  })

  test('an answer that cannot be cut tells its bytes and what can, and is taken as read when asked', async () => {
    const cut = multipart.subarray(0, -30)
    const requests = await opened(
      [
        answer(200, multipartHeaders, cut),
        answer(200, { ...multipartHeaders, 'PI-Pull-Next': '/third' }, cut),
        answer(200, { ...multipartHeaders, 'PI-Pull-Next': '/third' }, cut),
        answer(204, { 'PI-Pull-Next': '/fourth' }),
      ],
      async (client) => {
        const stream = await client.openStream('PRIMARY')
        const uncut = async () => (await thrownBy(stream.next())) as UncutAnswerError
        const first = await uncut()
        expect(first).toBeInstanceOf(UncutAnswerError)
        expect(first).toMatchObject({ isRepeatable: false, code: 'multipart_truncated' })
        expect(Buffer.compare(first.answer.body, cut)).toBe(0)
        expect(first.messages.map(({ resourceId }) => resourceId)).toEqual(['r1'])
        stream.takeAsRead(first)
        const second = await uncut()
        expect(second).toMatchObject({ isRepeatable: true, digest: first.digest })
        expect((await uncut()).digest).toBe(second.digest)
        stream.takeAsRead(second)
        expect(await stream.next()).toEqual([])
      },
    )
    expect(requests.map(([line]) => line?.split(' ')[1])).toEqual([
      `/api/v1/out/${ispb}/stream/start`,
      `/api/v1/out/${ispb}/stream/t2?x=1`,
      `/api/v1/out/${ispb}/stream/t2?x=1`,
      '/third',
    ])
  })

  test('an answer that is not compressed as it says is told with its bytes', async () => {
    const headers = { ...nextHeader, 'Content-Encoding': 'gzip', 'Content-Type': 'application/xml' }
    const garbled = answer(200, headers, Buffer.from([0x1f, 0x8b, ...Buffer.from('no gzip')]))
    await opened([answer(204, nextHeader), garbled], async (client) => {
      const stream = await client.openStream('PRIMARY')
      await stream.next()
      const error = (await thrownBy(stream.next())) as UncutAnswerError
      expect(error).toMatchObject({ code: 'content_encoding', isRepeatable: true, messages: [] })
      expect(Buffer.from(error.answer.body).toString()).toEndWith('no gzip')
    })
  })

  test('an answer that says that it is compressed, and is not, is read as it stands', async () => {
    const headers = { ...nextHeader, 'Content-Type': 'multipart/mixed; boundary=b' }
    const plain = '--b\r\nPI-ResourceId: r1\r\n\r\n<a/>\r\n--b--'
    const lying = answer(200, { ...headers, 'Content-Encoding': 'gzip' }, plain)
    await opened([answer(204, nextHeader), lying], async (client) => {
      const stream = await client.openStream('PRIMARY')
      await stream.next()
      expect(idsOf(await stream.next())).toEqual(['r1'])
    })
  })

  test('an answer that opens a stream is asked for once, whatever it says of its compression', async () => {
    const headers = { ...multipartHeaders, 'Content-Encoding': 'gzip' }
    for (const body of [multipart, gzipSync(multipart)]) {
      const requests = await opened([answer(200, headers, body)], async (client) => {
        expect(idsOf(await (await client.openStream('PRIMARY')).next())).toEqual(['r1', 'r2'])
      })
      expect(requests).toHaveLength(1)
    }
  })

  const envelope = Buffer.from('<Envelope>of a message</Envelope>')

  test('a document without a declared length is taken if it ends as a message does', async () => {
    const headers = { ...nextHeader, 'Content-Type': 'application/xml', 'PI-ResourceId': 'r9' }
    const cut = openEnded(headers, envelope.toString().slice(0, 20))
    const whole = openEnded(headers, `${envelope}\n`)
    await opened([answer(204, nextHeader), cut, whole], async (client) => {
      const stream = await client.openStream('PRIMARY')
      await stream.next()
      const error = await thrownBy(stream.next())
      expect(error).toMatchObject({ code: 'single', isRepeatable: true, messages: [] })
      expect(idsOf(await stream.next())).toEqual(['r9'])
    })
  })

  const [zippedMany, zippedOne] = [gzipSync(multipart), gzipSync(envelope)]
  const ofOne = { ...nextHeader, 'Content-Type': 'application/xml', 'PI-ResourceId': 'r9' }
  const behind = (zipped: Uint8Array, bytes: string) => Buffer.concat([zipped, Buffer.from(bytes)])

  test.each([
    ['bytes of zero behind it', multipartHeaders, behind(zippedMany, '\0\0'), ['r1', 'r2']],
    ['other bytes behind it', multipartHeaders, behind(zippedMany, 'behind'), ['r1', 'r2']],
    ['no checksum', multipartHeaders, zippedMany.subarray(0, -8), ['r1', 'r2']],
    ['bytes of zero behind its one message', ofOne, behind(zippedOne, '\0\0'), ['r9']],
  ])('a compressed answer that opens a stream is read with %s', async (_, given, body, ids) => {
    const headers = { ...given, 'Content-Encoding': 'gzip' }
    await opened([answer(200, headers, body)], async (client) => {
      expect(idsOf(await (await client.openStream('PRIMARY')).next())).toEqual(ids)
    })
  })

  test.each([
    ['messages', multipartHeaders, gzipSync(multipart, { level: 0 }).subarray(0, -40), ['r1']],
    ['one message', ofOne, zippedOne.subarray(0, -12), []],
    ['a beginning alone', multipartHeaders, zippedMany.subarray(0, 10), []],
  ])(
    'a compressed answer of %s, cut, is told with what is whole in it',
    async (_, given, body, ids) => {
      const headers = { ...given, 'Content-Encoding': 'gzip' }
      const requests = await opened([answer(200, headers, body)], async (client) => {
        const error = await thrownBy((await client.openStream('PRIMARY')).next())
        const code = ids.length > 0 ? 'multipart_truncated' : 'content_encoding'
        expect(error).toMatchObject({ code, isRepeatable: false })
        expect(idsOf((error as UncutAnswerError).messages)).toEqual(ids)
      })
      expect(requests).toHaveLength(1)
    },
  )

  test('a message without PI-ResourceId, or with one that is empty or too long, is a message all the same', async () => {
    const xmlHeaders = { ...nextHeader, 'Content-Type': 'application/xml' }
    const parts = ['', 'r2', 'x'.repeat(255), 'x'.repeat(256)]
      .map((id) => `--b\r\nPI-ResourceId: ${id}\r\n\r\n<a/>\r\n`)
      .concat('--b--')
      .join('')
    await opened(
      [
        answer(200, xmlHeaders, '<a/>'),
        answer(200, { ...nextHeader, 'Content-Type': 'multipart/mixed; boundary=b' }, parts),
      ],
      async (client) => {
        const stream = await client.openStream('PRIMARY')
        expect((await stream.next()).map(({ resourceId }) => resourceId)).toEqual([undefined])
        expect((await stream.next()).map(({ resourceId }) => resourceId)).toEqual([
          undefined,
          'r2',
          'x'.repeat(255),
          undefined,
        ])
      },
    )
  })

  const started = answer(204, nextHeader)
  test.each([
    ['no answer', 'silent'],
    ['500', answer(500)],
    ['a body cut short', answer(200, multipartHeaders, multipart.subarray(0, -8))],
    ['no PI-Pull-Next', answer(204)],
  ] as const)(
    'after %s the same read is made again; what it may have held is not confirmed',
    async (_, bad) => {
      const times = bad === 'silent' ? { timeoutSeconds: 1 } : {}
      const again = await opened(
        [started, bad, answer(200, multipartHeaders, multipart), answer(200)],
        async (client) => {
          const stream = await client.openStream('PRIMARY')
          expect(await stream.next()).toEqual([])
          expect(await thrownBy(stream.next())).toBeInstanceOf(InterfaceError)
          expect(await stream.next()).toHaveLength(2)
          await stream.close()
        },
        times,
      )
      expect(again.map(([line]) => line?.split(' ')[0])).toEqual(['GET', 'GET', 'GET', 'DELETE'])
      expect(again[2]).toEqual(again[1] ?? [])
      // A DELETE confirms what the interface delivered last, which nobody has seen.
      const left = await opened(
        [started, bad],
        async (client) => {
          const stream = await client.openStream('PRIMARY')
          await stream.next()
          await thrownBy(stream.next())
          await stream.close()
        },
        times,
      )
      expect(left).toHaveLength(2)
    },
  )

  test('what opened it is confirmed only once somebody has seen it; an empty answer at once', async () => {
    for (const [first, requests] of [
      [answer(200, multipartHeaders, multipart), 1],
      [answer(200, multipartHeaders, Buffer.from('--simple boundary\r\n')), 1],
      [started, 2],
    ] as const) {
      const left = await opened([first, answer(200)], async (client) => {
        await (await client.openStream('PRIMARY')).close()
      })
      expect(left).toHaveLength(requests)
    }
  })

  test.each([403, 429])('after %d, which delivers nothing, a stream is closed', async (status) => {
    const requests = await opened([started, answer(status), answer(200)], async (client) => {
      const stream = await client.openStream('PRIMARY')
      await stream.next()
      expect(await thrownBy(stream.next())).toMatchObject({ status })
      await stream.close()
    })
    expect(requests[2]?.[0]).toBe(`DELETE /api/v1/out/${ispb}/stream/t2?x=1 HTTP/1.1`)
  })

  test('an answer of the largest size is taken, one byte more is not', async () => {
    const compressed = { ...nextHeader, 'Content-Encoding': 'gzip', 'PI-ResourceId': 'r1' }
    const zeros = (bytes: number) => gzipSync(new Uint8Array(bytes), { level: 1 })
    const large = (bytes: number) =>
      opened([answer(200, compressed, zeros(bytes))], async (client) => {
        const [message] = await (await client.openStream('PRIMARY')).next()
        expect(message?.xml.length).toBe(answerBytesMax)
      })
    await large(answerBytesMax)
    const error = (await thrownBy(large(answerBytesMax + 1))) as UncutAnswerError
    expect(error).toMatchObject({ code: 'too_large', messages: [] })
    expect(error.answer.body.length).toBe(answerBytesMax)
  })

  test('gives up when asked to', async () => {
    const server = rawServer(() => 'silent')
    const giveUp = new AbortController()
    const opening = interfaceClient({ PRIMARY: server.url }).openStream('PRIMARY', giveUp.signal)
    giveUp.abort()
    expect(await thrownBy(opening)).toBeInstanceOf(InterfaceError)
    server.stop()
  })
})

describe('with the simulated central bank', () => {
  const started = createCentralBank({ longPollMs: 50 })
  afterAll(async () => (await started).stop())

  test('six streams a channel, counted here as well', async () => {
    const bank = await started
    const client = interfaceClient({ PRIMARY: bank.url, SECONDARY: bank.secondaryUrl })
    const six = await Promise.all(Array.from({ length: 6 }, () => client.openStream('PRIMARY')))
    expect(await thrownBy(client.openStream('PRIMARY'))).toBeInstanceOf(TooManyStreamsError)
    const another = interfaceClient({ PRIMARY: bank.url })
    expect(await thrownBy(another.openStream('PRIMARY'))).toMatchObject({ retryAfterMs: 1_000 })
    const other = await client.openStream('SECONDARY')
    await Promise.all([...six, other].map((stream) => stream.close()))
    await (await client.openStream('PRIMARY')).close()
  })

  test('every message is delivered once to a reader that confirms', async () => {
    const bank = await started
    const client = interfaceClient({ PRIMARY: bank.url })
    for (let index = 0; index < 12; index++) bank.payIn({ to: ispb, amountCents: 100n })
    const stream = await client.openStream('PRIMARY')
    const seen: (string | undefined)[] = []
    while (seen.length < 12) seen.push(...(await stream.next()).map(({ resourceId }) => resourceId))
    await stream.close()
    expect(new Set(seen).size).toBe(12)
    const again = await client.openStream('PRIMARY')
    expect(await again.next()).toEqual([])
    await again.close()
  })
})
