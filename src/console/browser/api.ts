import { useEffect, useState } from 'preact/hooks'
import { fill, locale, words } from './words.ts'

/** What a session may do. */
export type Session = {
  readonly name: string
  readonly key_id: string
  readonly account: string
  readonly environment: 'test' | 'live'
  readonly scopes: readonly string[]
  /** The names of what the key is restricted by. */
  readonly restrictions: readonly string[]
  /** With `{trace_id}` in place of the id of a trace; null where traces are looked at nowhere. */
  readonly trace_url: string | null
}

/** What a screen is given: what its address asks for, and whose it is. */
export type ScreenProps = { readonly query: URLSearchParams; readonly session: Session }

/** The same of the page of one thing. */
export type ThingProps = ScreenProps & { readonly id: string }

/** A request that was refused or got no answer. */
export class Refusal extends Error {
  readonly status: number
  readonly requestId: string
  /** The API's name for what is wrong; empty where it has none. */
  readonly code: string

  /** The API repeats the answer that it kept from the first time. */
  readonly isReplay: boolean

  constructor(status: number, message: string, requestId: string, code = '', isReplay = false) {
    super(message)
    this.status = status
    this.requestId = requestId
    this.code = code
    this.isReplay = isReplay
  }

  /** The same was asked for before, and nobody knows what became of that: this may be for having been done then. */
  isSecond = false

  /** Somebody in between gave it, a proxy say: it tells nothing of what the gateway did, now or before. */
  isForeign = false

  /** Whether what was asked for may have been done all the same. */
  get mayHaveActed(): boolean {
    return this.status === 0 || this.status >= 500 || this.isSecond || this.isForeign
  }

  /** Whether nobody knows what became of the request, which may be tried again. */
  get isOpen(): boolean {
    return this.mayHaveActed && this.mayPass && !this.isReplay
  }

  /** Whether it says what became of the request, and of each one before it under its key. */
  get isCertain(): boolean {
    const isRunning = this.status === 409 && ['', 'idempotency_in_progress'].includes(this.code)
    const isOfWhoAsks = [401, 403, 408, 429].includes(this.status)
    return this.isReplay || !(this.mayHaveActed || isRunning || isOfWhoAsks)
  }

  /** Whether the gateway says that there is no session any more. */
  get isSignedOut(): boolean {
    return this.status === 401 && !this.isForeign
  }

  /** Whether the same may be answered later: not where a right or a setting is missing. */
  get mayPass(): boolean {
    const isFault = this.status === 0 || this.status === 429 || this.status >= 500
    return (isFault || this.isForeign) && !this.code.endsWith('not_configured')
  }
}

/** What went wrong as a refusal, with status 0 if there was no answer at all. */
export const refusalOf = (thrown: unknown): Refusal =>
  thrown instanceof Refusal ? thrown : new Refusal(0, String(thrown), '')

/** `background`: what a page asks for by itself, which keeps no session alive. */
export type Purpose = 'user' | 'background'

/** The session whose account is shown. If the cookie is another's by now, we ask nothing in its name. */
let shown: Session | undefined

export const keyShown = (): string => shown?.key_id ?? ''
export const accountShown = (): string => shown?.account ?? ''

/** What is to be seen before the page asks who it is, and whether the session has ended meanwhile. */
let held: { isOver: boolean } | undefined

const end = (): void => {
  if (held === undefined) dispatchEvent(new Event('signed-out'))
  else held.isOver = true
}

/** Keeps what the page shows, also when its session ends. @returns lets it go */
export const holdSession = (): (() => void) => {
  const own = { isOver: false }
  held = own
  return () => {
    held = undefined
    if (own.isOver) end()
  }
}

/** How long an answer is awaited: what is only read may be asked for again. */
const [readMs, actMs] = [20_000, 60_000]

type Received = { readonly answer: Response; readonly text: string }

/** @throws Refusal there is no answer, or it does not come to its end in time */
const received = async (path: string, init: RequestInit, withinMs: number): Promise<Received> => {
  const signal = AbortSignal.timeout(withinMs)
  try {
    const answer = await fetch(`/console${path}`, { ...init, signal })
    return { answer, text: await answer.text() }
  } catch {
    throw new Refusal(0, words.noAnswer, '')
  }
}

