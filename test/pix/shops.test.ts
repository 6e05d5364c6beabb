/** Shops' client libraries for the API Pix of other institutions make a charge, find it paid, give back and are told. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { acceptingPsp, createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase } from '../support/database.ts'
import { noNpmTools, npmTools } from '../support/npm-tools.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, root, startProgram } from '../support/program.ts'
import { pythonWith } from '../support/python-tools.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../webhooks/support.ts'

setDefaultTimeout(120_000)

const ispb = '12345678'
const pixKey = '7d9f0335-8dcc-4054-9bf9-0dbd61d36906'
const taxId = '12345678000195'
const directory = temporaryDirectory()
const file = (name: string, text: string): string => {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

const authority = issueCertificate('Authority', { authority: true })
const hosts = ['pix-h.api.efipay.com.br', 'api-pix-h.sicredi.com.br']
const proxy = issueCertificate('proxy', { issuer: authority, hosts })
const shop = issueCertificate('shop', { issuer: authority })
const trusted = file('authority.pem', authority.cert)

const keys = await apiKeyFile('*')
const database = await createTestDatabase(5)
const bank = await createCentralBank({ longPollMs: 200 })
const receiver = startReceiver()
const gateway = startProgram(anyVariant, ['serve'], {
  env: {
    HTTP_ADDR: '127.0.0.1:0',
    CARDGW_PORT: '0',
    API_KEYS_FILE: keys.file,
    ISPB: ispb,
    DATABASE_DSN: database.dsn,
    TRILHO_ROLES: 'api,pull,worker,send,webhooks',
    SPI_PRIMARY_URL: bank.url,
    SPI_SECONDARY_URL: bank.secondaryUrl,
    SPI_AUTO_ACCEPT: 'true',
    TRILHO_TRUSTED_PROXIES: '127.0.0.1',
    WEBHOOK_ALLOWED_TARGETS: '127.0.0.0/8',
    PIX_LOCATION_HOST: 'pix.example.com',
  },
})
let url: string

const client = {
  id: keys.key.split('_')[2] ?? '',
  secret: keys.key,
  pixKey,
  certificate: file('shop.crt', shop.cert),
  key: file('shop.key', shop.key),
  pem: file('shop.pem', shop.cert + shop.key),
}

beforeAll(async () => {
  const line = JSON.parse(await gateway.line((text) => text.includes('"msg":"listening"')))
  url = line.http_url
  const response = await fetch(`${url}/v1/pix/receivers`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${keys.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ key: pixKey, tax_id: taxId, name: 'Padaria', city: 'Recife' }),
  })
  if (!response.ok) throw new Error(await response.text())
})

afterAll(async () => {
  gateway.signal('SIGTERM')
  await gateway.end()
  await bank.stop()
  await receiver.stop()
  await database.close()
})

/** The Pix that the shops were told of: the webhook is the key's, which all of them use. */
const told = (): readonly { readonly txid: string; readonly endToEndId: string }[] =>
  receiver.received.flatMap(({ body }) => JSON.parse(body).pix ?? [])
/** What they were told of Pix Automático: each recurrence or charge with its status. */
const toldOfAutomatic = (): readonly string[] =>
  receiver.received.flatMap(({ body }) => {
    const { recs = [], cobsr = [] } = JSON.parse(body) as Record<string, readonly Told[]>
    return [...recs, ...cobsr].map(({ idRec, txid, status }) => `${txid ?? idRec} ${status}`)
  })
type Told = { readonly idRec: string; readonly txid?: string; readonly status: string }

/** Reads what a client writes to its end; pays its charges when it says so. @returns what it found paid, by client */
const follow = async (
  child: {
    readonly stdout: ReadableStream<Uint8Array>
  },
  onLine: (words: readonly string[]) => void = () => undefined,
) => {
  const found = new Map<string, string>()
  let rest = ''
  for await (const chunk of child.stdout) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const [what = '', name = '', value = ''] = line.split(' ')
      if (what === 'charge') {
        bank.payIn({ to: ispb, amountCents: 3_700n, charge: { txid: value, taxId, key: pixKey } })
      }
      if (what === 'scheduled') expect(bank.payCharge(value)).toBe(true)
      if (what === 'collected' || what === 'done') found.set(name, value)
      onLine([what, name, value])
    }
  }
  return found
}

const collected = 'd'.repeat(30)
const txids = { efi: 'a'.repeat(30), sicredi: 'b'.repeat(30), efipay: 'c'.repeat(30) }
const python = pythonWith('efipay')
const noNode = Bun.which('node') === null ? ' [skipped: no node]' : noNpmTools

test.skipIf(noNode !== '')(
  `by configuration of their certificate and address alone${noNode}`,
  async () => {
    const given = {
      gateway: url,
      packages: dirname(npmTools ?? ''),
      client,
      txids,
      proxy: { cert: proxy.cert, key: proxy.key, ca: authority.cert },
      hook: receiver.url,
    }
    const node = Bun.spawn(
      ['node', join(root, 'test/pix/shops/shops.mjs'), JSON.stringify(given)],
      {
        env: { ...process.env, NODE_EXTRA_CA_CERTS: trusted },
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'inherit',
      },
    )
    const found = new Map<string, string>()
    const withPython = async (port: number): Promise<void> => {
      if (python !== undefined) {
        const own = {
          client,
          port,
          txid: txids.efipay,
          hook: receiver.url,
          payer: acceptingPsp,
          collected,
        }
        const child = Bun.spawn(
          [python, join(root, 'test/pix/shops/shop.py'), JSON.stringify(own)],
          {
            env: { ...process.env, REQUESTS_CA_BUNDLE: trusted },
            stdout: 'pipe',
            stderr: 'inherit',
          },
        )
        for (const [name, id] of await follow(child)) found.set(name, id)
      }
    }
    let inPython: Promise<void> | undefined
    let done = 0
    const ended = follow(node, ([what, port]) => {
      if (what === 'proxy') inPython = withPython(Number(port))
      if (what === 'done' && ++done === 2) void inPython?.finally(() => node.stdin.end())
    })
    for (const [name, id] of await ended) found.set(name, id)
    const names = ['efi', 'sicredi', ...(python === undefined ? [] : ['efipay'])]
    const recurrences = [...found.keys()].filter((name) => !(name in txids))
    expect([...found.keys()].sort()).toEqual([...names, ...recurrences].sort())
    expect(recurrences).toHaveLength(python === undefined ? 0 : 1)
    for (const idRec of recurrences) {
      const ends = [`${idRec} APROVADA`, `${collected} CONCLUIDA`]
      await until(() => ends.every((end) => toldOfAutomatic().includes(end)))
    }
    for (const name of names) {
      const txid = txids[name as keyof typeof txids]
      const endToEndId = found.get(name) ?? ''
      await until(() => told().some((one) => one.endToEndId === endToEndId))
      expect(told()).toContainEqual(expect.objectContaining({ txid, endToEndId }))
    }
    expect(await node.exited).toBe(0)
  },
)
