import type { Client } from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Metrics } from '#src/platform/observe/index.ts'
import { addDays, backoffMs } from '#src/platform/runtime/index.ts'
import { gaugeByNetwork } from '../by-network.ts'
import { type ExchangeOutcome, type Network, undecidedCodes } from '../networks/index.ts'
import { reconciliationMessage } from '../networks/messages.ts'
import { storable } from '../text.ts'
import type { TraceNumbers } from '../transactions/stan.ts'
import { dayAt, settlementDay } from './days.ts'
import { totalsOf } from './movements.ts'
import * as store from './store.ts'
import { agree, restoredTotals, storedTotals, type ToldTotals, textIn, toldIn } from './totals.ts'
import { exchanged, type UploadDeps, uploadNext } from './upload.ts'

const everyMs = 10_000
const backoff = { backoffFirstMs: 2_000, backoffMaxMs: 300_000 }
/** How much longer a lease lasts than the network's time. */
const leaseMarginMs = 10_000
/** Messages of one network in one round, so that an upload holds up neither other networks nor the end of days. */
const messagesMax = 100
/** Without DE 15 a second cut-over within this time is the first one, told over another connection. */
const cutOverSecondsMin = 3_600
/** Holidays last no longer. We refuse a business day that begins later, because all days until then would be one. */
const cutOverAheadDaysMax = 14

type Reconciled = Pick<
  Network,
  | 'name'
  | 'timeoutMs'
  | 'reconciliation'
  | 'content'
  | 'answers'
  | 'exchange'
  | 'health'
  | 'isPending'
>

export type ReconciliationDeps = Omit<UploadDeps, 'nextStan'> & {
  readonly networks: readonly Reconciled[]
  /** Longest time of one call of the vault. */
  readonly vaultTimeoutMs: number
  /** DE 11 and DE 7 for a message that is to be sent now. */
  readonly nextStan: (network: Reconciled) => Promise<TraceNumbers>
  readonly metrics: Metrics
  readonly now: () => Date
  /** Time between two looks, and bound of the wait before a repeat, which doubles; tests shorten them. */
  readonly timing?: { readonly everyMs: number; readonly backoffBaseMs: number } | undefined
}

export type Reconciliation = {
  readonly job: Job
  /** The network's 0800 with DE 70 201. @returns whether it is kept */
  readonly cutOver: (network: string, settlementDate: string | undefined) => Promise<boolean>
}

/**
 * Ends the business days of networks, and compares each with its network: what moved by our book (0500, or 0520 where
 * its file says so) with what moved by its own, until the network answers or the time is over. Repeats are xxx1 with
 * the same STAN, DE 7 and totals. Where a network asks for it, each transaction of the day follows, and its totals again. Any number of processes may do so: a lease keeps each comparison with one of them.
 */
export const createReconciliation = (deps: ReconciliationDeps): Reconciliation => {
  const { sql, networks, logger, metrics, now } = deps
  const reconciled = networks.filter(({ reconciliation }) => reconciliation !== undefined)
  declareOpen(metrics, sql, networks)

  const endDay = async (
    name: string,
    waitSeconds: number,
    today: string,
    next: Parameters<typeof store.endDay>[4],
  ): Promise<void> => {
    const ended = await sql.begin((tx) => store.endDay(tx, name, waitSeconds, today, next))
    if (ended === undefined) return
    logger.info({ network: name, day: ended }, 'the business day of a card network has ended')
    job.kick()
  }

  const byClock = async ({ name, reconciliation: rules }: Reconciled): Promise<void> => {
    if (rules === undefined) return
    const { waitSeconds, cutOver, isByNetwork } = rules
    const open = await store.openDayOf(sql, name)
    const today = dayAt(open.at, cutOver)
    if (open.day === null) return store.openDay(sql, name, today)
    if (!isByNetwork && today > open.day) await endDay(name, waitSeconds, today, () => today)
    await store.addPassedOver(sql, name, waitSeconds, today)
  }

  const round = async ({ advance, signal }: Round): Promise<void> => {
    // An exchange takes as long as its network; the days of other networks must not end later for it.
    for (const network of reconciled) await byClock(network)
    for (const network of reconciled) {
      await store.recountTold(sql, network.name)
      await expire(deps, network)
      let left = messagesMax
      while (left > 0 && !signal.aborted && network.health().connectionsUp > 0) {
        const leaseSeconds = (network.timeoutMs + deps.vaultTimeoutMs + leaseMarginMs) / 1_000
        const due = await store.claimDue(sql, network.name, leaseSeconds)
        if (due === undefined) break
        await goOn(deps, network, due)
        advance()
        left--
      }
      if (left === 0) job.kick()
    }
  }

  const job = createJob({
    name: 'card reconciliations',
    everyMs: deps.timing?.everyMs ?? everyMs,
    logger,
    run: round,
  })
  return {
    job: { ...job, start: async () => (reconciled.length > 0 ? job.start() : undefined) },
    cutOver: async (name, settlementDate) => {
      const rules = reconciled.find((one) => one.name === name)?.reconciliation
      if (rules?.isByNetwork !== true) return true
      try {
        const at = now()
        const told = settlementDay(settlementDate, at)
        const last = addDays(at.toISOString().slice(0, 10), cutOverAheadDaysMax)
        const today = dayAt((await store.openDayOf(sql, name)).at, rules.cutOver)
        await endDay(name, rules.waitSeconds, today, (open, ageSeconds) => {
          if (told !== undefined && told <= last) return told
          const next = addDays(open, 1)
          return ageSeconds >= cutOverSecondsMin && next <= last ? next : undefined
        })
        return true
      } catch (err) {
        logger.error({ network: name, err }, 'the cut-over of a card network was not kept')
        return false
      }
    },
  }
}

