import type { Socket, TCPSocketListener } from 'bun'
import { CardMessage, type Dialect, type Framing } from '#codecs/iso8583'
import { type Behaviour, type BehaviourName, behaviours } from './behaviour.ts'
import { Book, type BookEntry } from './book.ts'
import { answerMtiOf, Issuer } from './issuer.ts'
import { asksForKey, keyConfirmed, SimulatedKeys, type SimulatedSecurity } from './link-security.ts'
import { Session } from './session.ts'

const issuerAway = '91'
/** DE 70: the business day ends. */
const cutOver = '201'
const bookEntriesMax = 200_000
/** The network closes any further connection at once. */
export const connectionsMax = 256
const lateMs = 35_000

/** Chance of behaviours for a message that asks for none. */
export type FaultRates = Readonly<Partial<Record<BehaviourName, number>>>

export type CardNetworkOptions = {
  /** `127.0.0.1` unless told otherwise. */
  readonly host?: string
  /** 0: a free one, kept over restarts. */
  readonly port?: number
  readonly dialect: Dialect
  readonly framing: Framing
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string }
  /** `late` answers after this time; 35 s, longer than a gateway waits. */
  readonly lateMs?: number
  /** Every answer takes a time drawn from this range, so that answers overtake each other. */
  readonly latencyMs?: { readonly min: number; readonly max: number }
  /** Seed of all chance. */
  readonly seed?: number
  /** Chance of each fault, from 0 to 1; together at most 1. */
  readonly faults?: FaultRates
  /** Close connections that send payments before they signed on. */
  readonly needsSignOn?: boolean
  /** Codes of messages about payments, and their keys. */
  readonly security?: SimulatedSecurity
  /** The fee, in hundredths of a percent of sales and refunds, which its totals tell (DE 83, 85); none without it. */
  readonly feeBasisPoints?: number
}

type CardNetworkStatistics = {
  readonly connections: number
  readonly connectionsTotal: number
  /** Messages received, by MTI. */
  readonly received: Readonly<Record<string, number>>
  /** The number of payments by behaviour. */
  readonly behaviours: Readonly<Partial<Record<BehaviourName, number>>>
  /** Connections closed because of what they sent. */
  readonly refused: number
  /** Keys that were exchanged, and messages whose code was wrong. */
  readonly keysExchanged: number
  readonly wrongCodes: number
}

/** Makes a network, which listens after `start`. */
export const createCardNetwork = (options: CardNetworkOptions): CardNetwork =>
  new CardNetwork(options)

/** A simulated card network. The book lives as long as this object, over stops and starts. */
export class CardNetwork {
  private readonly options: CardNetworkOptions
  private readonly ledger: Book
  private readonly sessions = new Set<Session>()
  /** The connection over which the last key was sent. */
  private keySession: Session | undefined
  private readonly signedOn = new WeakSet<Session>()
  /** Connections that a gateway believes to be there. */
  private readonly halfOpen = new WeakSet<Session>()
  private readonly timers = new Set<ReturnType<typeof setTimeout>>()
  private readonly received: Record<string, number> = {}
  private readonly behaviours: Partial<Record<BehaviourName, number>> = {}
  private readonly random: () => number
  private readonly issuer: Issuer
  private readonly keys: SimulatedKeys | undefined
  private listener: TCPSocketListener<Session | undefined> | undefined
  private listenPort: number
  private faults: FaultRates
  private isSilent = false
  private connectionsTotal = 0
  private refused = 0
  private stan = 0

  constructor(options: CardNetworkOptions) {
    this.options = options
    this.ledger = new Book(bookEntriesMax, options.feeBasisPoints)
    this.issuer = new Issuer(this.ledger)
    this.listenPort = options.port ?? 0
    this.faults = checked(options.faults ?? {})
    this.random = seededRandom(options.seed ?? 1)
    const randomBytes = (bytes: number): Uint8Array =>
      Uint8Array.from({ length: bytes }, () => Math.floor(this.random() * 256))
    this.keys = options.security && new SimulatedKeys(options.security, randomBytes)
  }

  /** The port where it listens, or last listened. */
  port(): number {
    return this.listenPort
  }

  book(): readonly Readonly<BookEntry>[] {
    return this.ledger.entries()
  }

  statistics(): CardNetworkStatistics {
    return {
      connections: this.sessions.size,
      connectionsTotal: this.connectionsTotal,
      received: { ...this.received },
      behaviours: { ...this.behaviours },
      refused: this.refused,
      keysExchanged: this.keys?.exchanged ?? 0,
      wrongCodes: this.keys?.wrongCodes ?? 0,
    }
  }