const ask = async (
  path: string,
  init: RequestInit,
  purpose: Purpose,
  withinMs = readMs,
): Promise<Received> => {
  const headers = new Headers(init.headers)
  headers.set('X-Trilho-Console', purpose)
  if (shown !== undefined) headers.set('X-Trilho-Console-Key', shown.key_id)
  headers.set('Accept-Language', locale)
  const { answer, text } = await received(path, { ...init, headers }, withinMs)
  if (answer.ok && isOfGateway(answer)) return { answer, text }
  const refusal = refusalIn(answer, jsonIn(text))
  if (refusal.isSignedOut && path !== '/session') end()
  throw refusal
}

const refusalIn = (answer: Response, body: unknown): Refusal => {
  const requestId = answer.headers.get('X-Request-Id') ?? ''
  if (isOfGateway(answer) || (!answer.ok && isRefusalOfGateway(body))) {
    return new Refusal(answer.status, messageOf(body), requestId, codeOf(body), isReplayed(answer))
  }
  const message = fill(words.foreign, { status: String(answer.status) })
  return Object.assign(new Refusal(answer.status, message, ''), { isForeign: true })
}

/** An answer from somebody in between, such as a proxy, may be no JSON. */
const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isReplayed = ({ headers }: Response): boolean => headers.has('Idempotent-Replayed')

/** Answers to acts have no common form, so the gateway marks them as its own. */
const isOfGateway = (answer: Response): boolean =>
  isReplayed(answer) || answer.headers.has('X-Trilho-Console')

const pixErrorPrefix = 'https://pix.bcb.gov.br/api/v2/error/'

/** Whether it has one of the forms in which the gateway refuses: what others answer with has errors too. */
const isRefusalOfGateway = (body: unknown): boolean => {
  const { type, code, error } = (body ?? {}) as {
    type?: unknown
    code?: unknown
    error?: { code?: unknown; message?: unknown }
  }
  const isProblem = typeof code === 'string' && type === `/v1/errors/${code}`
  const isEnvelope = /^[A-Z0-9_]+$/.test(textOr(error?.code)) && typeof error?.message === 'string'
  return isProblem || isEnvelope || textOr(type).startsWith(pixErrorPrefix)
}

const textOr = (value: unknown): string => (typeof value === 'string' ? value : '')

const codeOf = (body: unknown): string => {
  const { code, error } = (body ?? {}) as { code?: unknown; error?: { code?: unknown } }
  return String(code ?? error?.code ?? '')
}

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
): Promise<string> => (await ask(`/api${path}`, { headers: { Accept: accept } }, purpose)).text

export const getJson = async <T>(path: string, purpose: Purpose = 'user'): Promise<T> =>
  JSON.parse((await ask(`/api${path}`, {}, purpose)).text) as T

/** Undefined if it may not be seen or is not there. @throws Refusal if it may be answered later */
export const ifThere = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked
  } catch (error) {
    if (refusalOf(error).mayPass) throw error
    return undefined
  }
}

/** The same for a part of a page, but returns the refusal to show in its place if it may be answered later. */
export const partOf = async <T>(asked: Promise<T>): Promise<T | Refusal | undefined> => {
  try {
    return await ifThere(asked)
  } catch (error) {
    return refusalOf(error)
  }
}

/** For one act, however often it is sent. Not `randomUUID`: a browser has that over HTTPS only. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

/** The key of a request, and the callback for an answer that repeats the first. */
type Once = { readonly key: string; readonly onReplay: () => void }

/** Asks the API to do something. @returns the answer; undefined if it has no body */
export const send = async <T>(
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  once?: Once,
  purpose: Purpose = 'user',
): Promise<T> => {
  const headers = new Headers()
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  if (once !== undefined) headers.set('Idempotency-Key', once.key)
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const { answer, text } = await ask(
    `/api${path}`,
    init,
    purpose,
    once === undefined ? readMs : actMs,
  )
  if (isReplayed(answer)) once?.onReplay()
  return (text === '' ? undefined : JSON.parse(text)) as T
}

export const currentSession = async (): Promise<Session> => {
  shown = JSON.parse((await ask('/session', {}, 'user')).text) as Session
  return shown
}

