import type { Socket } from 'bun'
import { FrameDecoder, framings, headerBytes, writeFrame } from '#codecs/iso8583'
import { createCircuitBreaker } from '#src/platform/runtime/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import { dial } from '../networks/dial.ts'
import {
  answerIn,
  type Command,
  diagnosis,
  diagnosisIn,
  headerChars,
  importCommand,
  importedIn,
  macCommand,
  macIn,
  pinBlockIn,
  pinCommand,
} from './payshield-wire.ts'
import { ModuleKey, type SecurityModule, SecurityModuleError } from './types.ts'

export type PayshieldOptions = {
  readonly host: string
  readonly port: number
  readonly tls?: KeyMaterial | undefined
  readonly poolSize: number
  /** For a whole command, with the connection it may need. */
  readonly timeoutMs: number
  /** How long we send no commands after five failures in a row; 1 s. */
  readonly pauseMs?: number
}

/** Commands that may wait on one connection. */
const commandsMax = 64
/** Commands that may wait for a place among them. */
const lineMax = 10_000
/** After so many failures in a row we leave the module alone for a moment. */
const failuresMax = 5
const pauseMsDefault = 1_000
const answerBytesMax = 4_096
/** Numbers in a header: four hexadecimal digits. */
const headers = 0x1_0000
const framing = framings['binary-2']

type Waiting = {
  readonly settle: (answer: string) => void
  readonly fail: (fault: SecurityModuleError) => void
}

/** One connection of the pool; made when it is needed, and given up with all that waits as soon as one command hangs. */
class ModuleConnection {
  readonly waiting = new Map<string, Waiting>()
  private readonly options: PayshieldOptions
  private opening: Promise<Socket<undefined>> | undefined
  private socket: Socket<undefined> | undefined
  private decoder: FrameDecoder | undefined
  private tail: Uint8Array[] = []
  private next = 0

  constructor(options: PayshieldOptions) {
    this.options = options
  }

  /** The answer to a command, or why there is none. */
  async call({ code, body }: Command): Promise<string> {
    const header = this.newHeader()
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const end = (): void => {
      clearTimeout(timer)
      this.waiting.delete(header)
    }
    this.waiting.set(header, {
      settle: (answer) => {
        end()
        resolve(answer)
      },
      fail: (fault) => {
        end()
        reject(fault)
      },
    })
    // A module that hangs on one command will not answer the others either.
    const timer = setTimeout(() => this.lose('timed_out'), this.options.timeoutMs)
    const opening = this.connected()
    opening.then(
      () => {
        if (this.opening !== opening) return
        this.write(Buffer.concat([Buffer.from(header + code, 'latin1'), body]))
      },
      () => {
        if (this.opening === opening) this.lose('unreachable')
      },
    )
    return promise
  }

  close(): void {
    this.lose('unreachable')
  }

  private newHeader(): string {
    do this.next = (this.next + 1) % headers
    while (this.waiting.has(headerOf(this.next)))
    return headerOf(this.next)
  }

  private connected(): Promise<Socket<undefined>> {
    if (this.opening !== undefined) return this.opening
    const opening = dial(this.options, this.options.timeoutMs, {
      open: (socket) => {
        // Given up while it was made: nobody waits for it, and another one may be under way.
        if (this.opening !== opening) {
          socket.terminate()
          return
        }
        this.socket = socket
        this.decoder = new FrameDecoder(
          framing,
          {
            message: (bytes, start, end) => this.take(bytes, start, end),
            keepAlive: () => undefined,
          },
          answerBytesMax,
        )
      },
      data: (socket, chunk) => {
        if (socket === this.socket) this.receive(chunk)
      },
      drain: (socket) => {
        if (socket === this.socket) this.flush()
      },
      close: (socket) => {
        if (socket === this.socket) this.lose('unreachable')
      },
    })
    this.opening = opening
    return opening
  }

  private receive(chunk: Uint8Array): void {
    try {
      this.decoder?.push(chunk)
    } catch {
      this.lose('malformed')
    } finally {
      chunk.fill(0)
    }
  }

