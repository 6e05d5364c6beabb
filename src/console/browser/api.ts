import { useEffect, useState } from 'preact/hooks'
import { locale } from './words.ts'

/** What a session may do. */
export type Session = {
  readonly name: string
  readonly key_id: string
  readonly account: string
  readonly environment: 'test' | 'live'
  readonly scopes: readonly string[]
  readonly read_only: boolean
  /** With `{trace_id}` in place of the id of a trace; null where traces are looked at nowhere. */
  readonly trace_url: string | null
}

/** What a screen is given: what its address asks for, and whose it is. */
export type ScreenProps = { readonly query: URLSearchParams; readonly session: Session }

/** An answer that is none. */
export class Refusal extends Error {
  readonly status: number
  readonly requestId: string
  /** The API's name for what is wrong; empty where it has none. */
  readonly code: string

  constructor(status: number, message: string, requestId: string, code = '') {
    super(message)
    this.status = status
    this.requestId = requestId
    this.code = code
  }
}

/** `background`: what a page asks for by itself, which keeps no session alive. */
export type Purpose = 'user' | 'background'

const ask = async (path: string, init: RequestInit, purpose: Purpose): Promise<Response> => {
  const headers = new Headers(init.headers)
  headers.set('X-Trilho-Console', purpose)
  headers.set('Accept-Language', locale)
  const answer = await fetch(`/console${path}`, { ...init, headers })
  if (answer.ok) return answer
  if (answer.status === 401 && path !== '/session') dispatchEvent(new Event('signed-out'))
  const body: unknown = await answer.json().catch(() => undefined)
  const requestId = answer.headers.get('X-Request-Id') ?? ''
  throw new Refusal(answer.status, messageOf(body), requestId, codeOf(body))
}

const codeOf = (body: unknown): string =>
  String((body as { code?: unknown } | undefined)?.code ?? '')

/** The forms of errors: problems, those of cards and digital currency, those of the API Pix. */
const messageOf = (body: unknown): string => {
  const { detail, error, errors, violacoes } = (body ?? {}) as {
    detail?: unknown
    error?: { message?: unknown }
    errors?: readonly { pointer?: string; message?: string }[]
    violacoes?: readonly { razao: string }[]
  }
  const violations = [
    ...(errors ?? []).map(({ pointer, message }) => `${pointer ?? ''} ${message}`),
    ...(violacoes ?? []).map(({ razao }) => razao),
  ]
  return [String(detail ?? error?.message ?? ''), ...violations].join(' · ')
}

export const getText = async (
  path: string,
  accept: string,
  purpose: Purpose = 'user',
): Promise<string> => (await ask(`/api${path}`, { headers: { Accept: accept } }, purpose)).text()

export const getJson = async <T>(path: string, purpose: Purpose = 'user'): Promise<T> =>
  (await (await ask(`/api${path}`, {}, purpose)).json()) as T

/** For one act, however often it is sent. Not `randomUUID`: a browser has that over HTTPS only. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

/** Has something done. @returns the answer; undefined where it has no body */
export const send = async <T>(
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  idempotencyKey?: string,
  purpose: Purpose = 'user',
): Promise<T> => {
  const headers = new Headers()
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey)
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const text = await (await ask(`/api${path}`, init, purpose)).text()
  return (text === '' ? undefined : JSON.parse(text)) as T
}

export const currentSession = async (): Promise<Session> =>
  (await (await ask('/session', {}, 'user')).json()) as Session

export const signIn = async (key: string): Promise<void> => {
  const headers = { 'Content-Type': 'application/json' }
  await ask('/session', { method: 'POST', headers, body: JSON.stringify({ key }) }, 'user')
}

export const signOut = async (): Promise<void> => {
  await ask('/session', { method: 'DELETE' }, 'user')
}

export type Loaded<T> = {
  readonly value: T | undefined
  readonly error: Refusal | undefined
  readonly again: () => void
  /** How often it was asked for again. */
  readonly turn: number
}

/** Calls what it is given whenever something may have changed. @returns ends that */
export type Wake = (ask: () => void) => () => void

/** By the clock alone. */
export const every =
  (ms: number): Wake =>
  (ask) => {
    const timer = setInterval(ask, ms)
    return () => clearInterval(timer)
  }

/**
 * What `load` finds, kept while it is asked for anew.
 *
 * @param key names what is loaded: another one loads again
 * @param wake asks again by itself: after so many milliseconds each time, or when it is told to; while the page is seen
 */
export const useLoaded = <T>(
  key: string,
  load: (purpose: Purpose) => Promise<T>,
  wake?: number | Wake,
): Loaded<T> => {
  const [state, setState] = useState<{ key: string; value?: T; error?: Refusal }>({ key })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let isGone = false
    const once = async (purpose: Purpose) => {
      try {
        const value = await load(purpose)
        if (!isGone) setState({ key, value })
      } catch (thrown) {
        const error = thrown instanceof Refusal ? thrown : new Refusal(0, String(thrown), '')
        // What was loaded under another key is not what this key has.
        if (!isGone) setState((former) => ({ ...(former.key === key && former), key, error }))
      }
    }
    void once('user')
    const ask = () => {
      if (!document.hidden) void once('background')
    }
    const sleep = (typeof wake === 'number' ? every(wake) : wake)?.(ask)
    return () => {
      isGone = true
      sleep?.()
    }
  }, [key, turn])
  const isCurrent = state.key === key
  return {
    value: isCurrent ? state.value : undefined,
    error: isCurrent ? state.error : undefined,
    again: () => setTurn((one) => one + 1),
    turn,
  }
}
