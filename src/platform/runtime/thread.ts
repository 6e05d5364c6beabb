/** A thread's answer to one request. */
type FromThread<Answer> = { readonly answer: Answer } | { readonly failed: string }

/** A thread that answers one request after the other. */
type Thread<Request, Answer> = {
  /** @throws Error when the thread failed over this request: another thread answers those that waited behind it */
  readonly ask: (request: Request) => Promise<Answer>
  /** Requests that are not answered yet. */
  readonly waiting: () => number
  /** Ends the thread; its unanswered requests fail. */
  readonly close: () => void
}

type Pending<Request, Answer> = {
  readonly request: Request
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/**
 * A thread of its own for work that would hold the event loop. It begins with the first request, ends when nobody asked
 * for a while, and never keeps the process alive by itself.
 *
 * @param open - starts the entry, which calls {@link serveThread}
 * @param setup - the first thing the entry is given, each time it begins
 * @param idleMs - how long it stays without a request
 */
export const createThread = <Setup, Request, Answer>(
  open: () => Worker,
  setup: () => Setup,
  idleMs: number,
): Thread<Request, Answer> => {
  let worker: Worker | undefined
  let pending: Pending<Request, Answer>[] = []
  let idle: Timer | undefined

  const end = (error: Error): void => {
    clearTimeout(idle)
    const left = pending
    pending = []
    worker?.terminate()
    worker = undefined
    for (const { reject } of left) reject(error)
  }

  /** Only the first request was in work when the thread died, and may be what killed it: another is asked the others. */
  const died = (error: Error): void => {
    const [first, ...left] = pending
    pending = first === undefined ? [] : [first]
    end(error)
    try {
      for (const one of left) add(one)
    } catch (cause) {
      for (const { reject } of left) reject(cause as Error)
    }
  }

  const rest = (): void => {
    if (pending.length > 0) return
    worker?.unref()
    idle = setTimeout(() => end(new Error('the thread was idle')), idleMs)
    idle.unref()
  }

  const begin = (): Worker => {
    const begun = open()
    begun.onmessage = ({ data }: MessageEvent<FromThread<Answer>>) => {
      const first = pending.shift()
      if ('failed' in data) first?.reject(new Error(data.failed))
      else first?.resolve(data.answer)
      rest()
    }
    // A thread that was ended on purpose has been replaced by then.
    const onEnd = (message: string): void => {
      if (worker === begun) died(new Error(message))
    }
    begun.onerror = ({ message }) => onEnd(`the thread failed: ${message}`)
    begun.addEventListener('close', () => onEnd('the thread ended'))
    begun.postMessage(setup())
    return begun
  }

  const add = (one: Pending<Request, Answer>): void => {
    clearTimeout(idle)
    worker ??= begin()
    // While something is asked, the process waits for its answer.
    worker.ref()
    pending.push(one)
    worker.postMessage(one.request)
  }

  return {
    ask: (request) => {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      add({ request, resolve, reject })
      return promise
    },
    waiting: () => pending.length,
    close: () => end(new Error('the thread was closed')),
  }
}

type Scope = {
  onmessage: ((event: { readonly data: unknown }) => void) | null
  postMessage: (message: unknown) => void
}

/**
 * The whole of a thread's entry.
 *
 * @param begin - takes the setup, and returns what answers each request
 */
export const serveThread = <Setup, Request, Answer>(
  begin: (setup: Setup) => (request: Request) => Answer,
): void => {
  const scope = globalThis as unknown as Scope
  let handle: ((request: Request) => Answer) | undefined
  scope.onmessage = ({ data }) => {
    if (handle === undefined) {
      handle = begin(data as Setup)
      return
    }
    try {
      scope.postMessage({ answer: handle(data as Request) })
    } catch (error) {
      scope.postMessage({ failed: String(error) })
    }
  }
}
