import type { Socket, TCPSocketListener } from 'bun'
import { CardMessage, type Dialect, type Framing } from '#codecs/iso8583'
import { act } from './actions.ts'
import { type Behaviour, type BehaviourName, behaviours } from './behaviour.ts'
import { Book, type BookEntry } from './book.ts'
import { createIssuer } from './issuer.ts'
import { seededRandom } from './random.ts'
import { Session } from './session.ts'

const bookEntriesMax = 200_000
/** More are closed at once. */
export const connectionsMax = 256
const lateMs = 35_000

/** Behaviours that chance may bring to a message that asks for none. */
export type FaultRates = Readonly<
  Partial<
    Record<
      | 'no_answer'
      | 'late'
      | 'drop_before'
      | 'drop_after'
      | 'garbage'
      | 'duplicate'
      | 'delay'
      | 'wrong_amount'
      | 'wrong_rrn'
      | 'wrong_terminal',
      number
    >
  >
>

export type CardNetworkOptions = {
  /** `127.0.0.1` unless told otherwise. */
  readonly host?: string
  /** 0: a free one, kept over restarts. */
  readonly port?: number
  readonly dialect: Dialect
  readonly framing: Framing
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string }
  /** After which `late` answers; 35 s, longer than a gateway waits. */
  readonly lateMs?: number
  /** Every answer takes a time drawn from this range; so answers overtake each other. */
  readonly latencyMs?: { readonly min: number; readonly max: number }
  /** Of everything drawn by chance. */
  readonly seed?: number
  /** Chance of each fault, from 0 to 1; together at most 1. */
  readonly faults?: FaultRates
  /** Answer code of sign-ons; `00`. */
  readonly signOnCode?: string
  /** Close connections that send payments before they signed on. */
  readonly needsSignOn?: boolean
}

type CardNetworkStatistics = {
  readonly connections: number
  readonly connectionsTotal: number
  /** Messages received, by MTI. */
  readonly received: Readonly<Record<string, number>>
  /** What was done about payments, by behaviour. */
  readonly behaviours: Readonly<Partial<Record<BehaviourName, number>>>
  /** Connections closed because of what they sent. */
  readonly refused: number
}

/** A simulated card network. The book lives as long as this object, over stops and starts. */
export type CardNetwork = {
  /** Where it listens, or last listened. */
  readonly port: () => number
  readonly start: () => void
  /** Closes the port and every connection at once. */
  readonly stop: () => void
  readonly book: () => readonly Readonly<BookEntry>[]
  readonly statistics: () => CardNetworkStatistics
  readonly setFaults: (faults: FaultRates) => void
  /** While silent, it reads everything and answers nothing. */
  readonly setSilent: (isSilent: boolean) => void
  /** Sends an 0800 with this DE 70 on every connection. */
  readonly ask: (networkCode: string) => void
  readonly dropConnections: () => void
}

/** Makes a network, which listens after `start`. */
export const createCardNetwork = (options: CardNetworkOptions): CardNetwork =>
  new SimulatedNetwork(options).face()

class SimulatedNetwork {
  private readonly options: CardNetworkOptions
  private readonly ledger = new Book(bookEntriesMax)
  private readonly sessions = new Set<Session>()
  private readonly signedOn = new WeakSet<Session>()
  private readonly timers = new Set<ReturnType<typeof setTimeout>>()
  private readonly received: Record<string, number> = {}
  private readonly behaviours: Partial<Record<BehaviourName, number>> = {}
  private readonly random: () => number
  private readonly context: Parameters<typeof act>[0]
  private listener: TCPSocketListener<Session | undefined> | undefined
  private listenPort: number
  private faults: FaultRates
  private isSilent = false
  private connectionsTotal = 0
  private refused = 0
  private stan = 0

  constructor(options: CardNetworkOptions) {
    this.options = options
    this.listenPort = options.port ?? 0
    this.faults = checked(options.faults ?? {})
    this.random = seededRandom(options.seed ?? 1)
    const { min, max } = options.latencyMs ?? { min: 0, max: 0 }
    this.context = {
      issuer: createIssuer(this.ledger),
      drawFault: () => this.drawFault(),
      lateMs: options.lateMs ?? lateMs,
      latencyMs: () => (max > 0 ? min + this.random() * (max - min) : 0),
      later: (delayMs, action) => this.later(delayMs, action),
      counted: (name) => {
        this.behaviours[name] = (this.behaviours[name] ?? 0) + 1
      },
    }
  }

  face(): CardNetwork {
    return {
      port: () => this.listenPort,
      start: () => this.start(),
      stop: () => this.stop(),
      book: () => this.ledger.entries(),
      statistics: () => ({
        connections: this.sessions.size,
        connectionsTotal: this.connectionsTotal,
        received: { ...this.received },
        behaviours: { ...this.behaviours },
        refused: this.refused,
      }),
      setFaults: (faults) => {
        this.faults = checked(faults)
      },
      setSilent: (isSilent) => {
        this.isSilent = isSilent
      },
      ask: (networkCode) => this.ask(networkCode),
      dropConnections: () => this.dropConnections(),
    }
  }

  private start(): void {
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

  private stop(): void {
    for (const timer of this.timers) clearTimeout(timer)
    this.timers.clear()
    this.listener?.stop(true)
    this.listener = undefined
    this.dropConnections()
  }

  private dropConnections(): void {
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
    const session = new Session(socket, dialect, framing, {
      message: (from, message, tpdu) => this.take(from, message, tpdu),
    })
    socket.data = session
    this.sessions.add(session)
    this.connectionsTotal++
  }

  private receive(socket: Socket<Session | undefined>, chunk: Uint8Array): void {
    try {
      socket.data?.receive(chunk)
    } catch {
      // Nothing that follows can be read: the sender sees the end of the connection.
      this.refused++
      socket.data?.close()
    }
  }

  private take(session: Session, message: CardMessage, tpdu: Uint8Array): void {
    this.received[message.mti] = (this.received[message.mti] ?? 0) + 1
    if (this.isSilent) message.wipe()
    else if (message.mti === '0800') this.manage(session, message, tpdu)
    else if (message.mti === '0810') return
    else if (this.options.needsSignOn === true && !this.signedOn.has(session)) {
      message.wipe()
      this.refused++
      session.close()
    } else act(this.context, session, message, tpdu)
  }

  private manage(session: Session, request: CardMessage, tpdu: Uint8Array): void {
    request.mti = '0810'
    request.responseCode = '00'
    if (request.networkCode === '001') {
      request.responseCode = this.options.signOnCode ?? '00'
      if (request.responseCode === '00') this.signedOn.add(session)
    } else if (request.networkCode === '002') this.signedOn.delete(session)
    session.send(request, tpdu)
  }

  private ask(networkCode: string): void {
    for (const session of this.sessions) {
      const request = new CardMessage()
      request.mti = '0800'
      request.transmissionDateTime = new Date()
        .toISOString()
        .slice(5, 19)
        .replace(/[^0-9]/g, '')
      this.stan = (this.stan % 999_999) + 1
      request.stan = String(this.stan).padStart(6, '0')
      request.networkCode = networkCode
      session.send(request)
    }
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