export const signIn = async (key: string): Promise<void> => {
  const headers = { 'Content-Type': 'application/json' }
  await ask('/session', { method: 'POST', headers, body: JSON.stringify({ key }) }, 'user')
}

export const signOut = async (): Promise<void> => {
  try {
    await ask('/session', { method: 'DELETE' }, 'user')
  } catch (error) {
    // What is shown is signed out already.
    if (!refusalOf(error).isSignedOut) throw error
  }
}

export type Loaded<T> = {
  readonly value: T | undefined
  /** When the value was asked for, in milliseconds. */
  readonly atMs: number
  /** What the ask after that of the value met with, where there is one. */
  readonly error: Refusal | undefined
  readonly again: () => void
  /** How often it was asked for again. */
  readonly turn: number
}

/** Calls what it is given whenever something may have changed. @returns ends that */
export type Wake = (ask: () => void) => () => void

/** Wakes by the clock alone. */
export const every =
  (ms: number): Wake =>
  (ask) => {
    const timer = setInterval(ask, ms)
    return () => clearInterval(timer)
  }

/** After so long we ask again by ourselves for what failed. */
export const retryMs = 10_000

/**
 * What `load` finds; the former value stays while it is asked for again.
 *
 * @param key names what is loaded: another one loads again
 * @param wake asks again by itself: after so many milliseconds each time, or when it is told to; while the page is seen
 * @param lacks whether a part was refused, so that it is asked for again as what failed is
 */
export const useLoaded = <T>(
  key: string,
  load: (purpose: Purpose) => Promise<T>,
  wake?: number | Wake,
  lacks: (value: T) => boolean = () => false,
): Loaded<T> => {
  const [state, setState] = useState<Answer<T> & { readonly key: string }>({ key })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const tell = (answer: Answer<T>) =>
      // Do not keep what was loaded under another key.
      setState((former) => ({
        ...(former.key === key && former),
        error: undefined,
        ...answer,
        key,
      }))
    return keepAsking(load, tell, typeof wake === 'number' ? every(wake) : wake, lacks)
  }, [key, turn])
  const { value, atMs = 0, error } = state.key === key ? state : ({} as Answer<T>)
  return { value, atMs, error, again: () => setTurn((one) => one + 1), turn }
}

/** The API's answer at a path. */
export const useAnswer = <T>(path: string, wake?: number | Wake): Loaded<T> =>
  useLoaded(path, (purpose) => getJson<T>(path, purpose), wake)

type Answer<T> = {
  readonly value?: T
  readonly atMs?: number
  readonly error?: Refusal | undefined
}

/** Whoever is told of a change is told once: an ask that fails, or that nobody would see, is made up for. @returns ends it */
const keepAsking = <T>(
  load: (purpose: Purpose) => Promise<T>,
  tell: (answer: Answer<T>) => void,
  wake: Wake | undefined,
  lacks: (value: T) => boolean,
): (() => void) => {
  let [asked, answered] = [0, 0]
  let isOver = false
  let isDue = false
  let retry: ReturnType<typeof setTimeout> | undefined
  const once = async (purpose: Purpose) => {
    asked += 1
    const [own, atMs] = [asked, Date.now()]
    const answer = await load(purpose).then(
      (value): Answer<T> => ({ value, atMs }),
      (thrown: unknown): Answer<T> => ({ error: refusalOf(thrown) }),
    )
    // An answer to an earlier request is older than what is shown.
    if (isOver || own < answered) return
    answered = own
    tell(answer)
    clearTimeout(retry)
    const isLacking = answer.value !== undefined && lacks(answer.value)
    if (wake !== undefined && (isLacking || answer.error?.mayPass === true)) {
      retry = setTimeout(ask, retryMs)
    }
  }
  const ask = () => {
    isDue = document.hidden
    if (!isDue) void once('background')
  }
  const seen = () => {
    if (isDue) ask()
  }
  void once('user')
  const sleep = wake?.(ask)
  document.addEventListener('visibilitychange', seen)
  return () => {
    isOver = true
    clearTimeout(retry)
    document.removeEventListener('visibilitychange', seen)
    sleep?.()
  }
}
