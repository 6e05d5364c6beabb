/** How the directory is asked, before anything is known of what it answers. */
import { expect, test } from 'bun:test'
import { download, exchange } from '../../src/dict/exchange.ts'

test('Host names no port, which the central bank resets connections for', async () => {
  const hosts: (string | null)[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ headers }) => {
      hosts.push(headers.get('host'))
      return new Response('said')
    },
  })
  try {
    const url = server.url.href
    const asked = { method: 'GET', url, headers: {}, body: undefined, timeoutMs: 5_000 } as const
    expect((await exchange(asked, undefined)).status).toBe(200)
    const pieces = []
    const { signal } = new AbortController()
    for await (const piece of download(url, undefined, 5_000, signal)) pieces.push(piece)
    expect(Buffer.concat(pieces).toString()).toBe('said')
    expect(hosts).toEqual(['127.0.0.1', '127.0.0.1'])
  } finally {
    await server.stop(true)
  }
})
