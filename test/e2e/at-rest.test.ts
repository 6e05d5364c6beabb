/** What a process with every rail and role asks of its database while there is nothing to do. */
import { expect, test } from 'bun:test'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { engines, startEngine, statementsOf } from '../support/engines.ts'
import { isLong } from '../support/page-budgets.ts'
import { anyVariant, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

const [engine] = engines
/** Statements a second, of queries and transactions alike. What comes every ten seconds falls into a short window together. */
const restingMax = isLong ? 3.2 : 4
const windowMs = isLong ? 30_000 : 5_000
const waitMs = 90_000

test('a process at rest comes to ask little of its database', async () => {
  if (engine === undefined) throw new Error('no engine')
  await using server = await startEngine(engine)
  const { sql, close } = server.open()
  const bank = await createCentralBank({ longPollMs: 5_000 })
  const { file } = await apiKeyFile('spi:send')
  const program = startProgram(anyVariant, ['serve'], {
    env: {
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      API_KEYS_FILE: file,
      DATABASE_DSN: server.dsn,
      CARDGW_DATABASE_URL: server.dsn,
      ISPB: '12345678',
      SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND',
      SPI_PRIMARY_URL: bank.url,
      SPI_SECONDARY_URL: bank.secondaryUrl,
      // Nothing answers there: that asks nothing of the database.
      CARDGW_NETA_HOST: '127.0.0.1',
      CARDGW_NETA_PORT: '1',
      CARDGW_VAULT_URL: 'http://127.0.0.1:1',
      CARDGW_VAULT_TOKEN: 'a-token-of-the-vault',
    },
  })
  await program.line((text) => text.includes('"msg":"listening"'))
  let seen: readonly string[] = []
  const perSecond = async (): Promise<number> => {
    const beganMs = performance.now()
    const costs = await statementsOf(sql, () => Bun.sleep(windowMs))
    const seconds = (performance.now() - beganMs) / 1_000
    seen = costs.map(({ text, calls }) => `${(calls / seconds).toFixed(2)}/s ${text.slice(0, 80)}`)
    return costs.reduce((sum, { calls }) => sum + calls, 0) / seconds
  }
  // Pauses grow while there is nothing to do.
  await until(async () => (await perSecond()) <= restingMax, waitMs).catch((error: unknown) => {
    throw new Error(`still asks:\n${seen.join('\n')}`, { cause: error })
  })
  program.signal('SIGTERM')
  expect((await program.end()).code).toBe(0)
  await bank.stop()
  await close()
}, 180_000)
