import type { ErrorCatalogue, EventDocument, HealthCheck, Route } from '../http/index.ts'
import type { Loop } from '../jobs/index.ts'
import type { KeySource, ResealCounts } from '../security/index.ts'
import type { Check } from './check.ts'
import type { Demo, DemoGateway } from './demo.ts'

/**
 * What a feature's `createX(deps)` returns; `src/main.ts` alone puts features together.
 * They start in the order of main's list and stop in the reverse order.
 */
export type Feature = {
  /** Lower case: the key of its health check. */
  readonly name: string
  readonly routes?: readonly Route[]
  /** `cards`: served on CARDGW_PORT. Otherwise on HTTP_ADDR. */
  readonly listener?: 'http' | 'cards'
  readonly errors?: ErrorCatalogue
  /** What subscribers are sent, for the document of the API. */
  readonly events?: readonly EventDocument[]
  /** Keys it knows: asked after the file of API_KEYS_FILE. */
  readonly keySource?: KeySource
  /** Where it listens by itself once it has started: shown as `<name>_url`. */
  readonly url?: () => string | undefined
  /** Opens connections and starts workers; a rejection ends the process. */
  readonly start?: () => void | Promise<void>
  /** Stops taking new work (polling, claiming); called before the listeners close. */
  readonly drain?: () => void | Promise<void>
  /** Finishes what runs and closes; bounded by the caller. */
  readonly stop?: () => void | Promise<void>
  readonly health?: () => HealthCheck | Promise<HealthCheck>
  /** What it works off by itself, beside its jobs; one of them that stalls makes the process not ready. */
  readonly loops?: () => readonly Loop[]
  /** What `trilho doctor` finds: counterparties, certificates. Asked without `start`; changes nothing. */
  readonly checks?: () => Promise<readonly Check[]>
  /** What it keeps sealed under the master key, for `trilho rotate-master-key`. Asked without `start`. */
  readonly sealed?: { readonly what: string; readonly reseal: () => Promise<ResealCounts> }
  /** Run by `trilho dev` once everything listens; a rejection ends the start with its message. */
  readonly demo?: (gateway: DemoGateway) => Promise<Demo>
}
