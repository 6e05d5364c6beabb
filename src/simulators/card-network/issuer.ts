import {
  CardMessage,
  createFieldSetter,
  formatAdditionalAmounts,
  type GatewayMti,
  parseOriginalData,
  parseReplacementAmounts,
} from '#codecs/iso8583'
import {
  approve,
  askedOf,
  type Behaviour,
  behaviourOfAmount,
  behaviourOfPan,
  isOfKind,
  type Kind,
  noAnswer,
  passesLuhn,
} from './behaviour.ts'
import type { Book, BookEntry, Original, Reference } from './book.ts'

const approved = '00'
const invalidTransaction = '12'
const invalidCard = '14'
const notFound = '25'
const formatError = '30'
const invalidAmount = '13'
const partlyApproved = '10'
/** The answer for a card that is only asked about. */
const nothingAgainst = '85'
/** Authorizations that DE 81 counts. */
const counted: ReadonlySet<string> = new Set([approved, partlyApproved, nothingAgainst])

const answerMtis: Readonly<Partial<Record<GatewayMti, GatewayMti>>> = {
  '0100': '0110',
  '0120': '0130',
  '0121': '0130',
  '0200': '0210',
  '0220': '0230',
  '0221': '0230',
  '0320': '0330',
  '0321': '0330',
  '0400': '0410',
  '0401': '0410',
  '0420': '0430',
  '0421': '0430',
  '0500': '0510',
  '0501': '0510',
  '0520': '0530',
  '0521': '0530',
  '0800': '0810',
}

/** The MTI of the answer; undefined when the network does not take the message. */
export const answerMtiOf = (mti: GatewayMti): GatewayMti | undefined => answerMtis[mti]

/** True if the message is about the totals of a day. */
const isReconciliation = ({ mti }: CardMessage): boolean => mti.startsWith('05')
/** True if the message is about one transaction of a day. */
const isUpload = ({ mti }: CardMessage): boolean => mti.startsWith('03')
const isReversal = ({ mti }: CardMessage): boolean => mti.startsWith('04')
/** True if the message moves money: a purchase, capture or refund. */
const isFinancial = (mti: string): boolean => mti.startsWith('02')
/** A refund comes as a purchase or as an authorization, or as an advice of either, depending on the network. */
const isRefund = ({ mti, processingCode = '' }: CardMessage): boolean =>
  (isFinancial(mti) || mti.startsWith('01')) && processingCode.startsWith('20')

/** DE 28, the transaction fee. */
const setFee = createFieldSetter(28)

const twoDigits = (code: number): string => String(code).padStart(2, '0')

const originalOf = (message: CardMessage): Original => ({
  acquirer: (message.acquirerId ?? '').replace(/^0+/, ''),
  stan: message.stan ?? '',
  rrn: (message.rrn ?? '').trimEnd(),
  transmission: message.transmissionDateTime ?? '',
})

const referenceOf = (message: CardMessage): Reference => ({
  ...originalOf(message),
  authCode: message.authCode,
})

/** Everything the answer repeats; the card number too, as many networks do. */
const echo = (request: CardMessage, mti: GatewayMti): CardMessage => {
  const answer = new CardMessage()
  answer.mti = mti
  answer.pan = request.pan?.slice()
  answer.processingCode = request.processingCode
  answer.amount = request.amount
  answer.transmissionDateTime = request.transmissionDateTime
  answer.stan = request.stan
  answer.localTime = request.localTime
  answer.localDate = request.localDate
  answer.acquirerId = request.acquirerId
  answer.forwarderId = request.forwarderId
  answer.rrn = request.rrn
  answer.terminalId = request.terminalId
  answer.merchantId = request.merchantId
  answer.currency = request.currency
  answer.networkCode = request.networkCode
  return answer
}

/** The message that DE 90 of a reversal names. RRN and DE 32 are those of both: DE 90 may have zeros in its place. */
const reversedOf = (request: CardMessage): Original => {
  const own = originalOf(request)
  if (request.originalData === undefined) return own
  const { stan, transmissionDateTime: transmission } = parseOriginalData(request.originalData)
  return { ...own, stan, transmission }
}

