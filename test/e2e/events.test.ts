import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { id as keccak } from 'ethers'
import { messageTypes } from '#codecs/iso20022'
import { type EventType, eventGroups, eventTypes } from '#src/events/index.ts'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { createSealer } from '#src/platform/security/index.ts'
import { createEnvelopeSigner, createNativeSigner } from '#src/spi/out/signing/index.ts'
import {
  type CardNetwork,
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import {
  acceptingPsp,
  type CentralBank,
  createCentralBank,
  payingPsp,
} from '../../src/simulators/central-bank/index.ts'
import { type Chain, createChain } from '../../src/simulators/chain/index.ts'
import { createDirectory, type Directory } from '../../src/simulators/directory/index.ts'
import { deployBond, deployDelivery, ltn } from '../drex/bond-delivery.ts'
import { sendOutside } from '../drex/outside.ts'
import { createAdmin, currencyAbi } from '../drex/support.ts'
import { encodeRequest, rawClient, service, withKey } from '../spi/api/grpc/support.ts'
import { envelope } from '../spi/in/worker/support.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../support/database.ts'
import { sliceEnvelope } from '../support/envelope.ts'
import { pacs008, utf8 } from '../support/messages.ts'
import { transfer } from '../support/participant.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, type RunningProgram, startProgram } from '../support/program.ts'
import {
  dashboardQueries,
  noPrometheus,
  startPrometheus,
  type TestPrometheus,
} from '../support/prometheus.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { type Receiver, startReceiver } from '../webhooks/support.ts'

setDefaultTimeout(120_000)

const waitMs = 60_000
const ispb = '12345678'

let database: TestDatabase
let cardDatabase: TestDatabase
let bank: CentralBank
let directory: Directory
let chain: Chain
let program: RunningProgram
let prometheus: TestPrometheus | undefined
let metricsUrl: string
let grpcUrl: string
let apiKey: string
let receiver: Receiver
let closeCards: () => Promise<void>
let network: CardNetwork
let admin: Awaited<ReturnType<typeof createAdmin>>
let call: (method: string, path: string, body?: unknown) => Promise<Record<string, never>>

const startCards = () => {
  const dialect = findDialect('ascii')
  const framing = findFraming('binary-2')
  if (dialect === undefined || framing === undefined) throw new Error('no such dialect')
  network = createCardNetwork({ dialect, framing })
  network.start()
  const vault = createTestVault({ key: testVaultKey })
  closeCards = async () => {
    network.stop()
    await vault.stop()
  }
  return {
    CARDGW_NETA_HOST: '127.0.0.1',
    CARDGW_NETA_PORT: String(network.port()),
    CARDGW_NETA_POOL_SIZE: '1',
    CARDGW_NETA_TIMEOUT: '1',
    CARDGW_NETA_AUTHORIZATION_HOURS: '1',
    CARDGW_NETA_MESSAGES_FILE: messagesFile(),
    CARDGW_VAULT_URL: vault.url,
    CARDGW_VAULT_TOKEN: testVaultKey,
  }
}

const signer = issueCertificate(ispb)
const bankSigner = issueCertificate('bank')

/** Lets the bank deliver messages that it would not send of itself, signed as it signs. */
const deliverSigned = async (
  all: readonly (readonly [type: string, version: string, body: string])[],
): Promise<void> => {
  const native = await createNativeSigner(bankSigner.cert, bankSigner.key, 'node')
  for (const [type, version, body] of all) {
    const namespace = `https://www.bcb.gov.br/pi/${type}/${version}`
    const message = sliceEnvelope(envelope(type, version, body), namespace)
    bank.deliver(ispb, new Uint8Array(await createEnvelopeSigner(native).sign(message)))
  }
  native.close()
}

/** As the central bank's tools leave a certificate, by owner, use and version. */
const certificateFolder = (): string => {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, `${ispb}.PIA.1`))
  writeFileSync(join(folder, `${ispb}.PIA.1/tls.crt`), signer.cert)
  writeFileSync(join(folder, `${ispb}.PIA.1/tls.key`), signer.key)
  return folder
}

/** What the directory knows of payments. */
const settledIn = (id: string) => {
  const found = bank.book().operations.find((one) => one.id === id && one.state === 'settled')
  return (
    found && {
      id,
      debited: found.payer,
      credited: found.receiver,
      amountCents: found.amountCents,
      settledMs: Date.parse(found.settledAt ?? ''),
    }
  )
}

