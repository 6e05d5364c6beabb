import type { Job } from '#src/platform/jobs/index.ts'
import type { Lane } from '../wire.ts'
import { type AdvanceDeps, createAdvance } from './advance.ts'
import { createClaimCalls } from './calls.ts'
import { createClaimDeadlines } from './due.ts'
import { createClaimPoll } from './poll.ts'
import { type ClaimService, createClaimService } from './service.ts'

/** Claims to Pix keys: ours, and those against keys that we keep. */
export const createClaims = (
  lane: Lane,
  given: Omit<AdvanceDeps, 'calls'>,
): { readonly service: ClaimService; readonly jobs: (pollMs: number) => readonly Job[] } => {
  const deps = { ...given, calls: createClaimCalls(lane, given.ispb) }
  const advance = createAdvance(deps)
  return {
    service: createClaimService(deps, advance),
    jobs: (pollMs) => [createClaimPoll(deps, advance, pollMs), createClaimDeadlines(deps, advance)],
  }
}
