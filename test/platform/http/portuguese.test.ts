import { describe, expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { portugueseOf, type Route, readJson, readQuery, text } from '#src/platform/http/index.ts'
import { testApp, testKey } from '../../support/app.ts'
import { englishTexts } from '../../support/english-texts.ts'

const user = testKey('*')

const form = z.strictObject({
  name: text(5).optional(),
  amount: z.int().min(1).max(100).optional(),
  kind: z.enum(['a', 'b']).optional(),
  list: z.array(z.string().regex(/^\d+$/)).min(1).max(2).optional(),
  code: z
    .string()
    .regex(/^\d{4}$/, 'must be four digits')
    .optional(),
  at: z.iso.datetime().optional(),
  url: z.url().optional(),
  is: z.literal(true).optional(),
  or: z.union([z.string(), z.boolean()]).optional(),
  inner: z.strictObject({ must: z.string() }).optional(),
  many: z.array(z.strictObject({ must: z.string() })).optional(),
  shout: z
    .string()
    .refine(() => false, 'is nothing that anybody translated')
    .optional(),
})
const route: Route = {
  method: 'POST',
  path: '/form',
  scope: 'ops:read',
  accepts: ['application/json'],
  document: { operation: 'form', summary: 'x', responses: {} },
  handle: async (c) => {
    readQuery(c, z.strictObject({}))
    await readJson(c, form)
    return c.json({})
  },
}
const app = testApp([route], { keys: [user.record] })

type Problem = {
  readonly title: string
  readonly detail: string
  readonly errors: readonly { readonly pointer: string; readonly message: string }[]
}

const refused = async (body: unknown, language: string, query = ''): Promise<Problem> => {
  const headers = { 'Accept-Language': language, 'Content-Type': 'application/json' }
  const sent = { method: 'POST', headers, body: JSON.stringify(body), key: user.key }
  return (await app.call('POST', `/form${query}`, sent)).json() as Promise<Problem>
}

const wrong: readonly (readonly [body: unknown, pointer: string, message: string])[] = [
  [{ name: 7 }, '/name', 'é esperado texto, veio número'],
  [{ name: 'abcdef' }, '/name', 'deve ter de 1 a 5 caracteres'],
  [{ name: 'a\u0001' }, '/name', 'deve ser texto sem caracteres de controle'],
  [{ amount: 0 }, '/amount', 'deve ser 1 ou mais'],
  [{ amount: 101 }, '/amount', 'deve ser 100 ou menos'],
  [{ amount: 1.5 }, '/amount', 'é esperado número inteiro, veio número'],
  [{ kind: 'c' }, '/kind', 'deve ser um de "a"|"b"'],
  [{ list: [] }, '/list', 'deve ter 1 itens ou mais'],
  [{ list: ['1', '2', '3'] }, '/list', 'deve ter 2 itens ou menos'],
  [{ list: ['x'] }, '/list/0', 'não tem a forma /^\\d+$/'],
  [{ code: '1' }, '/code', 'deve ter quatro dígitos'],
  [{ at: 'now' }, '/at', 'não é válido como data e hora ISO 8601'],
  [{ url: '' }, '/url', 'não é válido como URL'],
  [{ is: false }, '/is', 'é esperado true'],
  [{ or: 1 }, '/or', 'não é válido'],
  [{ other: 1 }, '/other', 'tem um membro que não se conhece: "other"'],
  // A rule that nobody translated.
  [{ shout: '' }, '/shout', 'quebra a regra custom'],
  [[], '', 'é esperado objeto, veio lista'],
]

describe('in Portuguese', () => {
  test.each(wrong)('%j is told', async (body, pointer, message) => {
    const { detail, errors } = await refused(body, 'pt-BR')
    expect(errors).toMatchObject([{ pointer, message }])
    expect(detail).toBe(`${pointer || 'O corpo'}: ${message}`)
  })

  test('several are counted, and the machine’s members are those of English', async () => {
    const body = { name: 7, amount: 0 }
    const [english, portuguese] = [await refused(body, 'en'), await refused(body, 'pt')]
    expect(portuguese.detail).toBe('/name: é esperado texto, veio número (e mais 1)')
    expect(english.detail).toBe(
      '/name: Invalid input: expected string, received number (and 1 more)',
    )
    const machine = ({ errors }: Problem) => errors.map(({ message: _, ...rest }) => rest)
    expect(machine(portuguese)).toEqual(machine(english))
  })

  test('what is missing is said to be missing, as in a message that is built', async () => {
    for (const [language, message] of Object.entries({ en: 'is missing', pt: 'falta' })) {
      const { errors } = await refused({ inner: {} }, language)
      const expected: object[] = [{ pointer: '/inner/must', rule: 'required', message }]
      expect<readonly object[]>(errors).toEqual(expected)
    }
  })

  test('a query is a query', async () => {
    const { detail } = await refused({}, 'pt', '?x=1')
    expect(detail).toBe('x: tem um membro que não se conhece: "x"')
  })
})

/** What answers no request: settings and what the commands print; what another system or standard has to say. */
const elsewhere =
  /(?:config|checks|check|roles|problems|settings|form|demo|definitions|merchants|keys|key-file|restrictions|kinds|database-url|master-key|in-use|authorities|networks\/networks|config\/load|reach|inspect|inspect\/index|catalogue\/index|verify|verify-archive|dead-letters|worker\/read|swap-log|rpc\/errors)\.ts$|^src\/(?:simulators|cli|composition|console\/browser|pix\/(?!receivers))/
/** Parts of a text, which is translated as a whole. */
const parts: ReadonlySet<string> = new Set([
  ...['has not been read yet', 'has been read up to block {} so far'],
  ...['does not tell its decimals', 'had {} decimals and now tells {}'],
  ...['The chain of {} {}.', 'The token {} of {} {}.', '{} U+0000 or half a surrogate pair'],
  ...['{}: {}', 'must be text without control characters{}'],
  ...['The message breaks its schema at {}{}.', 'The API {} may make {} requests a second.'],
  // What the doctor prints.
  'nothing waits in them for long that could still be sent',
  '{} are past their retention: payments, returns or requests FAILED with them, and wait for a decision',
  // Examples of what is sent.
  ...['I own this wallet.', 'AkwDAAAA', ''],
  // A type of Solidity.
  'a {}',
])

test('whatever the sources say of what is wrong is in the catalogue', () => {
  const folders = ['src', 'codecs/iso20022', 'codecs/brcode']
  const texts = englishTexts(folders, (file) => !elsewhere.test(file))
  const missing = [...texts]
    .flatMap(([file, said]) => said.map((one) => [file, one] as const))
    .filter(([, one]) => !parts.has(one) && portugueseOf(one.replaceAll('{}', '7')) === undefined)
  expect(missing.map(([file, one]) => `${file}: ${one}`)).toEqual([])
  expect([...texts.values()].flat().length).toBeGreaterThan(300)
})

test('each text stands once in the catalogue, with a Portuguese that has the same places', async () => {
  const file = join(import.meta.dir, '../../../src/platform/http/portuguese/phrases.tsv')
  const lines = (await Bun.file(file).text()).trimEnd().split('\n')
  const rows = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const texts = rows.map((row) => row.split('\t'))
  expect(texts.filter((each) => each.length !== 2 || each.includes(''))).toEqual([])
  expect(new Set(texts.map(([english]) => english)).size).toBe(rows.length)
  const wrong = texts.filter(([english = '', portuguese = '']) => {
    const places = english.split('{}').length - 1
    // Only the English side leaves a place without its number.
    if (portuguese.includes('{}')) return true
    return [...portuguese.matchAll(/\{(\d)\}/g)].some(([, place]) => Number(place) > places)
  })
  expect(wrong).toEqual([])
})

test('what is not in it is not half translated', () => {
  for (const one of [
    'The thing is broken or gone.',
    'a field of it is over 5 bytes',
    'must be of some other form',
    '',
    'x'.repeat(9_999),
  ])
    expect(portugueseOf(one)).toBeUndefined()
})

test('an error is told with bounded work, whatever its caller wrote in it', async () => {
  const each = ' was not issued by must be ; aa bb is not of , got  and  takes  or  at most "'
  const key = each.repeat(6).slice(0, 450)
  const inner = Array.from({ length: 100 }, (_, at) => ({ must: '', [`${key}${at}`]: 1 }))
  const looked = spyOn(String.prototype, 'startsWith')
  try {
    const { errors } = await refused({ many: inner }, 'pt-BR')
    expect(errors).toHaveLength(100)
    expect(looked.mock.calls.length).toBeLessThan(500_000)
  } finally {
    looked.mockRestore()
  }
})

test.each([0, 1])('what is cut of a long text ends with a whole character (%d)', async (at) => {
  const { detail } = await refused({ [`${'b'.repeat(450 + at)}${'😀'.repeat(90)}`]: 1 }, 'en')
  expect(detail.isWellFormed()).toBe(true)
})

test('what is quoted is left as it was sent', async () => {
  const { errors } = await refused({ 'this and that thing': 1 }, 'pt-BR')
  const message = 'tem um membro que não se conhece: "this and that thing"'
  expect(errors).toMatchObject([{ message }])
})

test('each line about an error has all its texts, and there is such an error', async () => {
  const root = join(import.meta.dir, '../../..')
  const table = await Bun.file(join(root, 'src/platform/http/portuguese/errors.tsv')).text()
  const rows = table
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t'))
  expect(rows.filter((row) => row.length !== 4 || row.includes(''))).toEqual([])
  const declared: string[] = []
  const remedies = new Map<string, string>()
  for await (const path of new Bun.Glob('src/**/errors.ts').scan(root)) {
    if (!(await Bun.file(join(root, path)).text()).includes('defineErrors(')) continue
    const catalogues = Object.values((await import(join(root, path))) as object)
    // A list of errors of a catalogue names them again.
    const found = new Set(
      catalogues.flatMap((one: unknown) => Object.values(Object(one) as object)),
    )
    for (const one of found) {
      const { code, remedy } = Object(one) as { readonly code: string; readonly remedy?: string }
      if (remedy === undefined) continue
      declared.push(code)
      remedies.set(code, remedy)
    }
  }
  expect(rows.map(([code]) => code).toSorted()).toEqual(declared.toSorted())
  // A member, a setting or a path that the remedy names has the same name in every language.
  const names = (text: string): string[] =>
    (text.match(/[a-z]+(?:_[a-z]+)+|[A-Z]+(?:_[A-Z]+)+|\/[\w/{}]+/g) ?? []).toSorted()
  const differing = rows.filter(
    ([code = '', , , remedy = '']) =>
      !Bun.deepEquals(names(remedy), names(remedies.get(code) ?? '')),
  )
  expect(differing).toEqual([])
})
