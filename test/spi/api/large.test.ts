import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import { createMessageScanner } from '#codecs/iso20022'
import { createLogger, createMetrics } from '#src/platform/observe/index.ts'
import { nativeText } from '#src/platform/runtime/index.ts'
import { createSchemas, createTransform } from '#src/spi/index.ts'
import { largeBytesMin, largeWaitingMax } from '../../../src/spi/api/large/index.ts'
import { validateMessage } from '../../../src/spi/api/schemas/service.ts'
import { unknownMembersShown } from '../../../src/spi/api/transform/request.ts'
import { createTransformer } from '../../../src/spi/api/transform/service.ts'
import { testApp, testKey } from '../../support/app.ts'
import { pacs008, utf8 } from '../../support/messages.ts'

const logger = createLogger({ level: 'error', sink: { write: () => {} } })
const settings = { folder: undefined, revision: '5.11.1', learning: true } as const
const schemas = createSchemas({ settings, logger })
const { large, catalogue } = schemas
const transform = createTransform({
  metrics: createMetrics({ version: 'test', withProcess: false }),
  ...schemas,
})
afterAll(() => schemas.stop?.())

/** The most bytes that the event loop itself was given to scan at once: between two of its turns therefore. */
let scannedMax = 0
const { scan } = schemas.scanner
Object.assign(schemas.scanner, {
  scan: (bytes: Uint8Array) => {
    scannedMax = Math.max(scannedMax, bytes.length)
    return scan(bytes)
  },
})
/** A fiftieth of the messages below. */
const scannedAtOnceMax = 65_536

const { record, key } = testKey('spi:transform')
const app = testApp([...(schemas.routes ?? []), ...(transform.routes ?? [])], { keys: [record] })
const post = async (path: string, body: Uint8Array, type = 'application/xml') => {
  const response = await app.app.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'Content-Type': type, Authorization: `Bearer ${key}` },
      body: new Uint8Array(body),
    }),
  )
  // biome-ignore lint/suspicious/noExplicitAny: an answer's members are what the tests look at
  const text: any = await response.json()
  return { status: response.status, body: text }
}

const transactions = 3_600
const good = pacs008({ transactions })
const faults: Readonly<Record<string, Uint8Array>> = {
  'nothing wrong': utf8(good),
  'one wrong value at its end': utf8(good.replace(/^(.*)IPAY/, '$1IPAX')),
  'a wrong value in each transaction': utf8(good.replaceAll('SLEV', 'NONE')),
  'an unknown element in each transaction': utf8(good.replaceAll('ChrgBr', 'Charge')),
  'its last bytes missing': utf8(good).subarray(0, -5),
  'another closing tag at its beginning': utf8(good.replace('</MsgId>', '</Msg>')),
}

const direct = createTransformer(catalogue, createMessageScanner(nativeText))
const options = { validate: true, enrich: false }

