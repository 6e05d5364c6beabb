import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { documentTags, tagOf } from '#src/platform/http/openapi-tags.ts'
import { anyVariant, type RunningProgram, startProgram } from '../support/program.ts'

type Schema = { readonly $ref?: string; readonly type?: string }
type Content = Readonly<Record<string, { readonly schema?: Schema }>>
type Operation = {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Content }>
  >
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>
type Document = { readonly paths: Paths; readonly webhooks: Paths }

/** All that is documented stands in the document of a gateway without settings, too. */
let program: RunningProgram
let text: string
let base: string
let operations: readonly { readonly at: string; readonly operation: Operation }[]

beforeAll(async () => {
  program = startProgram(anyVariant, ['serve'], {
    env: { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0' },
  })
  const line = await program.line((one) => one.includes('"listening"'))
  const { http_url: url } = JSON.parse(line) as { readonly http_url: string }
  base = url
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
      /^(acknowledge|approve|authorize|build|call|cancel|capture|claim|close|compare|complete|confirm|create|decrypt|delete|deploy|encrypt|explain|export|fund|get|import|increment|list|mend|open|read|receive|refund|register|replay|resend|resolve|retry|revoke|rotate|seal|send|set|sign|test|transform|update|validate|verify|void)/
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

  test('says of each body how large it may be', () => {
    const unsized = operations.filter(
      ({ at, operation: { requestBody, responses } }) =>
        requestBody !== undefined &&
        at.includes(' /') &&
        !/body_too_large.*at most \d+ bytes/.test(responses['413']?.description ?? ''),
    )
    expect(unsized.map(({ at }) => at)).toEqual([])
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

  test('says of each whole number in a body how large it may be', () => {
    const { components } = JSON.parse(text) as {
      readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
    }
    const unbounded = (value: unknown, path: string, seen: readonly string[]): string[] => {
      if (typeof value !== 'object' || value === null) return []
      const { $ref, type, maximum, enum: values } = value as Record<string, unknown>
      if (typeof $ref === 'string') {
        const name = $ref.slice($ref.lastIndexOf('/') + 1)
        return seen.includes(name)
          ? []
          : unbounded(components.schemas[name], `${path} ${name}`, [...seen, name])
      }
      const isFree = [type].flat().includes('integer') && maximum === undefined && !values
      return [
        ...(isFree ? [path] : []),
        ...Object.entries(value).flatMap(([key, inner]) =>
          key.startsWith('example') ? [] : unbounded(inner, `${path}/${key}`, seen),
        ),
      ]
    }
    const found = operations.flatMap(({ at, operation: { requestBody } }) =>
      at.split(' ')[1]?.startsWith('/') ? unbounded(requestBody?.content, at, []) : [],
    )
    expect(found).toEqual([])
  })

  test('shows its groups in the order of use, and each has operations', () => {
    const { tags } = JSON.parse(text) as { readonly tags: readonly { readonly name: string }[] }
    const names = tags.map(({ name }) => name)
    expect(names as readonly string[]).toEqual(documentTags.map(({ name }) => name))
    const used = new Set(operations.flatMap(({ operation }) => operation.tags))
    expect(names.filter((name) => !used.has(name))).toEqual([])
    const paths = Object.keys((JSON.parse(text) as { readonly paths: object }).paths)
    expect(paths.filter((path) => tagOf({ path }) === undefined)).toEqual([])
  })
})

describe('the error catalogue', () => {
  type Entry = { readonly code: string; readonly title: string }
  const asked = (path: string, language: string, accept = '*/*') =>
    fetch(base + path, { headers: { 'Accept-Language': language, Accept: accept } })
  const listed = async (language: string) => {
    const response = await asked('/v1/errors', language)
    expect(response.headers.get('content-language')).toBe(language)
    expect(response.headers.get('vary')).toBe('Accept, Accept-Language')
    return ((await response.json()) as { readonly errors: readonly Entry[] }).errors
  }

  test('says of every code all in both languages', async () => {
    const [english, portuguese] = [await listed('en'), await listed('pt-BR')]
    expect(english.length).toBeGreaterThan(90)
    expect(portuguese.map(({ code }) => code)).toEqual(english.map(({ code }) => code))
    for (const [at, entry] of english.entries()) {
      const { title, meaning, remedy, ...machine } = entry as Entry & Record<string, unknown>
      const theirs = (portuguese[at] ?? {}) as Record<string, unknown>
      expect(theirs).toMatchObject(machine)
      expect(String(theirs['title']).length + title.length).toBeGreaterThan(5)
      // Titles of a Brazilian standard are Portuguese in both.
      for (const [name, value] of Object.entries({ meaning, remedy })) {
        expect([entry.code, name, theirs[name] === value]).toEqual([entry.code, name, false])
        expect(String(theirs[name]).length).toBeGreaterThan(5)
      }
    }
  })

  test('has a page for each, with cause, remedy and example, at the address that `type` names', async () => {
    for (const { code, title } of await listed('pt-BR')) {
      const response = await asked(`/v1/errors/${code}`, 'pt', 'text/html,*/*;q=0.8')
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('content-security-policy')).not.toContain('unsafe')
      const page = await response.text()
      expect(page).toContain(`<html lang="pt-BR">`)
      expect(page).toContain(`<h1>${title}</h1>`)
      for (const part of ['Causa', 'Solução', 'Exemplo']) expect(page).toContain(`<h2>${part}</h2>`)
    }
    const cards = await (await asked('/v1/errors/invalid_amount', 'en', 'text/html')).text()
    expect(cards).toContain('"code": "INVALID_AMOUNT"')
    const list = await (await asked('/v1/errors', 'en', 'text/html')).text()
    expect(list).toContain('<a href="/v1/errors/not_found">')
  })

  test('an error is told in the language that its caller prefers, and is the same to a program', async () => {
    const [english, portuguese] = await Promise.all(
      ['en', 'pt'].map(async (language) => {
        const response = await asked('/v1/errors/none', language)
        expect(response.headers.get('vary')).toBe('Accept-Language')
        const {
          title,
          detail,
          request_id: _,
          ...machine
        } = (await response.json()) as Entry & {
          readonly detail: string
          readonly request_id: string
        }
        const told = response.headers.get('content-language')
        return { machine, people: [title, detail, told].join('|') }
      }),
    )
    expect(JSON.stringify(portuguese?.machine)).toBe(JSON.stringify(english?.machine))
    expect(portuguese?.people).toStartWith('Não encontrado|')
    expect(portuguese?.people).toEndWith('|pt-BR')
    expect(english?.people).toBe('Not found|No such error code.|en')
    const key = await asked('/v1/transactions', 'pt')
    expect(await key.json()).toMatchObject({
      error: { code: 'UNAUTHORIZED', message: expect.stringContaining('chave de API') },
    })
  })
})
