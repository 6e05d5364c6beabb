import { availableParallelism } from 'node:os'
import { type FromWorker, libcryptoWorker, type ToWorker } from './libcrypto-worker.ts'
import type { RsaKey, RsaProvider } from './provider.ts'

/** We try them in this order. */
export const libcryptoCandidates = [
  'libcrypto.so.3',
  'libcrypto.so.1.1',
  'libcrypto.3.dylib',
  'libcrypto.so',
] as const

const startTimeoutMs = 5_000
/** A worker gets its next batch, 5 ms of work, while it signs the last: it need not wait for a busy event loop. */
const batchMax = 16

type Job = {
  readonly bytes: Uint8Array
  readonly resolve: (signature: Uint8Array) => void
  readonly reject: (error: Error) => void
}

type Thread = {
  readonly worker: Worker
  running: readonly Job[]
  next: readonly Job[]
  ended: boolean
}

const workerUrl = (): string => {
  const source = `(${libcryptoWorker.toString()})(self)`
  return URL.createObjectURL(new Blob([source], { type: 'text/javascript' }))
}

const post = (worker: Worker, message: ToWorker): void => {
  worker.postMessage(message)
}

/** Starts one thread and waits until it has opened library and key. */
const startThread = (url: string, library: string, pkcs8: Uint8Array): Promise<Worker> => {
  const worker = new Worker(url)
  worker.unref()
  return new Promise((resolve, reject) => {
    const give = (error: Error | undefined): void => {
      clearTimeout(timer)
      if (error === undefined) {
        resolve(worker)
        return
      }
      worker.terminate()
      reject(error)
    }
    const timer = setTimeout(() => give(new Error('no answer in time')), startTimeoutMs)
    worker.onerror = (event) => give(new Error(event.message))
    worker.onmessage = (event: MessageEvent<FromWorker>) =>
      give('ready' in event.data ? undefined : new Error('library or key refused'))
    post(worker, { library, pkcs8: pkcs8.slice() })
  })
}

/** Spreads jobs over the threads: each works on one batch while another waits. */
class ThreadPool implements RsaKey {
  readonly #threads: readonly Thread[]
  #queue: Job[] = []
  #scheduled = false
  #closed = false

  constructor(workers: readonly Worker[]) {
    this.#threads = workers.map((worker) => ({ worker, running: [], next: [], ended: false }))
    for (const thread of this.#threads) {
      thread.worker.onmessage = (event: MessageEvent<FromWorker>) =>
        this.#finish(thread, event.data)
      thread.worker.onerror = () => this.#end(thread)
      thread.worker.addEventListener('close', () => this.#end(thread))
    }
  }

  readonly sign = (bytes: Uint8Array): Promise<Uint8Array> =>
    new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new Error('the key is closed'))
        return
      }
      this.#queue.push({ bytes, resolve, reject })
      if (this.#scheduled) return
      this.#scheduled = true
      // Jobs of one turn go out together.
      queueMicrotask(() => {
        this.#scheduled = false
        if (this.#threads.every(({ ended }) => ended)) this.#end(this.#threads[0]!)
        else this.#dispatch()
      })
    })

  readonly close = (): void => {
    this.#closed = true
    this.#endIdle()
  }

  #dispatch(): void {
    for (const slot of ['running', 'next'] as const) {
      for (const thread of this.#threads) {
        if (this.#queue.length === 0) return
        if (thread.ended || thread[slot].length > 0) continue
        // We share out a short queue, so that no core idles while another holds a batch.
        const share = Math.ceil(this.#queue.length / this.#threads.length)
        thread[slot] = this.#queue.splice(0, Math.min(batchMax, share))
        thread.worker.ref()
        post(thread.worker, { batch: thread[slot].map((job) => job.bytes) })
      }
    }
  }

  #finish(thread: Thread, message: FromWorker): void {
    const jobs = thread.running
    thread.running = thread.next
    thread.next = []
    if (thread.running.length === 0) thread.worker.unref()
    const signatures = 'signatures' in message ? message.signatures : []
    jobs.forEach((job, i) => {
      const signature = signatures[i]
      if (signature === undefined) job.reject(new Error('libcrypto did not sign'))
      else job.resolve(signature)
    })
    this.#dispatch()
    if (this.#closed) this.#endIdle()
  }

  /** A thread that is gone takes its batches with it; the last one takes the queue too. */
  #end(thread: Thread): void {
    thread.ended = true
    const lost = [...thread.running, ...thread.next]
    thread.running = []
    thread.next = []
    if (this.#threads.every(({ ended }) => ended)) lost.push(...this.#queue.splice(0))
    for (const job of lost) job.reject(new Error('the signing thread ended'))
  }

  #endIdle(): void {
    if (this.#queue.length > 0) return
    for (const { worker, running } of this.#threads) if (running.length === 0) worker.terminate()
  }
}

const openPool = async (library: string, pkcs8: Uint8Array, threads: number): Promise<RsaKey> => {
  const url = workerUrl()
  try {
    const first = await startThread(url, library, pkcs8)
    const others = Array.from({ length: threads - 1 }, () => startThread(url, library, pkcs8))
    return new ThreadPool([first, ...(await Promise.all(others))])
  } finally {
    URL.revokeObjectURL(url)
  }
}

/**
 * RSA by the system's libcrypto: twice as fast as the runtime's on processors with AVX-512 IFMA.
 * The library is optional; `open` rejects if it can use none of the candidates.
 */
export const createLibcryptoProvider = (
  candidates: readonly string[] = libcryptoCandidates,
  threads: number = availableParallelism(),
): RsaProvider => ({
  name: 'libcrypto',
  open: async (pkcs8) => {
    for (const library of candidates) {
      const key = await openPool(library, pkcs8, threads).catch(() => undefined)
      if (key !== undefined) return key
    }
    throw new Error('no libcrypto can be used')
  },
})
