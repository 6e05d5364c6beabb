import { writeAudit } from '#src/platform/http/index.ts'
import { eachAlone, type Round } from '#src/platform/jobs/index.ts'
import { DirectoryAwayError, orAway } from '../exchange.ts'
import { type Advance, type AdvanceDeps, lookAt } from './advance.ts'
import { writeClaim } from './changes.ts'
import { automaticOf, dueOf, isEnded, type OwnClaim, possibleFrom } from './domain.ts'
import { dueClaims, findClaim, postponeClaim } from './store.ts'

const dueMax = 100

/** The audit log names this actor where a rule acts and no person does. */
const actor = { id: 'gateway:claims', requestId: undefined }

/** Repeats requests that nobody answered, and does what the rules require once a deadline has passed. */
export const doDueClaims = async (
  deps: AdvanceDeps,
  advance: Advance,
  round?: Round,
): Promise<void> => {
  const { sql, now, quietMs, logger } = deps
  const work = async ({ id }: { readonly id: string }): Promise<void> => {
    const claim = await findClaim(sql, id)
    if (claim !== undefined && !isEnded(claim.status)) await doDue(deps, advance, claim, round)
  }
  await eachAlone(await dueClaims(sql, now(), dueMax), work, {
    round,
    logger,
    idsOf: ({ id }) => ({ claim: id }),
    setAside: (claim) => postponeClaim(sql, claim, new Date(now().getTime() + quietMs)),
  })
}

/** Does what is due for a claim, or postpones it until something is. */
export const doDue = async (
  deps: AdvanceDeps,
  advance: Advance,
  claim: OwnClaim,
  round?: Round,
): Promise<void> => {
  const { sql, now, quietMs } = deps
  const later = new Date(now().getTime() + quietMs)
  const wish = automaticOf(claim)
  const from = wish && possibleFrom(claim, wish)
  if (claim.wanted !== null) {
    const { isDone, claim: after } = await advance(claim, round)
    // Somebody asked for the completion early: it waits for its day.
    const due = isDone ? undefined : dueOf(after, now())
    if (due && due > later) await postponeClaim(sql, after, due)
    return
  }
  if (wish === undefined || !from || from > now()) {
    const looked = await orAway(lookAt(deps, claim))
    if (looked instanceof DirectoryAwayError) await postponeClaim(sql, claim, later)
    return
  }
  const wanting = { ...claim, wanted: wish }
  const isOurs = await sql.begin(async (tx) => {
    if (!(await writeClaim(tx, deps, claim, wanting, later))) return false
    const reason = 'reason' in wish ? ` ${wish.reason}` : ''
    await writeAudit(tx, {
      actor,
      action: 'dict.claim.act',
      object: claim.id,
      outcome: `${wish.act}${reason}`,
    })
    return true
  })
  if (isOurs) await advance({ ...wanting, version: claim.version + 1 })
}
