import { join } from 'node:path'
import { until } from './card-network.ts'
import { classpathOf, javaProgram } from './java.ts'

const folder = join(import.meta.dir, '../conformance/java/jpos')

const jars = await classpathOf(folder)

/** Whether there are Java and jPOS on this machine. */
export const isJposHere = jars !== undefined

const commandOf = (file: string, args: readonly string[]): string[] => [
  ...javaProgram(join(folder, file), jars),
  ...args,
]

export const jposCommand = (...args: readonly string[]): string[] =>
  commandOf('JposPeer.java', args)

export type JposNetwork = {
  readonly port: (name: string) => number
  /** How many whole lines of its output are this one. */
  readonly count: (line: string) => number
  readonly output: () => string
  /** What the network of that name knows of each payment, by RRN: amounts in cents, and the messages that came. */
  readonly book: (name: string) => Promise<ReadonlyMap<string, JposEntry>>
  /** Has the network of that name tell of a payment of its own accord. */
  readonly advise: (name: string, rrn: string) => Promise<void>
  /** Has it send an 0800 with this DE 70, and DE 15 after a colon, to whoever has signed on. */
  readonly ask: (name: string, networkCode: string) => Promise<void>
  readonly stop: () => Promise<number>
}

export type JposEntry = {
  readonly authorized: number
  readonly captured: number
  readonly reversed: number
  readonly refunded: number
  readonly messages: string
}

export const startJpos = async (): Promise<JposNetwork> => {
  let output = ''
  const server = Bun.spawn(jposCommand('server'), {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const decoder = new TextDecoder()
  const reading = server.stdout.pipeTo(
    new WritableStream({
      write: (chunk: Uint8Array) => {
        output += decoder.decode(chunk, { stream: true })
      },
    }),
  )
  const lines = (): readonly string[] => output.split('\n').slice(0, -1)
  const count = (line: string): number => lines().filter((one) => one === line).length
  const fieldsAfter = (start: string): readonly string[][] =>
    lines().flatMap((line) => (line.startsWith(start) ? [line.slice(start.length).split(' ')] : []))
  await until(() => lines().length >= 5, 'jPOS listening')
  return {
    port: (name) => Number(fieldsAfter(`${name} `)[0]?.[0]),
    count,
    output: () => output,
    advise: async (name, rrn) => {
      await server.stdin.write(`${name} advise ${rrn}\n`)
      await server.stdin.flush()
    },
    ask: async (name, networkCode) => {
      await server.stdin.write(`${name} ask ${networkCode}\n`)
      await server.stdin.flush()
    },
    book: async (name) => {
      const end = `${name} book end`
      const before = count(end)
      await server.stdin.write(`${name}\n`)
      await server.stdin.flush()
      await until(() => count(end) > before, 'the book of jPOS')
      return new Map(
        fieldsAfter(`${name} book `)
          .filter(([rrn]) => rrn !== 'end')
          .map(([rrn = '', authorized, captured, reversed, refunded, messages = '']) => [
            rrn,
            {
              authorized: Number(authorized),
              captured: Number(captured),
              reversed: Number(reversed),
              refunded: Number(refunded),
              messages,
            },
          ]),
      )
    },
    stop: async () => {
      await server.stdin.end()
      await reading
      return server.exited
    },
  }
}

export type KeysPeer = {
  readonly port: number
  /** Has it send a new key, or with `bad` one whose check value is another's. */
  readonly say: (word: 'key' | 'bad') => Promise<void>
  /** The whole lines of its output. */
  readonly lines: () => readonly string[]
  readonly count: (line: string) => number
  readonly stop: () => Promise<number>
}

/** A network of jPOS whose messages have codes, and which changes their key: by DE 70 101, or by 161 and 162. */
export const startKeysPeer = async (
  macKey: string,
  zoneKey: string,
  changeCode: string,
): Promise<KeysPeer> => {
  let output = ''
  const peer = Bun.spawn(commandOf('JposKeysPeer.java', [macKey, zoneKey, changeCode]), {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const decoder = new TextDecoder()
  const reading = peer.stdout.pipeTo(
    new WritableStream({
      write: (chunk: Uint8Array) => {
        output += decoder.decode(chunk, { stream: true })
      },
    }),
  )
  const lines = (): readonly string[] => output.split('\n').slice(0, -1)
  await until(() => lines().length > 0, 'jPOS listening')
  return {
    port: Number(lines()[0]?.replace('keys ', '')),
    lines,
    count: (line) => lines().filter((one) => one === line).length,
    say: async (word) => {
      await peer.stdin.write(`${word}\n`)
      await peer.stdin.flush()
    },
    stop: async () => {
      await peer.stdin.end()
      await reading
      return peer.exited
    },
  }
}