  setFaults(faults: FaultRates): void {
    this.faults = checked(faults)
  }

  /** While silent, it reads everything and answers nothing. */
  setSilent(isSilent: boolean): void {
    this.isSilent = isSilent
  }

  start(): void {
    const { host = '127.0.0.1', tls } = this.options
    this.listener = Bun.listen<Session | undefined>({
      hostname: host,
      port: this.listenPort,
      ...(tls === undefined
        ? {}
        : { tls: { ...tls, requestCert: tls.ca !== undefined, rejectUnauthorized: true } }),
      socket: {
        open: (socket) => this.open(socket),
        data: (socket, chunk) => this.receive(socket, chunk),
        drain: (socket) => socket.data?.flush(),
        close: (socket) => {
          if (socket.data === undefined) return
          socket.data.close()
          this.sessions.delete(socket.data)
        },
        error: (socket) => socket.data?.close(),
      },
    })
    this.listenPort = this.listener.port
  }

  /** Closes the port and every connection at once. */
  stop(): void {
    for (const timer of this.timers) clearTimeout(timer)
    this.timers.clear()
    this.listener?.stop(true)
    this.listener = undefined
    this.dropConnections()
  }

  dropConnections(): void {
    for (const session of [...this.sessions]) session.close()
    this.sessions.clear()
  }

  private open(socket: Socket<Session | undefined>): void {
    if (this.sessions.size >= connectionsMax) {
      socket.terminate()
      return
    }
    socket.setNoDelay(true)
    const { dialect, framing } = this.options
    const take = (message: CardMessage, tpdu: Uint8Array): void => this.take(session, message, tpdu)
    const session = new Session(socket, dialect, framing, take, this.keys)
    socket.data = session
    this.sessions.add(session)
    this.connectionsTotal++
  }

  private receive(socket: Socket<Session | undefined>, chunk: Uint8Array): void {
    try {
      socket.data?.receive(chunk)
    } catch {
      // The network cannot read what follows, so it closes the connection.
      this.refused++
      socket.data?.close()
    }
  }

  private take(session: Session, message: CardMessage, tpdu: Uint8Array): void {
    this.received[message.mti] = (this.received[message.mti] ?? 0) + 1
    if (this.isSilent || this.halfOpen.has(session)) message.wipe()
    else if (message.mti === '0800') this.manage(session, message, tpdu)
    else if (message.mti === '0810') this.answered(message)
    else if (this.options.needsSignOn === true && !this.signedOn.has(session)) {
      message.wipe()
      this.refused++
      session.close()
    } else this.act(session, message, tpdu)
  }

  private manage(session: Session, request: CardMessage, tpdu: Uint8Array): void {
    request.mti = '0810'
    request.responseCode = '00'
    if (request.networkCode === '001') this.signedOn.add(session)
    else if (request.networkCode === '002') this.signedOn.delete(session)
    else if (asksForKey(request)) this.keys?.give(request)
    else if (request.networkCode === keyConfirmed && this.keys?.confirmed() !== true) {
      request.responseCode = '12'
    }
    session.send(request, tpdu)
  }

  private answered({ networkCode, responseCode }: CardMessage): void {
    if (networkCode === this.keys?.changeCode) this.keys?.acknowledged(responseCode)
  }

  /** Sends a new key over one connection; it is in use once the gateway has answered. */
  changeKey(): void {
    const [session] = this.sessions
    if (session === undefined || this.keys === undefined) return
    this.keySession = session
    this.askOn(session, this.keys.changeCode)
  }

  /** From now on, its codes are under a key that a gateway gets only when it asks. */
  forgetKeys(): void {
    this.keys?.begin()
  }

  /** Whether a sent key may still be taken: it is neither in use nor refused, and its connection is there. */
  get isChangingKey(): boolean {
    const { keys, keySession, sessions } = this
    return keys?.isOffered === true && keySession !== undefined && sessions.has(keySession)
  }

  /** Ends the business day, MMDD, and tells the gateway over one connection; the next one is told as DE 15. */
  endDay(day: string, next: string): void {
    this.ledger.days.endDay(day)
    const [session] = this.sessions
    if (session !== undefined) this.askOn(session, cutOver, next)
  }

  /** Sends an 0800 with this DE 70 on every connection. */
  ask(networkCode: string): void {
    for (const session of this.sessions) this.askOn(session, networkCode)
  }

