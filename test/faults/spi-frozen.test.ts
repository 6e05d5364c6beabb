/** A process is stopped within the transaction that records what it has sent, and another one takes over. */
import { expect, test } from 'bun:test'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase } from '../support/database.ts'
import { transfer } from '../support/participant.ts'
import { anyVariant, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

const isLong = process.env['TRILHO_LONG'] === '1'
const ispb = '12345678'
const payments = 10
const settleMs = 180_000

/** Half a minute of waiting for leases and limits: in the long lane. */
test.skipIf(!isLong)(
  'a process that is stopped within a transaction keeps no payment from the others',
  async () => {
    const { dsn, sql, close } = await createTestDatabase(3)
    // Whoever records that a message is sent waits in its transaction, with the row locked, while `hold` has a row.
    await sql`create table hold ()`
    await sql`
    create function hold_sent() returns trigger language plpgsql as $$
      begin
        if coalesce(current_setting('test.held', true), '') = '' and exists (select from hold) then
          perform set_config('test.held', 'yes', true), pg_sleep(0.4);
        end if;
        return new;
      end $$`
    await sql`
    create trigger hold_sent before update on spi_messages
      for each row when (new.status = 'SENT') execute function hold_sent()`
    const bank = await createCentralBank({ longPollMs: 200, streamIdleMs: 1_000 })
    const { file, key } = await apiKeyFile('spi:send')
    const start = async () => {
      const program = startProgram(anyVariant, ['serve'], {
        env: {
          HTTP_ADDR: '127.0.0.1:0',
          CARDGW_PORT: '0',
          API_KEYS_FILE: file,
          DATABASE_DSN: dsn,
          ISPB: ispb,
          SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND',
          SPI_PRIMARY_URL: bank.url,
          SPI_SECONDARY_URL: bank.secondaryUrl,
        },
      })
      const line = await program.line((text) => text.includes('"msg":"listening"'))
      return { program, url: (JSON.parse(line) as { readonly http_url: string }).http_url }
    }
    const frozen = await start()
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const params = { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] }
    const body = JSON.stringify({ message_type: 'PACS008', params })
    const pay = async (): Promise<void> => {
      for (let payment = 0; payment < payments; payment++) {
        const response = await fetch(`${frozen.url}/v1/spi/send`, { method: 'POST', headers, body })
        expect(response.status).toBe(202)
      }
    }
    const statuses = async () =>
      (
        await sql<{ status: string; count: number }[]>`
        select status, count(*)::int as count from spi_messages
        where direction = 'OUTBOUND' group by 1`
      ).map(({ status, count }) => `${status} ${count}`)
    const areAccepted = async (count: number) =>
      Bun.deepEquals(await statuses(), [`ACCEPTED ${count}`])
    // So its statements are prepared: the limit does not hold while the server waits for the rest of a preparation.
    await pay()
    await until(() => areAccepted(payments), settleMs)
    await sql`insert into hold default values`
    await pay()
    await until(async () => {
      const waiting = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep'`
      return waiting.count > 0
    })
    frozen.program.signal('SIGSTOP')
    await sql`delete from hold`
    const heir = await start()
    await until(() => areAccepted(2 * payments), settleMs)
    frozen.program.signal('SIGCONT')
    // It serves again, and finds that its work is done.
    await until(async () => (await fetch(`${frozen.url}/ready`)).status === 200, settleMs)
    expect(await statuses()).toEqual([`ACCEPTED ${2 * payments}`])
    const { operations, balanced } = bank.book()
    expect(operations.map(({ state }) => state)).toEqual(Array(2 * payments).fill('settled'))
    expect(balanced).toBe(true)
    for (const { program } of [frozen, heir]) {
      program.signal('SIGTERM')
      expect((await program.end()).code).toBe(0)
    }
    await bank.stop()
    await close()
  },
  480_000,
)
