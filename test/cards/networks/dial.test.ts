import { expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { dial } from '../../../src/cards/networks/dial.ts'
import { issueCertificate } from '../../support/pki.ts'
import { until } from '../../support/until.ts'

const ca = issueCertificate('authority', { authority: true }).cert
const nothing = () => undefined
let closed = 0
const listener = { open: nothing, data: nothing, drain: nothing, close: () => void closed++ }

test('a peer that takes connections and never answers a handshake keeps none of them', async () => {
  const open = new Set<Socket>()
  let count = 0
  const server = createServer((socket) => {
    count++
    open.add(socket)
    socket.on('error', nothing)
    socket.on('close', () => open.delete(socket))
    // It reads, and so hears of the end.
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as { port: number }
  const tls = { current: () => ({ ca }) }
  try {
    const dialled = Array.from({ length: 5 }, () =>
      dial({ host: '127.0.0.1', port, tls }, 100, listener).catch((error: Error) => error.message),
    )
    expect(await Promise.all(dialled)).toEqual(Array(5).fill('no connection in time'))
    await until(() => open.size === 0)
    // Nobody was given one.
    expect([count, closed]).toEqual([5, 0])
  } finally {
    for (const socket of open) socket.destroy()
    server.close()
  }
})