/** The behaviour that answers each movement with a code. */
const declinedBy = {
  authorized: 'increment_decline',
  captured: 'capture_decline',
  refunded: 'refund_decline',
} as const

const isWithin = (request: CardMessage, left: number): boolean => {
  const amount = Number(request.amount ?? 0)
  return amount > 0 && amount <= left
}

const textsMax = 1_000

/** Decides on the money; knows nothing of connections. */
export class Issuer {
  private readonly book: Book
  private readonly texts = new Map<string, string>()
  private authCodes = 0

  constructor(book: Book) {
    this.book = book
  }

  /** The behaviour beyond the decision on the message. */
  behaviour(request: CardMessage): Behaviour {
    const ofAmount =
      isReversal(request) || isUpload(request)
        ? approve
        : (askedOf(behaviourOfAmount(Number(request.amount ?? 0)), this.kindOf(request)) ?? approve)
    return ofAmount === approve ? this.ofCard(request) : ofAmount
  }

  /** The effect of a random fault on the message; undefined if it has none on such a message. */
  chance(request: CardMessage, fault: Behaviour): Behaviour | undefined {
    const kind = this.kindOf(request)
    const isOpening = request.mti === '0100' && kind === undefined
    if (fault.name === 'partial' && !(isOpening && Number(request.amount ?? 0) > 0))
      return undefined
    if (fault.name === 'decline' && isReconciliation(request)) return undefined
    return askedOf(fault, kind)
  }

  /** The act of the message on a present payment; undefined if it opens one, or is about many. */
  private kindOf(request: CardMessage): Kind | undefined {
    if (isReversal(request)) return 'void'
    if (isRefund(request)) return 'refund'
    if (this.raisedBy(request) !== undefined) return 'increment'
    return this.openedBy(request) === undefined ? undefined : 'capture'
  }

  /** Enters the message into the book and gives the answer. */
  decide(request: CardMessage, behaviour: Behaviour): CardMessage {
    const answer = this.decided(request, behaviour)
    const isCharged = isFinancial(request.mti) || isRefund(request)
    if (isCharged && answer.responseCode === approved) this.charge(answer)
    return answer
  }

  private charge(answer: CardMessage): void {
    const fee = this.book.days.feeOf(Number(answer.amount ?? 0))
    if (fee > 0) setFee(answer, `D${String(fee).padStart(8, '0')}`)
  }

  private decided(request: CardMessage, behaviour: Behaviour): CardMessage {
    if (isReconciliation(request)) return this.reconcile(request)
    if (isUpload(request)) return this.upload(request, behaviour)
    if (isReversal(request)) return this.reverse(request, behaviour)
    if (isRefund(request)) return this.refund(request, behaviour)
    const raised = this.raisedBy(request)
    if (raised !== undefined) return this.increment(raised, request, behaviour)
    const entry = this.openedBy(request)
    return entry === undefined
      ? this.authorize(request, behaviour)
      : this.capture(entry, request, behaviour)
  }

  private reconcile(request: CardMessage): CardMessage {
    const answer = echo(request, answerMtis[request.mti] ?? '0510')
    this.book.days.answer(request, answer)
    return answer
  }

  /** Compares a transaction of an ended day with the book; a missing one is booked in that day. */
  private upload(request: CardMessage, { name, argument }: Behaviour): CardMessage {
    const answer = echo(request, '0330')
    const original = reversedOf(request)
    const amount = Number(request.amount ?? 0)
    const known = this.book.bookedAmount(original)
    answer.responseCode = approved
    if (name === 'decline') answer.responseCode = twoDigits(argument)
    else if (known !== undefined && known !== amount) answer.responseCode = invalidAmount
    else if (known === undefined) {
      const kind = (request.processingCode ?? '').startsWith('20') ? 'credits' : 'debits'
      this.book.upload(
        original,
        kind,
        request.currency ?? '986',
        request.settlementDate ?? '',
        amount,
      )
    }
    return answer
  }

  private nextAuthCode(): string {
    this.authCodes = (this.authCodes % 999_999) + 1
    return String(this.authCodes).padStart(6, '0')
  }