describe('a message of megabytes', () => {
  for (const [fault, message] of Object.entries(faults)) {
    test(`with ${fault} is read beside the event loop, with the same result`, async () => {
      expect(message.length).toBeGreaterThan(3_400_000)
      scannedMax = 0
      const judged = await post('/v1/validate', message)
      const view = await post('/v1/transform?validate=true', message)
      const json = await post('/v1/transform?target_format=json', message)
      expect(scannedMax).toBeLessThanOrEqual(scannedAtOnceMax)

      const verdict = validateMessage(catalogue, createMessageScanner(nativeText), message)
      const request = { sourceFormat: undefined, targetFormat: undefined, message, options }
      const outcome = direct(request)
      const generic = direct({
        ...request,
        targetFormat: 'json',
        options: { ...options, validate: false },
      })
      if (verdict.kind === 'malformed') {
        const { line, column, reason, code: rule } = verdict.explanation
        for (const answer of [judged, view, json]) {
          expect(answer.status).toBe(400)
          expect(answer.body).toMatchObject({ line, column, reason, rule })
        }
        return
      }
      if (verdict.kind !== 'judged' || !generic.ok) throw new Error('it must be read')
      expect(judged.body).toMatchObject({
        valid: verdict.verdict.valid,
        truncated: verdict.verdict.truncated,
      })
      expect(judged.body.violations).toHaveLength(verdict.verdict.violations.length)
      expect(view.status).toBe(outcome.ok ? 200 : 422)
      if (outcome.ok) expect(view.body.result).toEqual(JSON.parse(outcome.result))
      expect(json.status).toBe(200)
      expect(JSON.stringify(json.body.result)).toBe(generic.result)
      expect(json.body.violations ?? []).toHaveLength(generic.violations?.length ?? 0)
    })
  }

  test('within JSON is read beside the event loop, with the same result', async () => {
    const parse = spyOn(JSON, 'parse')
    const parsedAt = () => Math.max(0, ...parse.mock.calls.map(([text]) => String(text).length))
    const sent = (value: unknown) => utf8(typeof value === 'string' ? value : JSON.stringify(value))
    const asJson = async (path: string, value: unknown) => {
      parse.mockClear()
      const answer = await post(path, sent(value), 'application/json')
      return { ...answer, parsed: parsedAt() }
    }
    const request = { source_format: 'pacs.008', target_format: 'json', message: good }
    const bodies: readonly (readonly [status: number, value: unknown])[] = [
      [200, request],
      [400, JSON.stringify(request).slice(0, -1)],
      [400, `{"message":${JSON.stringify(good)},"message":""}`],
      [400, { message: [good] }],
      [400, `{${Array.from({ length: 200_000 }, (_, i) => `"m${i}":${i}.50`).join()}}`],
      [400, '\r\n'.repeat(100_000)],
      [400, { message: '\ud800'.padEnd(100_000) }],
    ]
    for (const [status, value] of bodies) {
      const transformed = await asJson('/v1/transform', value)
      const judged = await asJson('/v1/validate', value === request ? { message: good } : value)
      expect([transformed.status, judged.status]).toEqual([status, status])
      for (const { parsed, body } of [transformed, judged]) {
        expect(parsed).toBeLessThan(largeBytesMin)
        expect(body.errors?.length ?? 0).toBeLessThanOrEqual(unknownMembersShown + 5)
        if (status === 400) expect(JSON.stringify(body).length).toBeLessThan(largeBytesMin)
      }
      if (status === 200) expect(judged.body.type).toBe('pacs.008')
    }
    parse.mockRestore()
  })

  test('is large from a certain size on', async () => {
    const small = utf8(pacs008())
    const padded = (length: number) => {
      const bytes = new Uint8Array(length).fill(0x20)
      bytes.set(small)
      return bytes
    }
    scannedMax = 0
    expect((await post('/v1/transform', padded(largeBytesMin))).status).toBe(200)
    expect(scannedMax).toBe(0)
    expect((await post('/v1/transform', padded(largeBytesMin - 1))).status).toBe(200)
    expect(scannedMax).toBe(largeBytesMin - 1)
  })

  test('waits for a bounded number of others, and is read once they are', async () => {
    const message = utf8('<a/>')
    const taken = Array.from({ length: largeWaitingMax + 1 }, () => large.validate(message))
    const refused = await large.validate(message).catch((error: unknown) => error)
    expect(refused).toMatchObject({ definition: { code: 'overloaded', status: 503 } })
    for (const one of await Promise.all(taken)) expect(one.kind).toBe('no_message')
    expect((await large.validate(message)).kind).toBe('no_message')
  })

  test('fails with its thread, and the next one gets another', async () => {
    const message = utf8('<a/>')
    const failing = large.validate(message)
    large.close()
    expect(await failing.catch((error: unknown) => error)).toBeInstanceOf(Error)
    expect((await large.validate(message)).kind).toBe('no_message')
  })
})
