import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { multipartContentType } from '#codecs/multipart'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { createSealer } from '#src/platform/security/index.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import {
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { createChain } from '../../src/simulators/chain/index.ts'
import { createLyingNode } from '../drex/lying-node.ts'
import { sendOutside } from '../drex/outside.ts'
import { adminAddress, createAdmin, currencyAbi } from '../drex/support.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { transfer } from '../support/participant.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, root, startProgram } from '../support/program.ts'
import { noPrometheus, startPrometheus } from '../support/prometheus.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { startReceiver } from '../webhooks/support.ts'

/*
 * Every alert of deploy/prometheus/alerts.yaml fires in a real Prometheus that watches a real gateway in the trouble it
 * is for, with its real thresholds: some minutes, a quarter of an hour for the chain. In the long lane (TRILHO_LONG=1).
 */

const isLong = process.env['TRILHO_LONG'] === '1'
const minuteMs = 60_000
const waitMs = 20 * minuteMs
setDefaultTimeout(25 * minuteMs)

const ispb = '12345678'
const stages = { SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND' }
const nothing = () => `http://127.0.0.1:${freePort()}`

type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, string>>

type Trouble = AsyncDisposable & {
  readonly call: Call
  readonly dsn: string
  readonly sql: Awaited<ReturnType<typeof createTestDatabase>>['sql']
  readonly kill: () => void
  /** Waits until all of them fire at once. */
  readonly fire: (...alerts: readonly string[]) => Promise<void>
}

const seen = new Set<string>()

/** A gateway with these settings, watched by a Prometheus of its own. */
const inTrouble = async (env: Readonly<Record<string, string>>): Promise<Trouble> => {
  const database = await createTestDatabase(2)
  const { file, key } = await apiKeyFile('*')
  const program = startProgram(anyVariant, ['serve'], {
    env: {
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      API_KEYS_FILE: file,
      ISPB: ispb,
      DATABASE_DSN: database.dsn,
      CARDGW_DATABASE_URL: database.dsn,
      TRILHO_MASTER_KEY: randomBytes(32).toString('base64'),
      ...env,
    },
  })
  const line = JSON.parse(await program.line((text) => text.includes('"msg":"listening"')))
  // A table that is locked holds the metrics of it for two seconds.
  const prometheus = await startPrometheus(new URL(line.http_url).host, '5s')
  return {
    dsn: database.dsn,
    sql: database.sql,
    kill: () => program.signal('SIGKILL'),
    call: async (method, path, body) => {
      const url = path.startsWith('/v1/transactions') ? line.cards_url : line.http_url
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      // A network that does not answer in time is one of the troubles.
      if (response.status >= 500 && response.status !== 504)
        throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return text === '' ? {} : JSON.parse(text)
    },
    fire: async (...alerts) => {
      const endMs = performance.now() + waitMs
      const missing = async () => {
        const firing = await prometheus.firing()
        return alerts.filter((alert) => !firing.includes(alert))
      }
      while ((await missing()).length > 0) {
        if (performance.now() > endMs) throw new Error(`silent: ${await missing()}`)
        await Bun.sleep(1_000)
      }
      for (const alert of alerts) seen.add(alert)
    },
    [Symbol.asyncDispose]: async () => {
      program.signal('SIGKILL')
      await program.end()
      await prometheus[Symbol.asyncDispose]()
      await database.close()
    },
  }
}

const pay = (call: Call) =>
  call('POST', '/v1/spi/send', {
    message_type: 'PACS008',
    params: { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] },
  })

const nobodySends = async () => {
  await using gateway = await inTrouble({
    SPI_PRIMARY_URL: nothing(),
    SPI_SECONDARY_URL: nothing(),
    TRILHO_ROLES: 'api',
  })
  await pay(gateway.call)
  await gateway.fire('TrilhoPaymentsNotSent', 'TrilhoQueueUnread', 'TrilhoQueueOld')
  gateway.kill()
  await gateway.fire('TrilhoAway')
}

const dayMs = 86_400_000