beforeAll(async () => {
  ;[database, cardDatabase] = await Promise.all([createTestDatabase(2), createTestDatabase(2)])
  bank = await createCentralBank({
    longPollMs: 200,
    signing: { certificate: bankSigner.cert, key: bankSigner.key },
  })
  directory = await createDirectory({ transactions: settledIn })
  chain = await createChain({ mining: 'manual' })
  admin = await createAdmin(chain)
  // The endpoint that is gone is disabled, and what was for it is exhausted.
  receiver = startReceiver(
    (_, { path }) => new Response('', { status: path === '/gone' ? 410 : 200 }),
  )
  const { file, key } = await apiKeyFile('*')
  program = startProgram(anyVariant, ['serve'], {
    env: {
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      API_KEYS_FILE: file,
      DATABASE_DSN: database.dsn,
      CARDGW_DATABASE_URL: cardDatabase.dsn,
      ISPB: ispb,
      SPI_PRIMARY_URL: bank.url,
      SPI_SECONDARY_URL: bank.secondaryUrl,
      SPI_AUTO_ACCEPT: 'true',
      PIX_LOCATION_HOST: 'pix.example.com',
      DICT_URL: directory.url,
      DICT_POLL_SECONDS: '5',
      DREX_TESTNET_RPC_URLS: chain.url,
      DREX_TESTNET_TOKEN: admin.token,
      DREX_TESTNET_BLOCK_TIME_MS: '40',
      DREX_EXPIRY_SECONDS: '5',
      TRILHO_MASTER_KEY: Buffer.from(masterKey).toString('base64'),
      WEBHOOK_SECRET: 'a common secret of this test',
      WEBHOOK_ALLOWED_TARGETS: '127.0.0.0/8',
      ...startCards(),
      SPI_ROLES: 'OUTBOUND_SEND,INBOUND_PULL,WORKER',
      CARDGW_LOG_LEVEL: 'warn',
      SPI_SYNC_ENABLED: 'true',
      TRILHO_CONCURRENCY_CARDS: '6',
      SPI_SIGN_ENABLED: 'true',
      SPI_SIGN_PROVIDER: 'node',
      SPI_SIGN_CERT_BASE64: btoa(signer.cert),
      SPI_SIGN_KEY_BASE64: btoa(signer.key),
      TRILHO_CERTS_DIR: certificateFolder(),
      SPI_TRUSTED_CERTS_BASE64: btoa(bankSigner.cert),
    },
  })
  const line = JSON.parse(await program.line((text) => text.includes('"msg":"listening"')))
  ;[grpcUrl, apiKey] = [line.grpc_url, key]
  metricsUrl = `${line.http_url}/metrics`
  if (noPrometheus === '') prometheus = await startPrometheus(new URL(metricsUrl).host)
  call = async (method, path, body) => {
    const url = path.startsWith('/v1/transactions') ? line.cards_url : line.http_url
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? {} : JSON.parse(text)
  }
})
afterAll(async () => {
  await prometheus?.[Symbol.asyncDispose]()
  program.signal('SIGKILL')
  await closeCards()
  await receiver.stop()
  await bank.stop()
  await directory.stop()
  await chain.stop()
  await Promise.all([database.close(), cardDatabase.close()])
})

/** False while two transfers must wait for the same block: what is mined between them decides about the second. */
const masterKey = randomBytes(32)
let isMining = true

const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
  const endMs = performance.now() + waitMs
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`not in time: ${what}`)
    if (isMining) await chain.mine()
    await Bun.sleep(50)
  }
}

const delivered = (): readonly { readonly type: EventType; readonly data: unknown }[] =>
  receiver.received.filter(({ path }) => path === '/hook').map(({ body }) => JSON.parse(body))

const chargeParams = {
  charges: [
    {
      reconciliation_id: 'CHARGE2026030001ABCDEFGHIJ',
      amount: 4_990,
      purpose: 'AGND',
      mandate_id: 'RR123456782026030100000000001',
      due_date: '2026-04-05',
      execution_date_time: '2026-04-05T12:00:00.000Z',
      debtor: { ispb: '99999A04', document: '98765432100' },
      creditor: { document: '12345678000195', account_num: '500100', account_type: 'CACC' },
    },
  ],
}

const none = (): Record<string, never> => ({})

