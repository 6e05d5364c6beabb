import type { EmitWithin } from '#src/events.ts'
import type { Client } from '#src/platform/database/index.ts'
import { claimKey, type IdempotencyClaim } from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { CardNetworks } from '../networks/index.ts'
import type { StanAllocator } from '../transactions/stan.ts'
import type { CardWriter } from '../transactions/writer.ts'
import type { Vault } from '../vault/index.ts'
import type { Answer } from './answers.ts'
import type { Verdict } from './exchange.ts'

export type OperationName = 'authorization' | 'capture' | 'void'

/** What the use cases stand on. */
export type CardContext = {
  readonly sql: Client
  readonly networks: Pick<CardNetworks, 'byName' | 'networkFor'>
  readonly vault: Vault
  readonly stans: StanAllocator
  readonly writer: CardWriter
  readonly emission: EmitWithin | undefined
  readonly logger: Logger
  readonly now: () => Date
  /** Counts outcomes, by operation. */
  readonly count: (operation: OperationName, network: string, outcome: Verdict['kind']) => void
}

export type Answered = Answer & { readonly isReplay: boolean }

export const fresh = (answer: Answer): Answered => ({ ...answer, isReplay: false })

const newClaim = Symbol('new')

/**
 * What the key answered before; undefined when it is new, which claims nothing.
 *
 * @throws ApiError 409 while its request runs, 422 when it was used for another
 */
export const replayOf = async (
  sql: Client,
  claim: IdempotencyClaim | undefined,
): Promise<Answered | undefined> => {
  if (claim === undefined) return undefined
  try {
    return await sql.begin(async (tx) => {
      const outcome = await claimKey(tx, claim)
      // Rolled back: it is claimed where the work begins.
      if (outcome.kind === 'new') throw newClaim
      return { ...outcome.response, isReplay: true }
    })
  } catch (error) {
    if (error === newClaim) return undefined
    throw error
  }
}
