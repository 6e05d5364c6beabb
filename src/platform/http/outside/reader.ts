import { rootCertificates } from 'node:tls'
import { readBounded } from '#src/platform/runtime/index.ts'
import { createBound } from '../limits/concurrency.ts'
import type { OutsideSettings } from './config.ts'
import { failureClassOf, firstAnswer } from './first-answer.ts'
import { allowListOf, type LookUp, resolveTarget } from './target.ts'

type OutsideAnswer = {
  readonly status: number
  /** Lower case, without parameters; empty if there is none. */
  readonly mediaType: string
  readonly body: Uint8Array
}

/**
 * Why a document could not be read: the guard refused its address (`target_…`), the answer leads elsewhere
 * (`redirect`), is larger than allowed (`too_large`), is compressed (`encoding`), came too late or not at all.
 */
export class OutsideError extends Error {
  override readonly name = 'OutsideError'
  readonly reason: string

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

type OutsideRequest = {
  readonly accept: string
  readonly bytesMax: number
  /** The account that chose the address; undefined: we did. */
  readonly account?: string | undefined
}

/** Reads a document by GET. @throws OutsideError, or ApiError `overloaded`: as many are read as may be, or as the account may */
export type ReadOutside = (url: string, request: OutsideRequest) => Promise<OutsideAnswer>

const secondMs = 1_000
/** Documents that are read at once: each may take as long as a setting allows. */
export const readingMax = 48

const messages: Readonly<Record<string, string>> = {
  timeout: 'there is no whole answer in time',
  connection: 'there is no connection, or it broke off',
}

/**
 * Reads documents whose addresses others chose: every address of the host must be allowed. We connect to the one that
 * we
 * checked, follow no redirect, and read no more than asked for.
 *
 * @param lookUp - instead of the system's
 */
export const createOutsideReader = (
  { allowedTargets, ca, timeoutSeconds }: OutsideSettings,
  version: string,
  lookUp?: LookUp,
): ReadOutside => {
  const allowed = allowListOf(allowedTargets ?? [])
  const authorities = ca === undefined ? undefined : [...rootCertificates, ca.text]
  const timeoutMs = timeoutSeconds * secondMs
  const bound = createBound(readingMax)

  const read = async (url: string, { accept, bytesMax }: OutsideRequest) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const target = await resolveTarget(url, allowed, lookUp, timeoutMs)
    const headers = {
      Host: target.host,
      Accept: accept,
      'Accept-Encoding': 'identity',
      'User-Agent': `Trilho/${version}`,
    }
    const request = { method: 'GET', redirect: 'manual', signal, headers } as const
    const response = await firstAnswer(target, request, authorities && { ca: authorities })
    const { status } = response
    try {
      if (status >= 300 && status < 400) {
        throw new OutsideError('redirect', 'the answer leads elsewhere, which is not followed')
      }
      const encoding = response.headers.get('content-encoding') ?? 'identity'
      if (encoding !== 'identity') throw new OutsideError('encoding', 'the answer is compressed')
      const [type = ''] = (response.headers.get('content-type') ?? '').split(';')
      const body = await readBody(response, bytesMax)
      return { status, mediaType: type.trim().toLowerCase(), body }
    } catch (error) {
      await response.body?.cancel().catch(() => {})
      throw error
    }
  }

  return (url, request) =>
    bound(request.account ?? '', () =>
      read(url, request).catch((error: unknown) => {
        if (error instanceof OutsideError) throw error
        const reason = failureClassOf(error)
        const said = reason.startsWith('target_') ? (error as Error).message : messages[reason]
        throw new OutsideError(reason, said ?? reason, { cause: error })
      }),
    )
}

const readBody = async (response: Response, bytesMax: number): Promise<Uint8Array> => {
  const tooLarge = () => new OutsideError('too_large', `the answer is over ${bytesMax} bytes`)
  if (Number(response.headers.get('content-length') ?? 0) > bytesMax) throw tooLarge()
  const { bytes, isWhole } = await readBounded(response.body, bytesMax)
  if (!isWhole) throw tooLarge()
  return bytes
}
