/** A network with a ledger of its own, which does with each message what the test says: the truth, and lies about it. */
import {
  CardMessage,
  type GatewayMti,
  parseOriginalData,
  parseReplacementAmounts,
} from '#codecs/iso8583'
import { createScriptedNetwork, type ScriptedNetwork } from './scripted-network.ts'

type Deed = {
  /** Enters the message into the ledger, or a part of its amount; the code of DE 39 that is true of it. */
  readonly decide: (cents?: number) => string
  readonly cut: () => void
  readonly say: (responseCode: string, change?: Partial<CardMessage>) => void
  /** After the caller of the gateway has given up. */
  readonly answerLate: (act: () => void) => void
  /** After the gateway has begun to take it back. */
  readonly arriveLate: (act: () => void) => void
  /** At once, but after what was said first. */
  readonly soon: (act: () => void) => void
  readonly amount: number
  /** Neither an advice nor a reversal. */
  readonly isRequest: boolean
}

const codes = { part: '10', refused: '51', undecided: '91', unknown: '25', invalid: '13' } as const

/** What becomes of a message: whether the network does it, and what it says. */
const deeds = {
  done: ({ decide, say }) => say(decide()),
  refused: ({ say }) => say(codes.refused),
  lost: () => undefined,
  'done, the answer is lost': ({ decide }) => {
    decide()
  },
  'done, the answer is late': ({ decide, say, answerLate }) => {
    const code = decide()
    answerLate(() => say(code))
  },
  'refused late': ({ say, answerLate }) => answerLate(() => say(codes.refused)),
  'done, answered twice': ({ decide, say }) => {
    const code = decide()
    say(code)
    say(code)
  },
  'refused, then done': ({ decide, say, soon }) => {
    say(codes.refused)
    soon(() => say(decide()))
  },
  undecided: ({ say }) => say(codes.undecided),
  'done, told as undecided': ({ decide, say }) => {
    decide()
    say(codes.undecided)
  },
  'done, told with another amount': ({ decide, say, amount }) =>
    say(decide(), { amount: String(amount + 1).padStart(12, '0') }),
  // What is told, and what is taken back, is done in whole.
  'done in part': ({ decide, say, amount, isRequest }) => {
    const cents = isRequest ? Math.ceil(amount / 2) : amount
    const code = decide(cents)
    if (isRequest && code === '00') say(codes.part, { amount: String(cents).padStart(12, '0') })
    else say(code)
  },
  'done, the connection is cut': ({ decide, cut }) => {
    decide()
    cut()
  },
  'the connection is cut first': ({ cut }) => cut(),
  'arrives late': ({ decide, say, arriveLate }) => arriveLate(() => say(decide())),
  'arrives late, the answer is lost': ({ decide, arriveLate }) =>
    arriveLate(() => {
      decide()
    }),
} as const satisfies Readonly<Record<string, (deed: Deed) => void>>

export type Fate = keyof typeof deeds
export const fates = Object.keys(deeds) as readonly Fate[]

/** In cents. */
type Held = { readonly held: number; readonly captured: number; readonly refunded: number }

type Kind = 'increment' | 'capture' | 'refund'
type Movement = { readonly kind: Kind; readonly cents: number; stands: boolean }

/** One payment: what was authorized, and all that followed it, by day and DE 11. */
class Account {
  private readonly opened: number
  private readonly by: string
  private readonly movements = new Map<string, Movement>()
  /** What partial reversals have taken of the hold. */
  private given = 0
  private isReleased = false

  constructor(by: string, cents: number) {
    this.by = by
    this.opened = cents
  }

  private sum(kind: Kind): number {
    let cents = 0
    for (const one of this.movements.values()) {
      if (one.stands && one.kind === kind) cents += one.cents
    }
    return cents
  }

  private authorized(): number {
    return this.opened + this.sum('increment')
  }

  now(): Held {
    const captured = this.sum('capture')
    const left = Math.max(0, this.authorized() - this.given - captured)
    return { held: this.isReleased ? 0 : left, captured, refunded: this.sum('refund') }
  }

  /** @returns false if that cannot be */
  move(by: string, kind: Kind, cents: number): boolean {
    if (this.movements.has(by)) return true
    const { held, captured, refunded } = this.now()
    if (kind === 'increment' && (this.isReleased || held + captured === 0)) return false
    if (kind === 'capture' && cents > held) return false
    if (kind === 'refund' && cents > captured - refunded) return false
    this.movements.set(by, { kind, cents, stands: true })
    return true
  }

