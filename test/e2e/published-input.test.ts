import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import * as fc from 'fast-check'
import {
  type Bounded,
  boundsOf,
  examplesOf,
  type Schema,
  stringPlaces,
  valuesOf,
  withString,
} from '../support/json-schema.ts'
import { startWholeGateway, type WholeGateway } from '../support/whole-gateway.ts'

setDefaultTimeout(300_000)

let gateway: WholeGateway

beforeAll(async () => {
  gateway = await startWholeGateway()
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
})

type Request = {
  readonly method: string
  readonly path: string
  readonly contentType?: string
  readonly body?: string | Uint8Array<ArrayBuffer>
}

/** A request with one hostile string in it, and the name of what holds the string. */
type Case = Request & { readonly name: string; readonly hostile: string }

const send = async ({ method, path, contentType, body }: Request) => {
  const headers = new Headers({ Authorization: `Bearer ${gateway.rig.key}` })
  if (contentType !== undefined) headers.set('Content-Type', contentType)
  const response = await fetch(gateway.rig.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, text: await response.text() }
}

/** Longer than any body that is taken. */
const huge = 'x'.repeat(10_000_000)
/** Longer than any request line, and than the body of any operation but those that take whole messages. */
const long = 'x'.repeat(1_100_000)

/** Takes a whole message as JSON. */
const sealedPath = '/v1/rsfn/open'

/** As a JSON string, and as what stands in a URL. */
const hostileTexts: Readonly<Record<string, { readonly text: string; readonly escaped: string }>> =
  {
    'U+0000': { text: 'a\0b', escaped: 'a%00b' },
    'lone surrogate': { text: 'a\ud800b', escaped: 'a%ED%A0%80b' },
    'too long': { text: long, escaped: long },
  }

const hostileMoments = ['0000-01-01', '999999-01-01', '-271821-04-20'].flatMap((day) => [
  day,
  `${day}T00:00:00Z`,
])

const momentForm = /^\d{4}-\d\d-\d\dT/

const hostileFor = (value: string | undefined, isMoment = momentForm.test(value ?? '')) => [
  ...Object.entries(hostileTexts),
  ...(isMoment
    ? hostileMoments.map((text) => [text, { text, escaped: encodeURIComponent(text) }] as const)
    : []),
]

type Parameters = NonNullable<WholeGateway['document']['paths'][string][string]['parameters']>

/** A path of the document with a value for each of its parameters. */
const pathOf = (
  template: string,
  parameters: Parameters,
  given: Readonly<Record<string, string>> = {},
): string => {
  // Letters of both cases would be a checksum.
  const example = (schema: object) =>
    String(examplesOf(gateway.document, schema as Schema)[0]).replace(/^0x.*/, (hex) =>
      hex.toLowerCase(),
    )
  return parameters
    .filter((one) => one.in === 'path')
    .reduce(
      (path, { name, schema }) =>
        path.replace(`{${name}}`, given[name] ?? encodeURIComponent(example(schema))),
      template,
    )
}

