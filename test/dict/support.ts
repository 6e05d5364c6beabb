/** The directory's client and the payments above it, on the simulated directory and a database of their own. */
import { hash, sign, X509Certificate } from 'node:crypto'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { issuerText, signWhole } from '#codecs/xmldsig'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { loadSettings } from '#src/platform/config/index.ts'
import { createOutsideReader, outsideSettings } from '#src/platform/http/index.ts'
import { createLoop, type Round } from '#src/platform/jobs/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createFileMaterial } from '#src/platform/security/index.ts'
import { createDirectory, registerSamples } from '#src/simulators/directory/index.ts'
import { createPayments, createRefunds, createTrust } from '#src/spi/index.ts'
import { createAdvance } from '../../src/dict/claims/advance.ts'
import { type ClaimCalls, createClaimCalls } from '../../src/dict/claims/calls.ts'
import { doDueClaims } from '../../src/dict/claims/due.ts'
import { pollClaims } from '../../src/dict/claims/poll.ts'
import { createDirectoryClient } from '../../src/dict/client.ts'
import { createReconciliationCalls } from '../../src/dict/comparisons/calls.ts'
import { createComparisonService } from '../../src/dict/comparisons/service.ts'
import { retryDisputes } from '../../src/dict/disputes/service.ts'
import { createDisputing } from '../../src/dict/disputing.ts'
import { createEntryService, retryEntries } from '../../src/dict/entries/service.ts'
import { createDict, dictSettings } from '../../src/dict/index.ts'
import { createDirectoryWire } from '../../src/dict/wire.ts'
import { createQrcodes } from '../../src/qrcodes/index.ts'
import { emitEvents } from '../../src/webhooks/index.ts'
import { testApp, testKey } from '../support/app.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../support/database.ts'
import { joseFeature, noKeys } from '../support/jose.ts'
import { type IssuedPair, issueCertificate } from '../support/pki.ts'

