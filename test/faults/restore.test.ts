/** A restore as docs/operation.md has it, with pg_dump and psql: what the copy has open goes on, once. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { openDatabase } from '#src/platform/database/index.ts'
import {
  type CardNetwork,
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { type CentralBank, createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { commandHere } from '../support/command-here.ts'
import { copyOf, noCopies, restoreInto, startCluster } from '../support/copies.ts'
import { quietLogger } from '../support/database.ts'
import { build, transfer } from '../support/participant.ts'
import { anyVariant, type RunningProgram, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../webhooks/support.ts'

setDefaultTimeout(240_000)

const ispb = '12345678'
const masterKey = Buffer.from(Uint8Array.from({ length: 32 }, (_, at) => at * 7 + 1)).toString(
  'base64',
)

const statusesOf = async (dsn: string): Promise<readonly string[]> => {
  const options = { connectionsMax: 1, statementTimeoutMs: 10_000, logger: quietLogger }
  const { sql, close } = openDatabase({ dsn, ...options })
  const rows = await sql<{ line: string }[]>`
    select end_to_end_id || ' ' || status as line from spi_messages
    where type = 'pacs.008' order by 1`
  await close()
  return rows.map(({ line }) => line)
}

const cardsOf = async (dsn: string): Promise<readonly string[]> => {
  const options = { connectionsMax: 1, statementTimeoutMs: 10_000, logger: quietLogger }
  const { sql, close } = openDatabase({ dsn, ...options })
  const rows = await sql<{ line: string }[]>`
    select rrn || ' ' || status as line from card_transactions order by created_at`
  await close()
  return rows.map(({ line }) => line)
}

/** As if the copy had been made while the payment was on the wire: the network has captured it since. */
const putOnWire = async (dsn: string, id: string): Promise<void> => {
  const options = { connectionsMax: 1, statementTimeoutMs: 10_000, logger: quietLogger }
  const { sql, close } = openDatabase({ dsn, ...options })
  await sql`
    update card_transactions set status = 'pending', auth_code = null, response_code = null,
      captured_cents = null, capture_stan = null, capture_transmission = null, captured_at = null,
      touched_at = now() - interval '1 hour'
    where id = ${id}`
  await close()
}

/** What the network holds, has booked and has given back, in the order of its book. */
const bookOf = (network: CardNetwork): readonly string[] =>
  network
    .book()
    .map(({ rrn, authorizedAmount, capturedAmount, reversedAmount }) =>
      [rrn, authorizedAmount, capturedAmount, reversedAmount].join(' '),
    )

type Counterparties = {
  readonly bank: CentralBank
  readonly network: CardNetwork
  readonly vault: ReturnType<typeof createTestVault>
}

type Answer = { readonly end_to_end_ids?: string[]; readonly id?: string }

type Gateway = {
  readonly program: RunningProgram
  readonly call: (path: string, body: unknown) => Promise<Answer>
}

/** All that a copy must go on with. */
const settingsOf = (dsn: string, { bank, network, vault }: Counterparties) => ({
  HTTP_ADDR: '127.0.0.1:0',
  CARDGW_PORT: '0',
  API_KEYS_FILE: keys.file,
  DATABASE_DSN: dsn,
  ISPB: ispb,
  TRILHO_MASTER_KEY: masterKey,
  SPI_PRIMARY_URL: bank.url,
  SPI_SECONDARY_URL: bank.secondaryUrl,
  SPI_AUTO_ACCEPT: 'true',
  WEBHOOK_ALLOWED_TARGETS: '127.0.0.0/8',
  CARDGW_DATABASE_URL: dsn,
  CARDGW_NETA_HOST: '127.0.0.1',
  CARDGW_NETA_TIMEOUT: '1',
  CARDGW_NETA_PORT: String(network.port()),
  CARDGW_NETA_POOL_SIZE: '1',
  CARDGW_VAULT_URL: vault.url,
  CARDGW_VAULT_TOKEN: testVaultKey,
})

