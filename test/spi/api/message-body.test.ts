import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { xmlLimits } from '#codecs/xml'
import { bodyBytesMaxDefault } from '#src/platform/http/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createTransform } from '#src/spi/index.ts'
import { testApp, testKey } from '../../support/app.ts'
import { pacs008, utf8 } from '../../support/messages.ts'
import { appWith } from './schemas/support.ts'

const { record, key } = testKey('spi:transform')
const { schemas } = appWith(undefined)
const { catalogue, scanner } = schemas
const metrics = createMetrics({ version: 'test', withProcess: false })
const transform = createTransform({ catalogue, scanner, metrics })
const app = testApp([...(schemas.routes ?? []), ...(transform.routes ?? [])], { keys: [record] })

const post = async (path: string, body: Uint8Array, headers: Record<string, string>) =>
  await app.app.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { ...headers, Authorization: `Bearer ${key}` },
      body: new Uint8Array(body),
    }),
  )
const message = utf8(pacs008())
const gzip = (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes))

for (const path of ['/v1/validate', '/v1/transform/pacs008']) {
  test(`${path} takes text/xml and compressed bodies`, async () => {
    const json = utf8(JSON.stringify({ message: pacs008() }))
    for (const [type, bytes] of [
      ['text/xml; charset=utf-8', message],
      ['application/xml', message],
      ['application/json', json],
    ] as const) {
      const plain = await post(path, bytes, { 'Content-Type': type })
      const headers = { 'Content-Type': type, 'Content-Encoding': 'gzip' }
      const compressed = await post(path, gzip(bytes), headers)
      expect([type, plain.status, compressed.status]).toEqual([type, 200, 200])
    }
  })

  test(`${path} names the class of a refusal`, async () => {
    const xml = { 'Content-Type': 'text/xml' }
    const packed = { ...xml, 'Content-Encoding': 'gzip' }
    const deep = utf8('<a>'.repeat(xmlLimits.depthMax + 1))
    const statuses = await Promise.all(
      [
        post(path, deep, xml),
        post(path, gzip(new Uint8Array(bodyBytesMaxDefault + 1)), packed),
        post(path, utf8('<?xml version="1.0" encoding="UTF-16"?><a/>'), xml),
        post(path, message, { ...xml, 'Content-Encoding': 'br' }),
        post(path, message, { 'Content-Type': 'text/plain' }),
        post(path, message, packed),
        post(path, utf8('<a>'), xml),
      ].map(async (answer) => (await answer).status),
    )
    expect(statuses).toEqual([413, 413, 415, 415, 415, 400, 400])
  })
}