  private askOn(session: Session, networkCode: string, settlementDate?: string): void {
    const request = new CardMessage()
    request.mti = '0800'
    request.transmissionDateTime = new Date()
      .toISOString()
      .slice(5, 19)
      .replace(/[^0-9]/g, '')
    this.stan = (this.stan % 999_999) + 1
    request.stan = String(this.stan).padStart(6, '0')
    request.networkCode = networkCode
    request.settlementDate = settlementDate
    if (networkCode === this.keys?.changeCode) this.keys?.offer(request)
    session.send(request)
  }

  /** Does what the card, the amount or chance asks for, and wipes the message. */
  private act(session: Session, request: CardMessage, tpdu: Uint8Array): void {
    if (answerMtiOf(request.mti) === undefined) {
      request.wipe()
      return
    }
    const asked = this.issuer.behaviour(request)
    const fault = asked.name === 'approve' ? this.drawFault() : undefined
    const behaviour = (fault && this.issuer.chance(request, fault)) ?? asked
    const { name } = behaviour
    this.behaviours[name] = (this.behaviours[name] ?? 0) + 1
    if (name === 'arrive_late') {
      this.later(this.options.lateMs ?? lateMs, () =>
        this.answer(session, request, behaviour, tpdu),
      )
    } else if (name === 'drop_before' || name === 'lost' || name === 'half_open') {
      request.wipe()
      if (name === 'drop_before') session.close()
      if (name === 'half_open') this.halfOpen.add(session)
    } else this.answer(session, request, behaviour, tpdu)
  }

  /** Enters the message into the book, wipes it, and answers as the behaviour says. */
  private answer(
    session: Session,
    request: CardMessage,
    behaviour: Behaviour,
    tpdu: Uint8Array,
  ): void {
    const { name, argument } = behaviour
    const answer = this.issuer.decide(request, behaviour)
    request.wipe()
    if (name === 'no_answer' || name === 'drop_after' || name === 'garbage') {
      answer.wipe()
      if (name === 'drop_after') session.close()
      if (name === 'garbage') session.sendGarbage()
      return
    }
    if (name === 'duplicate') session.send(copyOf(answer), tpdu)
    if (name === 'contradict') {
      session.send(Object.assign(copyOf(answer), { responseCode: issuerAway }), tpdu)
    }
    if (name === 'wrong_card') answer.pan?.reverse()
    const field = alteredFields[name]
    if (field !== undefined) answer[field] = altered(answer[field])
    const delayMs = this.delayMsOf(name, argument)
    if (delayMs <= 0) session.send(answer, tpdu)
    else this.later(delayMs, () => session.send(answer, tpdu))
  }

  private delayMsOf(name: BehaviourName, argument: number): number {
    if (name === 'late') return this.options.lateMs ?? lateMs
    if (name === 'delay') return argument * 10
    const { min, max } = this.options.latencyMs ?? { min: 0, max: 0 }
    return max > 0 ? min + this.random() * (max - min) : 0
  }

  private drawFault(): Behaviour | undefined {
    let left = this.random()
    for (const [name, rate] of Object.entries(this.faults)) {
      left -= rate
      if (left < 0) return { name: name as BehaviourName, argument: 5 }
    }
    return undefined
  }

  private later(delayMs: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      action()
    }, delayMs)
    this.timers.add(timer)
  }
}

const checked = (faults: FaultRates): FaultRates => {
  const rates = Object.entries(faults)
  const total = rates.reduce((sum, [, rate]) => sum + rate, 0)
  if (rates.some(([name, rate]) => !Object.hasOwn(behaviours, name) || rate < 0) || total > 1) {
    throw new Error('chances of faults are from 0 to 1, together at most 1')
  }
  return faults
}

/** The field that a behaviour answers wrongly. */
const alteredFields: Readonly<Partial<Record<BehaviourName, 'amount' | 'rrn' | 'terminalId'>>> = {
  wrong_amount: 'amount',
  wrong_rrn: 'rrn',
  wrong_terminal: 'terminalId',
}

/** The text with its last digit changed. */
const altered = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  const kept = text.trimEnd()
  return kept.slice(0, -1) + (kept.endsWith('7') ? '8' : '7')
}

/** A message with the same public content; the card number is left out. */
const copyOf = (message: CardMessage): CardMessage =>
  Object.assign(new CardMessage(), message, { pan: undefined })

/** A small generator of numbers from 0 to 1, the same ones for the same seed (mulberry32). */
const seededRandom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
