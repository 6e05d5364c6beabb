/**
 * The directory of Pix keys (DICT) on this machine: entries as XML over HTTP, signed, with the buckets that bound how
 * often they are asked for. All state is in memory.
 */
import { randomUUID } from 'node:crypto'
import { type EntryRequest, problemElement, writeElement } from '#codecs/dict'
import { readBounded } from '#src/platform/runtime/index.ts'
import { putBounded } from '../bounded.ts'
import { isLocal, neverIdle, serverTls, urlHost } from '../counterparty.ts'
import { createBook, type DirectoryBook } from './book.ts'
import { type CidFiles, createCidFiles } from './cid-files.ts'
import { createClaims, type DirectoryClaims } from './claims.ts'
import { createClaimPlay } from './claims-play.ts'
import { type ClaimBody, createControl, type EntryBody } from './control.ts'
import type { Disputes } from './disputes-control.ts'
import { createFaultPlan, type Fault, type FaultPlan } from './faults.ts'
import { createInfractions } from './infractions.ts'
import { operate } from './interface.ts'
import type { Deps, Done } from './operation.ts'
import {
  bodyBytesMax,
  type DirectoryOptions,
  type ResolvedOptions,
  resolveOptions,
} from './options.ts'
import { createPolicies } from './policies.ts'
import { createRefunds } from './refunds.ts'
import { Refusal } from './refusal.ts'
import { createAnswerSigner, createSignatureCheck } from './signatures.ts'
import { createTransactions } from './transactions.ts'

export { categories } from './options.ts'
export { registerSamples } from './samples.ts'

export type Directory = {
  /** The base URL with the version of the API: `http://127.0.0.1:port/api/v2`. */
  readonly url: string
  /** Puts an entry in, as if its participant had, by a request of that id. @returns its key */
  readonly register: (entry: EntryBody, requestId?: string) => string
  /** Takes an entry out, as if its participant had. */
  readonly remove: (key: string) => void
  /** The acts of other institutions, and things put in without any rule. */
  readonly disputes: Disputes
  /** Claims as they stand, and what their participants may do. */
  readonly claims: DirectoryClaims
  /** Opens a claim as an institution that the simulator plays, which completes it. @returns its id */
  readonly claim: (claim: ClaimBody) => string
  /** Replaces all faults. */
  readonly setFaults: (faults: readonly Fault[]) => void
  /** A payment went out with the EndToEndId of a lookup: its token comes back. False: no such lookup. */
  readonly orderSent: (endToEndId: string) => boolean
  readonly statistics: () => Statistics
  readonly stop: () => Promise<void>
}

type Statistics = {
  readonly entries: number
  readonly claims: number
  /** Requests by status. */
  readonly answers: Readonly<Record<string, number>>
  /** EndToEndIds of the lookups that found something, the last ones. */
  readonly lookups: readonly string[]
  readonly tokens: Readonly<Record<string, number>>
}

/** The acts of the institutions that the simulator plays. */
const createPlayed = (book: DirectoryBook, options: ResolvedOptions) => {
  const { now, claimPeriods: periods, claimAnswerMs: answerMs } = options
  const claims = createClaims({ book, now, periods })
  const play = createClaimPlay({ claims, now, answerMs })
  return {
    claims,
    play,
    register: (entry: EntryBody, requestId: string = randomUUID()): string => {
      const { key } = book.create(requestOf(entry), 'USER_REQUESTED', requestId).entry
      if (entry.on_claim !== undefined) play.answerFor(key, entry.ispb, entry.on_claim)
      return key
    },
    claim: ({ type, key, ...body }: ClaimBody): string => {
      const { owner: claimer, ...request } = requestOf({ ...body, key })
      const { id } = claims.open({ ...request, type, key, claimer })
      play.completes(id)
      return id
    },
  }
}

type Lookup = { readonly participant: string; readonly payer: string; readonly kind: string }

const versionForm = /^\/api\/v[12](\/.*)$/
const filePrefix = '/cid-files/'
const problemBase = 'https://dict.pi.rsfn.net.br/api/v2'
const retryAfterSeconds = 1
const lookupsMax = 10_000
const openedAt = '2020-01-01T03:00:00.000Z'