const instantPayments = async () => {
  const params = { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] }
  await call('POST', '/v1/spi/send', { message_type: 'PACS008', params })
  await call('POST', '/v1/transform/pacs008', { message: pacs008() })
  const name = { account: 'default', name: 'Ana', city: 'Recife' }
  const key = { key: 'recebedor@example.com', tax_id: '98765432100' }
  await call('PUT', '/v1/pix/receivers', { ...key, ...name })
  const paidIn = `/v1/pix/payments/${bank.payIn({ to: ispb, amountCents: 100n })}`
  await until('paid', async () => (await call('GET', paidIn).catch(none))['status'] === 'settled')
  await call('POST', `${paidIn}/refunds`, { amount: 60, reason: 'MD06' })
  const ours = () =>
    bank
      .book()
      .operations.find(
        ({ payer, kind, state }) => payer === ispb && kind === 'payment' && state === 'settled',
      )
  await until('paid by us', () => ours() !== undefined)
  await disputes(paidIn.split('/').at(-1) ?? '', ours()?.id ?? '')
  const received = `/pix/v2/pix/${paidIn.split('/').at(-1)}`
  await call('PUT', `${received}/devolucao/1`, { valor: '0.10' })
  const company = { key: 'empresa@example.com', tax_id: '12345678000195' }
  await call('PUT', '/v1/pix/receivers', { ...company, ...name })
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  const { idRec } = await call('POST', '/pix/v2/rec', {
    vinculo: { contrato: '1', devedor: { cpf: '98765432100', nome: 'Bia' } },
    calendario: { dataInicial: inDays(5).slice(0, 10), periodicidade: 'MENSAL' },
    politicaRetentativa: 'NAO_PERMITE',
  })
  await call('POST', '/pix/v2/solicrec', {
    idRec,
    calendario: { dataExpiracaoSolicitacao: inDays(1) },
    destinatario: { cpf: '98765432100', conta: '1', ispbParticipante: '99999A04' },
  })
  const rec = () => call('GET', `/pix/v2/rec/${idRec}`).catch(none)
  await until('authorised', async () => (await rec())['status'] === 'APROVADA')
  const { txid } = await call('POST', '/pix/v2/cobr', {
    idRec,
    valor: { original: '10.00' },
    calendario: { dataDeVencimento: inDays(5).slice(0, 10) },
    recebedor: { conta: '1', tipoConta: 'CORRENTE' },
  })
  const cobr = () => call('GET', `/pix/v2/cobr/${txid}`).catch(none)
  await until('scheduled', async () => (await cobr())['status'] === 'ATIVA')
  await call('PATCH', `/pix/v2/rec/${idRec}`, { status: 'CANCELADA' })
  const tooMuch = { amount: 100, return_reason: 'MD06', receiving_ispb: payingPsp }
  await call('POST', '/v1/spi/send', {
    message_type: 'PACS004',
    params: { ...tooMuch, original_end_to_end_id: paidIn.split('/').at(-1) },
  })
  // What the simulated bank sends of itself is not every type: others, as it could send them.
  const others = [...messageTypes, 'xxxx.001'].filter((type) => !type.startsWith('pacs'))
  await deliverSigned(others.map((type) => [type, '1.0', '<a></a>'] as const))
  bank.deliver(ispb, utf8(envelope('pibr.001', '1.3', '<a></a>')))
  bank.setFaults([{ kind: 'entry_amount', times: 1 }])
  await call('POST', '/v1/pix/reports', { report: 'entry', entry_id: paidIn.split('/').at(-1) })
  await call('POST', '/v1/spi/send', { message_type: 'PAIN013', params: chargeParams })
  bank.askMandate(ispb)
  const returned = `<PmtRtr><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-02T15:00:00.000Z</CreDtTm><NbOfTxs>1</NbOfTxs><SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf></GrpHdr></PmtRtr>`
  await deliverSigned([['pacs.004', '1.5', returned]])
}

