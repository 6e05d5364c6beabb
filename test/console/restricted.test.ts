/** The console offers no act that the API refuses to a key for its restrictions. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { StoredRestrictions } from '#src/platform/security/index.ts'
import { type GatewayHere, startGatewayHere } from '../support/gateway-here.ts'
import { loadConsole } from './load-console.ts'

const { may, mayMakeWallet } = await loadConsole<{
  readonly may: (session: object, scope: string) => boolean
  readonly mayMakeWallet: (session: object) => boolean
}>(['act.tsx'])

let gateway: GatewayHere
beforeAll(async () => {
  gateway = await startGatewayHere()
})
afterAll(() => gateway?.[Symbol.asyncDispose]())

const post = (path: string, body: object, headers: Readonly<Record<string, string>>) =>
  fetch(gateway.urls.httpUrl + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const acts = [
  {
    path: '/v1/keys',
    body: { name: 'n', scopes: ['keys:read'] },
    isOffered: (session: object) => may(session, 'keys:manage'),
  },
  {
    path: '/v1/webhooks',
    body: { url: 'https://127.0.0.1/', events: ['*'] },
    isOffered: (session: object) => may(session, 'webhooks:manage'),
  },
  {
    path: '/v1/wallets',
    body: { type: 'managed', label: 'l' },
    isOffered: mayMakeWallet,
  },
] as const

const all: readonly StoredRestrictions[] = [
  {},
  { merchant_ids: ['M1'] },
  { wallets: [`0x${'a1'.repeat(20)}`] },
  { own_webhooks: true },
  { read_only: true },
  { requests_per_second: 100 },
  { addresses: ['127.0.0.0/8', '::1'] },
]

test.each(all.map((restrictions) => [JSON.stringify(restrictions), restrictions] as const))(
  'of a key that is restricted by %s',
  async (_, restrictions) => {
    const key = await gateway.keyOf({ restrictions })
    const signedIn = await post('/console/session', { key }, { 'X-Trilho-Console': 'user' })
    const session = (await signedIn.json()) as { readonly restrictions: readonly string[] }
    expect(session.restrictions).toEqual(Object.keys(restrictions))
    for (const { path, body, isOffered } of acts) {
      const answer = await post(path, body, { Authorization: `Bearer ${key}` })
      // The key has every scope.
      expect([path, isOffered(session)]).toEqual([path, answer.status !== 403])
    }
  },
)
