import { CodecError } from '#codecs/bytes'
import { type Element, readProblem, writeElement } from '#codecs/dict'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import type { Metrics } from '#src/platform/observe/index.ts'
import { createCircuitBreaker } from '#src/platform/runtime/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import { type DirectoryAnswer, DirectoryAwayError, download, exchange } from './exchange.ts'

/** Undefined: the signature of an answer counts; else why it does not. */
export type RefusalOfSignature = (document: XmlDocument) => string | undefined

/** Signs a document in canonical form; as it is where nothing is signed. */
export type SignRequest = (document: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>

export type DirectoryWireDeps = {
  /** With the version of the API, without a slash at its end. */
  readonly url: string
  readonly ispb: string
  readonly tls: KeyMaterial | undefined
  readonly refusalOfSignature: RefusalOfSignature
  readonly sign: SignRequest
  readonly timeoutMs: number
  readonly metrics: Metrics
}

/** What the directory says no to, by its code and status. */
export type Refused = {
  readonly kind: 'refused'
  readonly status: number
  /** For example `NotFound`. */
  readonly code: string
  readonly retryAfterMs: number | undefined
}

export const tooMany = 429
/** Something else is done with what was asked about: the directory wants to be asked again in moments. */
const conflict = 409

/** Whether a refusal says nothing about what was asked. */
export const isForLater = ({ status }: Refused): boolean =>
  status === tooMany || status === conflict

/** Where nothing is known as long as it is not asked again. */
export const askedLater = ({ status, code }: Refused): DirectoryAwayError =>
  new DirectoryAwayError('status', `the directory answers ${status} ${code}`)

/** Sends a signed document, and reads the signed answer. @throws DirectoryAwayError: it may have been done */
type Tell = <T>(
  operation: string,
  request: { readonly method: 'POST' | 'PUT'; readonly path: string; readonly body: Element },
  read: (document: XmlDocument) => T,
) => Promise<T | Refused>

/** Asks without changing anything, and reads the signed answer. @throws DirectoryAwayError: nothing is known */
type See = <T>(
  operation: string,
  request: {
    readonly path: string
    readonly headers?: Readonly<Record<string, string>>
    readonly bytesMax?: number
  },
  read: (document: XmlDocument, answer: DirectoryAnswer) => T,
) => Promise<T | Refused>

/** A use of the directory with a circuit breaker of its own: what fails in one stops no other. */
export type Lane = { readonly tell: Tell; readonly see: See }

export type DirectoryWire = {
  readonly lane: () => Lane
  /** A file that the directory names by its address. @throws DirectoryAwayError, on its way too */
  readonly fetchFile: (url: string, signal: AbortSignal) => AsyncIterable<Uint8Array>
}

/** A file of two million identifiers at a megabyte a second. */
const fileTimeoutMs = 180_000
const failuresMax = 5
const openMs = 5_000
const retryAfterMaxMs = 300_000
const scanner = createXmlScanner()

/** Requests to the DICT API. */
export const createDirectoryWire = (deps: DirectoryWireDeps): DirectoryWire => {
  const { url, ispb, tls, refusalOfSignature, timeoutMs } = deps
  const requests = deps.metrics.counter(
    'trilho_dict_requests_total',
    'Requests to the directory of Pix keys, by what came back.',
    ['operation', 'outcome'],
  )

  const lane = (): Lane => {
    const breaker = createCircuitBreaker(failuresMax, openMs, () => performance.now())
    const ask = async <T>(
      operation: string,
      request: Omit<Parameters<typeof exchange>[0], 'timeoutMs'>,
      read: (document: XmlDocument, answer: DirectoryAnswer) => T,
    ): Promise<T | Refused> => {
      if (!breaker.admit()) throw new DirectoryAwayError('circuit_open', 'the directory is away')
      try {
        const answer = await exchange({ ...request, timeoutMs }, tls)
        const said = readAnswer(answer, refusalOfSignature, read)
        breaker.succeeded()
        requests.inc({ operation, outcome: said.isRefused ? 'refused' : 'done' })
        return said.value
      } catch (error) {
        if (!(error instanceof DirectoryAwayError)) throw error
        if (error instanceof UnreadableContentError) breaker.succeeded()
        else breaker.failed()
        requests.inc({ operation, outcome: error.reason })
        throw error
      }
    }
    return {
      tell: async (operation, { method, path, body }, read) => {
        const document = await signed(deps, new Uint8Array(writeElement(body)))
        const headers = { 'Content-Type': 'application/xml', 'PI-RequestingParticipant': ispb }
        return ask(operation, { method, url: url + path, body: document, headers }, read)
      },
      see: (operation, { path, headers, ...bound }, read) =>
        ask(
          operation,
          {
            method: 'GET',
            url: url + path,
            body: undefined,
            ...bound,
            headers: { 'PI-RequestingParticipant': ispb, ...headers },
          },
          read,
        ),
    }
  }
  return { lane, fetchFile: (url, signal) => download(url, tls, fileTimeoutMs, signal) }
}

const signed = ({ sign }: DirectoryWireDeps, document: Uint8Array<ArrayBuffer>) =>
  sign(document).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error)
    throw new DirectoryAwayError('signing', `what is asked cannot be signed: ${message}`)
  })

type Said<T> =
  | { readonly isRefused: false; readonly value: T }
  | { readonly isRefused: true; readonly value: Refused }

/** The directory answered, and signed what it says; only this content is one that we cannot read. */
class UnreadableContentError extends DirectoryAwayError {}

/** @throws DirectoryAwayError for what cannot be believed or read, and for failures of the directory */
const readAnswer = <T>(
  answer: DirectoryAnswer,
  refusalOfSignature: RefusalOfSignature,
  read: (document: XmlDocument, answer: DirectoryAnswer) => T,
): Said<T> => {
  const { status } = answer
  if (status >= 500 || status < 200 || (status >= 300 && status < 400)) {
    throw new DirectoryAwayError('status', `the directory answers ${status}`)
  }
  if (status >= 400) {
    const refused = refusalOf(answer)
    // Refusals are not signed: one without the directory's code may be that of a proxy in front.
    if (refused.code === '') {
      throw new DirectoryAwayError('status', `${status} comes without a problem of the directory`)
    }
    return { isRefused: true, value: refused }
  }
  const document = orUnreadable(() => scanner.scan(answer.body), DirectoryAwayError)
  const refusal = refusalOfSignature(document)
  if (refusal !== undefined) throw new DirectoryAwayError('signature', refusal)
  return {
    isRefused: false,
    value: orUnreadable(() => read(document, answer), UnreadableContentError),
  }
}

/** @throws DirectoryAwayError of that class in place of a CodecError */
const orUnreadable = <T>(read: () => T, Failure: typeof DirectoryAwayError): T => {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new Failure('document', `the answer cannot be read: ${error.code}`)
  }
}

const refusalOf = ({ status, headers, body }: DirectoryAnswer): Refused => {
  const retryAfter = headers.get('retry-after') ?? ''
  return {
    kind: 'refused',
    status,
    code: codeIn(body),
    retryAfterMs: /^\d{1,6}$/.test(retryAfter)
      ? Math.min(Number(retryAfter) * 1_000, retryAfterMaxMs)
      : undefined,
  }
}

/** Empty of what is no problem of the directory. */
const codeIn = (body: Uint8Array): string => {
  try {
    return readProblem(scanner.scan(body)).code
  } catch {
    return ''
  }
}