/** Starts the directory. */
export const createDirectory = async (given: DirectoryOptions = {}): Promise<Directory> => {
  const options = resolveOptions(given)
  const { now, hostname, tls, signing, participantCertificates } = options
  const book = createBook(now)
  const policies = createPolicies(options.category, now)
  const faults = createFaultPlan(options.random)
  const lookups = new Map<string, Lookup>()
  const answers: Record<string, number> = {}
  const sign = signing && createAnswerSigner(signing)

  const { claims, play, register, claim } = createPlayed(book, options)
  const orderSent = (endToEndId: string): boolean => {
    const lookup = lookups.get(endToEndId)
    if (lookup === undefined) return false
    lookups.delete(endToEndId)
    policies.afterPayment(lookup.participant, lookup.payer, lookup.kind)
    return true
  }
  const statistics = (): Statistics => ({
    entries: book.size(),
    claims: claims.all().length,
    answers: { ...answers },
    lookups: [...lookups.keys()],
    tokens: policies.left(),
  })
  const files = createCidFiles({
    now,
    setOf: book.setOf,
    fails: () => faults.strike(['failed_file'], 'lookup') !== undefined,
    losesOne: () => faults.strike(['lost_cid'], 'lookup') !== undefined,
    urlOf: (name, origin) => `${origin}${filePrefix}${name}`,
  })
  const disputes = createDisputes(options)
  const deps = {
    ...disputes,
    book,
    files,
    claims,
    play,
    policies,
    faults,
    now,
    cacheSeconds: options.cacheSeconds,
    checkSignature: participantCertificates && createSignatureCheck(participantCertificates),
    onLookup: (endToEndId: string, by: Lookup) => {
      putBounded(lookups, endToEndId, by, lookupsMax)
    },
  }
  const control = createControl({ faults, register, claim, orderSent, statistics, disputes })

  const answer = answerBy(deps, sign)
  const server = serve(options, { answer, fetchFile: fetchFrom(files, faults), control, answers })
  const scheme = tls === undefined ? 'http' : 'https'
  return {
    url: `${scheme}://${urlHost(hostname)}:${server.port}/api/v2`,
    register,
    disputes,
    claims,
    claim,
    remove: (key) => {
      const kept = book.find(key)
      if (kept !== undefined) book.remove(key, kept.entry.account.participant, 'USER_REQUESTED')
    },
    setFaults: faults.set,
    orderSent,
    statistics,
    stop: () => server.stop(true),
  }
}

/** Answers as the API. */
const answerBy =
  (deps: Deps, sign: ReturnType<typeof createAnswerSigner> | undefined): Parts['answer'] =>
  async (request, { origin, searchParams: query }, path) => {
    const { faults, play, now } = deps
    const operation = operationOf(request.method, path)
    const before = faults.strike(
      ['latency', 'unavailable', 'rate_limited', 'conflict', 'proxy_refusal'],
      operation,
    )
    if (before?.kind === 'latency') await Bun.sleep(before.delayMs ?? 0)
    if (before?.kind === 'unavailable') {
      throw new Refusal('ServiceUnavailable', '', { 'Retry-After': String(retryAfterSeconds) })
    }
    if (before?.kind === 'rate_limited') throw new Refusal('RateLimited')
    if (before?.kind === 'conflict') throw new Refusal('ResourceConflict')
    if (before?.kind === 'proxy_refusal') return new Response('<html/>', { status: 403 })
    const { bytes, isWhole } = await readBounded(request.body, bodyBytesMax)
    if (!isWhole) throw new Refusal('BadRequest', 'The body is too large')
    const header = (name: string): string => request.headers.get(name) ?? ''
    if (operation === 'claim') play.catchUp()
    const done = operate({ method: request.method, origin, path, query, header, body: bytes }, deps)
    const after = faults.strike(afterwards, operation)
    if (after?.kind === 'error_after_storing') throw new Refusal('InternalServerError')
    return respond(request, done, await bodyOf(done, after?.kind, sign, now))
  }

const createDisputes = ({ now, transactions: elsewhere }: ResolvedOptions): Disputes => {
  const transactions = createTransactions(elsewhere)
  const infractions = createInfractions(now, transactions.find)
  const refunds = createRefunds(now, transactions.find, infractions.isAgreed)
  return { infractions, refunds, addTransaction: transactions.add }
}

/** Faults of what is answered. */
const afterwards: readonly Fault['kind'][] = [
  'error_after_storing',
  'wrong_signature',
  'no_signature',
  'garbage',
  'other_key',
  'other_claim',
  'stale_claim',
  'endless_list',
]

const operationOf = (method: string, path: string): Fault['operation'] => {
  if (path.startsWith('/claims/')) return 'claim'
  return method === 'GET' ? 'lookup' : 'write'
}

const fetchFrom =
  (files: CidFiles, faults: FaultPlan): Parts['fetchFile'] =>
  (name) => {
    const bytes = files.contentNamed(name)
    if (bytes === undefined) throw new Refusal('NotFound')
    const isDamaged = faults.strike(['damaged_file'], 'lookup') !== undefined
    return new Response(isDamaged ? bytes.subarray(1) : bytes, {
      headers: { 'Content-Type': 'text/plain' },
    })
  }