/** A payment to us is reported and asked back; we ask for one of ours back, and get it. */
const disputes = async (paidTo: string, paidBy: string): Promise<void> => {
  const { infractions, refunds } = directory.disputes
  const noContact = { details: undefined, contact: undefined }
  const report = { reason: 'REFUND_REQUEST', situation: 'SCAM', ...noContact }
  infractions.create({ ...report, transactionId: paidTo }, payingPsp)
  const flaw = { reason: 'OPERATIONAL_FLAW', details: 'twice' }
  refunds.create({ ...flaw, transactionId: paidTo, amountCents: 1n }, payingPsp)
  const { directory_id: asked } = await call('POST', '/v1/dict/refunds', {
    ...flaw,
    transaction_id: paidBy,
    amount: 1,
  })
  const returnId = bank.giveBack(paidBy, 1n, 'BE08')
  refunds.close(String(asked), acceptingPsp, {
    result: 'TOTALLY_ACCEPTED',
    analysis: undefined,
    rejectionReason: undefined,
    returnId,
    effectiveCents: undefined,
  })
  const found = async (): Promise<string | undefined> => {
    const { infraction_reports: [one] = [] } = (await call(
      ...(['GET', '/v1/dict/infraction-reports'] as const),
    )) as { infraction_reports?: { id: string }[] }
    return one?.id
  }
  await until('the report', async () => (await found()) !== undefined)
  await call('POST', `/v1/dict/infraction-reports/${await found()}/acknowledge`, {})
}

/** Somebody claims a key of ours; the gateway acknowledges it. */
const claims = async () => {
  const [key_type, key] = ['EMAIL', 'claimed@example.com'] as const
  const owner = { tax_id: '98765432100', name: 'Ana' }
  const account = { number: '1', type: 'CACC', opened_at: '2020-01-10T03:00:00Z' }
  await call('POST', '/v1/dict/entries', { key_type, key, owner, account })
  directory.claim({
    type: 'PORTABILITY',
    key_type,
    key,
    ...owner,
    ispb: '99999A04',
    account: '2',
    account_type: 'CACC',
  })
}

/** Captures go on while the network is away. */
const messagesFile = (): string => {
  const path = join(temporaryDirectory(), 'messages.json')
  writeFileSync(path, JSON.stringify({ advices: { operations: ['capture'] } }))
  return path
}

/** The network refuses it once it is back. */
const captureWhileAway = async ({ id }: { readonly id?: string }) => {
  const isUp = async (): Promise<boolean> => {
    const { checks } = (await call('GET', '/health')) as {
      checks?: Record<string, { detail: { neta: { connections_up: number } } }>
    }
    return checks?.['card_networks']?.detail.neta.connections_up === 1
  }
  network.ask('002')
  await until('the network being away', async () => !(await isUp()))
  await call('POST', `/v1/transactions/${id}/capture`, {})
  network.ask('001')
  await until('the network being back', isUp)
}

const cards = async () => {
  const authorize = (token: string) =>
    call('POST', '/v1/transactions/authorize', authorizationBody(token))
  const { id: old } = (await authorize('tok_visa_approved')) as { readonly id?: string }
  await cardDatabase.sql`
    update card_transactions set created_at = now() - interval '2 hours' where id = ${old ?? ''}`
  const { id } = (await authorize('tok_visa_approved')) as { readonly id?: string }
  await call('POST', `/v1/transactions/${id}/capture`, {})
  await call('POST', `/v1/transactions/${id}/void`)
  const third = (await authorize('tok_visa_approved')) as { readonly id?: string }
  const other = (await authorize('tok_visa_approved')) as { readonly id?: string }
  await call('POST', `/v1/transactions/${other.id}/void`, { amount: 100 })
  await call('POST', `/v1/transactions/${other.id}/capture`, { amount: 100, final: false })
  await call('POST', `/v1/transactions/${other.id}/capture`, {})
  await call('POST', `/v1/transactions/${other.id}/refund`, { amount: 100 })
  await call('POST', `/v1/transactions/${third.id}/increment`, { amount: 100 })
  const { amount: _, ...card } = authorizationBody('tok_visa_approved')
  await call('POST', '/v1/transactions/verify', card)
  await authorize('tok_visa_declined_05')
  await captureWhileAway((await authorize('tok_visa_capture_declined')) as { readonly id?: string })
}

const wallet = async (cents: bigint): Promise<string> => {
  const { address } = await call('POST', '/v1/wallets', { type: 'managed', label: 'test' })
  await admin.currency('enableAccount', String(address).toLowerCase())
  if (cents > 0n) await admin.currency('mint', String(address).toLowerCase(), cents)
  return String(address)
}

/** A payment that another program has made twice with the wallet's key: whether it is ours, nobody can tell. */
const unclear = async (): Promise<void> => {
  const [from, to] = [await wallet(1_000n), await wallet(0n)]
  const data = currencyAbi.encodeFunctionData('transfer', [to, 100n])
  const twice = [0, 1].map(() => ({ to: admin.token, data }))
  const place = { chain, database, sealer: createSealer(masterKey) }
  await sendOutside(place, from.toLowerCase() as `0x${string}`, twice)
  await admin.currency('mint', to.toLowerCase(), 1n)
  await call('POST', '/v1/drex/transfers', { from_wallet: from, to_wallet: to, amount: '1.00' })
}

