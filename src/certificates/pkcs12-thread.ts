import type { X509Certificate } from 'node:crypto'
import { readCertificate } from './check.ts'
import { Pkcs12Error, pkcs12BytesMax, pkcs12TimeoutMs } from './pkcs12.ts'
import type { FromPkcs12Worker, ToPkcs12Worker } from './pkcs12-worker.ts'

/** Files that may wait for the one being read; they use one core at most. */
export const pkcs12WaitingMax = 8

/** Thrown if too many files wait already. */
export class Pkcs12BusyError extends Error {
  override readonly name = 'Pkcs12BusyError'
  constructor() {
    super(`${pkcs12WaitingMax} certificate files wait to be read`)
  }
}

/** @property certificates - in the order of the file */
type OpenedPkcs12 = {
  /** PKCS#8, DER. */
  readonly key: Uint8Array | undefined
  readonly certificates: readonly X509Certificate[]
}

export type Pkcs12Opener = {
  /**
   * Reads a PKCS#12 file in a thread of its own: the event loop stays free, and a file that takes too long is
   * abandoned.
   *
   * @throws Pkcs12Error if the file cannot be read, Pkcs12BusyError if too many wait
   */
  readonly open: (bytes: Uint8Array, password: string) => Promise<OpenedPkcs12>
}

/** One file in a thread of its own, for at most `timeoutMs`. */
const readInThread = (request: ToPkcs12Worker, timeoutMs: number): Promise<FromPkcs12Worker> => {
  // The build puts the thread's entry under this name, beside the program's.
  const worker = new Worker(new URL('./pkcs12-worker.ts', import.meta.url))
  const { promise, resolve, reject } = Promise.withResolvers<FromPkcs12Worker>()
  const timer = setTimeout(() => reject(new Pkcs12Error('timed_out')), timeoutMs)
  worker.onmessage = (event: MessageEvent<FromPkcs12Worker>) => resolve(event.data)
  worker.onerror = (event) => reject(new Error(`the PKCS#12 thread failed: ${event.message}`))
  worker.addEventListener('close', () => reject(new Error('the PKCS#12 thread ended')))
  worker.postMessage(request)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.terminate()
  })
}

const certificateOf = (der: Uint8Array): X509Certificate => {
  try {
    return readCertificate(der)
  } catch {
    throw new Pkcs12Error('damaged')
  }
}

/** @param timeoutMs - for one file, without its wait */
export const createPkcs12Opener = (timeoutMs: number = pkcs12TimeoutMs): Pkcs12Opener => {
  const waiting: (() => void)[] = []
  let isBusy = false

  const turn = async (): Promise<void> => {
    if (!isBusy) {
      isBusy = true
      return
    }
    if (waiting.length >= pkcs12WaitingMax) throw new Pkcs12BusyError()
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  const next = (): void => {
    const first = waiting.shift()
    if (first === undefined) isBusy = false
    else first()
  }

  return {
    open: async (bytes, password) => {
      if (bytes.length > pkcs12BytesMax) throw new Pkcs12Error('too_large')
      await turn()
      try {
        const answer = await readInThread({ bytes, password }, timeoutMs)
        if ('refused' in answer) throw new Pkcs12Error(answer.refused)
        return { key: answer.key, certificates: answer.certificates.map(certificateOf) }
      } finally {
        next()
      }
    },
  }
}