/** Every request of the document, each once for every string that it can hold and every hostile text. */
const cases = (): readonly Case[] => {
  const { document } = gateway
  const all: Case[] = []
  for (const [template, operations] of Object.entries(document.paths)) {
    for (const [verb, { parameters = [], requestBody }] of Object.entries(operations)) {
      const method = verb.toUpperCase()
      const pathWith = (changed: string, to: string) =>
        pathOf(template, parameters, { [changed]: to })
      const path = pathOf(template, parameters)
      const contents = Object.entries(requestBody?.content ?? {})
      const [first] = contents
      const filled: Pick<Request, 'body' | 'contentType'> =
        first === undefined
          ? {}
          : {
              contentType: first[0],
              body: JSON.stringify(examplesOf(document, first[1].schema as Schema)[0]),
            }
      for (const { name, schema, in: place } of parameters) {
        const { type, format } = schema as Schema
        if (type !== 'string' && place !== 'path') continue
        for (const [hostile, { escaped }] of hostileFor(undefined, format === 'date-time')) {
          if (place === 'path') {
            all.push({ method, path: pathWith(name, escaped), ...filled, name, hostile })
          } else if (place === 'query') {
            all.push({ method, path: `${path}?${name}=${escaped}`, name, hostile })
          }
        }
      }
      for (const [contentType, { schema, examples = {} }] of contents) {
        if (contentType !== 'application/json') {
          const bytes = { 'U+0000': [60, 97, 0], 'lone surrogate': [60, 97, 0xed, 0xa0, 0x80] }
          for (const [hostile, body] of Object.entries(bytes)) {
            all.push({ method, path, contentType, body: new Uint8Array(body), name: '', hostile })
          }
          continue
        }
        const named = Object.values(examples).map(({ value }) => value)
        const bodies = named.length > 0 ? named : examplesOf(document, schema as Schema)
        const seen = new Set<string>()
        for (const body of bodies) {
          for (const { pointer, value } of stringPlaces(body)) {
            const name = pointer.split('/').findLast((step) => !/^\d+$/.test(step)) ?? ''
            for (const [hostile, { text }] of hostileFor(value)) {
              // The size of a body is refused before any field of it is known.
              const key = hostile === 'too long' ? hostile : `${pointer} ${hostile}`
              if (seen.has(key)) continue
              seen.add(key)
              const tooLong = contents.length > 1 || template === sealedPath ? huge : long
              const put = hostile === 'too long' ? tooLong : text
              const changed = JSON.stringify(withString(body, pointer, put))
              all.push({ method, path, contentType, body: changed, name, hostile })
            }
          }
        }
      }
    }
  }
  return all
}

/** Why an answer is not the one that the sender should get. */
const fault = (
  { name, hostile, path }: Case,
  { status, text }: { readonly status: number; readonly text: string },
): string | undefined => {
  // The server refuses a request line of this size before there is a request.
  if (status === 431) return path.length > 1_000_000 ? undefined : 'no reason for 431'
  if (status === 413) return hostile === 'too long' ? undefined : 'no reason for 413'
  if (status < 400 || status >= 500) return 'is no refusal'
  // Text that is no JSON has no fields: its place is told, or that all of it is no text.
  const told = /"(?:line|pointer)":|The body is not UTF-8/
  const isNamed = name === '' ? told.test(text) : text.includes(name)
  return isNamed ? undefined : 'does not name the field'
}

const concurrent = 16

describe('text that nobody can store beside what can be stored', () => {
  test('harms nothing that is written in the same moment', async () => {
    const [from = '', to = ''] = await gateway.rig.wallets(2, 1_000_000n)
    const transfer = (reference: string) =>
      gateway.rig.call('POST', '/v1/drex/transfers', {
        from_wallet: from,
        to_wallet: to,
        amount: '1.00',
        reference,
      })
    const references = Array.from({ length: 40 }, (_, n) => (n % 4 === 0 ? `r\0${n}` : `r${n}`))
    const answers = await Promise.all(references.map(transfer))
    expect(answers.map(({ status }) => status)).toEqual(
      references.map((reference) => (reference.includes('\0') ? 400 : 202)),
    )
  })
})

describe('text that nobody can store, in every string of every request', () => {
  test('is refused with the name of the field, and never an error of the gateway', async () => {
    const all = cases()
    expect(all.length).toBeGreaterThan(500)
    const faults: string[] = []
    let next = 0
    const worker = async (): Promise<void> => {
      for (let one = all[next++]; one !== undefined; one = all[next++]) {
        const answer = await send(one)
        const why = fault(one, answer)
        if (why === undefined) continue
        const shown = `${one.method} ${one.path.slice(0, 80)} ${one.name}: ${one.hostile}`
        faults.push(`${shown} → ${answer.status} ${why}: ${answer.text.slice(0, 200)}`)
      }
    }
    await Promise.all(Array.from({ length: concurrent }, worker))
    expect(faults).toEqual([])
  })
})