/** A purchase of bonds, and a lien whose contract nobody has admitted: it fails. */
const agreements = async (ana: string, bia: string): Promise<void> => {
  const bond = await deployBond(admin, [bia.toLowerCase() as `0x${string}`])
  await call('POST', '/v1/drex/deliveries', {
    contract: await deployDelivery(admin, admin.token, bond),
    operation_id: '1',
    part: 'buyer',
    wallet: ana,
    counterparty: bia,
    bond: ltn,
    amount: '1.00',
    unit_price: '1.00',
  })
  await call('POST', '/v1/drex/liens', {
    owner_wallet: ana,
    beneficiary: bia,
    amount: '1.00',
    expiry: '2100-01-01T00:00:00Z',
  })
}

const digitalCurrency = async () => {
  const [ana, bia] = [await wallet(1_000n), await wallet(0n)]
  const pay = async (amount: string): Promise<string> => {
    const body = { from_wallet: ana, to_wallet: bia, amount }
    return (await call('POST', '/v1/drex/transfers', body))['transfer_id'] ?? ''
  }
  const statusOf = async (id: string) => (await call('GET', `/v1/drex/transfers/${id}`))['status']
  const deploy = () =>
    call('POST', '/v1/contracts/deploy', {
      template: 'tokenized_asset',
      params: { name: 'Asset', symbol: 'AST', total_supply: '10.00', decimals: 2, owner: ana },
      network: 'drex_testnet',
    })
  await call('POST', `/v1/contracts/${admin.token}/streams`, { event: 'Transfer' })
  const { wallets } = (await call('GET', '/v1/wallets')) as { wallets?: { wallet_id: string }[] }
  await call('PATCH', `/v1/wallets/${wallets?.[0]?.wallet_id}`, {
    alerts: { balance_below: '9999.00' },
  })
  // Both are possible when they are tried, and the second is not any more when it is mined.
  isMining = false
  const both = [await pay('6.00'), await pay('6.00')]
  await until('both sent', async () => {
    const statuses: unknown[] = await Promise.all(both.map(statusOf))
    return statuses.every((status) => status === 'broadcast')
  })
  isMining = true
  await deploy()
  await admin.currency('grantRole', keccak('FREEZER_ROLE'), ana)
  await call('POST', '/v1/drex/operations', {
    operation: 'freeze_balance',
    params: { wallet: ana, amount: '0.01' },
    signer_wallet: ana,
  })
  await call('POST', `/v1/contracts/${admin.token}/call`, {
    function: 'approve',
    params: { spender: bia, amount: '1' },
    signer_wallet: ana,
  })
  await agreements(ana, bia)
  await unclear()
  const have = () => new Set(delivered().map(({ type }) => type))
  await until(
    'mined',
    () =>
      have().has('drex.transfer.reverted') &&
      have().has('drex.contract.deployed') &&
      have().has('drex.delivery.changed') &&
      have().has('drex.lien.changed') &&
      have().has('drex.transaction.held'),
  )
  const away = (method: string) => ({ kind: 'unavailable', method }) as const
  chain.faults.set([away('eth_estimateGas')])
  await deploy()
  chain.faults.set([away('eth_estimateGas'), away('eth_call')])
  const cancelled = await pay('1.00')
  await call('POST', `/v1/drex/transfers/${cancelled}/cancel`)
  await pay('1.00')
  await until(
    'expired',
    () => have().has('drex.transfer.failed') && have().has('drex.contract.failed'),
  )
  chain.faults.set([])
  await chain.markFork()
  const { contract_id } = await deploy()
  await until('deployed', () =>
    delivered().some(
      ({ type, data }) =>
        type === 'drex.contract.deployed' &&
        (data as { contract_id?: string }).contract_id === contract_id,
    ),
  )
  const late = await pay('1.00')
  await until('confirmed', async () => (await statusOf(late)) === 'confirmed')
  // The ledger reads apart from the transfers: what it has not told yet, it does not take back.
  const isOfLate = ({ type, data }: ReturnType<typeof delivered>[number]) =>
    type === 'drex.transfer.received' && (data as { transfer_id?: string }).transfer_id === late
  await until('told as received', () => delivered().some(isOfLate))
  const { tx_hash } = await call('GET', `/v1/drex/transfers/${late}`)
  await until('told by the stream', () =>
    delivered().some(
      ({ type, data }) =>
        type === 'drex.contract.event' && (data as { tx_hash?: string }).tx_hash === tx_hash,
    ),
  )
  await chain.reorg()
  await until('taken back', () => have().has('drex.transfer.corrected'))
  await until('taken back, the deployment', () => have().has('drex.contract.corrected'))
  await until('taken back from who had it', () => have().has('drex.transfer.reversed'))
  await until('taken back by the stream', () => have().has('drex.contract.event_removed'))
}

