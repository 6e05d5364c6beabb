import type {
  App,
  DrawTokens,
  ErrorCatalogue,
  EventDocument,
  HealthCheck,
  RecordAct,
  Route,
} from '../http/index.ts'
import type { Loop } from '../jobs/index.ts'
import type {
  Authenticator,
  CertificateUse,
  KeySource,
  SealedStock,
  TokenSource,
} from '../security/index.ts'
import type { Demo, DemoGateway } from './demo.ts'

/** One thing `trilho doctor` looked at. */
export type Check = {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** What to do; absent when all is well. */
  readonly fix?: string
}

/** Tells what was found of one thing. */
export const checkOf = (name: string) => ({
  ok: (detail: string): Check => ({ name, status: 'ok', detail }),
  warning: (detail: string, fix: string): Check => ({ name, status: 'warning', detail, fix }),
  failed: (detail: string, fix: string): Check => ({ name, status: 'failed', detail, fix }),
})

/** How many things of one kind a feature's tables hold, and since when, by the database's clock. */
export type BookLine = {
  /** As an operator says it: `instant payments QUEUED`. */
  readonly what: string
  /** The number that has not ended, up to {@link bookCountedMax}. */
  readonly open: number
  /** When the oldest open one was made; null: none is open. */
  readonly oldestOpen: Date | null
  /** When the last one was made, open or not; null: there is none, or the line is of a part. */
  readonly last: Date | null
}

/** We count no further: looking must cost little on a database of any size. */
export const bookCountedMax = 10_000

/** Every endpoint of the process, whichever listener serves it, and who knows its callers. */
export type WholeApi = {
  readonly fetch: App['fetch']
  readonly authenticator: Authenticator
}

/**
 * What a feature's `createX(deps)` returns; `src/main.ts` alone puts features together.
 * They start in the order of main's list and stop in the reverse order.
 */
export type Feature = {
  /** Lower case: the key of its health check. */
  readonly name: string
  readonly routes?: readonly Route[]
  /**
   * `cards`: served on CARDGW_PORT. `pix`: on PIX_API_ADDR, where that is set. `admin`: on TRILHO_ADMIN_ADDR, where that is
   * set and clients of payments need no certificate. Otherwise on HTTP_ADDR.
   */
  readonly listener?: 'http' | 'cards' | 'admin' | 'pix'
  /** Called before the process listens, with the API of all other features. */
  readonly reach?: (api: WholeApi) => void
  readonly errors?: ErrorCatalogue
  /** The events that subscribers get, for the document of the API. */
  readonly events?: readonly EventDocument[]
  /** Its source of API keys: we ask it after the file of API_KEYS_FILE. */
  readonly keySource?: KeySource
  /** The tokens that it issues for keys. */
  readonly tokenSource?: TokenSource
  /** Where the processes share the counts of requests, if they do. */
  readonly drawTokens?: DrawTokens
  /** Where acts are recorded that change nothing in a database. */
  readonly recordAct?: RecordAct
  /** Where it listens once it has started, if it does; shown as `<name>_url`. */
  readonly url?: () => string | undefined
  /** Opens connections and starts workers; a rejection ends the process. */
  readonly start?: () => void | Promise<void>
  /** Still serves, but asks callers to go elsewhere: the process stops after so many milliseconds. */
  readonly leave?: (withinMs: number) => void
  /** Stops taking new work (polling, claiming), while the listeners close; the caller limits the time. */
  readonly drain?: () => void | Promise<void>
  /** Finishes running work and closes; the caller limits the time. */
  readonly stop?: () => void | Promise<void>
  readonly health?: () => HealthCheck | Promise<HealthCheck>
  /** Its queues besides its jobs; if one of them stalls, the process is not ready. */
  readonly loops?: () => readonly Loop[]
  /** Findings for `trilho doctor`: counterparties, certificates. Works without `start`; changes nothing. */
  readonly checks?: () => Promise<readonly Check[]>
  /** The certificates with which it signs, connects or listens: for metrics, log lines and `trilho doctor`. */
  readonly certificates?: readonly CertificateUse[]
  /** The values that it seals under the master key, for `trilho rotate-master-key`. Works without `start`. */
  readonly sealed?: SealedStock
  /** What is open in its tables and how young the last of it is, for `trilho backup-check`. Works without `start`; changes nothing. */
  readonly book?: () => Promise<readonly BookLine[]>
  /**
   * Has a person decide on what a restored copy has open and may have gone on after it, for `trilho backup-check
   * --hold`. Works without `start`; returns how many.
   */
  readonly hold?: () => Promise<number>
  /** Run by `trilho dev` once everything listens; a rejection is told in its place. */
  readonly demo?: (gateway: DemoGateway) => Promise<Demo>
}
