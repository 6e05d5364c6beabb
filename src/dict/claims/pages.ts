import type { Claim } from '#codecs/dict'
import { DirectoryAwayError } from '../exchange.ts'
import { type ClaimCalls, listedMax } from './calls.ts'
import type { Role } from './domain.ts'

/** More are left to the next time: the directory allows forty a minute. */
const pagesMax = 20

export type ClaimPage = {
  readonly claims: readonly Claim[]
  readonly unreadable: number
  /** What was changed before that is read. */
  readonly upTo: Date
}

/**
 * The claims that were changed since a moment, in the order of their last change. A list that does not go on ends,
 * whatever it says of more.
 *
 * @throws DirectoryAwayError if a page cannot be had
 */
export async function* claimPages(
  { calls, now }: { readonly calls: ClaimCalls; readonly now: () => Date },
  role: Role,
  after: Date,
): AsyncGenerator<ClaimPage> {
  let from = after
  for (let page = 0; page < pagesMax; page++) {
    const listed = await calls.list(role, from)
    if (listed.kind === 'refused') {
      throw new DirectoryAwayError('status', `the directory answers ${listed.status}`)
    }
    const { claims, unreadable, hasMore } = listed
    const lastMs = Math.max(from.getTime(), ...claims.map((one) => Date.parse(one.modifiedAt)))
    // A moment that has not come would hide all that is changed until then.
    const upTo = new Date(Math.min(lastMs, Math.max(now().getTime(), from.getTime())))
    yield { claims, unreadable, upTo }
    const isStill = upTo <= from
    // Where a page is full of one moment there is no way but past it.
    if (!hasMore || (isStill && claims.length + unreadable < listedMax)) return
    from = isStill ? new Date(from.getTime() + 1) : upTo
  }
}
