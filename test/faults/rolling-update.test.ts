import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { transfer } from '../support/participant.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, type RunningProgram, startProgram, type Variant } from '../support/program.ts'
import { until } from '../support/until.ts'

/*
 * Two processes behind a balancer that asks each for its readiness, restarted one after the other under load: no caller
 * notices, and each payment is made once. With the release before (TRILHO_PREVIOUS_RELEASE: its executable) it is an
 * update and its way back, as docs/operation.md describes them.
 */

setDefaultTimeout(240_000)

const ispb = '12345678'
const other = '99999A04'
const clients = 8
/** The balancer sees within a part of the drain that it is to send no more, also where a busy machine tells it late. */
const drainSeconds = 3
const askEveryMs = 100
const holdMs = 5_000

const signer = issueCertificate('signer')

type Place = { readonly port: number; program?: RunningProgram; isReady: boolean }

const startFleet = async (count: number) => {
  const database = await createTestDatabase(4)
  const bank = await createCentralBank({
    longPollMs: 200,
    streamIdleMs: 1_000,
    participantCertificates: { [ispb]: [signer.cert] },
  })
  const { file, key } = await apiKeyFile('spi:send')
  const places: Place[] = Array.from({ length: count }, () => ({
    port: freePort(),
    isReady: false,
  }))
  const urlOf = ({ port }: Place): string => `http://127.0.0.1:${port}`
  const isReady = async (place: Place): Promise<boolean> =>
    (await fetch(`${urlOf(place)}/ready`).catch(() => undefined))?.ok === true

  const start = async (place: Place, variant: Variant): Promise<void> => {
    place.program = startProgram(variant, ['serve'], {
      env: {
        HTTP_ADDR: `127.0.0.1:${place.port}`,
        CARDGW_PORT: String(place.port),
        DATABASE_DSN: database.dsn,
        API_KEYS_FILE: file,
        ISPB: ispb,
        SPI_PRIMARY_URL: bank.url,
        SPI_SECONDARY_URL: bank.secondaryUrl,
        SPI_ROLES: 'OUTBOUND_SEND,INBOUND_PULL,WORKER',
        SPI_AUTO_ACCEPT: 'true',
        SPI_SIGN_ENABLED: 'true',
        SPI_SIGN_PROVIDER: 'node',
        SPI_SIGN_CERT_BASE64: btoa(signer.cert),
        SPI_SIGN_KEY_BASE64: btoa(signer.key),
        TRILHO_DRAIN_SECONDS: String(drainSeconds),
      },
    })
    await place.program.line((line) => line.includes('"listening"'))
    await until(() => isReady(place))
  }

  const asking = setInterval(async () => {
    for (const place of places) place.isReady = await isReady(place)
  }, askEveryMs)
  let turn = 0
  const next = (): Place | undefined => {
    const ready = places.filter((place) => place.isReady)
    return ready[turn++ % ready.length]
  }
  /** A balancer holds a request for a while before it says that nobody takes it: on a busy machine answers are late. */
  const held = async (): Promise<Place | undefined> => {
    const endMs = performance.now() + holdMs
    for (;;) {
      const place = next()
      if (place !== undefined || performance.now() > endMs) return place
      await Bun.sleep(askEveryMs)
    }
  }

  return {
    database,
    bank,
    start: (variant: Variant) => Promise.all(places.map((place) => start(place, variant))),
    /** One after the other, each as an operator does it: told to stop, waited for, started again. */
    restart: async (variant: Variant): Promise<void> => {
      for (const place of places) {
        place.program?.signal('SIGTERM')
        expect((await place.program?.end())?.code).toBe(0)
        await start(place, variant)
        await until(async () => place.isReady)
      }
    },
    /** @returns the status of the answer, or what the caller saw in place of one */
    pay: async (idempotencyKey: string): Promise<number | string> => {
      const place = await held()
      if (place === undefined) return 'nobody is ready'
      const params = { local_instrument: 'MANU', transactions: [transfer(ispb, other, 100)] }
      try {
        const { status } = await fetch(`${urlOf(place)}/v1/spi/send`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${key}`,
            'Content-Type': 'application/json',
            'Idempotency-Key': idempotencyKey,
          },
          body: JSON.stringify({ message_type: 'PACS008', params }),
        })
        return status
      } catch (error) {
        return String(error)
      }
    },
    isReady: () => until(async () => places.every((place) => place.isReady)),
    stop: async (): Promise<void> => {
      clearInterval(asking)
      for (const { program } of places) program?.signal('SIGKILL')
      await Promise.all(places.map(({ program }) => program?.end()))
      await bank.stop()
      await database.close()
    },
  }
}

/** Restarts a fleet under load, once with each of these, and compares what callers saw with the book. */
const update = async (first: Variant, then: readonly Variant[]): Promise<void> => {
  const fleet = await startFleet(2)
  try {
    await fleet.start(first)
    await fleet.isReady()
    let isOver = false
    const seen: (number | string)[] = []
    const load = Array.from({ length: clients }, async (_, client) => {
      for (let n = 0; !isOver; n++) seen.push(await fleet.pay(`${client}-${n}`))
    })
    for (const variant of then) await fleet.restart(variant)
    isOver = true
    await Promise.all(load)
    expect(seen.length).toBeGreaterThan(50)
    expect(seen.filter((one) => one !== 202)).toEqual([])
    const { sql } = fleet.database
    await until(async () => {
      const [row] = await sql<{ accepted: number }[]>`
        select count(*)::int as accepted from spi_messages
        where type = 'pacs.008' and status = 'ACCEPTED'`
      return row?.accepted === seen.length
    }, 60_000)
    const [row] = await sql<{ made: number }[]>`
      select count(*)::int as made from spi_messages where type = 'pacs.008'`
    expect(row?.made).toBe(seen.length)
    const { operations, balanced } = fleet.bank.book()
    expect([operations.length, balanced]).toEqual([seen.length, true])
  } finally {
    await fleet.stop()
  }
}

describe('processes restarted one after the other under load: no caller notices, each payment is made once', () => {
  test('with this release', () => update(anyVariant, [anyVariant]))

  const executable = process.env['TRILHO_PREVIOUS_RELEASE']
  const noRelease = executable === undefined ? ' [skipped: TRILHO_PREVIOUS_RELEASE]' : ''
  test.skipIf(noRelease !== '')(`to this release, and back to the one before${noRelease}`, () => {
    const before: Variant = { name: 'built file', command: () => [executable ?? ''] }
    return update(before, [anyVariant, before])
  })
})
