import { encodeMultipart, multipartContentType } from '#codecs/multipart'
import { backoffMs, newUuid } from '#src/platform/runtime/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import type { Channel } from '../messages/index.ts'
import { InterfaceError } from './errors.ts'
import {
  type ExchangeAnswer,
  type ExchangeRequest,
  exchange,
  LateError,
  NotConnectedError,
  retryAfterMs,
} from './exchange.ts'
import type { Hold } from './hold.ts'
import type { Pacing } from './pacing.ts'
import { problemOf } from './problem.ts'
import { resourceIdIn } from './resource-id.ts'
import type { InterfaceProblem, SendOptions, SendOutcome, Unreachable } from './types.ts'

/** Messages in one request. */
export const requestMessagesMax = 10
const xmlType = 'application/xml; charset=utf-8'
const gzipLevel = 1
const retry = { backoffFirstMs: 100, backoffMaxMs: 2_000 }
/** How long we wait for a full bucket; the caller decides about more. */
const pacingWaitMaxMs = 2_000
const throttledMs = 1_000
const unreachableMs = 1_000

type PaceDeps = {
  readonly channel: Channel
  readonly pacing: Pick<Pacing, 'take'> | undefined
  /** The channel's; all its requests share it. */
  readonly hold: Hold
}

export type SendDeps = PaceDeps &
  Pick<SendOptions, 'comesAgain' | 'isPaid' | 'onLate'> & {
    readonly url: string
    readonly tls: KeyMaterial | undefined
    readonly isGzip: boolean
    readonly timeoutMs: number
    readonly attemptsMax: number
    /** Called before the same messages are sent again. */
    readonly onRepeat?: (attempt: number, reason: string) => void
  }

/** Sends one request with 1 to 10 messages; repeats it with the same bytes when its outcome is not known. */
export const sendMessages = async (
  deps: SendDeps,
  messages: readonly Uint8Array[],
  signal: AbortSignal | undefined,
): Promise<SendOutcome> => {
  if (messages.length === 0 || messages.length > requestMessagesMax) {
    throw new RangeError(`a request takes 1 to ${requestMessagesMax} messages`)
  }
  const turnedAway = await pay(deps, deps.isPaid === true ? [] : messages, deps.comesAgain)
  if (turnedAway !== undefined) return turnedAway
  const request = requestOf(deps, messages, signal)
  for (let attempt = 1; ; attempt++) {
    const outcome = await once(request, deps, messages.length)
    if (outcome.kind === 'unreachable' && !outcome.isDown) deps.hold.hold(outcome.retryAfterMs)
    // The first attempt may have stored the messages, so they stay in doubt whatever the repetition says.
    if (attempt > 1 && outcome.kind === 'refused') {
      return { kind: 'unknown', reason: `status ${outcome.status} after an attempt without answer` }
    }
    const isOpen = outcome.kind === 'unknown' || (attempt > 1 && outcome.kind === 'unreachable')
    if (!isOpen) return outcome
    const isLate = outcome.kind === 'unknown' && outcome.isLate === true
    const isLast = isLate && deps.onLate?.() === false
    if (isLast || attempt >= deps.attemptsMax || signal?.aborted === true) {
      return { kind: 'unknown', reason: outcome.reason, ...(isLate ? { isLate } : {}) }
    }
    await Bun.sleep(backoffMs(attempt, retry))
    deps.onRepeat?.(attempt, outcome.reason)
    // A repetition costs as much as the first.
    const waitMs = await paced(deps, messages, deps.comesAgain)
    if (waitMs > 0) return { kind: 'unknown', reason: outcome.reason }
  }
}

/** Takes the tokens of messages; returns undefined if the channel may have them now. */
export const pay = async (
  deps: PaceDeps,
  messages: readonly Uint8Array[],
  comesAgain = false,
): Promise<Unreachable | undefined> => {
  const waitMs = await paced(deps, messages, comesAgain)
  if (waitMs === 0) return undefined
  const reason = 'the channel is to be left alone for a while'
  return { kind: 'unreachable', reason, retryAfterMs: waitMs, isDown: false }
}

/** Returns 0 when it took the tokens; otherwise how long the channel asks us to wait, which is too long here. */
const paced = async (
  { pacing, hold, channel }: PaceDeps,
  messages: readonly Uint8Array[],
  comesAgain = false,
): Promise<number> => {
  let leftMs = comesAgain ? 0 : pacingWaitMaxMs
  for (;;) {
    const waitMs = hold.leftMs() || ((await pacing?.take(channel, messages)) ?? 0)
    if (waitMs === 0 || waitMs > leftMs) return waitMs
    leftMs -= waitMs
    await Bun.sleep(waitMs)
  }
}

const requestOf = (
  { url, channel, isGzip: isWanted, timeoutMs }: SendDeps,
  messages: readonly Uint8Array[],
  signal: AbortSignal | undefined,
): ExchangeRequest => {
  const boundary = `trilho-${newUuid()}`
  const plain = encodeMultipart(
    messages.map((body) => ({ headers: { 'Content-Type': xmlType }, body })),
    boundary,
  )
  const isGzip = isWanted || channel === 'SECONDARY'
  return {
    method: 'POST',
    url,
    accept: '*/*',
    contentType: multipartContentType(boundary),
    body: isGzip ? Bun.gzipSync(plain, { level: gzipLevel }) : plain,
    isGzip,
    timeoutMs,
    signal,
  }
}

const once = async (
  request: ExchangeRequest,
  { tls }: SendDeps,
  count: number,
): Promise<SendOutcome> => {
  try {
    return outcomeOf(await exchange(request, tls), count)
  } catch (error) {
    if (!(error instanceof InterfaceError)) throw error
    if (error instanceof NotConnectedError) {
      return {
        kind: 'unreachable',
        reason: error.message,
        retryAfterMs: unreachableMs,
        isDown: true,
      }
    }
    return { kind: 'unknown', reason: error.message, isLate: error instanceof LateError }
  }
}

const outcomeOf = ({ status, headers, body }: ExchangeAnswer, count: number): SendOutcome => {
  if (status === 201) {
    const resourceIds = (headers.get('pi-resourceid') ?? '').split(',').map(resourceIdIn)
    return resourceIds.length === count && resourceIds.every((id) => id !== undefined)
      ? { kind: 'accepted', resourceIds }
      : { kind: 'unknown', reason: `${count} messages were answered with other PI-ResourceIds` }
  }
  // 408: the interface gave up reading the request. 429: it did not begin.
  if (status === 429 || status === 408) {
    const isDown = status === 408
    const reason = isDown ? 'the interface did not read in time' : 'too many requests'
    return { kind: 'unreachable', reason, retryAfterMs: retryAfterMs(headers, throttledMs), isDown }
  }
  if (status < 400 || status >= 500) return { kind: 'unknown', reason: `status ${status}` }
  const problem = problemOf(body)
  return accessStatuses.has(status) || isOfInterface(headers, problem)
    ? { kind: 'refused', status, problem }
    : { kind: 'unknown', reason: `status ${status} without a problem of the interface` }
}

/** An interface that refuses access has stored nothing. */
const accessStatuses: ReadonlySet<number> = new Set([401, 403])

/** Whatever stands between us and the interface answers 4xx, too, and knows nothing of what the interface has stored. */
const isOfInterface = (headers: Headers, { type }: InterfaceProblem): boolean =>
  type !== '' || headers.get('content-type')?.startsWith('application/problem+xml') === true
