import {
  answerMsMax,
  echoMissesMax,
  type NetworkOptions,
  passedOverMs,
  unansweredMax,
} from './options.ts'
import type { ExchangeOutcome } from './types.ts'

type Asking = {
  /** Sends an echo test. */
  readonly ask: (timeoutMs: number) => Promise<ExchangeOutcome>
  /** Called for each echo test that is answered, with the time that it took. */
  readonly onEcho: (roundTripMs: number) => void
  /** Called if nobody is there any more. */
  readonly onGone: (reason: unknown) => void
}

/**
 * Whether the other side of a connection is there: after its silence an echo test asks. Whoever answers that may have
 * lost its way to the issuers, and answer nothing else.
 */
export class Liveness {
  private readonly options: NetworkOptions
  private readonly asking: Asking
  private heardAtMs = 0
  private misses = 0
  /** Transactions in a row. */
  private unanswered = 0
  private unansweredAtMs = 0
  private isAsking = false
  /** Another one after each `stop`: what began before is nobody's. */
  private watch = 0
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: NetworkOptions, asking: Asking) {
    this.options = options
    this.asking = asking
  }

  /** Something came from the other side. */
  heard(): void {
    this.heardAtMs = performance.now()
    this.misses = 0
  }

  /** Watches, unless echo tests are off. */
  start(): void {
    if (this.options.echoMs > 0) this.watchSilence(this.options.echoMs)
  }

  stop(): void {
    this.watch++
    this.misses = 0
    this.unanswered = 0
    clearTimeout(this.timer)
  }

  /** An answer to a transaction came. */
  answered(): void {
    this.unanswered = 0
  }

  /** Whether other connections are to be used: the last transactions had no answer, and none is to try that again. */
  isPassedOver(inFlight: number): boolean {
    if (this.unanswered < unansweredMax) return false
    return inFlight > 0 || performance.now() - this.unansweredAtMs < passedOverMs
  }

  /** Where nothing at all came for a whole time-out, the next silence is not waited for: nobody may be there. */
  onUnanswered(): void {
    const { echoMs, timeoutMs, name, logger } = this.options
    this.unansweredAtMs = performance.now()
    if (++this.unanswered === unansweredMax) {
      const text = 'a connection of the card network answers no payments: others are used'
      logger.warn({ network: name }, text)
    }
    const isSilent = performance.now() - this.heardAtMs >= timeoutMs
    if (echoMs === 0 || this.isAsking || !isSilent) return
    clearTimeout(this.timer)
    this.beginEcho()
  }

  /** Checks after `waitMs` whether anything came from the other side. */
  private watchSilence(waitMs: number): void {
    const { echoMs } = this.options
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      const silentMs = performance.now() - this.heardAtMs
      if (silentMs < echoMs - 1) this.watchSilence(echoMs - silentMs)
      else this.beginEcho()
    }, waitMs)
  }

  private beginEcho(): void {
    this.echo().catch(this.asking.onGone)
  }

  private async echo(): Promise<void> {
    const { watch } = this
    const { echoMs, answerMs = answerMsMax } = this.options
    const askedAtMs = performance.now()
    this.isAsking = true
    const outcome = await this.asking.ask(Math.min(echoMs, answerMs)).finally(() => {
      this.isAsking = false
    })
    if (this.watch !== watch) return
    if (outcome.kind === 'answered') this.asking.onEcho(performance.now() - askedAtMs)
    // Whatever came in between is a sign of life too.
    if (this.heardAtMs >= askedAtMs) this.watchSilence(echoMs)
    else if (++this.misses < echoMissesMax) await this.echo()
    else this.asking.onGone(new Error('the network does not answer echo tests'))
  }
}
