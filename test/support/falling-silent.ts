import { connect, createServer, type Socket } from 'node:net'
import { freePort } from './free-port.ts'

/**
 * Stands before a server. Its connections fall silent as those to a machine without power: nothing comes any more, and
 * nothing is closed.
 *
 * @param said after which a connection falls silent by itself
 */
export const fallingSilent = async (dsn: string, said?: string) => {
  const { hostname, port } = new URL(dsn)
  const open = new Map<Socket, { isSilent: boolean; readonly upstream: Socket }>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const state = { isSilent: false, upstream }
    open.set(client, state)
    client.on('data', (chunk) => {
      if (said !== undefined && chunk.includes(said)) state.isSilent = true
      if (!state.isSilent) upstream.write(chunk)
    })
    upstream.on('data', (chunk) => void (state.isSilent || client.write(chunk)))
    upstream.on('close', () => void (state.isSilent || client.destroy()))
    client.on('close', () => {
      open.delete(client)
      upstream.destroy()
    })
    for (const socket of [client, upstream]) socket.on('error', () => {})
  })
  const own = freePort()
  await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve))
  const url = new URL(dsn)
  url.host = `127.0.0.1:${own}`
  return {
    dsn: url.href,
    /** Silences the open connections; later ones are served. */
    silence: (): void => {
      for (const state of open.values()) state.isSilent = true
    },
    /** How many have fallen silent and are still open. */
    silent: (): number => [...open.values()].filter(({ isSilent }) => isSilent).length,
    stop: (): void => {
      for (const client of open.keys()) client.destroy()
      server.close()
    },
  }
}