describe('a body of the published schema', () => {
  test('is never refused for its shape', async () => {
    const { document } = gateway
    const faults: string[] = []
    for (const [template, operations] of Object.entries(document.paths)) {
      for (const [verb, { parameters = [], requestBody }] of Object.entries(operations)) {
        const schema = requestBody?.content['application/json']?.schema
        // What the parameters of a message must be is told in its tables, and judged by its builder.
        if (
          schema === undefined ||
          ['/v1/spi/send', '/v1/spi/build'].includes(template) ||
          template.startsWith('/v1/transactions')
        )
          continue
        const path = pathOf(template, parameters)
        const bodies = fc.sample(valuesOf(document, schema as Schema), { numRuns: 40, seed: 7 })
        for (const body of bodies) {
          const { status, text } = await send({
            method: verb.toUpperCase(),
            path,
            contentType: 'application/json',
            body: JSON.stringify(body),
          })
          const isShape =
            status === 400 && /validation_failed|"INVALID_|VALIDATION_FAILED/.test(text)
          if (status !== 500 && !isShape) continue
          const shown = JSON.stringify(body).slice(0, 160)
          faults.push(`${verb} ${template} ${shown} → ${status} ${text.slice(0, 220)}`)
        }
      }
    }
    expect(faults).toEqual([])
  })
})

/** Every request of the document, each once for every bound of its query and its body, reached and passed by one. */
const boundedRequests = function* (): Generator<Request & { readonly bounded: Bounded }> {
  const { document } = gateway
  for (const [template, operations] of Object.entries(document.paths)) {
    for (const [verb, { parameters = [], requestBody }] of Object.entries(operations)) {
      const method = verb.toUpperCase()
      const path = pathOf(template, parameters)
      for (const { name, schema, in: place } of parameters) {
        if (place !== 'query') continue
        for (const bounded of boundsOf(document, schema as Schema)) {
          const query = new URLSearchParams({ [name]: String(bounded.value) })
          const pointer = `/${name}`
          yield { method, path: `${path}?${query}`, bounded: { ...bounded, pointer } }
        }
      }
      const contentType = 'application/json'
      const body = requestBody?.content[contentType]?.schema as Schema | undefined
      for (const bounded of body === undefined ? [] : boundsOf(document, body)) {
        const text = JSON.stringify(bounded.value, unchecked)
        yield { method, path, contentType, body: text, bounded }
      }
    }
  }
}

describe('a query or a body at a bound of the published schema', () => {
  test('is taken for its size; one past it is refused with the name of the member', async () => {
    const faults: string[] = []
    let count = 0
    for (const { bounded, ...request } of boundedRequests()) {
      count++
      const answer = await send(request)
      const why = boundFault(bounded, answer)
      if (why === undefined) continue
      const { pointer, bound, isPast } = bounded
      const shown = `${request.method} ${request.path.slice(0, 80)} ${pointer} ${bound}`
      const { status, text } = answer
      faults.push(`${shown}${isPast ? ' passed' : ''} → ${status} ${why}: ${text.slice(0, 220)}`)
    }
    expect(count).toBeGreaterThan(800)
    expect(faults).toEqual([])
  })
})

/** Letters of both cases would be a checksum. */
const unchecked = (_: string, value: unknown): unknown =>
  typeof value === 'string' && value.startsWith('0x') ? value.toLowerCase() : value

/** The rule `bytes` is not among them: a schema cannot tell of bytes. */
const sizeRefused = (text: string, pointer: string): boolean =>
  ['minimum', 'maximum', 'length', 'count'].some((rule) =>
    text.includes(`"pointer":"${pointer}","rule":"${rule}"`),
  )

const boundFault = (
  { pointer, bound, isPast }: Bounded,
  { status, text }: { readonly status: number; readonly text: string },
): string | undefined => {
  if (status >= 500) return 'is an error of the gateway'
  const name = pointer.split('/').findLast((step) => !/^\d+$/.test(step)) ?? ''
  // The value may be refused for another reason, but not for its size.
  if (!isPast) return sizeRefused(text, pointer) ? 'is refused for its size' : undefined
  if (status < 400) return 'is taken'
  // With its largest member, the whole body may exceed its own bound.
  if (status === 413) return bound === 'maxLength' ? undefined : 'is too large'
  return text.includes(name) ? undefined : 'does not name the member'
}
