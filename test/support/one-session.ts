import { createServer, type Socket } from 'node:net'
// By a name of our own: under that of its package the mapper would take it along wherever payments are served.
import { PGlite } from 'pglite'

/** What a client asks for before the protocol proper: encryption, or to cancel what another one does. */
const [sslCode, gssCode, cancelCode] = [80_877_103, 80_877_104, 80_877_102]
const readyForQuery = 'Z'.charCodeAt(0)
const terminate = 'X'.charCodeAt(0)
const idle = 'I'.charCodeAt(0)

const message = (type: string, ...parts: readonly (string | number)[]): Buffer => {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(`${part}\0`)
      const word = Buffer.alloc(4)
      word.writeInt32BE(part)
      return word
    }),
  )
  const head = Buffer.from(`${type}\0\0\0\0`)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const welcome = Buffer.concat([
  message('R', 0),
  ...[
    ['server_version', '18.6'],
    ['client_encoding', 'UTF8'],
    ['standard_conforming_strings', 'on'],
    ['integer_datetimes', 'on'],
  ].map(([name = '', value = '']) => message('S', name, value)),
  message('K', 1, 1),
  Buffer.from([readyForQuery, 0, 0, 0, 5, idle]),
])

/** Whether an answer ends with the client between two transactions. */
const endsIdle = (answer: Uint8Array): boolean =>
  answer.length >= 6 && answer.at(-6) === readyForQuery && answer.at(-1) === idle

/**
 * PGlite behind a socket: an engine that speaks PostgreSQL's protocol and has one session for all of its clients. A
 * client has the session from its first message on until it is between two transactions.
 */
export const startOneSession = async (): Promise<AsyncDisposable & { readonly dsn: string }> => {
  const engine = await PGlite.create()
  let owner: Socket | undefined
  const waiting: { readonly socket: Socket; readonly go: () => void }[] = []
  const take = (socket: Socket): Promise<void> => {
    if (owner === undefined || owner === socket) {
      owner = socket
      return Promise.resolve()
    }
    return new Promise((go) => waiting.push({ socket, go }))
  }
  const give = (socket: Socket): void => {
    if (owner !== socket) return
    const next = waiting.shift()
    owner = next?.socket
    next?.go()
  }
  const handle = async (socket: Socket, frame: Buffer): Promise<void> => {
    await take(socket)
    const answer = await engine.execProtocolRaw(frame)
    if (!socket.destroyed) socket.write(answer)
    if (endsIdle(answer)) give(socket)
  }
  const leave = async (socket: Socket): Promise<void> => {
    if (owner === socket) await engine.execProtocolRaw(message('Q', 'rollback'))
    give(socket)
  }
  const server = createServer((socket) => {
    let buffered = Buffer.alloc(0)
    let isWelcome = false
    let work = Promise.resolve()
    socket.on('data', (chunk) => {
      buffered = Buffer.concat([buffered, chunk])
      for (;;) {
        const lengthAt = isWelcome ? 1 : 0
        if (buffered.length < lengthAt + 4) return
        const length = lengthAt + buffered.readInt32BE(lengthAt)
        if (buffered.length < length) return
        const frame = Buffer.from(buffered.subarray(0, length))
        buffered = buffered.subarray(length)
        if (isWelcome) {
          if (frame[0] === terminate) return void socket.end()
          work = work.then(() => handle(socket, frame))
        } else if ([sslCode, gssCode].includes(frame.readInt32BE(4))) socket.write('N')
        else if (frame.readInt32BE(4) === cancelCode) socket.end()
        else {
          isWelcome = true
          socket.write(welcome)
        }
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      work = work.then(() => leave(socket))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    dsn: `postgres://postgres@127.0.0.1:${address.port}/postgres`,
    [Symbol.asyncDispose]: async () => {
      await new Promise((done) => server.close(done))
      await engine.close()
    },
  }
}
