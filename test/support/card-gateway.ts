import { type CardNetwork, testVaultKey } from '../../src/simulators/card-network/index.ts'
import { apiKeyFile } from './api-key.ts'
import type { TestDatabase } from './database.ts'
import { freePort } from './free-port.ts'
import { anyVariant, type RunningProgram, startProgram } from './program.ts'

/** A gateway that stands still answers nothing for ever. */
const answerMs = 3_000

type Body = {
  readonly id?: string
  readonly status?: string
  readonly error?: { readonly details?: { readonly transaction_id?: string } }
}

export type Answer = {
  readonly status: number
  /** The id of the transaction, even if its outcome is unknown. */
  readonly id: string | undefined
  readonly state: string
  /** All of the body. */
  readonly record: Readonly<Record<string, unknown>>
}

/** As if it were later: what a process that is gone had on the wire, and reversals that it held, are another's at once. */
export const handOver = async ({ sql }: TestDatabase): Promise<void> => {
  await sql`
    update card_transactions set touched_at = touched_at - interval '1 minute'
    where status = 'pending' or operation is not null`
  await sql`update card_reversals set lease_until = now() where lease_until > now()`
}

/** A gateway in a process of its own, which is killed and started again on the same port, or stopped where it is. */
export const createCardGateway = async ({
  database,
  networks,
  vaultUrl,
  timeoutSeconds,
  environment = {},
}: {
  readonly database: TestDatabase
  readonly networks: readonly [Pick<CardNetwork, 'port'>, Pick<CardNetwork, 'port'>]
  readonly vaultUrl: string
  readonly timeoutSeconds: number
  readonly environment?: Readonly<Record<string, string>>
}) => {
  const { file: keyFile, key } = await apiKeyFile('cards:*')
  const port = String(freePort())
  const url = `http://127.0.0.1:${port}/v1/transactions`
  let program: RunningProgram | undefined
  const isUp = async (): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined))?.status === 200
  const untilUp = async (): Promise<void> => {
    while (!(await isUp())) await Bun.sleep(20)
  }
  const start = async (): Promise<void> => {
    program = startProgram(anyVariant, ['serve'], {
      env: {
        HTTP_ADDR: `127.0.0.1:${port}`,
        CARDGW_PORT: port,
        CARDGW_LOG_LEVEL: 'error',
        LOG_LEVEL: 'error',
        DATABASE_DSN: database.dsn,
        API_KEYS_FILE: keyFile,
        CARDGW_NETA_HOST: '127.0.0.1',
        CARDGW_NETA_PORT: String(networks[0].port()),
        CARDGW_NETA_TIMEOUT: String(timeoutSeconds),
        CARDGW_NETB_HOST: '127.0.0.1',
        CARDGW_NETB_PORT: String(networks[1].port()),
        CARDGW_NETB_TIMEOUT: String(timeoutSeconds),
        CARDGW_VAULT_URL: vaultUrl,
        CARDGW_VAULT_TOKEN: testVaultKey,
        CARDGW_REVERSAL_BACKOFF_MAX_SECONDS: '1',
        CARDGW_REVERSAL_IN_FLIGHT: '64',
        CARDGW_REVERSAL_WINDOW_SECONDS: '1',
        ...environment,
      },
    })
    await untilUp()
  }
  const end = async (): Promise<void> => {
    program?.signal('SIGKILL')
    await program?.end()
  }
  /** Undefined: the caller learnt nothing. */
  const ask = async (path: string, request: RequestInit): Promise<Answer | undefined> => {
    try {
      const response = await fetch(`${url}${path}`, {
        ...request,
        headers: { Authorization: `Bearer ${key}`, ...request.headers },
        signal: AbortSignal.timeout(answerMs),
      })
      const record = (await response.json()) as Body & Answer['record']
      const { id, status, error } = record
      return {
        status: response.status,
        id: id ?? error?.details?.transaction_id,
        state: status ?? '',
        record,
      }
    } catch {
      return undefined
    }
  }
  const post = (path: string, body: unknown, idempotencyKey: string): Promise<Answer | undefined> =>
    ask(path, {
      method: 'POST',
      headers: {
        'Idempotency-Key': idempotencyKey,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      body: JSON.stringify(body),
    })
  return {
    start,
    untilUp,
    post,
    get: (path: string): Promise<Answer | undefined> => ask(path, {}),
    end,
    kill: async (): Promise<void> => {
      await end()
      await start()
    },
    signal: (name: 'SIGSTOP' | 'SIGCONT') => program?.signal(name),
  }
}

export type CardGateway = Awaited<ReturnType<typeof createCardGateway>>
