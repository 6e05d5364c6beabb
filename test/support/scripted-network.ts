import type { Socket } from 'bun'
import { CardMessage, dialects, framings, type GatewayMti } from '#codecs/iso8583'
import { Session } from '../../src/simulators/card-network/session.ts'

/** Sends answers over the connection that the request came from. */
export type Peer = {
  /** Answers with what the request has, and the change. */
  readonly answer: (change: Partial<CardMessage>) => void
  /** A frame whose content is given. */
  readonly frame: (body: Uint8Array) => void
  /** Ends the connection, with all that is under way on it. */
  readonly cut: () => void
  readonly isOpen: () => boolean
  /** Which connection, from 0. */
  readonly lane: number
}

/** What the network has of each message. */
export type Seen = Readonly<
  Pick<
    CardMessage,
    'mti' | 'stan' | 'rrn' | 'amount' | 'transmissionDateTime' | 'originalData' | 'extendedPayment'
  >
> & { readonly lane: number }

type AdviceAnswer = Readonly<
  Pick<CardMessage, 'mti' | 'stan' | 'rrn' | 'amount' | 'responseCode'>
> & {
  readonly more?: NonNullable<CardMessage['more']>
}

export type ScriptedNetwork = {
  readonly port: () => number
  readonly stop: () => void
  /** Everything it got but network management, in order. */
  readonly seen: readonly Seen[]
  /** The answers to what it told, in order. */
  readonly answers: readonly AdviceAnswer[]
  /** What it does from now on with each message. */
  readonly on: (script: (request: CardMessage, peer: Peer) => void) => void
  /** Sends an 0800 with this DE 70 over every connection. */
  readonly ask: (networkCode: string) => void
  /** Sends a message of its own over its first connection that is open. */
  readonly tell: (message: Partial<CardMessage>) => void
}

const answerMtis: Readonly<Record<string, GatewayMti>> = {
  '0100': '0110',
  '0200': '0210',
  '0400': '0410',
  '0401': '0410',
  '0800': '0810',
  '0120': '0130',
  '0121': '0130',
  '0220': '0230',
  '0221': '0230',
  '0420': '0430',
  '0421': '0430',
}

const adviceAnswers: ReadonlySet<string> = new Set([
  ...['0130', '0230', '0430', '0510', '0530', '0630'],
])

/** A network that answers network management by itself, and everything else as the test says. */
export const createScriptedNetwork = (): ScriptedNetwork => {
  const seen: Seen[] = []
  const answers: AdviceAnswer[] = []
  const sessions: Session[] = []
  let script: (request: CardMessage, peer: Peer) => void = (_, peer) =>
    peer.answer({ responseCode: '00' })
  const copy = (request: CardMessage, change: Partial<CardMessage>): CardMessage =>
    Object.assign(new CardMessage(), request, {
      pan: request.pan?.slice(),
      mti: answerMtis[request.mti],
      ...change,
    })
  const take = (session: Session, socket: Socket<Session | undefined>, request: CardMessage) => {
    if (request.mti === '0810') return
    if (adviceAnswers.has(request.mti)) {
      const { mti, stan, rrn, amount, responseCode, more } = request
      answers.push({
        mti,
        stan,
        rrn,
        amount,
        responseCode,
        ...(more === undefined ? {} : { more }),
      })
      return
    }
    if (request.mti === '0800') {
      session.send(copy(request, { responseCode: '00' }))
      return
    }
    const { mti, stan, rrn, amount, transmissionDateTime, originalData, extendedPayment } = request
    const lane = sessions.indexOf(session)
    const numbers = { stan, rrn, transmissionDateTime, originalData }
    seen.push({ mti, ...numbers, amount, extendedPayment, lane })
    script(request, {
      answer: (change) => session.send(copy(request, change)),
      frame: (body) => {
        const head = Uint8Array.of(body.length >> 8, body.length & 255)
        socket.write(Buffer.concat([head, body]))
      },
      cut: () => socket.end(),
      isOpen: () => socket.readyState === 1,
      lane,
    })
  }
  const listener = Bun.listen<Session | undefined>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        const session: Session = new Session(
          socket,
          dialects['ascii']!,
          framings['binary-2'],
          (message: CardMessage) => take(session, socket, message),
        )
        socket.data = session
        sessions.push(session)
      },
      data: (socket, chunk) => socket.data?.receive(chunk),
      drain: (socket) => socket.data?.flush(),
      close: (socket) => socket.data?.close(),
    },
  })
  return {
    port: () => listener.port,
    stop: () => listener.stop(true),
    seen,
    answers,
    on: (next) => {
      script = next
    },
    ask: (networkCode) => {
      for (const session of sessions) {
        const request = new CardMessage()
        request.mti = '0800'
        request.transmissionDateTime = '1122120000'
        request.stan = '000001'
        request.networkCode = networkCode
        session.send(request)
      }
    },
    tell: (message) => {
      sessions.at(-1)?.send(Object.assign(new CardMessage(), message))
    },
  }
}