/** As the central bank's tools leave certificates; one has ten days left, one has none. */
const certificateFolder = (): string => {
  const folder = temporaryDirectory()
  const uses = { 'PIA.1': 10, 'PIC.1': -1 }
  for (const [use, days] of Object.entries(uses)) {
    const notAfter = new Date(Date.now() + days * dayMs)
    const { cert, key } = issueCertificate(ispb, {
      notBefore: new Date(Date.now() - 30 * dayMs),
      notAfter,
    })
    mkdirSync(join(folder, `${ispb}.${use}`))
    writeFileSync(join(folder, `${ispb}.${use}/tls.crt`), cert)
    writeFileSync(join(folder, `${ispb}.${use}/tls.key`), key)
  }
  return folder
}

const bankAway = async () => {
  await using gateway = await inTrouble({
    SPI_PRIMARY_URL: nothing(),
    SPI_SECONDARY_URL: nothing(),
    ...stages,
    TRILHO_CERTS_DIR: certificateFolder(),
  })
  await gateway.fire(
    ...['TrilhoChannelAway', 'TrilhoChannelSilent'],
    ...['TrilhoCertificateExpires', 'TrilhoCertificateExpired'],
  )
}

/** Takes the first payment and never answers it, refuses whatever comes after, and mumbles to who reads. */
const mumblingBank = () => {
  let taken = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    fetch: async ({ method, url }) => {
      const next = { 'PI-Pull-Next': `/api/v1/out/${ispb}/stream/1` }
      if (method === 'POST') {
        if (taken++ > 0) return new Response('', { status: 403 })
        return new Response('', { status: 201, headers: { 'PI-ResourceId': 'r1' } })
      }
      if (method !== 'GET' || !url.includes('/stream/start')) {
        await Bun.sleep(1_000)
        return new Response(null, { status: 204, headers: next })
      }
      return new Response('no message at all', {
        headers: { ...next, 'Content-Type': multipartContentType('pi') },
      })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

const hostileBank = async () => {
  const bank = mumblingBank()
  await using gateway = await inTrouble({
    SPI_PRIMARY_URL: bank.url,
    SPI_SECONDARY_URL: bank.url,
    ...stages,
    SPI_SETTLEMENT_LIMIT: '10',
  })
  await pay(gateway.call)
  await Bun.sleep(2_000)
  await pay(gateway.call)
  const { dsn, sql } = gateway
  const outside = createPostgresBroker({ sql, dsn, logger: quietLogger })
  await outside.publish([
    { topic: 'spi.outbound', key: 'x', value: Buffer.from('of nobody'), headers: {} },
  ])
  await gateway.fire('TrilhoAccessRefused', 'TrilhoUnreadableAnswers', 'TrilhoDeadLetters')
  await gateway.fire('TrilhoUnknownOutcomes')
  const [failed] = await sql<{ id: string }[]>`
    update spi_messages set status = 'FAILED'
    where id = (select id from spi_messages where type = 'pacs.008' order by id limit 1)
    returning id`
  await sql`
    insert into broker_dead_letters (key, headers, value, published_at)
    values ('x', ${sql.json({ 'message-id': failed?.id ?? '' })}, 'x', now() - interval '400 days')`
  await gateway.fire('TrilhoDeadLettersHeld')
  await bank.stop()
}

const kafkaAway = async () => {
  await using gateway = await inTrouble({
    SPI_PRIMARY_URL: nothing(),
    SPI_SECONDARY_URL: nothing(),
    BROKER_ADDRESSES: `127.0.0.1:${freePort()}`,
  })
  await pay(gateway.call)
  await gateway.fire('TrilhoOutboxOld')
}

const authorizing = '/v1/transactions/authorize'

/** MMDD of so many days later. */
const monthAndDay = (days: number): string =>
  new Date(Date.now() + days * 24 * 60 * minuteMs).toISOString().slice(5, 10).replace('-', '')

const cardsAndChain = async () => {
  const messages = join(temporaryDirectory(), 'messages.json')
  const reconciliation = { cut_over: 'network', wait_seconds: 0 }
  writeFileSync(messages, JSON.stringify({ advices: { operations: ['capture'] }, reconciliation }))
  const network = createCardNetwork({
    dialect: findDialect('ascii')!,
    framing: findFraming('binary-2')!,
  })
  network.start()
  const vault = createTestVault({ key: testVaultKey })
  const chain = await createChain({ mining: 'manual' })
  const admin = await createAdmin(chain)
  const receiver = startReceiver(() => new Response('', { status: 410 }))
  await using gateway = await inTrouble({
    CARDGW_NETA_HOST: '127.0.0.1',
    CARDGW_NETA_PORT: String(network.port()),
    CARDGW_NETA_POOL_SIZE: '1',
    CARDGW_NETA_TIMEOUT: '1',
    CARDGW_NETA_MESSAGES_FILE: messages,
    CARDGW_VAULT_URL: vault.url,
    CARDGW_VAULT_TOKEN: testVaultKey,
    DREX_TESTNET_RPC_URLS: chain.url,
    DREX_TESTNET_TOKEN: admin.token,
    WEBHOOK_ALLOWED_TARGETS: '127.0.0.0/8',
  })
  const { call } = gateway
  await call('POST', '/v1/webhooks', { url: receiver.url, events: ['card.transaction.declined'] })
  await call('POST', '/v1/transactions/authorize', authorizationBody('tok_visa_declined_05'))
  await gateway.fire('TrilhoWebhooksFail')
  // Captured while the network is away, which never answers what tells it of that.
  const { id } = await call('POST', authorizing, authorizationBody('tok_visa_capture_timeout'))
  network.ask('002')
  while (!JSON.stringify(await call('GET', '/health')).includes('"connections_up":0')) {
    await Bun.sleep(100)
  }
  await call('POST', `/v1/transactions/${id}/capture`)
  network.ask('001')
  await gateway.fire('TrilhoAdvicesOld')
  // The network has booked the capture that it does not answer, and now ends the day.
  network.endDay(monthAndDay(0), monthAndDay(2))
  await gateway.fire('TrilhoDayNotBalanced')
  // Acted on and not answered; then nothing answers what is to take it back.
  network.setSilent(true)
  await call('POST', '/v1/transactions/authorize', authorizationBody('tok_visa_timeout'))
  network.stop()
  const wallet = async (): Promise<string> => {
    const { address } = await call('POST', '/v1/wallets', { type: 'managed', label: 'test' })
    await admin.currency('enableAccount', String(address).toLowerCase())
    return String(address)
  }
  const [from, to] = [await wallet(), await wallet()]
  await admin.currency('mint', from.toLowerCase(), 1_000n)
  const transfer = { from_wallet: from, to_wallet: to, amount: '1.00' }
  expect(await call('POST', '/v1/drex/transfers', transfer)).toHaveProperty('transfer_id')
  await gateway.fire('TrilhoCardNetworkAway', 'TrilhoReversalsOld')
  await gateway.sql.begin(async (tx) => {
    await tx`lock table webhook_endpoints in access exclusive mode`
    await gateway.fire('TrilhoLoopStuck')
  })
  await gateway.fire('TrilhoChainWaits')
  await vault.stop()
  await chain.stop()
  await receiver.stop()
}

/** Another program, such as a gateway on a copy of the book, has paid with the wallet what is asked for here. */
const heldTransfer = async () => {
  const chain = await createChain({ mining: 'auto' })
  const admin = await createAdmin(chain)
  const masterKey = randomBytes(32)
  await using gateway = await inTrouble({
    DREX_TESTNET_RPC_URLS: chain.url,
    DREX_TESTNET_TOKEN: admin.token,
    TRILHO_MASTER_KEY: masterKey.toString('base64'),
  })
  const wallet = async (): Promise<Hex> => {
    const made = await gateway.call('POST', '/v1/wallets', { type: 'managed', label: 'test' })
    const address = String(made['address']).toLowerCase() as Hex
    await admin.currency('enableAccount', address)
    return address
  }
  const [from, to] = [await wallet(), await wallet()]
  await admin.currency('mint', from, 1_000n)
  const data = currencyAbi.encodeFunctionData('transfer', [to, 100n])
  const place = { chain, database: gateway, sealer: createSealer(masterKey) }
  await sendOutside(place, from, [
    { to: admin.token, data },
    { to: admin.token, data },
  ])
  const transfer = { from_wallet: from, to_wallet: to, amount: '1.00' }
  expect(await gateway.call('POST', '/v1/drex/transfers', transfer)).toHaveProperty('transfer_id')
  await gateway.fire('TrilhoTransactionsHeld')
  await chain.stop()
}

const gwei = 10n ** 9n

/** Fees beyond the limits of a transfer that is sent; then its block, with receipts that are not the block's. */
const feesAndForgeries = async () => {
  const chain = await createChain({
    mining: 'manual',
    gasPrice: gwei,
    balances: { [adminAddress]: 10n ** 20n },
  })
  const node = createLyingNode(chain)
  const admin = await createAdmin(chain, gwei)
  await using gateway = await inTrouble({
    DREX_TESTNET_RPC_URLS: node.url,
    DREX_TESTNET_TOKEN: admin.token,
    DREX_TESTNET_GAS_POLICY: 'eip1559',
    DREX_FEE_MAX_GWEI: '25',
  })
  const wallet = async (): Promise<Hex> => {
    const made = await gateway.call('POST', '/v1/wallets', { type: 'managed', label: 'test' })
    const address = String(made['address']).toLowerCase() as Hex
    await admin.currency('enableAccount', address)
    return address
  }
  const mineAt = async (baseFee: bigint): Promise<void> => {
    await chain.request('hardhat_setNextBlockBaseFeePerGas', [`0x${baseFee.toString(16)}`])
    await chain.mine()
  }
  const [from, to] = [await wallet(), await wallet()]
  await admin.currency('mint', from, 1_000n)
  await chain.request('hardhat_setBalance', [from, '0x8ac7230489e80000'])
  await mineAt(10n * gwei)
  const body = { from_wallet: from, to_wallet: to, amount: '1.00' }
  const { transfer_id } = await gateway.call('POST', '/v1/drex/transfers', body)
  const status = async () =>
    (await gateway.call('GET', `/v1/drex/transfers/${transfer_id}`))['status']
  while ((await status()) !== 'broadcast') await Bun.sleep(100)
  const dear = setInterval(() => void mineAt(100n * gwei), 2_000)
  await gateway.fire('TrilhoFeesAtLimit')
  clearInterval(dear)
  node.lie(async ({ method }, answer) => {
    const outcome = await answer()
    if (!/Receipts?$/.test(method) || !('result' in outcome) || outcome.result === null)
      return outcome
    const forged = (each: object) => ({ ...each, cumulativeGasUsed: '0x1' })
    const told = outcome.result as object | object[]
    return { result: Array.isArray(told) ? told.map(forged) : forged(told) }
  })
  await mineAt(10n * gwei)
  await gateway.fire('TrilhoBlocksUnproven')
  await node.stop()
  await chain.stop()
}

const skipped = isLong ? noPrometheus : ' [skipped: TRILHO_LONG]'

describe.concurrent('alerts fire in the trouble that they are for', () => {
  test.skipIf(skipped !== '').each([
    ['nobody sends, and then nobody is there', nobodySends],
    ['the bank is away, and certificates end', bankAway],
    ['the bank takes and never answers, refuses and mumbles', hostileBank],
    ['Kafka is away', kafkaAway],
    ['a wallet has paid elsewhere', heldTransfer],
    ['fees rise, and then a node forges', feesAndForgeries],
    ['a card network is away, a chain and a receiver stand still', cardsAndChain],
  ])(`%s${skipped}`, (_, provoke) => provoke())
})

test.skipIf(skipped !== '')(`and that is every alert${skipped}`, () => {
  const { groups } = Bun.YAML.parse(
    readFileSync(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8'),
  ) as { readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[] }
  const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
  expect([...seen].sort()).toEqual(names.sort())
})
