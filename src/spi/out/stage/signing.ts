import { inSpan, type Logger } from '#src/platform/observe/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import type { UnsignedMessage } from '../../messages/index.ts'
import {
  createEnvelopeSigner,
  createSigner,
  type EnvelopeSigner,
  type SigningSettings,
} from '../signing/index.ts'
import type { OutboundMetrics } from './metrics.ts'

/** Returns the bytes to send of a built message: signed, if we sign messages. */
export type Sign = (unsigned: UnsignedMessage) => Promise<Uint8Array>

export type Signing = {
  readonly start: () => Promise<void>
  /** Works after `start`. */
  readonly sign: Sign
  readonly close: () => void
}

/** Creates one signer for everything that this process sends. */
export const createSigning = (
  settings: SigningSettings,
  { own, service }: { readonly [Who in 'own' | 'service']: KeyMaterial | undefined },
  metrics: OutboundMetrics,
  logger: Logger,
): Signing => {
  let envelopes: EnvelopeSigner | undefined
  let provider = ''
  let close = (): void => {}
  return {
    start: async () => {
      const onProblem = (err: Error): void =>
        logger.error({ err }, 'the new signing certificate cannot be used, the old one stays')
      const signer = await createSigner(settings, own, onProblem, service)
      provider = 'provider' in signer ? String(signer.provider) : signer.kind
      close = signer.close
      envelopes = createEnvelopeSigner(signer)
    },
    sign: async (unsigned) => {
      if (envelopes === undefined) throw new Error('the signer has not been started')
      if (envelopes.kind === 'none') return unsigned.bytes
      const { sign } = envelopes
      const startedMs = performance.now()
      const bytes = await inSpan('sign', {}, () => sign(unsigned))
      metrics.onSigned(provider, (performance.now() - startedMs) / 1000)
      return bytes
    },
    close: () => close(),
  }
}