test('every event type that is offered fires, with the payload that is published', async () => {
  const url = new URL(receiver.url)
  await call('POST', '/v1/webhooks', { url: url.href, events: ['*'] })
  url.pathname = '/gone'
  await call('POST', '/v1/webhooks', { url: url.href, events: ['card.transaction.declined'] })
  await until('the card network', async () => {
    const { checks } = (await call('GET', '/health')) as {
      checks?: Record<string, { status: string }>
    }
    return checks?.['card_networks']?.status === 'ok'
  })
  await Promise.all([instantPayments(), cards(), digitalCurrency(), claims()])
  const missing = () => {
    const types = new Set(delivered().map(({ type }) => type))
    return eventTypes.filter((type) => !types.has(type))
  }
  await until('all types', () => missing().length === 0).catch(() => undefined)
  expect(missing()).toEqual([])
  for (const { type, data } of delivered()) {
    const group = Object.values(eventGroups).find(({ types }) => type in types)
    expect(() => group?.payload.parse(data)).not.toThrow()
  }
})

/** Only Kafka has an outbox to wait in. */
const absent = ['spigw_broker_outbox_depth', 'spigw_broker_outbox_age_seconds']

/** What goes wrong in an ordinary week, so that what counts it has something to show. */
const troubles = async () => {
  bank.setFaults([{ kind: 'unavailable', operation: 'read', times: 2 }])
  const { sql, dsn } = database
  const outside = createPostgresBroker({ sql, dsn, logger: quietLogger })
  const stray = { topic: 'spi.outbound', key: 'x', value: Buffer.from('of nobody'), headers: {} }
  await outside.publish([stray])
  const params = { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] }
  await call('POST', '/v1/spi/send', { message_type: 'PACS008', params })
  const client = rawClient(new URL(grpcUrl).host)
  const request = encodeRequest({ message: Buffer.from(pacs008()) })
  await client.unary(`${service}/Transform`, request, withKey(apiKey))
  client.close()
  const all = (faults: readonly string[]) =>
    Promise.allSettled(
      faults.map((fault) =>
        call('POST', '/v1/transactions/authorize', authorizationBody(`tok_visa_${fault}`)),
      ),
    )
  const faults = ['timeout', 'late', 'duplicate', 'wrong_rrn', 'slow', 'approved', 'approved']
  const answers = [...(await all(faults)), ...(await all(['drop']))]
  expect(answers.map(({ status }) => status)).toContain('rejected')
}

test.skipIf(noPrometheus !== '')(
  `every query of every dashboard has an answer in that run, and no alert an error${noPrometheus}`,
  async () => {
    const queries = await dashboardQueries()
    expect(queries.length).toBeGreaterThan(60)
    const metricOf = (expr: string): string =>
      (/(?:trilho|spigw|cardgw|drex|http|process|nodejs)_\w+|\bup\b/.exec(expr)?.[0] ?? '').replace(
        /_bucket$/,
        '',
      )
    await troubles()
    const empty = async (): Promise<readonly string[]> => {
      const names: string[] = []
      for (const expr of queries) {
        if ((await prometheus?.query(expr))?.length === 0) names.push(metricOf(expr))
      }
      return [...new Set(names)].filter((name) => !absent.includes(name))
    }
    await until('an answer to every query', async () => (await empty()).length === 0).catch(
      () => undefined,
    )
    expect(await empty()).toEqual([])
    const scraped = [...(await (await fetch(metricsUrl)).text()).matchAll(/^# TYPE (\w+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => !/^(process|nodejs)_/.test(name))
    const shown = new Set(queries.map(metricOf))
    expect(scraped.filter((name) => !shown.has(name))).toEqual([])
    expect(new Set(Object.values((await prometheus?.ruleHealth()) ?? {}))).toEqual(new Set(['ok']))
  },
)
