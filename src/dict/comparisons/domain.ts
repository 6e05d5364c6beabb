import type { KeptEntry } from '#codecs/dict'

export const comparisonMethods = ['events', 'file'] as const
export type ComparisonMethod = (typeof comparisonMethods)[number]
export const comparisonStatuses = ['running', 'done', 'failed'] as const

/** An entry as the directory has it, with the RequestId that made it. */
export type Theirs = { readonly entry: KeptEntry; readonly requestId: string }

export type Side = 'ours' | 'theirs'

/** A key that only one side has, or that both have with different content. */
export type Difference = {
  readonly key: string
  readonly entryId: string | null
  readonly theirs: Theirs | null
  readonly kept: Side | null
}

export type OwnCid = { readonly id: string; readonly cid: string }

/** What one side has and the other has not. */
export type CidDifferences = {
  readonly onlyOurs: readonly OwnCid[]
  readonly onlyTheirs: readonly string[]
}