type Parts = {
  /**
   * @param url that of the request, with the port
   * @param path without the version
   */
  readonly answer: (request: Request, url: URL, path: string) => Promise<Response>
  /** A file of CIDs. @throws Refusal */
  readonly fetchFile: (name: string) => Response
  readonly control: ReturnType<typeof createControl>
  /** Counted here, by status. */
  readonly answers: Record<string, number>
}

const serve = (
  { hostname, port, tls }: ResolvedOptions,
  { answer, fetchFile, control, answers }: Parts,
) =>
  Bun.serve({
    idleTimeout: neverIdle,
    hostname,
    port,
    ...(tls === undefined ? {} : { tls: serverTls(tls) }),
    fetch: async (request, server) => {
      const url = new URL(request.url)
      // Participants name no port in Host.
      if (url.port === '') url.port = String(server.port)
      const { pathname } = url
      if (pathname.startsWith('/simulator/')) {
        if (!isLocal(server.requestIP(request)?.address)) return problemOf(new Refusal('Forbidden'))
        const { bytes } = await readBounded(request.body, bodyBytesMax)
        return control(request.method, pathname, bytes)
      }
      const respondTo = async (): Promise<Response> =>
        pathname.startsWith(filePrefix)
          ? fetchFile(pathname.slice(filePrefix.length))
          : answer(request, url, versionForm.exec(pathname)?.[1] ?? '')
      const response = await respondTo().catch((error: unknown) =>
        problemOf(error instanceof Refusal ? error : new Refusal('InternalServerError')),
      )
      answers[response.status] = (answers[response.status] ?? 0) + 1
      return response
    },
  })

const requestOf = (entry: EntryBody): EntryRequest => ({
  keyType: entry.key_type,
  key: entry.key,
  openedAt,
  owner: {
    taxIdNumber: entry.tax_id,
    name: entry.name,
    ...(entry.trade_name === undefined ? {} : { tradeName: entry.trade_name }),
  },
  account: {
    participant: entry.ispb,
    branch: entry.branch,
    accountNumber: entry.account,
    accountType: entry.account_type,
  },
})

/** False values in the place of true ones. */
const lies: Readonly<Record<string, () => readonly [tag: string, value: string]>> = {
  other_key: () => ['Key', randomUUID()],
  other_claim: () => ['Id', randomUUID()],
  stale_claim: () => ['Status', 'OPEN'],
  endless_list: () => ['HasMoreElements', 'true'],
}

const bodyOf = async (
  { name, elements }: Done,
  fault: Fault['kind'] | undefined,
  sign: ReturnType<typeof createAnswerSigner> | undefined,
  now: () => number,
): Promise<Uint8Array> => {
  if (fault === 'garbage') return Buffer.from('<html>no answer</html')
  const plain = writeElement([
    name,
    [
      ['ResponseTime', new Date(now()).toISOString()],
      ['CorrelationId', randomUUID().replaceAll('-', '')],
      ...elements,
    ],
  ])
  const changed = (bytes: Uint8Array, tag: string, value: string): Uint8Array =>
    Buffer.from(
      Buffer.from(bytes)
        .toString()
        .replace(new RegExp(`(<${tag}>)[^<]*`, 'g'), `$1${value}`),
    )
  const lie = lies[fault ?? '']?.()
  const shown = lie === undefined ? plain : changed(plain, ...lie)
  const signed = sign === undefined || fault === 'no_signature' ? shown : await sign(shown)
  return fault === 'wrong_signature' ? changed(signed, 'Name', 'Another') : signed
}

const respond = (request: Request, { status, headers }: Done, body: Uint8Array): Response => {
  const isGzip = request.headers.get('accept-encoding')?.includes('gzip') === true
  return new Response(isGzip ? Bun.gzipSync(Buffer.from(body)) : Buffer.from(body), {
    status,
    headers: {
      'Content-Type': 'application/xml; charset=utf-8',
      'Keep-Alive': 'timeout=30',
      ...(isGzip ? { 'Content-Encoding': 'gzip' } : {}),
      ...headers,
    },
  })
}

const problemOf = ({ code, title, status, message, headers }: Refusal): Response => {
  const detail = message === '' ? undefined : message
  const [name, content = []] = problemElement(problemBase, { code, title, status, detail })
  const text = Buffer.from(writeElement([name, content]))
    .toString()
    .replace('<problem>', '<problem xmlns="urn:ietf:rfc:7807">')
  return new Response(text, {
    status,
    headers: { 'Content-Type': 'application/problem+xml', ...headers },
  })
}
