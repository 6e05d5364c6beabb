import { CodecError } from '#codecs/bytes'
import { type KeptEntry, readKeptEntry, readProblem, writeElement } from '#codecs/dict'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import type { Metrics } from '#src/platform/observe/index.ts'
import { createCircuitBreaker } from '#src/platform/runtime/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import { type DirectoryAnswer, DirectoryAwayError, exchange } from './exchange.ts'
import { createWrites, type DirectoryWrites, type Refused, type Tell } from './writes.ts'

/** Undefined: the signature of an answer counts; else why it does not. */
export type RefusalOfSignature = (document: XmlDocument) => string | undefined

/** Signs a document in canonical form; as it is where nothing is signed. */
export type SignRequest = (document: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>

export type DirectoryClientDeps = {
  /** With the version of the API, without a slash at its end. */
  readonly url: string
  readonly ispb: string
  readonly tls: KeyMaterial | undefined
  readonly refusalOfSignature: RefusalOfSignature
  readonly sign: SignRequest
  readonly timeoutMs: number
  readonly metrics: Metrics
}

type Looked =
  | {
      readonly kind: 'found'
      readonly entry: KeptEntry
      /** How long the directory says that it holds; 0: it is not to be used again. */
      readonly seconds: number
    }
  | Refused

export type DirectoryClient = DirectoryWrites & {
  /** @throws DirectoryAwayError if nothing usable came back: then nothing is known of the key */
  readonly lookUp: (asked: {
    readonly key: string
    readonly payer: string
    readonly endToEndId: string
  }) => Promise<Looked>
}

const failuresMax = 5
const openMs = 5_000
const retryAfterMaxMs = 300_000
const scanner = createXmlScanner()

/** A client of the DICT API. */
export const createDirectoryClient = (deps: DirectoryClientDeps): DirectoryClient => {
  const { url, ispb, tls, refusalOfSignature, timeoutMs } = deps
  const breaker = createCircuitBreaker(failuresMax, openMs, () => performance.now())
  const requests = deps.metrics.counter(
    'trilho_dict_requests_total',
    'Requests to the directory of Pix keys, by what came back.',
    ['operation', 'outcome'],
  )

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
      breaker.failed()
      requests.inc({ operation, outcome: error.reason })
      throw error
    }
  }

  const tell: Tell = async (operation, { method, path, body }, read) =>
    ask(
      operation,
      {
        ...{
          method,
          url: url + path,
          body: await signed(deps, new Uint8Array(writeElement(body))),
        },
        headers: { 'Content-Type': 'application/xml', 'PI-RequestingParticipant': ispb },
      },
      read,
    )

  return {
    ...createWrites(tell, ispb),
    lookUp: ({ key, payer, endToEndId }) =>
      ask(
        'lookup',
        {
          ...{ method: 'GET', url: `${url}/entries/${encodeURIComponent(key)}`, body: undefined },
          headers: {
            'PI-RequestingParticipant': ispb,
            'PI-PayerId': payer,
            'PI-EndToEndId': endToEndId,
          },
        },
        (document, { headers }): Looked => {
          const entry = readKeptEntry(document, document.root)
          if (entry.key !== key) {
            throw new DirectoryAwayError('document', 'the answer is about another key')
          }
          return { kind: 'found', entry, seconds: secondsOf(headers) }
        },
      ),
  }
}

const signed = ({ sign }: DirectoryClientDeps, document: Uint8Array<ArrayBuffer>) =>
  sign(document).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error)
    throw new DirectoryAwayError('signing', `what is asked cannot be signed: ${message}`)
  })

type Said<T> =
  | { readonly isRefused: false; readonly value: T }
  | { readonly isRefused: true; readonly value: Refused }

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
  if (status >= 400) return { isRefused: true, value: refusalOf(answer) }
  try {
    const document = scanner.scan(answer.body)
    const refusal = refusalOfSignature(document)
    if (refusal !== undefined) throw new DirectoryAwayError('signature', refusal)
    return { isRefused: false, value: read(document, answer) }
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new DirectoryAwayError('document', `the answer cannot be read: ${error.code}`)
  }
}

const refusalOf = ({ status, headers, body }: DirectoryAnswer): Refused => {
  const retryAfter = headers.get('retry-after') ?? ''
  return {
    ...{ kind: 'refused', status, code: codeIn(body) },
    retryAfterMs: /^\d{1,6}$/.test(retryAfter)
      ? Math.min(Number(retryAfter) * 1_000, retryAfterMaxMs)
      : undefined,
  }
}

/** Problems are not signed; a body that cannot be read leaves the status alone to decide. */
const codeIn = (body: Uint8Array): string => {
  try {
    return readProblem(scanner.scan(body)).code
  } catch {
    return ''
  }
}

const secondsOf = (headers: Headers): number => {
  const text = headers.get('cache-control') ?? ''
  if (/\bno-(?:store|cache)\b/i.test(text)) return 0
  return Number(/\bmax-age=(\d{1,6})\b/i.exec(text)?.[1] ?? 0)
}