const expire = async (
  { sql, logger }: ReconciliationDeps,
  { name, reconciliation }: Reconciled,
): Promise<void> => {
  if (reconciliation === undefined) return
  const count = await store.giveUp(sql, name, reconciliation)
  if (count === 0) return
  logger.error({ network: name, count }, 'reconciliations were not answered in time')
}

/** Gives back what was not answered, to be sent again later. */
const again = async (
  { sql, timing }: ReconciliationDeps,
  due: store.Due,
  isUnsent: boolean,
  responseCode?: string,
): Promise<void> => {
  const { backoffBaseMs: backoffFirstMs = backoff.backoffFirstMs } = timing ?? {}
  const waitMs = backoffMs(due.attempts + 1, { ...backoff, backoffFirstMs })
  await store.release(sql, due, waitMs, isUnsent, responseCode)
}

/** Each stands alone: what fails by itself keeps no other from it, and follows when its lease ends. */
const goOn = async (
  deps: ReconciliationDeps,
  network: Reconciled,
  due: store.Due,
): Promise<void> => {
  try {
    await (due.upload === 'under_way' ? uploadOne : attempt)(deps, network, due)
  } catch (err) {
    const { day, currency } = due
    deps.logger.error(
      { network: network.name, day, currency, err },
      'the reconciliation of a business day was cut short; it follows when its lease ends',
    )
  }
}

const uploadOne = async (
  deps: ReconciliationDeps,
  network: Reconciled,
  due: store.Due,
): Promise<void> => {
  const result = await uploadNext({ ...deps, nextStan: () => deps.nextStan(network) }, network, due)
  if (result.isAgain) await again(deps, due, result.isUnsent)
}

/** Sends it once, and stores what came of it. */
const attempt = async (
  deps: ReconciliationDeps,
  network: Reconciled,
  due: store.Due,
): Promise<void> => {
  const { sql, nextStan, logger } = deps
  const { stan, transmission } = due
  const isRepeat = due.attempts > 0
  if (stan === null && due.upload === null) await store.completeDay(sql, due)
  const totals = isRepeat && due.ours !== null ? restoredTotals(due.ours) : await totalsOf(sql, due)
  const numbers =
    stan === null || transmission === null ? await nextStan(network) : { stan, transmission }
  const { countsAuthorizations } = network.content
  const ours = storedTotals(totals, countsAuthorizations)
  if (!(await store.beginAttempt(sql, due, ours, numbers))) return
  const { day, currency } = due
  const told = { day, currency, totals, isUploaded: due.upload === 'done' }
  const build = () => reconciliationMessage(network.content, numbers, told, isRepeat)
  const outcome = await exchanged(network, build, (err) =>
    logger.error({ network: network.name, day, currency, err }, 'totals could not be told'),
  )
  // People see it when its time is over.
  if (outcome === undefined) return again(deps, due, true)
  const verdict = verdictOf(outcome, (theirs) => agree(totals, theirs, countsAuthorizations))
  if (verdict.kind === 'again') {
    return again(deps, due, outcome.kind === 'not_sent', verdict.responseCode)
  }
  const { status } = verdict.end
  if (isUploadAsked(network, due, status)) {
    return store.beginUpload(sql, due, verdict.end)
  }
  if (!(await store.end(sql, due, verdict.end))) return
  logger[status === 'balanced' ? 'info' : 'error'](
    { network: network.name, day, currency, response_code: verdict.end.responseCode },
    `the reconciliation of a business day is ${status}`,
  )
}

/** Whether to upload: once for each day, and not to a network that refuses to compare. */
const isUploadAsked = (
  { reconciliation }: Reconciled,
  { upload }: store.Due,
  status: store.End['status'],
): boolean => {
  const asked = reconciliation?.batchUpload ?? 'never'
  if (upload !== null || status === 'refused' || asked === 'never') return false
  return asked === 'always' || status === 'different'
}

type Verdict =
  | { readonly kind: 'again'; readonly responseCode: string | undefined }
  | { readonly kind: 'end'; readonly end: store.End }

const outOfBalance = '95'
/** DE 66, settlement code. */
const settlementCodes = { balanced: '1', different: '2' } as const

/** Reads the answer: balanced only if the network says so and none of its totals contradicts it. */
const verdictOf = (outcome: ExchangeOutcome, agrees: (theirs: ToldTotals) => boolean): Verdict => {
  if (outcome.kind !== 'answered') return { kind: 'again', responseCode: undefined }
  const { response } = outcome
  const { responseCode } = response
  if (responseCode === undefined || undecidedCodes.has(responseCode)) {
    return { kind: 'again', responseCode }
  }
  const theirs = toldIn(response)
  const settlementCode = textIn(response, 66)
  const isBalanced =
    settlementCode === undefined
      ? responseCode === '00'
      : settlementCode === settlementCodes.balanced
  const isDifferent = settlementCode === settlementCodes.different || responseCode === outOfBalance
  const agreed = isBalanced && !isDifferent && (theirs === undefined || agrees(theirs))
  const disagreed = isBalanced || isDifferent ? 'different' : 'refused'
  const status = agreed ? 'balanced' : disagreed
  const stored = theirs && storedTotals(theirs, true)
  const told = storable(settlementCode)
  return { kind: 'end', end: { status, responseCode, settlementCode: told, theirs: stored } }
}

const declareOpen = (
  metrics: Metrics,
  sql: Client,
  networks: readonly Pick<Network, 'name'>[],
): void =>
  gaugeByNetwork(
    metrics,
    'cardgw_reconciliations_open',
    'Business days whose totals differ, or that a network did not compare, and that nobody has seen to.',
    networks.map(({ name }) => name),
    () => store.openByNetwork(sql),
  )
