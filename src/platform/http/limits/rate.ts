import type { Logger } from '#src/platform/observe/index.ts'
import type { Principal } from '#src/platform/security/index.ts'
import { ApiError, httpErrors } from '../errors.ts'
import { type DrawTokens, sharedOrOwn } from './store.ts'

/** Requests a second; undefined: no limit. */
export type RateSettings = {
  /** The limit of each key that has none of its own. */
  readonly key: number | undefined
  /** The limit of all keys of an account together. */
  readonly account: number | undefined
}

/** What the answer tells of the bucket that will be empty first. */
export type Allowance = {
  readonly name: 'key' | 'account'
  readonly perSecond: number
  readonly burst: number
  /** Requests left now, as far as this process knows. */
  readonly left: number
  /** Undefined if the request may pass; else how long until the next may. */
  readonly waitMs: number | undefined
}

export type RateLimits = {
  /** Takes one request from the buckets of key and account; undefined if neither is limited. */
  readonly take: (by: Principal) => Allowance | undefined | Promise<Allowance>
}

/** A bucket holds the tokens of so many seconds, so a caller that was silent may ask so much at once. */
const burstSeconds = 2
/** A process draws what it needs for a quarter of a second, so at most four times a second, … */
const lotsPerSecond = 4
/** … and draws anew before its lot is used up, so that few requests wait for it. */
const lowShare = 0.25
const keptMax = 10_000

/**
 * Token buckets that processes share: each draws tokens in lots and spends them without asking. After a refusal, it
 * refuses without asking until the bucket has a token again. So no number of requests costs more than a few statements
 * a second for each key.
 *
 * @param draw what the processes share; undefined without a database: then each counts alone
 */
export const createRateLimits = (options: {
  readonly settings: RateSettings
  readonly draw: () => DrawTokens | undefined
  readonly logger: Logger
  readonly nowMs?: () => number
}): RateLimits => {
  const { settings, logger, nowMs = () => performance.now() } = options
  const draw = sharedOrOwn({
    shared: options.draw,
    nowMs,
    onFailure: (err) => logger.warn({ err }, 'requests are counted by this process alone'),
  })
  const buckets = new Map<string, Bucket>()

  const bucketOf = (name: Allowance['name'], of: string, perSecond: number): Bucket => {
    const subject = `${name}:${of}`
    const kept = buckets.get(subject)
    // A changed limit counts at once.
    if (kept?.perSecond === perSecond) return kept
    if (buckets.size >= keptMax) buckets.clear()
    const made = new Bucket({ name, subject, perSecond, draw, nowMs })
    buckets.set(subject, made)
    return made
  }

  return {
    take: ({ keyId, owner, restrictions }) => {
      const perKey = restrictions.requestsPerSecond ?? settings.key
      const key = perKey === undefined ? undefined : bucketOf('key', keyId, perKey)
      const { account: perAccount } = settings
      if (perAccount === undefined) return key?.take()
      const account = bucketOf('account', owner, perAccount)
      return key === undefined ? account.take() : takeBoth(key, account)
    },
  }
}

const takeBoth = (key: Bucket, account: Bucket): Allowance | Promise<Allowance> => {
  const first = key.take()
  if (first instanceof Promise) return first.then((allowed) => thenTake(allowed, key, account))
  return thenTake(first, key, account)
}

const thenTake = (
  first: Allowance,
  key: Bucket,
  account: Bucket,
): Allowance | Promise<Allowance> => {
  if (first.waitMs !== undefined) return first
  const decide = (second: Allowance): Allowance => {
    if (second.waitMs === undefined) return second.left < first.left ? second : first
    key.giveBack()
    return second
  }
  const second = account.take()
  return second instanceof Promise ? second.then(decide) : decide(second)
}

type BucketOptions = {
  readonly name: Allowance['name']
  readonly subject: string
  readonly perSecond: number
  readonly draw: DrawTokens
  readonly nowMs: () => number
}

