import type { Logger } from '../telemetry/index.ts'

/** What every broker needs. */
export type BrokerDeps = { readonly logger: Logger }
