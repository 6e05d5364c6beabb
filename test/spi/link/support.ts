import { createMetrics } from '#src/platform/observe/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import { createInterfaceClient, type InterfaceClient } from '#src/spi/link/index.ts'
import type { Channel } from '#src/spi/messages/index.ts'
import { quietLogger } from '../../support/database.ts'

export const ispb = '12345678'

/** A client without pacing, whose time is over early only when it is told. */
export const interfaceClient = (
  urls: Readonly<Partial<Record<Channel, string>>>,
  more: {
    readonly tls?: KeyMaterial
    readonly attemptsMax?: number
    readonly timeoutSeconds?: number
    readonly readAgainMs?: number
  } = {},
  participant = ispb,
): InterfaceClient =>
  createInterfaceClient({
    ispb: participant,
    urls,
    tls: more.tls,
    settings: {
      sendTimeoutSeconds: more.timeoutSeconds ?? 20,
      sendAttemptsMax: more.attemptsMax ?? 3,
      pullTimeoutSeconds: more.timeoutSeconds ?? 20,
      gzipPrimary: true,
      pacingEnabled: false,
      pacingShare: 1,
    },
    logger: { ...quietLogger, warn: () => {} },
    drawTokens: undefined,
    metrics: createMetrics({ version: 'test', withProcess: false }),
    ...(more.readAgainMs === undefined ? {} : { readAgainMs: more.readAgainMs }),
  })

export type RawRequest = {
  /** Request line and headers, as they came. */
  readonly lines: readonly string[]
  readonly body: Buffer
}

/** What a raw peer answers: the whole answer, the last of its connection, `cut` to end that, or `silent`. */
export type RawAnswer = Buffer | { readonly last: Buffer } | 'cut' | 'silent'

export type RawServer = {
  readonly url: string
  readonly requests: readonly RawRequest[]
  stop(): void
}

const endOfHead = '\r\n\r\n'

/** Bytes on a socket: shows what the client writes, and answers what a well-behaved server never would. */
export const rawServer = (
  answerTo: (request: RawRequest, count: number) => RawAnswer,
): RawServer => {
  const requests: RawRequest[] = []
  const listener = Bun.listen<{ bytes: Buffer }>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { bytes: Buffer.alloc(0) }
      },
      data: (socket, chunk) => {
        const bytes = Buffer.concat([socket.data.bytes, chunk])
        socket.data.bytes = bytes
        const head = bytes.indexOf(endOfHead)
        if (head < 0) return
        const lines = bytes.toString('latin1', 0, head).split('\r\n')
        const length = lines.find((line) => /^content-length:/i.test(line))?.split(':')[1]
        const end = head + endOfHead.length + Number(length ?? 0)
        if (bytes.length < end) return
        const request = { lines, body: bytes.subarray(head + endOfHead.length, end) }
        requests.push(request)
        socket.data.bytes = bytes.subarray(end)
        const given = answerTo(request, requests.length)
        if (given === 'silent') return
        if (given === 'cut') socket.terminate()
        else if ('last' in given) socket.end(given.last)
        else socket.write(given)
      },
    },
  })
  return {
    url: `http://127.0.0.1:${listener.port}`,
    requests,
    stop: () => listener.stop(true),
  }
}

/** An HTTP/1.1 answer that says nothing of its length: it ends where its connection does. */
export const openEnded = (headers: Readonly<Record<string, string>>, body: string): RawAnswer => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return { last: Buffer.from(`HTTP/1.1 200 X\r\n${lines.join('')}\r\n${body}`) }
}

/** An HTTP/1.1 answer. */
export const answer = (
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: string | Buffer = '',
): Buffer => {
  const bytes = Buffer.from(body)
  const lines = Object.entries({ ...headers, 'Content-Length': String(bytes.length) })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} X\r\n${head}\r\n`), bytes])
}
