/** Several processes behind one `trilho serve`: what outsiders see of them, and what is left when one is killed. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase } from '../support/database.ts'
import { transfer } from '../support/participant.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, runProgram, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(180_000)

const ispb = '12345678'
const waitMs = 120_000

type Line = { readonly msg: string; readonly worker?: number; readonly pid?: number }

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const payment = () => ({
  message_type: 'PACS008',
  params: { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] },
})

test('two workers share one address; one that is killed loses nothing and is started again', async () => {
  const { dsn, sql, close } = await createTestDatabase(2)
  const bank = await createCentralBank({ longPollMs: 200, streamIdleMs: 1_000 })
  const { file, key } = await apiKeyFile('spi:send', 'ops:read')
  const program = startProgram(anyVariant, ['serve', '--workers', '2'], {
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
  const lineOf = async (wanted: (line: Line) => boolean): Promise<Line> =>
    JSON.parse(await program.line((text) => text.startsWith('{') && wanted(JSON.parse(text))))
  const { http_url: url } = (await lineOf(({ msg }) => msg === 'listening')) as unknown as {
    readonly http_url: string
  }
  const pidOf = async (worker: number, not = 0): Promise<number> =>
    (
      await lineOf(
        (line) => line.msg === 'a worker serves' && line.worker === worker && line.pid !== not,
      )
    ).pid ?? 0
  const [first, second] = [await pidOf(1), await pidOf(2)]
  expect(first).not.toBe(second)

  /** Asks again, under the same key, until it is answered. */
  const send = async (idempotencyKey: string, body: string): Promise<void> => {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': idempotencyKey,
    }
    await until(async () => {
      const request = { method: 'POST', headers, body, keepalive: false }
      const answer = await fetch(`${url}/v1/spi/send`, request).catch(() => undefined)
      return answer?.status === 202
    }, waitMs)
  }
  let sent = 0
  const sendMany = (count: number) =>
    Promise.all(Array.from({ length: count }, () => send(`k${++sent}`, JSON.stringify(payment()))))
  const metric = async (pattern: RegExp): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(pattern.exec(text)?.[1] ?? Number.NaN)
  }
  const requests =
    /^http_requests_total\{method="POST",path="\/v1\/spi\/send",status="202"\} (\d+)$/m

  await sendMany(20)
  // Whichever worker answers, it answers for both.
  expect(await metric(requests)).toBe(20)
  expect(await metric(/^trilho_workers (\d+)$/m)).toBe(2)
  const killed = sendMany(20)
  process.kill(second, 'SIGKILL')
  await killed
  expect(await pidOf(2, second)).not.toBe(second)
  // What was rendered a moment ago is shown for a second.
  await until(
    async () => (await metric(/^trilho_worker_restarts_total\{worker="2"\} (\d+)$/m)) === 1,
    waitMs,
  )
  // What it had counted stays counted.
  expect(await metric(requests)).toBeGreaterThanOrEqual(20)
  await until(async () => (await fetch(`${url}/ready`)).status === 200, waitMs)

  const statuses = () =>
    sql<{ status: string; count: number }[]>`
      select status, count(*)::int as count from spi_messages where direction = 'OUTBOUND' group by 1`
  await until(async () => (await statuses()).every(({ status }) => status === 'ACCEPTED'), waitMs)
  expect([...(await statuses())]).toEqual([{ status: 'ACCEPTED', count: 40 }])

  const third = await pidOf(2, second)
  program.signal('SIGTERM')
  expect((await program.end()).code).toBe(0)
  expect([first, third].filter(isAlive)).toEqual([])
  await bank.stop()
  await close()
})

test('behind TLS, a worker that stands still is ended and started again; all end with whoever started them', async () => {
  const authority = issueCertificate('AC Teste', { authority: true })
  const pair = issueCertificate('localhost', {
    issuer: authority,
    hosts: ['localhost', '127.0.0.1'],
  })
  const directory = temporaryDirectory()
  const [certPath, keyPath] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  writeFileSync(certPath, pair.cert)
  writeFileSync(keyPath, pair.key)
  const { file } = await apiKeyFile('ops:read')
  const program = startProgram(anyVariant, ['serve', '--workers', '2'], {
    env: {
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      API_KEYS_FILE: file,
      TRILHO_TLS_CERT_PATH: certPath,
      TRILHO_TLS_KEY_PATH: keyPath,
      // A worker that only begins to load on a busy machine stands still as well.
      TRILHO_STALL_SECONDS: '8',
    },
  })
  const lineOf = async (wanted: (line: Line) => boolean): Promise<Line> =>
    JSON.parse(await program.line((text) => text.startsWith('{') && wanted(JSON.parse(text))))
  const { http_url: url } = (await lineOf(({ msg }) => msg === 'listening')) as unknown as {
    readonly http_url: string
  }
  const served = async (worker: number, not = 0): Promise<number> =>
    (
      await lineOf(
        ({ msg, ...line }) =>
          msg === 'a worker serves' && line.worker === worker && line.pid !== not,
      )
    ).pid ?? 0
  const [first, second] = [await served(1), await served(2)]
  /** Whichever worker gets the connection; one that stands still never answers. */
  const answers = async (): Promise<boolean> => {
    const options = {
      keepalive: false,
      tls: { ca: authority.cert },
      signal: AbortSignal.timeout(500),
    }
    return (await fetch(`${url}/health`, options).catch(() => undefined))?.status === 200
  }
  expect(url).toStartWith('https://')
  await until(answers, waitMs)
  process.kill(first, 'SIGSTOP')
  await lineOf(({ msg, worker }) => msg === 'a worker answers nothing: it is ended' && worker === 1)
  const third = await served(1, first)
  expect(isAlive(first)).toBe(false)
  await until(answers, waitMs)
  program.signal('SIGKILL')
  await until(() => ![second, third].some(isAlive), waitMs)
  await program.end()
})

test.each([
  ['a port that is taken', ['2'], {}, 1, 'it is in use'],
  ['more workers than the roles can use', ['3'], { TRILHO_ROLES: 'grpc' }, 2, 'nothing to do'],
])('%s is refused before a worker starts', async (_, [count = ''], env, code, reason) => {
  const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const run = await runProgram(anyVariant, ['serve', '--workers', count], {
    env: { HTTP_ADDR: `127.0.0.1:${taken.port}`, CARDGW_PORT: String(taken.port), ...env },
  })
  await taken.stop(true)
  expect(run.code).toBe(code)
  expect(run.out + run.err).toContain(reason)
})
