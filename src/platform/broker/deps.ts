import type { Logger } from '../observe/index.ts'

/** What every broker needs. */
export type BrokerDeps = { readonly logger: Logger }