  /** One text in place of many equal ones: the garbage collector looks at each that the book holds. */
  private shared(text: string): string {
    const known = this.texts.get(text)
    if (known !== undefined) return known
    if (this.texts.size < textsMax) this.texts.set(text, text)
    return text
  }

  private open(
    request: CardMessage,
    code: string,
    { name, argument }: Behaviour,
    isCaptured: boolean,
  ): BookEntry {
    const asked = Number(request.amount ?? 0)
    const part = name === 'partial' ? Math.floor((asked * argument) / 100) : 0
    const amount = code === approved ? asked : code === partlyApproved ? part : 0
    const { acquirer, stan, rrn, transmission } = originalOf(request)
    const entry: BookEntry = {
      acquirer: this.shared(acquirer),
      stan,
      rrn,
      transmission,
      mti: this.shared(request.mti),
      responseCode: this.shared(code),
      authCode: amount > 0 ? this.nextAuthCode() : undefined,
      authorizedAmount: amount,
      capturedAmount: isCaptured ? amount : 0,
      currency: this.shared(request.currency ?? '986'),
      behaviour: request.pan === undefined ? undefined : behaviourOfPan(request.pan),
      reversedAmount: 0,
      refundedAmount: 0,
      requests: 1,
      reversals: 0,
    }
    if (!isFinancial(request.mti) && counted.has(code)) this.book.days.count(entry.currency)
    this.book.open(entry)
    return entry
  }

  private codeOf(request: CardMessage, { name, argument }: Behaviour): string {
    if (request.pan === undefined || request.stan === undefined) return formatError
    if (!passesLuhn(request.pan)) return invalidCard
    if (name === 'decline') return twoDigits(argument)
    const amount = Number(request.amount ?? 0)
    if (amount === 0 && request.mti === '0100') return nothingAgainst
    if (amount <= 0) return invalidAmount
    return name === 'partial' && request.mti === '0100' ? partlyApproved : approved
  }

  private authorize(request: CardMessage, behaviour: Behaviour): CardMessage {
    const isPurchase = isFinancial(request.mti)
    const answer = echo(request, answerMtis[request.mti] ?? '0110')
    const known = this.book.find(originalOf(request))
    if (known !== undefined) known.requests++
    const entry =
      known ?? this.open(request, this.codeOf(request, behaviour), behaviour, isPurchase)
    answer.responseCode = entry.responseCode
    answer.authCode = entry.authCode
    if (entry.responseCode !== partlyApproved) return answer
    answer.amount = String(entry.authorizedAmount).padStart(12, '0')
    // The account has nothing left.
    const balance = { accountType: '00', amountType: '02', currency: request.currency ?? '986' }
    answer.additionalAmounts = formatAdditionalAmounts([{ ...balance, sign: 'C', amount: 0n }])
    return answer
  }

  /** The payment that an 0100 with its RRN raises; a repeated one opens none. */
  private raisedBy(request: CardMessage): BookEntry | undefined {
    if (request.mti !== '0100') return undefined
    const entry = this.book.findReferred(referenceOf(request))
    return entry === undefined || entry.stan === request.stan ? undefined : entry
  }

  private increment(entry: BookEntry, request: CardMessage, behaviour: Behaviour): CardMessage {
    const answer = echo(request, '0110')
    answer.authCode = entry.authCode
    const isOpen = entry.authorizedAmount > entry.reversedAmount
    return this.move(answer, 'authorized', entry, request, behaviour, isOpen)
  }

  private capture(entry: BookEntry, request: CardMessage, behaviour: Behaviour): CardMessage {
    const answer = echo(request, answerMtis[request.mti] ?? '0210')
    answer.authCode = entry.authCode
    const left = entry.authorizedAmount - entry.capturedAmount - entry.reversedAmount
    return this.move(answer, 'captured', entry, request, behaviour, isWithin(request, left))
  }