/** This process's part of a bucket. */
class Bucket {
  readonly perSecond: number
  private readonly options: BucketOptions
  private readonly burst: number
  private readonly lot: number
  private tokens = 0
  /** What the shared bucket had after the last draw. */
  private left = 0
  private emptyUntilMs = Number.NEGATIVE_INFINITY
  private drawing: Promise<void> | undefined = undefined

  constructor(options: BucketOptions) {
    this.options = options
    this.perSecond = options.perSecond
    this.burst = Math.max(1, options.perSecond * burstSeconds)
    this.lot = Math.max(1, Math.ceil(options.perSecond / lotsPerSecond))
  }

  take(): Allowance | Promise<Allowance> {
    if (this.tokens === 0 && this.waitMs() === 0) return this.takeDrawn()
    return this.spend()
  }

  giveBack(): void {
    this.tokens++
  }

  private waitMs(): number {
    return Math.max(0, this.emptyUntilMs - this.options.nowMs())
  }

  /** Requests that come during a draw wait for it; a draw that gives nothing ends the wait of all. */
  private async takeDrawn(): Promise<Allowance> {
    while (this.tokens === 0 && this.waitMs() === 0) {
      this.drawing ??= this.draw()
      await this.drawing
    }
    return this.spend()
  }

  private spend(): Allowance {
    const isFree = this.tokens > 0
    if (isFree) this.tokens--
    if (isFree && this.tokens < this.lot * lowShare && this.left >= 1) this.drawing ??= this.draw()
    return {
      name: this.options.name,
      perSecond: this.perSecond,
      burst: this.burst,
      left: Math.floor(this.tokens + this.left),
      waitMs: isFree ? undefined : Math.max(1, this.waitMs()),
    }
  }

  private async draw(): Promise<void> {
    const { subject, perSecond, draw, nowMs } = this.options
    try {
      const { granted, left } = await draw(subject, { perSecond, burst: this.burst }, this.lot)
      this.tokens += granted
      this.left = left
      if (granted === 0) this.emptyUntilMs = nowMs() + ((1 - left) / perSecond) * 1_000
    } finally {
      this.drawing = undefined
    }
  }
}

/** The fields of draft-ietf-httpapi-ratelimit-headers: the policy, and what is left of it until when. */
export const rateHeaders = ({
  name,
  perSecond,
  burst,
  left,
  waitMs,
}: Allowance): Readonly<Record<string, string>> => {
  const windowSeconds = Math.ceil(burst / perSecond)
  const refillSeconds = Math.ceil(
    waitMs === undefined ? (burst - left) / perSecond : waitMs / 1_000,
  )
  return {
    'RateLimit-Policy': `"${name}";q=${burst};w=${windowSeconds}`,
    RateLimit: `"${name}";r=${Math.min(left, burst)};t=${Math.max(0, refillSeconds)}`,
  }
}

/** The parts of an exchange that a request is counted by. */
type Counted = { readonly rates: RateLimits | undefined; allowance: Allowance | undefined }

/**
 * Counts a request as that key's. Public routes that are given a key in another place than the header do it themselves.
 *
 * @throws ApiError `rate_limited`
 */
export const countRequest = (exchange: Counted, by: Principal): undefined | Promise<undefined> => {
  const pass = (allowance: Allowance | undefined): undefined => {
    exchange.allowance = allowance
    if (allowance?.waitMs === undefined) return
    throw rateLimited({ ...allowance, waitMs: allowance.waitMs })
  }
  const taken = exchange.rates?.take(by)
  return taken instanceof Promise ? taken.then(pass) : pass(taken)
}

/** The error of a request over the limit. */
const rateLimited = (allowance: Allowance & { readonly waitMs: number }): ApiError => {
  const { name, perSecond, waitMs } = allowance
  return new ApiError(
    httpErrors.rate_limited,
    `The API ${name === 'key' ? 'key' : 'key’s account'} may make ${perSecond} requests a second.`,
    { headers: { 'Retry-After': String(Math.ceil(waitMs / 1_000)) } },
  )
}
