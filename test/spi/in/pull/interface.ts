import type { InterfaceClient, PulledMessage } from '../../../../src/spi/link/types.ts'

type Answer = readonly PulledMessage[] | Error

/** An interface whose answers a test writes: the port alone, for what no server does on demand. */
export const scriptedInterface = () => {
  const calls: string[] = []
  const answers: Answer[] = []
  let streams = 0
  let openError: Error | undefined
  let opening: Promise<unknown> | undefined
  let waiting: (() => void) | undefined
  const take = async (signal: AbortSignal | undefined): Promise<readonly PulledMessage[]> => {
    while (answers.length === 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting = resolve
      signal?.addEventListener('abort', () => resolve())
      await promise
      signal?.throwIfAborted()
    }
    const answer = answers.shift() ?? []
    if (answer instanceof Error) throw answer
    return answer
  }
  const client: InterfaceClient = {
    channels: ['PRIMARY'],
    send: () => Promise.reject(new Error('not scripted')),
    pay: async () => undefined,
    admit: () => Promise.reject(new Error('not scripted')),
    room: () => Promise.reject(new Error('not scripted')),
    catalogue: () => Promise.reject(new Error('not scripted')),
    close: async () => {},
    openStream: async () => {
      const number = ++streams
      calls.push(`open ${number}`)
      if (openError !== undefined) throw openError
      await opening
      return {
        next: async (signal) => {
          calls.push(`next ${number}`)
          return take(signal)
        },
        takeAsRead: ({ nextUrl }) => {
          calls.push(`took ${nextUrl}`)
        },
        close: async () => {
          calls.push(`close ${number}`)
        },
      }
    },
  }
  return {
    client,
    calls,
    answer: (...given: readonly Answer[]): void => {
      answers.push(...given)
      waiting?.()
    },
    /** Streams open when it is over. */
    openAfter: (work: Promise<unknown>): void => {
      opening = work
    },
    failOpening: (error: Error | undefined): void => {
      openError = error
    },
  }
}
