import { createServer, type Socket } from 'node:net'

/*
 * As much of Kafka's protocol as a client needs to sign in by SASL PLAIN, and no more: every sign-in is refused with a
 * message that quotes what the client sent, its password too. No broker should, and what one says is logged.
 */

const apiVersionsKey = 18
const saslHandshakeKey = 17
const saslAuthenticateKey = 36
const saslAuthenticationFailed = 58

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const text = (value: string): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([int16(bytes.length), bytes])
}

/** Each call takes the versions from 0 to this: their answers have no compact forms. */
const versions: readonly (readonly [key: number, max: number])[] = [
  [3, 8] as const,
  [apiVersionsKey, 2] as const,
  [saslHandshakeKey, 1] as const,
  [saslAuthenticateKey, 1] as const,
]

const apiVersions = Buffer.concat([
  int16(0),
  int32(versions.length),
  ...versions.flatMap(([key, max]) => [int16(key), int16(0), int16(max)]),
  int32(0),
])

const answerTo = (key: number, body: Buffer): Buffer => {
  if (key === apiVersionsKey) return apiVersions
  if (key === saslHandshakeKey) return Buffer.concat([int16(0), int32(1), text('PLAIN')])
  // Name and password stand between NUL bytes.
  const quoted = body.subarray(4).toString().replaceAll('\0', ' ').trim()
  const refusal = text(`no such user with that password: ${quoted}`)
  return Buffer.concat([int16(saslAuthenticationFailed), refusal, int32(0), Buffer.alloc(8)])
}

export type HostileKafka = {
  readonly address: string
  /** Sign-ins that were refused. */
  readonly signIns: () => number
  readonly close: () => void
}

export const startHostileKafka = async (): Promise<HostileKafka> => {
  let signIns = 0
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {})
    let received = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 4 && received.length >= 4 + received.readInt32BE()) {
        const request = received.subarray(4, 4 + received.readInt32BE())
        received = received.subarray(4 + received.readInt32BE())
        const key = request.readInt16BE()
        const clientBytes = Math.max(0, request.readInt16BE(8))
        if (key === saslAuthenticateKey) signIns++
        const answer = answerTo(key, request.subarray(10 + clientBytes))
        const whole = Buffer.concat([request.subarray(4, 8), answer])
        socket.write(Buffer.concat([int32(whole.length), whole]))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  return {
    address: `127.0.0.1:${port}`,
    signIns: () => signIns,
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
