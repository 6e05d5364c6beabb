import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createKeyFileStore, scopes } from '#src/platform/security/index.ts'
import { createTopics } from '#src/webhooks/index.ts'
import { createPix } from '../../src/pix/index.ts'
import { quietLogger } from '../support/database.ts'
import { anyVariant, type RunningProgram, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

type Operation = { readonly description: string; readonly security: readonly object[] }
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

/** A key that has this scope alone, and one that has every other. */
type Pair = { readonly with: string; readonly without: string }

const keys = new Map<string, Pair>()
let program: RunningProgram
let url: string
type Opened = { readonly method: string; readonly path: string; readonly scope: string }
let operations: readonly Opened[]

/** The standard describes the operations of the API Pix, not our document. */
const ofStandard: readonly Opened[] = (
  createPix({
    sql: undefined,
    authenticator: { verify: () => undefined },
    logger: quietLogger,
    settings: { locationHost: undefined, signingKid: undefined, tokenSeconds: 60 },
    refunds: undefined,
    mandates: undefined,
    ispb: undefined,
    topics: createTopics({ allowedTargets: undefined }),
    signing: { sign: async () => '', canSign: async () => true, keySet: async () => [] },
    isHoliday: () => false,
  }).routes ?? []
).filter(({ document, scope }) => document.operation === undefined && scope !== 'public')

beforeAll(async () => {
  const file = join(temporaryDirectory(), 'keys.json')
  const store = createKeyFileStore(file, () => new Date())
  const common = { account: 'default', environment: 'test', expiresAt: undefined } as const
  const keyOf = async (name: string, grants: string[]): Promise<string> =>
    (await store.create({ ...common, name, grants })).key
  for (const scope of scopes) {
    keys.set(scope, {
      with: await keyOf(`with ${scope}`, [scope]),
      without: await keyOf(
        `without ${scope}`,
        scopes.filter((other) => other !== scope),
      ),
    })
  }
  program = startProgram(anyVariant, ['serve'], {
    env: { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0', API_KEYS_FILE: file },
  })
  const line = await program.line((one) => one.includes('"listening"'))
  url = (JSON.parse(line) as { readonly http_url: string }).http_url
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { readonly paths: Paths }
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security.length > 0)
      .map(([method, { description }]) => ({
        method: method.toUpperCase(),
        path,
        scope: /Scope: `([a-z:]+)`/.exec(description)?.[1] ?? '',
      })),
  )
  operations = [...described, ...ofStandard]
})

afterAll(async () => {
  program.signal('SIGTERM')
  await program.end()
})

test('every scope that a key can have opens an endpoint, and every endpoint asks for one', () => {
  expect([...new Set(operations.map(({ scope }) => scope))].sort()).toEqual([...scopes].sort())
})

test('an endpoint is opened by the scope that it names, and by no other', async () => {
  const statusOf = async (method: string, path: string, key: string): Promise<number> => {
    const headers = { Authorization: `Bearer ${key}` }
    const address = url + path.replace(/\{\w+\}/g, 'x')
    return (await fetch(address, { method, headers })).status
  }
  expect(operations.length).toBeGreaterThan(60)
  for (const { method, path, scope } of operations) {
    const { with: its, without } = keys.get(scope)!
    const at = `${method} ${path}`
    expect([at, await statusOf(method, path, without)]).toEqual([at, 403])
    expect([at, [401, 403].includes(await statusOf(method, path, its))]).toEqual([at, false])
  }
})
