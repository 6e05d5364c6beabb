/** How the directory is asked, before anything is known of what it answers. */
import { expect, test } from 'bun:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { answerBytesMax, download, exchange } from '../../src/dict/exchange.ts'

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

test('an answer is read out of gzip as far as its limit goes, a file piece by piece, and nothing out of brotli', async () => {
  const said: Readonly<Record<string, readonly [coding: string, bytes: Buffer]>> = {
    '/gzip': ['gzip', gzipSync('said')],
    '/bomb': ['gzip', gzipSync(new Uint8Array(answerBytesMax + 1))],
    '/brotli': ['br', brotliCompressSync('said')],
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const [coding = '', bytes] = said[new URL(request.url).pathname] ?? []
      return new Response(bytes, { headers: { 'Content-Encoding': coding } })
    },
  })
  const ask = async (path: string) => {
    const url = server.url.origin + path
    const asked = { method: 'GET', url, headers: {}, body: undefined, timeoutMs: 5_000 } as const
    return Buffer.from((await exchange(asked, undefined)).body).toString()
  }
  try {
    expect(await ask('/gzip')).toBe('said')
    expect(await ask('/brotli')).not.toBe('said')
    await expect(ask('/bomb')).rejects.toMatchObject({ reason: 'too_large' })
    const pieces = []
    const { signal } = new AbortController()
    for await (const piece of download(`${server.url.origin}/bomb`, undefined, 5_000, signal)) {
      expect(piece.length).toBeLessThanOrEqual(answerBytesMax / 2)
      pieces.push(piece)
    }
    expect(Buffer.concat(pieces).length).toBe(answerBytesMax + 1)
  } finally {
    await server.stop(true)
  }
})
