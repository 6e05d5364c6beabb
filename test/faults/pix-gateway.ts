/** The gateway as two processes, one of which merchants speak to, and what kills one of them. */
import type { CentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import type { TestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { anyVariant, type RunningProgram, startProgram } from '../support/program.ts'

export const ispb = '12345678'

type Json = Record<string, unknown>
/** What merchants speak to, and everything behind it. */
const processes = { api: 'api', rest: 'pull,worker,send,webhooks,jobs' } as const
type Process = keyof typeof processes

export const createGateway = async (
  database: TestDatabase,
  bank: CentralBank,
  more: Readonly<Record<string, string>> = {},
) => {
  const { file, key } = await apiKeyFile('*')
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const running = new Map<Process, RunningProgram>()
  const start = async (name: Process): Promise<void> => {
    const own = String(name === 'api' ? port : 0)
    const env = {
      HTTP_ADDR: `127.0.0.1:${own}`,
      CARDGW_PORT: own,
      TRILHO_ROLES: processes[name],
      DATABASE_DSN: database.dsn,
      API_KEYS_FILE: file,
      ISPB: ispb,
      SPI_PRIMARY_URL: bank.url,
      SPI_SECONDARY_URL: bank.secondaryUrl,
      SPI_AUTO_ACCEPT: 'true',
      PIX_LOCATION_HOST: 'pix.example.com',
      WEBHOOK_ALLOWED_TARGETS: '127.0.0.1',
      ...more,
    }
    const program = startProgram(anyVariant, ['serve'], { env })
    running.set(name, program)
    await program.line((line) => line.includes('"listening"'))
  }
  const once = async (
    method: string,
    path: string,
    by: string,
    body?: object,
    idempotencyKey?: string,
  ) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${by}`,
        'Content-Type': 'application/json',
        ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, json: (text === '' ? {} : JSON.parse(text)) as Json }
  }
  /** As a shop does who learns nothing: the same again, until there is an answer. */
  const call = async (
    ...asked: Parameters<typeof once>
  ): Promise<{ status: number; json: Json }> => {
    for (;;) {
      const answer = await once(...asked).catch(() => undefined)
      const isRunning = answer?.json['code'] === 'idempotency_in_progress'
      if (answer !== undefined && answer.status < 500 && !isRunning) return answer
      await Bun.sleep(20)
    }
  }
  await Promise.all([start('api'), start('rest')])
  const grant = {
    grant_type: 'client_credentials',
    client_id: key.split('_')[2],
    client_secret: key,
  }
  const { json } = await call('POST', '/oauth/token', key, grant)
  const token = String(json['access_token'])
  const stopAll = async (): Promise<void> => {
    for (const program of running.values()) program.signal('SIGKILL')
    await Promise.all([...running.values()].map((program) => program.end()))
  }
  return {
    operate: (method: string, path: string, body?: object, idempotencyKey?: string) =>
      call(method, path, key, body, idempotencyKey),
    pix: (method: string, path: string, body?: object, idempotencyKey?: string) =>
      call(method, `/pix/v2${path}`, token, body, idempotencyKey),
    kill: async (name: Process): Promise<void> => {
      running.get(name)?.signal('SIGKILL')
      await running.get(name)?.end()
      await start(name)
    },
    [Symbol.asyncDispose]: stopAll,
  }
}

export type Gateway = Awaited<ReturnType<typeof createGateway>>
