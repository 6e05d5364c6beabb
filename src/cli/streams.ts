import { exitCodes, ReaderGoneError } from './command.ts'
import type { Io } from './program.ts'

type Stream = {
  readonly write: (text: string, onTaken: (error?: NodeJS.ErrnoException | null) => void) => unknown
  readonly on: (event: 'error', listener: () => void) => unknown
}

/**
 * The runtime queues text that a pipe has no room for, and an exit throws the queue away: we must wait before an exit.
 */
const createOutput = (stream: Stream) => {
  // The callback of the write learns of its failure.
  stream.on('error', () => {})
  let failure: NodeJS.ErrnoException | undefined
  let last = Promise.resolve()
  return {
    write: (text: string): void => {
      last = new Promise((resolve) => {
        stream.write(text, (error) => {
          failure ??= error ?? undefined
          resolve()
        })
      })
    },
    /** @throws ReaderGoneError, or what the system said where it took something no more */
    taken: async (): Promise<void> => {
      await last
      if (failure?.code === 'EPIPE') throw new ReaderGoneError(failure.message)
      if (failure !== undefined) throw failure
    },
  }
}

/** All of it, or its last bytes, and no more than twice as many of them in memory. */
export const readBytes = async (
  chunks: AsyncIterable<Uint8Array>,
  tailBytesMax = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> => {
  let kept: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    kept.push(chunk)
    size += chunk.length
    if (size < 2 * tailBytesMax) continue
    kept = [Buffer.concat(kept).subarray(-tailBytesMax)]
    size = tailBytesMax
  }
  const all = Buffer.concat(kept)
  return size > tailBytesMax ? all.subarray(-tailBytesMax) : all
}

const wipe = '\r\u001b[2K'

/** The streams of this process, and its exit code once they are taken. */
export const createProcessIo = (env: Io['env']) => {
  const [out, err] = [createOutput(process.stdout), createOutput(process.stderr)]
  const io: Io = {
    env,
    out: out.write,
    taken: out.taken,
    err: err.write,
    overwrite: process.stderr.isTTY ? (line) => err.write(`${wipe}${line}`) : undefined,
    readInput: (tailBytesMax) => readBytes(Bun.stdin.stream(), tailBytesMax),
  }
  const exitCodeOf = async (code: number): Promise<number> => {
    const failure = await failureOf(out.taken())
    if (failure !== undefined) err.write(`trilho: standard output: ${failure.message}\n`)
    await failureOf(err.taken())
    return failure !== undefined && code === exitCodes.ok ? exitCodes.failed : code
  }
  return { io, exitCodeOf }
}

const failureOf = async (taken: Promise<void>): Promise<Error | undefined> => {
  try {
    await taken
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return error instanceof ReaderGoneError ? undefined : error
  }
  return undefined
}
