import { createMessageScanner } from '#codecs/iso20022'
import type { Delivery } from '#src/platform/broker/index.ts'
import { nativeText, serveThread } from '#src/platform/runtime/index.ts'
import { createMessageVerifier, type MessageVerifier } from '../../out/signing/index.ts'
import { type ReadInbound, readInbound } from './read.ts'

export type LargeInboundSetup = {
  readonly learning: boolean
  readonly learnedVersions: ReadonlySet<string>
}

export type LargeInbound = {
  readonly delivery: Delivery
  readonly ispb: string
  readonly mustBeSigned: boolean
  readonly now: Date
  /** The certificates to check signatures with, in PEM; undefined: we do not check them. */
  readonly certificates: readonly string[] | undefined
}

// The entry of a separate thread: one message of some megabytes takes hundreds of milliseconds.
serveThread(({ learning, learnedVersions }: LargeInboundSetup) => {
  const scanner = createMessageScanner(nativeText, { learning })
  let known: { readonly text: string; readonly verifier: MessageVerifier } | undefined
  let moment = new Date()
  const now = (): Date => moment
  const verifierOf = (certificates: readonly string[]): MessageVerifier => {
    const text = certificates.join('\n')
    if (known?.text !== text) {
      known = { text, verifier: createMessageVerifier(certificates, now) }
    }
    return known.verifier
  }
  return (request: LargeInbound): Omit<ReadInbound, 'delivery'> => {
    moment = request.now
    const { ispb, certificates, mustBeSigned } = request
    const verifier = certificates === undefined ? undefined : verifierOf(certificates)
    const context = { verifier, mustBeSigned, ispb, now, scanner, learnedVersions }
    const { delivery: _, ...read } = readInbound(request.delivery, context)
    return read
  }
})