const ispb = '12345678'
export const payer = '12345678909'
export const debtor = {
  name: 'Maria Souza',
  document: payer,
  account_num: '500100',
  account_type: 'CACC',
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
export type Json = any

/** One authority for all connections; the directory signs with a certificate of its own. */
const authority = issueCertificate('AC', { authority: true })
const site = issueCertificate('dict', { issuer: authority, hosts: ['127.0.0.1'] })
const client = issueCertificate(ispb, { issuer: authority })
const signer = issueCertificate('DICT signs')
const signing = issueCertificate('12345678 signs')
const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
const scanner = createXmlScanner()
const certificate = new X509Certificate(signing.cert)
/** Signs as a participant does. */
const participant = {
  issuer: issuerText(new Uint8Array(certificate.raw)),
  serial: BigInt(`0x${certificate.serialNumber}`).toString(),
  id: 'participant',
  sign: async (bytes: Uint8Array) => sign('sha256', bytes, signing.key),
}

const neverAborted = new AbortController().signal

/** What was tried before a minute from now: all. */
const laterMs = -60_000

/** Rounds of what runs for the whole fleet. */
const jobsOn = (deps: Omit<Parameters<typeof createDisputing>[0], 'logger'>) => {
  const { sql, ispb, wire, now } = deps
  const client = createDirectoryClient(wire.lane(), ispb)
  const comparisons = createComparisonService({
    sql,
    ispb,
    logger: quietLogger,
    now,
    fetchFile: wire.fetchFile,
    calls: createReconciliationCalls(wire.lane(), ispb),
    entries: createEntryService({ sql, client, logger: quietLogger, now }),
  })
  const { infractions, refunds } = createDisputing({ ...deps, logger: quietLogger })
  const retrying = { sql, logger: quietLogger }
  return {
    compare: (round: Round = { ...createLoop('comparisons').begin(), signal: neverAborted }) =>
      comparisons.advance(round),
    poll: async () => {
      await infractions.poll()
      await refunds.poll()
    },
    retry: async () => {
      await retryDisputes(retrying, infractions, laterMs)
      await retryDisputes(retrying, refunds, laterMs)
    },
  }
}

export const startDict = async (
  env: Readonly<Record<string, string>> = {},
  {
    trusted = signer,
    outside = {},
    on,
    isOneClock = false,
  }: {
    readonly trusted?: IssuedPair
    readonly outside?: Readonly<Record<string, string>>
    /** A database that is there already, and stays. */
    readonly on?: TestDatabase
    /** The directory's time passes with ours, and does not go on of itself. */
    readonly isOneClock?: boolean
  } = {},
) => {
  const database = on ?? (await createTestDatabase())
  const { sql } = database
  let nowMs = Date.now()
  let setMs = 0
  const now = (): Date => new Date(nowMs)
  let aheadMs = 0
  const directory = await createDirectory({
    now: () => (isOneClock ? now().getTime() : Date.now() + aheadMs),
    tls: { cert: site.cert, key: site.key, clientCa: authority.cert },
    signing: { certificate: signer.cert, key: signer.key },
    participantCertificates: { [ispb]: [signing.cert] },
    category: 'E',
    cacheSeconds: 30,
    claimAnswerMs: 0,
  })
  const keys = registerSamples(directory)
  const groups = { dict: dictSettings, outside: outsideSettings }
  const loaded = loadSettings(groups, {
    DICT_URL: directory.url,
    DICT_CATEGORY: 'E',
    ...outside,
    ...env,
  })
  if (loaded.problems.length > 0) throw new Error(JSON.stringify(loaded.problems))
  const bundle = { text: trusted.cert, path: undefined }
  const { verifier } = createTrust('DICT_TRUSTED_CERTS_PATH', bundle, quietLogger)
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const tls = createFileMaterial({
    certificate: { text: client.cert, path: undefined },
    key: { text: client.key, path: undefined },
    ca: { text: authority.cert, path: undefined },
  })
  const signatures = {
    refusalOfSignature: (document: XmlDocument) => {
      const verdict = verifier?.verifyWhole(document)
      return verdict === undefined || verdict.ok ? undefined : verdict.message
    },
    sign: async (document: Uint8Array) => signWhole(scanner.scan(document), participant, sha256),
  }
  const broker = createPostgresBroker({
    sql,
    dsn: database.dsn,
    logger: quietLogger,
  })
  const paying = { ispb, sql, broker, revision: '5.11.1', now } as const
  const returns = createRefunds(paying)
  if (returns === undefined) throw new Error('no returns')
  const dict = createDict({
    returns,
    emit: emitEvents,
    settings: loaded.values.dict,
    ispb,
    sql,
    logger: quietLogger,
    metrics,
    now,
    elapsedMs: () => nowMs - setMs,
    tls,
    ...signatures,
    runsJobs: false,
  })
  /** What another process does for all. */
  const wireOfOwn = () =>
    createDirectoryWire({
      url: directory.url,
      ispb,
      tls,
      timeoutMs: 5_000,
      ...signatures,
      metrics: createMetrics({ version: 'test', withProcess: false }),
    })
  /** One round of what finds claims, and of what does what is due for them. */
  const claimRounds = (told = (calls: ClaimCalls): ClaimCalls => calls) => {
    const logger = quietLogger
    const calls = told(createClaimCalls(wireOfOwn().lane(), ispb))
    const deps = { sql, ispb, emit: emitEvents, now, quietMs: 15_000, logger, calls }
    const advance = createAdvance(deps)
    return { poll: () => pollClaims(deps, advance), due: () => doDueClaims(deps, advance) }
  }
  const retryOpen = (): Promise<void> => {
    const wire = wireOfOwn()
    const directoryClient = createDirectoryClient(wire.lane(), ispb)
    const service = createEntryService({ sql, client: directoryClient, logger: quietLogger, now })
    return retryEntries({ sql, logger: quietLogger }, service.retry, laterMs)
  }
  const read = createOutsideReader(loaded.values.outside, 'test')
  const qrcodes = createQrcodes({ read, open: joseFeature(noKeys, outside).openPayload })
  const payments = createPayments({
    ...paying,
    payees: {
      payee: dict.payee,
      missing: dict.missing,
      errors: [],
      readCode: qrcodes.readPayable,
    },
  })
  const { key, record } = testKey('dict:*', 'spi:send', 'messages:read')
  const reader = testKey('messages:read')
  const app = testApp([...(dict.routes ?? []), ...(payments.routes ?? [])], {
    keys: [record, reader.record],
  })
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const request = body === undefined ? { key, headers } : { key, body, headers }
    const response = await app.call(method, path, request)
    return {
      status: response.status,
      headers: response.headers,
      json: (await response.json()) as Json,
    }
  }
  return {
    retryEntries: retryOpen,
    wire: wireOfOwn,
    jobs: () => jobsOn({ sql, ispb, wire: wireOfOwn(), returns, emit: emitEvents, now }),
    ...claimRounds(),
    claimRounds,
    now,
    app,
    call,
    database,
    directory,
    keys,
    key,
    sql,
    metrics,
    routes: dict.routes ?? [],
    readerKey: reader.key,
    lookUp: (pixKey: string, by = payer) =>
      call('GET', `/v1/dict/keys/${encodeURIComponent(pixKey)}?payer=${by}`),
    pay: (body: object, idempotencyKey?: string) =>
      call(
        'POST',
        '/v1/pix/payments',
        { debtor, ...body },
        idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey },
      ),
    nowThere: (): number => Date.now() + aheadMs,
    /** Time passes at the directory alone. */
    passThere: (ms: number) => {
      aheadMs += ms
    },
    pass: (ms: number) => {
      nowMs += ms
    },
    /** The clock is set; no time passes. */
    set: (ms: number) => {
      nowMs += ms
      setMs += ms
    },
    stop: async () => {
      await directory.stop()
      if (on === undefined) await database.close()
    },
  }
}
