import { ApiError, type HealthCheck, httpErrors } from '#src/platform/http/index.ts'
import { createOutageLog, type Logger } from '#src/platform/observe/index.ts'

/** The JOSE feature signs; `src/main.ts` passes it. */
export type SignPayload = {
  /** Undefined: no certificate signs now, neither that of the kid nor a successor. */
  readonly sign: (kid: string, content: Uint8Array, jku: string) => Promise<string | undefined>
  readonly canSign: (kid: string) => Promise<boolean>
  readonly keySet: () => Promise<readonly object[]>
}

/** A certificate is not imported faster. */
const retryAfterSeconds = '60'

/** @returns what signs one text, and throws an ApiError 503 while nothing can */
export const createSign = (
  signing: SignPayload,
  { kid, keysUrl }: { readonly kid: string; readonly keysUrl: string },
  logger: Logger,
): ((text: string) => Promise<string>) => {
  const outage = createOutageLog(logger, {
    level: 'error',
    away: 'payloads cannot be signed: nobody can read a charge',
    back: 'payloads can be signed again',
    about: { kid },
  })
  return async (text) => {
    const signed = await signing.sign(kid, Buffer.from(text), keysUrl)
    if (signed !== undefined) {
      outage.worked()
      return signed
    }
    const error = new ApiError(httpErrors.unavailable, 'Payloads não podem ser assinados agora.', {
      headers: { 'Retry-After': retryAfterSeconds },
    })
    outage.failed(error)
    throw error
  }
}

/** Charges are made meanwhile, and shown once there is a certificate: the process takes requests. */
export const signingHealth = async (
  { canSign }: Pick<SignPayload, 'canSign'>,
  kid: string | undefined,
): Promise<HealthCheck> => {
  const isAble = kid !== undefined && (await canSign(kid).catch(() => false))
  if (isAble) return { status: 'ok', ready: true }
  const detail = kid === undefined ? { settings: ['PIX_SIGNING_KID'] } : { kid }
  return { status: 'degraded', ready: true, reason: 'payloads cannot be signed', detail }
}

/** A payload tells when it was read to the second: whoever reads it within that second may be given the same bytes. */
export const toTheSecond = (at: Date): Date => new Date(Math.floor(at.getTime() / 1_000) * 1_000)

/** Signatures that are kept at once, each of some KiB. */
export const keptMax = 2_000

/**
 * A signature costs more than all else of a read, so that what is read again within a second as it was is signed once.
 * It is found by the whole text, which is made anew of what is stored at each read: a change, by whatever process, and
 * the next day are other texts.
 *
 * @param sign of one text
 */
export const createPayloadSigner = (
  sign: (text: string) => Promise<string>,
  now: () => Date,
): ((text: string) => Promise<string>) => {
  const kept = new Map<string, Promise<string>>()
  let second = 0
  return (text) => {
    const current = toTheSecond(now()).getTime()
    if (current !== second) kept.clear()
    second = current
    const known = kept.get(text)
    if (known !== undefined) return known
    if (kept.size >= keptMax) kept.clear()
    const signed = sign(text)
    kept.set(text, signed)
    // Forget a failed signature, so that the next read asks again.
    signed.catch(() => kept.delete(text))
    return signed
  }
}
