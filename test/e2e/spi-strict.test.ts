import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type CentralBank, createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { transfer } from '../support/participant.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, type RunningProgram, startProgram } from '../support/program.ts'

setDefaultTimeout(60_000)

const a = '11111111'
const b = '22222222'
const waitMs = 40_000

type Gateway = {
  readonly ispb: string
  readonly database: TestDatabase
  readonly program: RunningProgram
  readonly call: (path: string, body?: unknown) => Promise<Record<string, unknown>>
}

type Message = {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly end_to_end_id: string
}

let bank: CentralBank
let gateways: readonly Gateway[] = []

const base64 = (pem: string): string => Buffer.from(pem).toString('base64')

/** A gateway with all roles, its own keys and its own database, as an institution runs it. */
const startGateway = async (
  ispb: string,
  env: Readonly<Record<string, string>>,
): Promise<Gateway> => {
  const database = await createTestDatabase(2)
  const { file: keyFile, key } = await apiKeyFile('spi:send', 'messages:read')
  const program = startProgram(anyVariant, ['serve'], {
    env: {
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      API_KEYS_FILE: keyFile,
      DATABASE_DSN: database.dsn,
      ISPB: ispb,
      SPI_AUTO_ACCEPT: 'true',
      SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND',
      ...env,
    },
  })
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  const { http_url: url } = JSON.parse(line) as { readonly http_url: string }
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  return {
    ispb,
    database,
    program,
    call: async (path, body) => {
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const response = await fetch(url + path, { headers, ...init })
      const answer = (await response.json()) as Record<string, unknown>
      if (!response.ok) throw new Error(JSON.stringify(answer))
      return answer
    },
  }
}

beforeAll(async () => {
  const authority = issueCertificate('Authority', { authority: true })
  const server = issueCertificate('interface', { issuer: authority, hosts: ['127.0.0.1'] })
  const bankSigner = issueCertificate('bank')
  const signers = new Map([a, b].map((ispb) => [ispb, issueCertificate(`signer of ${ispb}`)]))
  bank = await createCentralBank({
    tls: { cert: server.cert, key: server.key, clientCa: authority.cert },
    signing: { certificate: bankSigner.cert, key: bankSigner.key },
    participantCertificates: Object.fromEntries(
      [...signers].map(([ispb, { cert }]) => [ispb, [cert]]),
    ),
    longPollMs: 500,
    hostWithoutPort: true,
    rateLimits: true,
    fromAcceptance: true,
  })
  gateways = await Promise.all(
    [...signers].map(([ispb, signer]) => {
      const client = issueCertificate(`client of ${ispb}`, { issuer: authority })
      return startGateway(ispb, {
        SPI_PRIMARY_URL: bank.url,
        SPI_SECONDARY_URL: bank.secondaryUrl,
        CERT_BASE64: base64(client.cert),
        KEY_BASE64: base64(client.key),
        CA_BASE64: base64(authority.cert),
        SPI_TRUSTED_CERTS_BASE64: base64(bankSigner.cert),
        SPI_SIGN_ENABLED: 'true',
        SPI_SIGN_CERT_BASE64: base64(signer.cert),
        SPI_SIGN_KEY_BASE64: base64(signer.key),
        SPI_SYNC_ENABLED: String(ispb === b),
      })
    }),
  )
})

afterAll(async () => {
  for (const { program } of gateways) program.signal('SIGKILL')
  await Promise.all(gateways.map(({ program }) => program.end()))
  await bank.stop()
  await Promise.all(gateways.map(({ database }) => database.close()))
})

const gatewayOf = (ispb: string): Gateway => {
  const found = gateways.find((gateway) => gateway.ispb === ispb)
  if (found === undefined) throw new Error(`no gateway of ${ispb}`)
  return found
}

const listOf = async (ispb: string, query: string): Promise<readonly Message[]> =>
  (await gatewayOf(ispb).call(`/v1/messages?limit=500&${query}`))['messages'] as Message[]

