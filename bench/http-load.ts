import type { Socket } from 'bun'

const headEnd = Buffer.from('\r\n\r\n')
const lengthField = /\r\ncontent-length: *(\d+)/i

export type HttpLoad = {
  readonly url: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly connections: number
  /** Checks the body of each answer; the sum of its results is the checksum of the load. */
  readonly check: (body: string) => number
}

type Unread = { bytes: Buffer }

/**
 * Posts one request over and over, on some connections at once. It speaks to plain sockets: a client that costs more
 * than the server leaves the server waiting, and then we would measure how dear it is to wake.
 */
export const createHttpLoad = (load: HttpLoad): ((times: number) => Promise<number>) => {
  const { hostname, port } = new URL(load.url)
  const request = requestBytes(load, `${hostname}:${port}`)
  return async (times) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    let toSend = times
    let toCome = times
    let sum = 0
    const send = (socket: Socket<Unread>): void => {
      if (toSend <= 0) return
      toSend--
      if (socket.write(request) !== request.length) reject(new Error('a request was cut'))
    }
    const take = (socket: Socket<Unread>, chunk: Buffer): void => {
      socket.data.bytes = Buffer.concat([socket.data.bytes, chunk])
      for (let answer = nextAnswer(socket.data); answer !== undefined; ) {
        sum += load.check(answer)
        if (--toCome === 0) resolve(sum)
        send(socket)
        answer = nextAnswer(socket.data)
      }
    }
    const open = await Promise.all(
      Array.from({ length: load.connections }, () =>
        Bun.connect<Unread>({
          hostname,
          port: Number(port),
          data: { bytes: Buffer.alloc(0) },
          socket: {
            data: (socket, chunk) => {
              try {
                take(socket, chunk)
              } catch (error) {
                reject(error)
              }
            },
            error: (_, error) => reject(error),
            close: () => reject(new Error('a connection was closed')),
          },
        }),
      ),
    )
    for (const socket of open) send(socket)
    try {
      return await promise
    } finally {
      for (const socket of open) socket.end()
    }
  }
}

const requestBytes = ({ path, headers, body }: HttpLoad, host: string): Buffer => {
  const fields = { Host: host, 'Content-Length': Buffer.byteLength(body), ...headers }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

/** Takes one whole response from the unread bytes and returns its body. */
const nextAnswer = (unread: Unread): string | undefined => {
  const { bytes } = unread
  const end = bytes.indexOf(headEnd)
  if (end === -1) return undefined
  const head = bytes.toString('latin1', 0, end)
  const from = end + headEnd.length
  const to = from + Number(lengthField.exec(head)?.[1])
  if (!(to <= bytes.length)) return undefined
  const body = bytes.toString('utf8', from, to)
  if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(`${head}\n${body}`)
  unread.bytes = bytes.subarray(to)
  return body
}