  /** @returns false where nothing under that number is known */
  reverse(by: string, leavesCents: number | undefined, ofCents: number): boolean {
    const movement = this.movements.get(by)
    if (movement !== undefined) {
      movement.stands = false
      return true
    }
    if (by !== this.by) return false
    if (leavesCents === undefined) this.isReleased = true
    else this.given = Math.max(this.given, ofCents - leavesCents)
    return true
  }
}

const authCode = 'A00001'
const soonMs = 5
const answerMtis: Readonly<Record<string, GatewayMti>> = {
  '010': '0110',
  '012': '0130',
  '020': '0210',
  '022': '0230',
  '040': '0410',
}

const numberOf = ({ transmissionDateTime = '', stan = '' }: CardMessage): string =>
  `${transmissionDateTime.slice(0, 4)} ${stan}`
const kindOf = ({ mti, processingCode = '' }: CardMessage): Kind =>
  mti === '0100' ? 'increment' : processingCode.startsWith('20') ? 'refund' : 'capture'

export type LyingLedger = ScriptedNetwork & {
  readonly of: (rrn: string) => Held
  /** How many messages have yet to arrive, and answers to be given. */
  readonly late: () => number
}

/**
 * @param fateOf is asked once for every message
 * @param timing when what is late comes; `answerMs` is after the caller of the gateway has given up
 */
export const createLyingLedger = (
  fateOf: (request: CardMessage) => Fate,
  timing: { readonly answerMs: number; readonly arriveMs: number },
): LyingLedger => {
  const network = createScriptedNetwork()
  const accounts = new Map<string, Account>()
  let late = 0

  const codeOf = (request: CardMessage, part: number | undefined): string => {
    const { rrn = '', originalData, replacementAmounts } = request
    const cents = part ?? Number(request.amount ?? '0')
    const account = accounts.get(rrn.trimEnd())
    if (request.mti.startsWith('04')) {
      if (account === undefined || originalData === undefined) return codes.unknown
      const { stan, transmissionDateTime } = parseOriginalData(originalData)
      const leaves = replacementAmounts && parseReplacementAmounts(replacementAmounts).transaction
      const by = `${transmissionDateTime.slice(0, 4)} ${stan}`
      const isKnown = account.reverse(by, leaves ? Number(leaves) : undefined, cents)
      return isKnown ? '00' : codes.unknown
    }
    if (account === undefined) {
      if (!request.mti.startsWith('01')) return codes.unknown
      accounts.set(rrn.trimEnd(), new Account(numberOf(request), cents))
      return '00'
    }
    if (request.mti.startsWith('012')) return '00'
    return account.move(numberOf(request), kindOf(request), cents) ? '00' : codes.invalid
  }

  const after = (ms: number) => (act: () => void) => {
    late++
    setTimeout(() => {
      late--
      act()
    }, ms)
  }
  const common = {
    answerLate: after(timing.answerMs),
    arriveLate: after(timing.arriveMs),
    soon: after(soonMs),
  }

  network.on((request, peer) => {
    // What is answered later is copied now: the session uses its buffers again.
    const texts = Object.entries(request).filter(([, value]) => typeof value === 'string')
    const own = Object.assign(new CardMessage(), Object.fromEntries(texts))
    const pan = request.pan?.slice()
    const mti = answerMtis[own.mti.slice(0, 3)] ?? own.mti
    const say: Deed['say'] = (responseCode, change = {}) =>
      peer.answer({
        ...Object.fromEntries(texts),
        pan: pan?.slice(),
        mti,
        responseCode,
        authCode: responseCode === '00' ? authCode : undefined,
        ...change,
      })
    const decide: Deed['decide'] = (cents) => codeOf(own, cents)
    // What it refused and nobody can be told of any more is not done.
    const soon: Deed['soon'] = (act) =>
      common.soon(() => {
        if (peer.isOpen()) act()
      })
    const isRequest = own.mti === '0100' || own.mti === '0200'
    const amount = Number(own.amount)
    deeds[fateOf(own)]({ ...common, soon, decide, say, cut: peer.cut, amount, isRequest })
  })
  return {
    ...network,
    of: (rrn) => accounts.get(rrn)?.now() ?? { held: 0, captured: 0, refunded: 0 },
    late: () => late,
  }
}