const until = async (isTrue: () => Promise<boolean>): Promise<void> => {
  const endMs = performance.now() + waitMs
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new Error(`not in time: ${isTrue}`)
    await Bun.sleep(50)
  }
}

const send = (ispb: string, messageType: string, params: object, more: object = {}) =>
  gatewayOf(ispb).call('/v1/spi/send', { message_type: messageType, params, ...more })

const pay = (from: string, to: string, count: number, more: object = {}) =>
  send(
    from,
    'PACS008',
    {
      local_instrument: 'MANU',
      transactions: Array.from({ length: count }, () => transfer(from, to, 100)),
    },
    more,
  )

test('two institutions settle through a bank that asks for all that the real one asks for', async () => {
  const sent = await Promise.all([
    ...Array.from({ length: 10 }, () => pay(a, b, 1)),
    ...Array.from({ length: 10 }, () => pay(b, a, 1)),
    pay(a, b, 10),
    pay(a, b, 1, { channel: 'SECONDARY' }),
    pay(b, a, 1, { channel: 'SECONDARY' }),
  ])
  expect(sent.map(({ status }) => status).filter((status) => status === 'sent')).toHaveLength(10)
  const isOver = async (ispb: string) =>
    (await listOf(ispb, 'direction=OUTBOUND')).every(({ status }) => status === 'ACCEPTED')
  await until(async () => {
    const { waiting, settled } = bank.statistics().operations
    return waiting === 0 && settled === 32 && (await isOver(a)) && (await isOver(b))
  })

  const [original] = await listOf(b, 'direction=INBOUND&type=pacs.008')
  await send(b, 'PACS004', {
    original_end_to_end_id: original?.end_to_end_id,
    amount: 40,
    return_reason: 'MD06',
    receiving_ispb: a,
  })
  await until(async () => {
    const [back] = await listOf(b, 'type=pacs.004')
    return back?.status === 'ACCEPTED' && (await isOver(a))
  })
  const { accounts, balanced } = bank.book()
  expect(balanced).toBe(true)
  const balanceOf = (ispb: string) => accounts.find((account) => account.ispb === ispb)?.available
  expect([balanceOf(a), balanceOf(b)]).toEqual([99_999_999_040n, 100_000_000_960n])
})

test('a charge goes to the other institution, and its answer comes back', async () => {
  const reconciliation = 'CHARGE2026030001ABCDEFGHIJ'
  const charge = {
    reconciliation_id: reconciliation,
    mandate_id: `RR${a}2026030100000000001`,
    amount: 4_990,
    purpose: 'AGND',
    execution_date_time: new Date(Date.now() + 3 * 86_400_000).toISOString(),
    due_date: new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10),
    debtor: { ispb: b, document: '98765432100' },
    creditor: { document: '12345678000195', account_num: '500100', account_type: 'CACC' },
  }
  await send(a, 'PAIN013', { charges: [charge] })
  await until(async () => (await listOf(b, 'type=pain.013&direction=INBOUND')).length === 1)
  const [asked] = await listOf(b, 'type=pain.013&direction=INBOUND')
  await send(b, 'PAIN014', {
    reconciliation_id: reconciliation,
    original_end_to_end_id: asked?.end_to_end_id,
    status: 'ACSP',
    creditor: { ispb: a, document: '12345678000195' },
  })
  await until(async () => {
    const [ours] = await listOf(a, 'type=pain.013&direction=OUTBOUND')
    return ours?.status === 'ACCEPTED'
  })
})

test('nothing was refused, and every signature was checked and good', async () => {
  expect(bank.statistics().received['refused']).toBeUndefined()
  for (const { database } of gateways) {
    const rows = await database.sql`
      select direction, signature, warnings is null as "isClean", count(*)::int > 0 as some
      from spi_messages group by 1, 2, 3 order by 1, 2, 3`
    expect([...rows]).toEqual([
      { direction: 'INBOUND', signature: 'VALID', isClean: true, some: true },
      { direction: 'OUTBOUND', signature: 'NOT_CHECKED', isClean: true, some: true },
    ])
  }
})
