import type { Dialect, Framing } from '#codecs/iso8583'
import type { Logger } from '#src/platform/observe/index.ts'
import type { Backoff } from '#src/platform/runtime/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import type { Content } from '../content/index.ts'
import type { LinkKeyStore, LinkSecurity, SecurityModule } from '../security/index.ts'
import type { AdviceRules } from './advice-rules.ts'
import type { AnswerCodes } from './answers.ts'
import type { NetworkMetrics } from './metrics.ts'
import type { ReconciliationRules } from './reconciliation-form.ts'
import type { LateAnswer, TakeAdvice } from './types.ts'

/** All settings to reach one network. */
export type NetworkOptions = {
  /** `neta`, `netb`. */
  readonly name: string
  /** Lower case, as shown to callers: `visa`. */
  readonly brand: string
  readonly host: string
  readonly port: number
  /** Default for callers of `exchange`. */
  readonly timeoutMs: number
  /** The dialect, of version 1987. */
  readonly dialect: Dialect
  readonly framing: Framing
  /** The content of messages; by default the gateway's for this dialect. */
  readonly content?: Content
  /** By default those of ISO 8583:1987. */
  readonly answers?: AnswerCodes
  /** Connections held open. */
  readonly poolSize: number
  /** Requests that may wait on one connection. */
  readonly window: number
  /** Send 0800 with DE 70 001, and wait for its 0810, before any traffic; 002 before closing. */
  readonly signOn: boolean
  /** After this silence of the other side, we send an echo test; 0: never. */
  readonly echoMs: number
  /** Longest message taken or sent. */
  readonly frameBytesMax?: number
  /** TLS, mutual when the material holds a certificate. The network watches and stops it. */
  readonly tls?: KeyMaterial | undefined
  /** Codes of messages and exchange of keys; none when not given. */
  readonly security?: LinkSecurity | undefined
  /** Needed where there is `security`. */
  readonly module?: SecurityModule | undefined
  /** Where exchanged keys are kept for all processes and the next start; this process alone has them when not given. */
  readonly keyStore?: LinkKeyStore | undefined
  /** For connecting, and for each message of network management; 10 s. */
  readonly answerMs?: number
  /** How long `stop` waits for what is pending; 15 s. */
  readonly drainMs?: number
  readonly reconnect?: Backoff
  /** How long a request waits for a connection while none is up; 500 ms. */
  readonly connectWaitMs?: number
  /** Hours after which what is authorized and not captured is released; undefined: never. */
  readonly authorizationHours?: number | undefined
  /** What we decide here while the network is away; undefined: nothing. */
  readonly advices?: AdviceRules | undefined
  /** How business days are compared with the network; undefined: they are not. */
  readonly reconciliation?: ReconciliationRules | undefined
  readonly random?: () => number
  readonly logger: Logger
  readonly metrics?: NetworkMetrics | undefined
  /** Called each time a connection begins to take requests. */
  readonly onUp?: (() => void) | undefined
  /** The response is wiped after the call. */
  readonly onLateAnswer?: ((answer: LateAnswer) => void) | undefined
  /** Gives whether the end of the business day is kept; with DE 15. */
  readonly onCutOver?: ((settlementDate: string | undefined) => Promise<boolean>) | undefined
  /** Undefined: advices mean nothing here. */
  readonly onAdvice?: TakeAdvice | undefined
}

/** The characters of other fields are the network's business, whose messages and answers have them as they came. */
export const checkedFields: ReadonlySet<number> = new Set([4, 11, 37, 38, 39, 41, 49, 70])
export const answerMsMax = 10_000
export const drainMs = 15_000
export const signOffMs = 2_000
/** A network that comes back is in use within two seconds. */
export const reconnect: Backoff = { backoffFirstMs: 250, backoffMaxMs: 2_000 }
/** How long a request waits for a connection while none is up. */
export const connectWaitMs = 500
/** After a longer wait a request can neither be sent nor decided: other processes take it for abandoned. */
export const connectWaitMsMax = 9_000
/** A leap year. */
export const authorizationHoursMax = 8_784
/** Requests that may wait for one at a time; more are refused at once. */
export const connectWaitersMax = 1_000
/** When a connection that held this long or carried traffic is lost, the attempts count from one again. */
export const stableMs = 10_000
/** Requests of one connection in a row without an answer, after which others are used. */
export const unansweredMax = 3
/** How long others are used; then one request tries it again. */
export const passedOverMs = 30_000
/** Echo tests without an answer after which the connection is dead. */
export const echoMissesMax = 2
/** Frames in a row without a message of the dialect, after which the connection is given up. */
export const unreadableMax = 5
/** Bytes of one connection that may wait for the kernel. */
export const sendBytesMax = 1_048_576