  private refund(request: CardMessage, behaviour: Behaviour): CardMessage {
    const answer = echo(request, answerMtis[request.mti] ?? '0210')
    const entry = this.book.findReferred(referenceOf(request))
    const left = entry === undefined ? 0 : entry.capturedAmount - entry.refundedAmount
    return this.move(answer, 'refunded', entry, request, behaviour, isWithin(request, left))
  }

  /** Moves money of a payment once, unless the card or the book speaks against it. */
  private move(
    answer: CardMessage,
    kind: keyof typeof declinedBy,
    entry: BookEntry | undefined,
    request: CardMessage,
    { name, argument }: Behaviour,
    isPossible: boolean,
  ): CardMessage {
    const by = originalOf(request)
    answer.responseCode = approved
    if (this.book.findMovement(by) !== undefined) return answer
    if (name === 'decline' || name === declinedBy[kind]) answer.responseCode = twoDigits(argument)
    else if (entry === undefined) answer.responseCode = notFound
    else if (!isPossible) answer.responseCode = invalidAmount
    else this.book.move(kind, entry, by, Number(request.amount ?? 0))
    return answer
  }

  private reverse(request: CardMessage, { name, argument }: Behaviour): CardMessage {
    const answer = echo(request, answerMtis[request.mti] ?? '0410')
    answer.originalData = request.originalData
    const original = reversedOf(request)
    const moved = this.book.findMovement(original)
    const opened = this.openedAs(request, original)
    // Counted even when the capture never came: a card silent at the first reversal only must know the second.
    const payment = opened ?? this.book.findReferred(referenceOf(request))
    if (payment !== undefined) payment.reversals++
    answer.responseCode = approved
    if (name === 'void_decline' || name === 'decline') answer.responseCode = twoDigits(argument)
    else if (moved !== undefined) {
      if (!this.book.reverseMovement(moved)) answer.responseCode = invalidTransaction
    } else if (opened === undefined) answer.responseCode = notFound
    else if (!this.takeBack(opened, request)) answer.responseCode = invalidTransaction
    return answer
  }

  /** Takes a payment back, except what DE 95 leaves of it. @returns false: a part of that is refunded */
  private takeBack(opened: BookEntry, request: CardMessage): boolean {
    const { amount, originalData, replacementAmounts } = request
    if (replacementAmounts !== undefined) {
      const { transaction } = parseReplacementAmounts(replacementAmounts)
      const whole = Number(amount ?? opened.authorizedAmount)
      return this.book.reduce(opened, whole - Number(transaction))
    }
    if (originalData === undefined || isFinancial(opened.mti)) return this.book.reverse(opened)
    this.book.release(opened)
    return true
  }

  /** The payment that a reversal names: by DE 90, and by its RRN only where there is none. */
  private openedAs(request: CardMessage, original: Original): BookEntry | undefined {
    return request.originalData === undefined
      ? (this.book.find(original) ?? this.book.findReferred(referenceOf(request)))
      : this.book.find(original)
  }

  private openedBy(request: CardMessage): BookEntry | undefined {
    if (!isFinancial(request.mti)) return undefined
    const entry = this.book.findReferred(referenceOf(request))
    // A repeated 0200 does not capture itself.
    return entry === undefined || isFinancial(entry.mti) ? undefined : entry
  }

  /** The behaviour that the card asks for with this message; a capture or reversal may lack the card number. */
  private ofCard(request: CardMessage): Behaviour {
    if (isUpload(request)) return approve
    const own = request.pan === undefined ? approve : behaviourOfPan(request.pan)
    if (isReversal(request)) {
      const original = reversedOf(request)
      const entry = this.book.find(original) ?? this.book.findReferred(referenceOf(request))
      const { name, argument } = entry?.behaviour ?? own
      if (name === 'void_decline') return { name, argument }
      const isSilent = name === 'void_no_answer' && (entry?.reversals ?? argument) < argument
      return isSilent ? noAnswer : approve
    }
    const payment = this.openedBy(request) ?? this.raisedBy(request)
    const behaviour = payment?.behaviour ?? own
    if (isOfKind(behaviour)) return askedOf(behaviour, this.kindOf(request)) ?? approve
    return payment === undefined ? behaviour : approve
  }
}
