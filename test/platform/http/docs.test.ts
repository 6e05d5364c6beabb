import { expect, test } from 'bun:test'
import { docsRoutes } from '#src/platform/http/docs.ts'
import { testApp } from '../../support/app.ts'

const { call } = testApp(docsRoutes())
const paths = ['/docs', '/docs/page.css', '/docs/page.client.js', '/docs/schema.client.js']

test('/ leads to the page', async () => {
  const response = await call('GET', '/')
  expect([response.status, response.headers.get('location')]).toEqual([302, '/docs'])
})

test.each(paths)(
  '%s comes compressed to whoever takes that, and is not sent twice',
  async (path) => {
    const plain = await call('GET', path)
    const packed = await call('GET', path, { headers: { 'Accept-Encoding': 'br, gzip' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    const text = await plain.text()
    const unpacked = Bun.gunzipSync(new Uint8Array(await packed.arrayBuffer()))
    expect(Buffer.from(unpacked).toString()).toBe(text)
    const etag = packed.headers.get('etag') ?? ''
    const again = await call('GET', path, { headers: { 'If-None-Match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  },
)

test('the page and all that it loads is within 20 kB', async () => {
  const headers = { 'Accept-Encoding': 'gzip' }
  const sizes = paths.map(
    async (path) => (await (await call('GET', path, { headers })).arrayBuffer()).byteLength,
  )
  const all = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  expect(all).toBeLessThan(20_000)
})