  private take(bytes: Uint8Array, start: number, end: number): void {
    const text = Buffer.from(bytes.subarray(start, end)).toString('latin1')
    // If no command waits for it, it answers one that is over.
    this.waiting.get(text.slice(0, headerChars))?.settle(text.slice(headerChars))
  }

  private write(message: Uint8Array): void {
    const start = headerBytes(framing)
    const frame = new Uint8Array(start + message.length)
    frame.set(message, start)
    message.fill(0)
    writeFrame(framing, message.length, frame)
    this.tail.push(frame)
    this.flush()
  }

  private flush(): void {
    for (;;) {
      const [first] = this.tail
      if (first === undefined || this.socket === undefined) return
      const taken = Math.max(0, this.socket.write(first))
      first.fill(0, 0, taken)
      if (taken < first.length) {
        this.tail[0] = first.subarray(taken)
        return
      }
      this.tail.shift()
    }
  }

  private lose(fault: 'timed_out' | 'unreachable' | 'malformed'): void {
    const { socket } = this
    this.socket = undefined
    this.opening = undefined
    this.decoder?.clear()
    for (const left of this.tail) left.fill(0)
    this.tail = []
    socket?.terminate()
    for (const one of [...this.waiting.values()]) one.fail(new SecurityModuleError(fault))
  }
}

const headerOf = (number: number): string =>
  number.toString(16).toUpperCase().padStart(headerChars, '0')

/** Admits a number of commands at once; behind them stands a line of those that can wait, which go first. */
const createPlaces = (placesMax: number) => {
  const line = new Set<() => void>()
  let taken = 0
  return {
    /** @throws SecurityModuleError `busy` when there was no place in time */
    take: async (waitMs: number): Promise<void> => {
      if (taken < placesMax) {
        taken++
        return
      }
      if (waitMs <= 0 || line.size >= lineMax) throw new SecurityModuleError('busy')
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const enter = (): void => {
        clearTimeout(timer)
        line.delete(enter)
        resolve()
      }
      const timer = setTimeout(() => {
        line.delete(enter)
        reject(new SecurityModuleError('busy'))
      }, waitMs)
      line.add(enter)
      return promise
    },
    leave: (): void => {
      const [first] = line
      if (first === undefined) taken--
      else first()
    },
  }
}

/** A module that takes payShield host commands over TCP: a pool of connections, each with many commands at a time. */
export const createPayshield = (options: PayshieldOptions): SecurityModule => {
  const pool = Array.from({ length: options.poolSize }, () => new ModuleConnection(options))
  const { pauseMs = pauseMsDefault } = options
  const breaker = createCircuitBreaker(failuresMax, pauseMs, () => performance.now())
  const places = createPlaces(pool.length * commandsMax)
  const callAtOnce = async (command: Command): Promise<string> => {
    const connection = pool.reduce((best, one) =>
      one.waiting.size < best.waiting.size ? one : best,
    )
    if (!breaker.admit()) throw new SecurityModuleError('unreachable')
    try {
      const answer = await connection.call(command)
      breaker.succeeded()
      return answerIn(command.code, answer)
    } catch (error) {
      const isAnswer = error instanceof SecurityModuleError && error.fault === 'refused'
      if (!isAnswer) breaker.failed()
      throw error
    }
  }
  const call = async (command: Command, waitMs = 0): Promise<string> => {
    try {
      await places.take(waitMs)
      try {
        return await callAtOnce(command)
      } finally {
        places.leave()
      }
    } finally {
      command.body.fill(0)
    }
  }
  return {
    tls: options.tls,
    mac: async (key, algorithm, data, waitMs) =>
      macIn(await call(macCommand(key, algorithm, data), waitMs)),
    importKey: async (zone, use, wrapped) => {
      const { key, checkValue } = importedIn(await call(importCommand(zone, use, wrapped)))
      return { key: new ModuleKey(key), checkValue }
    },
    translatePin: async (block, from, to, pan) =>
      pinBlockIn(await call(pinCommand(block, from, to, pan))),
    describe: async () => diagnosisIn(await call(diagnosis)),
    start: () => options.tls?.watch(),
    stop: () => {
      options.tls?.stop()
      for (const connection of pool) connection.close()
    },
  }
}
