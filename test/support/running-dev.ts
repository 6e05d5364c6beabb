/** `trilho dev` as a newcomer starts it: all three rails against the simulators. */
import { join } from 'node:path'
import { anyVariant, startProgram } from './program.ts'
import { temporaryDirectory } from './temporary.ts'

export type RunningDev = AsyncDisposable & {
  readonly pid: number
  readonly url: string
  readonly key: string
  readonly ispb: string
  /** Where the simulated central bank is steered. */
  readonly centralBankUrl: string
  /** The directory of its state. */
  readonly state: string
  /** Managed wallets with money in them. */
  readonly wallets: readonly string[]
  /** A request with the key; a body makes it JSON. */
  readonly call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Response>
}

export const startDev = async (
  env: Readonly<Record<string, string>> = {},
  state = join(temporaryDirectory(), '.trilho'),
): Promise<RunningDev> => {
  const program = startProgram(anyVariant, ['dev', '--json', '--state', state], { env })
  const ready = JSON.parse(await program.line((line) => line.startsWith('{'))) as {
    readonly url: string
    readonly api_key: string
    readonly ispb: string
    readonly central_bank_url: string
    readonly wallets: readonly string[]
  }
  const { url, api_key: key, ispb, wallets, central_bank_url: centralBankUrl } = ready
  return {
    pid: program.pid,
    url,
    key,
    ispb,
    wallets,
    centralBankUrl,
    state,
    call: (method, path, body, headers = {}) =>
      fetch(url + path, {
        method,
        headers: {
          Authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    [Symbol.asyncDispose]: async () => {
      program.signal('SIGTERM')
      await program.end()
    },
  }
}
