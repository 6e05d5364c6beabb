import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { documentTags } from '#src/platform/http/openapi-tags.ts'
import { type RunningProgram, startProgram, variants } from '../support/program.ts'

type Schema = { readonly $ref?: string; readonly type?: string }
type Content = Readonly<Record<string, { readonly schema?: Schema }>>
type Operation = {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>
type Document = { readonly paths: Paths; readonly webhooks: Paths }

/** All that is documented stands in the document of a gateway without settings, too. */
let program: RunningProgram
let text: string
let operations: readonly { readonly at: string; readonly operation: Operation }[]

beforeAll(async () => {
  program = startProgram(variants[0]!, ['serve'], {
    env: { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0' },
  })
  const line = await program.line((one) => one.includes('"listening"'))
  const { http_url: url } = JSON.parse(line) as { readonly http_url: string }
  text = await (await fetch(`${url}/openapi.json`)).text()
  const { paths, webhooks } = JSON.parse(text) as Document
  operations = [...Object.entries(paths), ...Object.entries(webhooks)].flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ at: `${method} ${path}`, operation })),
  )
})

afterAll(async () => {
  program.signal('SIGTERM')
  await program.end()
})

describe('the OpenAPI document', () => {
  test('is without a finding to Spectral', async () => {
    const linter = new spectral.Spectral()
    linter.setRuleset({ extends: [rulesets.oas] } as Parameters<typeof linter.setRuleset>[0])
    const found = await linter.run(JSON.parse(text) as Record<string, unknown>)
    expect(found.map(({ code, path }) => `${String(code)} ${path.join('/')}`)).toEqual([])
  })

  test('names each operation by a verb, once', () => {
    const names = operations.map(({ operation }) => operation.operationId)
    expect(names.length).toBeGreaterThan(100)
    expect(new Set(names).size).toBe(names.length)
    const verbs =
      /^(approve|authorize|call|cancel|capture|create|decrypt|delete|deploy|encrypt|export|fund|get|import|increment|list|open|read|receive|refund|register|replay|resolve|retry|rotate|seal|send|set|sign|test|transform|update|validate|verify|void)/
    expect(names.filter((name) => !verbs.test(name))).toEqual([])
    expect(names).toContainValues(['authorizeCard', 'sendPayment', 'createTransfer'])
  })

  test('names what every operation takes and answers', () => {
    const inline = operations.flatMap(({ at, operation: { requestBody, responses } }) =>
      [requestBody?.content, ...Object.values(responses).map(({ content }) => content)]
        .flatMap((content) => Object.values(content ?? {}))
        .filter(({ schema }) => schema?.$ref === undefined && schema?.type !== 'string')
        .map(() => at),
    )
    // Any object, by its nature.
    expect(inline).toEqual(['get /openapi.json'])
  })

  test('says of each body whether it may be absent', () => {
    const optional = operations.filter(
      ({ operation: { requestBody } }) => requestBody !== undefined && !requestBody.required,
    )
    expect(optional.map(({ at }) => at)).toEqual([
      'post /v1/transactions/{id}/capture',
      'post /v1/transactions/{id}/void',
      'post /v1/transactions/{id}/refund',
    ])
  })

  test('has no type that refers to itself, which generators of clients leave out', () => {
    const { components } = JSON.parse(text) as {
      readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
    }
    const uses = new Map(
      Object.entries(components.schemas).map(([name, schema]) => [
        name,
        [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
          ([, used = '']) => used,
        ),
      ]),
    )
    const reaches = (from: string, wanted: string, seen = new Set<string>()): boolean =>
      (uses.get(from) ?? []).some((used) => {
        if (used === wanted) return true
        if (seen.has(used)) return false
        return reaches(used, wanted, seen.add(used))
      })
    expect([...uses.keys()].filter((name) => reaches(name, name))).toEqual([])
  })

  test('shows its groups in the order of use, and each has operations', () => {
    const { tags } = JSON.parse(text) as { readonly tags: readonly { readonly name: string }[] }
    const names = tags.map(({ name }) => name)
    expect(names as readonly string[]).toEqual(Object.keys(documentTags))
    const used = new Set(operations.flatMap(({ operation }) => operation.tags))
    expect(names.filter((name) => !used.has(name))).toEqual([])
  })
})
