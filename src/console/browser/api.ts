import { useEffect, useState } from 'preact/hooks'
import { fill, locale, words } from './words.ts'

/** A session and its rights. */
export type Session = {
  readonly name: string
  readonly key_id: string
  readonly account: string
  readonly environment: 'test' | 'live'
  readonly scopes: readonly string[]
  /** The names of the key's restrictions. */
  readonly restrictions: readonly string[]
  /** The address of a trace, with `{trace_id}` in place of its id; null where no tool shows traces. */
  readonly trace_url: string | null
}

export type ScreenProps = { readonly query: URLSearchParams; readonly session: Session }

/** The props of a page that shows one thing. */
export type ThingProps = ScreenProps & { readonly id: string }

/** A request that was refused or got no answer. */
export class Refusal extends Error {
  readonly status: number
  readonly requestId: string
  /** The API's code of the error; empty where it has none. */
  readonly code: string

  /** True: the API repeated the answer that it kept from the first time. */
  readonly isReplay: boolean

  constructor(status: number, message: string, requestId: string, code = '', isReplay = false) {
    super(message)
    this.status = status
    this.requestId = requestId
    this.code = code
    this.isReplay = isReplay
  }

  /** True: an earlier try had an unknown outcome, and the API may refuse this one because the first was done. */
  isSecond = false

  /** True: something in between, such as a proxy, answered. This says nothing of what the gateway did. */
  isForeign = false

  /** Whether the gateway may have done the act all the same. */
  get mayHaveActed(): boolean {
    return this.status === 0 || this.status >= 500 || this.isSecond || this.isForeign
  }

  /** Whether the outcome is unknown and the request may be tried again. */
  get isOpen(): boolean {
    return this.mayHaveActed && this.mayPass && !this.isReplay
  }

  /** Whether the outcome is known, of this request and of each earlier one with its Idempotency-Key. */
  get isCertain(): boolean {
    const isRunning = this.status === 409 && ['', 'idempotency_in_progress'].includes(this.code)
    const isOfWhoAsks = [401, 403, 408, 429].includes(this.status)
    return this.isReplay || !(this.mayHaveActed || isRunning || isOfWhoAsks)
  }

  /** Whether the gateway says that the session is over. */
  get isSignedOut(): boolean {
    return this.status === 401 && !this.isForeign
  }

  /** Whether the same request may succeed later. It cannot where a right or a setting is missing. */
  get mayPass(): boolean {
    const isFault = this.status === 0 || this.status === 429 || this.status >= 500
    return (isFault || this.isForeign) && !this.code.endsWith('not_configured')
  }
}

/** Any error as a refusal; its status is 0 if there was no answer. */
export const refusalOf = (thrown: unknown): Refusal =>
  thrown instanceof Refusal ? thrown : new Refusal(0, String(thrown), '')

/** `background`: the page asks by itself, which keeps no session alive. */
export type Purpose = 'user' | 'background'

/** The session whose account is shown. Each request names its key, because the cookie may hold another by now. */
let shown: Session | undefined

export const keyShown = (): string => shown?.key_id ?? ''
export const accountShown = (): string => shown?.account ?? ''

/** Set while the page must stay although the session may end; `isOver`: it has ended meanwhile. */
let held: { isOver: boolean } | undefined

const end = (): void => {
  if (held === undefined) dispatchEvent(new Event('signed-out'))
  else held.isOver = true
}

/** Keeps the page even if its session ends. @returns lets the page go */
export const holdSession = (): (() => void) => {
  const own = { isOver: false }
  held = own
  return () => {
    held = undefined
    if (own.isOver) end()
  }
}

/** How long we wait for an answer: reads get less time, since we can repeat them. */
const [readMs, actMs] = [20_000, 60_000]

type Received = { readonly answer: Response; readonly text: string }

/** @throws Refusal no answer came, or not all of it in time */
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

/** The answer of something in between, such as a proxy, may not be JSON. */
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

/** Whether this is a refusal in one of the gateway's forms: the answers of others may hold errors too. */
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

/** Reads the forms of errors: problems, the form of cards and digital currency, and that of the API Pix. */
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

/** Undefined if the key may not see it or it does not exist. @throws Refusal if it may be answered later */
export const ifThere = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked
  } catch (error) {
    if (refusalOf(error).mayPass) throw error
    return undefined
  }
}

/** The same for a part of a page, but returns the refusal, which the page shows in its place. */
export const partOf = async <T>(asked: Promise<T>): Promise<T | Refusal | undefined> => {
  try {
    return await ifThere(asked)
  } catch (error) {
    return refusalOf(error)
  }
}

/** One key for one act, however often it is sent. Browsers have `randomUUID` over HTTPS only. */
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
    // The session that the page shows is over already.
    if (!refusalOf(error).isSignedOut) throw error
  }
}

export type Loaded<T> = {
  readonly value: T | undefined
  /** When we asked for the value, in milliseconds since 1970. */
  readonly atMs: number
  /** The error of the last request, if it failed. */
  readonly error: Refusal | undefined
  readonly again: () => void
  readonly turn: number
}

/** Calls `ask` whenever something may have changed. @returns ends that */
export type Wake = (ask: () => void) => () => void

/** Wakes by the clock alone. */
export const every =
  (ms: number): Wake =>
  (ask) => {
    const timer = setInterval(ask, ms)
    return () => clearInterval(timer)
  }

/** How long after a failure we ask again. */
export const retryMs = 10_000

/**
 * The answer of `load`; the former one stays until a new one comes.
 *
 * @param key names what is loaded: we load anew for another key
 * @param wake asks again by itself while the page is visible: each so many milliseconds, or when a `Wake` says so
 * @param lacks whether a part was refused, so that we ask again as after a failure
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

/**
 * A `Wake` tells of a change once, so we repeat a failed ask, and make up for one while the page was hidden.
 *
 * @returns ends it
 */
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
