import type { ServerInterceptingCallInterface } from '@grpc/grpc-js'

/** The library's own object, just before we intercept it. */
type Inflating = {
  readonly incomingEncoding: string
  decompressMessage: (message: Buffer, encoding: string) => Buffer | Promise<Buffer>
}

export type InflateInTurn = (base: ServerInterceptingCallInterface) => () => void

const ignore = (): void => {}

/**
 * The library inflates all messages of a call that have come at once, and the few kilobytes that a caller may send ahead
 * stand for many of the largest. Here each waits until those before it in its call are answered, and then until no other
 * call's inflates.
 *
 * @returns for each call what is to be called with each of its answers
 */
export const createInflation = (): InflateInTurn => {
  let last: Promise<unknown> = Promise.resolve()
  return (base) => {
    const call = base as unknown as Inflating
    if (call.incomingEncoding === 'identity') return ignore
    const inflate = call.decompressMessage.bind(call)
    const waiting: (() => void)[] = []
    let isUnderWay = false
    call.decompressMessage = async (message, encoding) => {
      if (isUnderWay) await new Promise<void>((resolve) => waiting.push(resolve))
      isUnderWay = true
      const inflated = last.then(() => inflate(message, encoding))
      last = inflated.catch(ignore)
      return inflated
    }
    return () => {
      const next = waiting.shift()
      isUnderWay = next !== undefined
      next?.()
    }
  }
}
