/** HTTP/1.1 in front of one channel: headers, faults, and the control endpoints of the simulator. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { isLocal, serverTls, urlHost } from '../counterparty.ts'
import type { Control } from './control.ts'
import type { Fault, FaultPlan } from './faults.ts'
import type { InterfaceRequest, MessageInterface } from './interface.ts'
import { bodyBytesMax, type CentralBankOptions, type Channel } from './options.ts'
import { type Answer, problem } from './problem.ts'

export type ChannelServer = {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** The headers that participants may send; anything else is refused. */
const allowedHeaders = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'host',
  'max-forwards',
  'transfer-encoding',
  'user-agent',
  'via',
])

const cutAfterMs = 5
const controlPrefix = '/simulator/'

type ChannelOptions = {
  readonly channel: Channel
  readonly hostname: string
  readonly port: number
  readonly tls: CentralBankOptions['tls']
  readonly hostWithoutPort: boolean
  readonly answer: MessageInterface
  readonly control: Control
  readonly faults: FaultPlan
}

/** @throws what `listen` throws, with the name of the channel */
export const serveChannel = async (options: ChannelOptions): Promise<ChannelServer> => {
  const { hostname, tls } = options
  const sockets = new Set<Socket>()
  const server = serverOf(tls, (request, response) => {
    onRequest(options, request, response).catch(() => {
      if (!response.headersSent) write(response, problem('internalError'))
      else response.destroy()
    })
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(Object.assign(error, { channel: options.channel })))
    server.listen(options.port, hostname, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${urlHost(hostname)}:${port}`,
    stop: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      server.closeAllConnections()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

const serverOf = (
  tls: ChannelOptions['tls'],
  listener: (request: IncomingMessage, response: ServerResponse) => void,
) => {
  if (tls === undefined) return createServer(listener)
  return createTlsServer({ ...serverTls(tls), minVersion: 'TLSv1.2' }, listener)
}

const onRequest = async (
  options: ChannelOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { channel, faults } = options
  const path = request.url ?? '/'
  if (path.startsWith(controlPrefix)) {
    const answer = isLocal(request.socket.remoteAddress)
      ? await options.control(request.method ?? '', path, await bodyOf(request))
      : problem('forbidden')
    write(response, answer)
    return
  }
  const operation = request.method === 'POST' ? 'send' : 'read'
  const refuses = faults.strike(['refuse_connections'], channel, operation) !== undefined
  const hasPort = options.hostWithoutPort && /:\d+$/.test(request.headers.host ?? '')
  if (refuses || hasPort) {
    request.socket.destroy()
    return
  }
  const fault = faults.strike(
    ['latency', 'unavailable', 'rate_limited', 'error_after_storing', 'cut'],
    channel,
    operation,
  )
  finish(response, await answerWith(fault, request, response, options.answer), fault)
}

const answerWith = async (
  fault: Fault | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  answer: MessageInterface,
): Promise<Answer> => {
  if (fault?.kind === 'latency') await Bun.sleep(fault.delayMs ?? 0)
  if (fault?.kind === 'unavailable') return problem('unavailable')
  if (fault?.kind === 'rate_limited') return problem('tooManyRequests', { 'Retry-After': '1' })
  if (!headersAllowed(request)) return problem('invalidHeader')
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const asked: InterfaceRequest = {
    method: request.method ?? '',
    path: request.url ?? '/',
    headers: request.headers,
    body: () => bodyOf(request),
    signal: gone.signal,
  }
  return answer(asked)
}

const headersAllowed = ({ headers }: IncomingMessage): boolean => {
  for (const name in headers) if (!allowedHeaders.has(name)) return false
  const encoding = headers['accept-encoding']
  return encoding === undefined || encoding === 'gzip'
}

const finish = (response: ServerResponse, answer: Answer, fault: Fault | undefined): void => {
  if (fault?.kind === 'error_after_storing') write(response, problem('internalError'))
  else if (fault?.kind === 'cut') cut(response, answer)
  else write(response, answer)
}

const write = (response: ServerResponse, { status, headers, body }: Answer): void => {
  if (response.destroyed) return
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const length = status === 204 ? {} : { 'Content-Length': String(bytes.length) }
  response.writeHead(status, { ...headers, ...length })
  response.end(bytes.length === 0 ? undefined : bytes)
}

/** Promises the whole answer and sends half of it. */
const cut = (response: ServerResponse, { status, headers, body }: Answer): void => {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  if (bytes.length < 2) {
    response.socket?.destroy()
    return
  }
  response.writeHead(status, { ...headers, 'Content-Length': String(bytes.length) })
  response.write(bytes.subarray(0, bytes.length >> 1))
  setTimeout(() => response.socket?.destroy(), cutAfterMs)
}

const bodyOf = async (request: IncomingMessage): Promise<Uint8Array | 'too_large'> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request) {
    const bytes = chunk as Uint8Array
    length += bytes.length
    if (length > bodyBytesMax) return 'too_large'
    chunks.push(bytes)
  }
  const [only] = chunks
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
}
