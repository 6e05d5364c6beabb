import { createMessageScanner } from '#codecs/iso20022'
import type { Delivery } from '#src/platform/broker/index.ts'
import { createThread, nativeText } from '#src/platform/runtime/index.ts'
import { inboundHeaders } from '../pull/index.ts'
import type { LargeInbound, LargeInboundSetup } from './large-inbound-worker.ts'
import { type ReadContext, type ReadInbound, readInbound } from './read.ts'

/** Bytes from which on a message is read in a thread of its own, so that no turn of the event loop is missed. */
export const largeInboundBytesMin = 64 * 1024

const idleMs = 60_000

type ReaderDeps = Omit<ReadContext, 'scanner'> & {
  /** False: each message is scanned in full, whatever came before it. */
  readonly learning: boolean
}

/** Reads small messages here, and large ones beside the event loop, one after the other. */
export const createInboundReader = ({ learning, ...deps }: ReaderDeps) => {
  const context = { ...deps, scanner: createMessageScanner(nativeText, { learning }) }
  const thread = createThread<LargeInboundSetup, LargeInbound, Omit<ReadInbound, 'delivery'>>(
    // The build puts the thread's entry under this name, beside the program's.
    () => new Worker(new URL('./large-inbound-worker.ts', import.meta.url)),
    () => ({ learning, learnedVersions: deps.learnedVersions }),
    idleMs,
  )
  const readBeside = async (delivery: Delivery): Promise<ReadInbound> => {
    const { ispb, now, verifier, mustBeSigned } = context
    const certificates = verifier?.certificates()
    const request = { delivery, ispb, mustBeSigned, now: now(), certificates }
    return { ...(await thread.ask(request)), delivery }
  }
  return {
    read: (delivery: Delivery) =>
      isLarge(delivery) ? readBeside(delivery) : readInbound(delivery, context),
    close: thread.close,
  }
}

/** Only messages larger than the broker takes are compressed. */
const isLarge = ({ value, headers }: Delivery): boolean =>
  value.length >= largeInboundBytesMin || headers[inboundHeaders.encoding] !== undefined
