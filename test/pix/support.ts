/** The API Pix behind the real application and authenticator, on a database of its own. */

import { createPrivateKey } from 'node:crypto'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { createApp, createHttpMetrics } from '#src/platform/http/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import {
  createAuthenticator,
  type KeyRecord,
  networksOf,
  type TokenSource,
} from '#src/platform/security/index.ts'
import { createRecurringSender, createRefunds } from '#src/spi/index.ts'
import { createTopics } from '#src/webhooks/index.ts'
import type { JoseCertificate, JoseKeySource } from '../../src/jose/index.ts'
import { sweepRecurring } from '../../src/pix/collections/sweep.ts'
import { createCalendar } from '../../src/pix/due/calendar.ts'
import { createPix, type PixDeps } from '../../src/pix/index.ts'
import { createHolidayBook } from '../../src/reference/holidays/domain.ts'
import { testKey } from '../support/app.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../support/database.ts'
import { joseFeature } from '../support/jose.ts'
import { issueCertificate } from '../support/pki.ts'

export const pair = issueCertificate('12345678 QRC')
export const kid = '12345678.QRC.1'
export const host = 'pix.example.com'

const lawful = createHolidayBook([])
/** What signs payloads, as the store tells of it. */
export const signingCertificate: JoseCertificate = {
  kid,
  certificate: pair.cert,
  fingerprint: 'one',
  active: true,
  hasKey: true,
  signs: true,
  encrypts: true,
  isForTokens: true,
}

const store: JoseKeySource = {
  list: async () => [signingCertificate],
  readKey: async () =>
    new Uint8Array(createPrivateKey(pair.key).export({ format: 'der', type: 'pkcs8' })),
}

type CallOptions = {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Where it comes from. */
  readonly peer?: string
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
export type Json = any

export type Client = { readonly id: string; readonly secret: string; readonly record: KeyRecord }

type Sender = NonNullable<ReturnType<typeof createRecurringSender>>

/** The same, noting what is sent. */
const recorded = <T extends Sender | undefined>(sender: T, drafts: Json[]): T =>
  sender && {
    ...sender,
    sendWithin: async (tx, sent, at) => {
      await sender.sendWithin(tx, sent, at)
      drafts.push(...sent)
    },
  }

/** Proxies at 127.0.0.1 are trusted. */
export const startPix = async (
  now?: () => Date,
  seen: (sql: TestDatabase['sql']) => TestDatabase['sql'] = (sql) => sql,
  certificates: JoseKeySource = store,
) => {
  const database = await createTestDatabase(20)
  const sql = seen(database.sql)
  const keys: KeyRecord[] = []
  const tokens: TokenSource[] = []
  const authenticator = createAuthenticator({
    sources: [{ find: async (id) => keys.find((record) => record.id === id) }],
    tokens,
    cacheMs: 0,
  })
  const broker = createPostgresBroker({
    sql,
    dsn: database.dsn,
    logger: quietLogger,
  })
  const drafts: Json[] = []
  const deps: PixDeps = {
    sql,
    authenticator,
    logger: quietLogger,
    runsJobs: false,
    topics: createTopics({ allowedTargets: ['127.0.0.0/8', 'localhost'] }),
    refunds: createRefunds({ ispb: '12345678', sql, broker, revision: '5.10.1' }),
    mandates: recorded(
      createRecurringSender({ ispb: '12345678', sql, broker, revision: '5.11.1' }),
      drafts,
    ),
    ispb: '12345678',
    settings: { locationHost: host, signingKid: kid, tokenSeconds: 3_600 },
    signing: joseFeature(certificates).signPublished,
    isHoliday: lawful.isHoliday,
    ...(now === undefined ? {} : { now }),
  }
  const feature = createPix(deps)
  if (feature.tokenSource !== undefined) tokens.push(feature.tokenSource)
  const routes = [feature, feature.beside].flatMap((one) => one.routes ?? [])
  const app = createApp({
    routes,
    authenticator,
    logger: quietLogger,
    metrics: createHttpMetrics(createMetrics({ version: 'test', withProcess: false })),
    trustedProxies: networksOf(['127.0.0.1']),
  })
  const call = async (method: string, path: string, options: CallOptions = {}) => {
    const { token, body, headers = {}, peer = '192.0.2.7' } = options
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const response = await app.fetch(request, { requestIP: () => ({ address: peer }) })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    const json: Json = isJson ? JSON.parse(text) : undefined
    return { status: response.status, headers: response.headers, text, json }
  }
  const client = (account = 'default', grants: readonly string[] = ['*']): Client => {
    const { key, record } = testKey(...grants)
    const own = { ...record, account }
    keys.push(own)
    return { id: own.id, secret: key, record: own }
  }
  const tokenOf = async ({ id, secret }: Client, scope?: string): Promise<string> => {
    const body = { grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }
    const basic = Buffer.from(`${id}:${secret}`).toString('base64')
    const headers = { Authorization: `Basic ${basic}` }
    return (await call('POST', '/oauth/token', { body, headers })).json.access_token
  }
  const sweep = async (): Promise<void> => {
    const sender = createRecurringSender({ ispb: '12345678', sql, broker, revision: '5.11.1' })
    if (sender === undefined) throw new Error('no sender')
    await sweepRecurring({
      logger: quietLogger,
      sql,
      sender: recorded(sender, drafts),
      ispb: '12345678',
      emit: createTopics({ allowedTargets: [] }).emit,
      now: now ?? (() => new Date()),
      calendar: createCalendar(lawful.isHoliday),
    })
  }
  const operator = client().secret
  return {
    receivables: feature.receivables,
    recurrences: feature.recurrences,
    recurrencesWithoutIspb: createPix({ ...deps, ispb: undefined }).recurrences,
    health: feature.health,
    drafts,
    sweep,
    database,
    sql,
    routes,
    call,
    client,
    tokenOf,
    operator,
    keys,
    /** Lets an account charge with a new key, and returns key and token. */
    receiver: async (account: string, taxId = '12345678000195', more: object = {}) => {
      const key = crypto.randomUUID()
      const body = {
        key,
        account,
        tax_id: taxId,
        name: 'Padaria São José',
        city: 'São Paulo',
        ...more,
      }
      const put = await call('PUT', '/v1/pix/receivers', { token: operator, body })
      if (put.status !== 200) throw new Error(put.text)
      return { key, token: await tokenOf(client(account)) }
    },
  }
}

let serial = 0
/** None twice in a run. */
export const freshTxid = (): string => `txid${String(++serial).padStart(28, '0')}`

export const chargeBody = (chave: string, more: object = {}) => ({
  calendario: { expiracao: 3_600 },
  devedor: { cpf: '12345678909', nome: 'Francisco da Silva' },
  valor: { original: '37.00' },
  chave,
  solicitacaoPagador: 'Serviço realizado.',
  infoAdicionais: [{ nome: 'Campo 1', valor: 'Informação' }],
  ...more,
})