/** The gateway; `roles` says what of it runs. */
const startGateway = async (
  dsn: string,
  peers: Counterparties,
  roles: string,
): Promise<Gateway> => {
  const env = { ...settingsOf(dsn, peers), TRILHO_ROLES: roles }
  const program = startProgram(anyVariant, ['serve'], { env })
  const line = JSON.parse(await program.line((text) => text.includes('"msg":"listening"')))
  return {
    program,
    call: async (path, body) => {
      const url = path.startsWith('/v1/transactions') ? line.cards_url : line.http_url
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${keys.key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return (await response.json()) as Answer
    },
  }
}

const brazilBehindMs = 3 * 3_600_000
const dayNow = (): string => new Date(Date.now() - brazilBehindMs).toISOString().slice(0, 10)

/** A camt.054 of the central bank with these debits. */
const statementOf = (
  cents: readonly (readonly [id: string, cents: number])[],
  day: string,
): string => {
  const [first = '', ...more] = cents.map(([id, amount]) =>
    Buffer.from(
      build('00038166', 'CAMT054', {
        account_ispb: ispb,
        amount,
        direction: 'DBIT',
        status: 'BOOK',
        booking_date: day,
        domain: 'PMNT',
        family: 'RRCT',
        sub_family: 'DMCT',
        end_to_end_id: id,
        origin_message: 'pacs.008',
      }),
    ).toString(),
  )
  const entries = more.map((xml) => /<Ntfctn>.*<\/Ntfctn>/s.exec(xml)?.[0] ?? '')
  return first.replace('</Ntfctn>', `</Ntfctn>${entries.join('')}`)
}

const keys = await apiKeyFile('*')

const startCounterparties = async (): Promise<Counterparties> => {
  const network = createCardNetwork({
    dialect: findDialect('ascii')!,
    framing: findFraming('binary-2')!,
  })
  network.start()
  return {
    bank: await createCentralBank({ longPollMs: 200, settlementLimitMs: 300_000 }),
    network,
    vault: createTestVault({ key: testVaultKey }),
  }
}

/** An authorization, as soon as the network is there. @returns its id */
const authorize = async ({ call }: Gateway): Promise<string> => {
  let id: string | undefined
  await until(async () => {
    const answer = await call(
      '/v1/transactions/authorize',
      authorizationBody('tok_visa_approved'),
    ).catch(() => undefined)
    id = answer?.id
    return id !== undefined
  })
  return id ?? ''
}

const end = async (program: RunningProgram): Promise<void> => {
  program.signal('SIGKILL')
  await program.end()
}

test.skipIf(noCopies !== '')(
  `payments, reversals, queue and webhooks of a copy go on once, and the books say what came after it${noCopies}`,
  async () => {
    const day = dayNow()
    const peers = await startCounterparties()
    const { bank, network, vault } = peers
    const receiver = startReceiver()
    const [first, second] = await Promise.all([startCluster(), startCluster()])
    const send = async ({ call }: Awaited<ReturnType<typeof startGateway>>, cents: number) => {
      const params = { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', cents)] }
      const { end_to_end_ids: ids } = await call('/v1/spi/send', {
        message_type: 'PACS008',
        params,
      })
      return ids?.[0] ?? ''
    }
    const everything = 'api,pull,worker,send,webhooks,jobs,cards'
    const whole = await startGateway(first.url, peers, everything)
    await whole.call('/v1/webhooks', { url: receiver.url, events: ['*'] })
    const settled = await send(whole, 100)
    await until(async () => (await statusesOf(first.url)).join() === `${settled} ACCEPTED`)
    await until(() => receiver.received.some(({ body }) => body.includes(settled)))
    const captured = await authorize(whole)
    await whole.call(`/v1/transactions/${captured}/capture`, {})
    const given = await authorize(whole)
    await end(whole.program)
    // What is asked for from here on waits: nobody sends, and nobody delivers.
    const taking = await startGateway(first.url, peers, 'api,cards')
    const open = [await send(taking, 200), await send(taking, 300)]
    // Once the network is there, it falls silent: a reversal is on its way when the copy is made.
    await authorize(taking)
    network.setSilent(true)
    await taking.call(`/v1/transactions/${given}/void`, {}).catch(() => undefined)
    const copy = copyOf(first.url)
    await end(taking.program)
    // After the copy: the first of the two, and another that the copy does not have.
    const later = await startGateway(first.url, peers, everything)
    network.setSilent(false)
    const lost = await send(later, 400)
    await authorize(later)
    const voided = async (dsn: string) => (await cardsOf(dsn))[1]?.endsWith(' voided') === true
    await until(() => voided(first.url))
    const book = bookOf(network)
    await until(async () =>
      (await statusesOf(first.url)).every((line) => line.endsWith(' ACCEPTED')),
    )
    await end(later.program)
    await first.stop()

    restoreInto(second.url, copy)
    await putOnWire(second.url, captured)
    const env = settingsOf(second.url, peers)
    const checked = await commandHere(['backup-check', '--hold', '--json'], env)
    const told = JSON.parse(checked.out)
    expect([checked.code, told.checks, told.held]).toEqual([0, expect.any(Array), 1])
    expect(told.book).toContainEqual(
      expect.objectContaining({ what: 'instant payments QUEUED', open: 2 }),
    )
    expect(told.book).toContainEqual(
      expect.objectContaining({ what: 'messages of spi.outbound', open: 2 }),
    )
    const restored = await startGateway(second.url, peers, everything)
    await until(async () =>
      (await statusesOf(second.url)).every((line) => line.endsWith(' ACCEPTED')),
    )
    expect(await statusesOf(second.url)).toEqual(
      [settled, ...open].map((id) => `${id} ACCEPTED`).sort(),
    )
    // The reversal is sent once more, and the network takes it for the same.
    await until(() => voided(second.url))
    const reversals = network.book().map((entry) => entry.reversals)
    expect([bookOf(network), reversals[1]]).toEqual([book, 2])
    // What was authorized after the copy is in the network's book alone.
    const ours = (await cardsOf(second.url)).map((line) => line.slice(0, line.indexOf(' ')))
    const theirs = network.book().map(({ rrn }) => rrn)
    expect([theirs.slice(0, -1), ours.length]).toEqual([ours, 3])
    // Nothing has taken back what the network captured: a person says so.
    expect((await cardsOf(second.url))[0]).toEndWith(' pending')
    const resolution = { outcome: 'captured', reason: 'in the file of the network' }
    await restored.call(`/v1/transactions/${captured}/resolve`, resolution)
    expect((await cardsOf(second.url))[0]).toEndWith(' captured')
    expect(bookOf(network)).toEqual(book)
    await until(() => open.every((id) => receiver.received.some(({ body }) => body.includes(id))))
    await end(restored.program)
    // The bank's book has each once, and one more than the copy.
    const { operations, balanced } = bank.book()
    expect(balanced).toBe(true)
    expect(operations.map(({ endToEndId, state }) => `${endToEndId} ${state}`).sort()).toEqual(
      [settled, ...open, lost].map((id) => `${id} settled`).sort(),
    )
    const cents = new Map([settled, ...open, lost].map((id, at) => [id, (at + 1) * 100]))
    const statement = statementOf([...cents], day)
    const reconciled = await commandHere(['reconcile', '-', '--json'], env, statement)
    // When midnight has passed, some are of another day.
    if (dayNow() === day) {
      expect([reconciled.code, JSON.parse(reconciled.out).differences]).toEqual([
        1,
        [expect.objectContaining({ outcome: 'missing_here', reference: lost, amount: '4.00' })],
      ])
    }
    network.stop()
    await Promise.all([vault.stop(), bank.stop(), receiver.stop(), second.stop()])
  },
)
