import { readFileSync } from 'node:fs'
import { z } from 'zod'
import {
  type Dialect,
  dialects,
  type Framing,
  type FramingName,
  framings,
  parseDialect,
} from '#codecs/iso8583'
import type { Pem } from '#src/platform/config/index.ts'
import { jsonOnce } from '#src/platform/http/index.ts'
import type { KeyFiles } from '#src/platform/security/index.ts'
import { type CardSettings, type NetworkSettings, tpduForm } from '../config.ts'
import { contentForm, createContent } from '../content/index.ts'
import { type LinkSecurity, linkSecurityOf, securityForm } from '../security/index.ts'
import { adviceRulesForm, adviceRulesOf } from './advice-rules.ts'
import { type AnswerCodes, answerCodesForm, createAnswerRules } from './answers.ts'
import {
  authorizationHoursMax,
  connectWaitMs,
  connectWaitMsMax,
  type NetworkOptions,
} from './options.ts'
import { reconciliationForm, reconciliationRulesOf } from './reconciliation-form.ts'
import { requireMacFields } from './sealing.ts'

/** One configured network, from the settings or from the file. */
export type NetworkDefinition = Omit<NetworkOptions, 'tls' | 'logger'> & {
  readonly prefixes: readonly string[]
  /** Undefined: plain TCP. */
  readonly tls: KeyFiles | undefined
}

const networksMax = 32
const dialectDefault = 'ascii'

const tlsForm = z.strictObject({
  ca_path: z.string().optional(),
  cert_path: z.string().optional(),
  key_path: z.string().optional(),
})

/** What messages to a network are like: of a network of the networks file, or the whole of a messages file. */
const messageMembers = {
  dialect: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
  installments: z.enum(['extended_payment', 'refused']).default('extended_payment'),
  content: contentForm.optional(),
  answers: answerCodesForm.default(answerCodesForm.parse({})),
  security: securityForm.optional(),
  advices: adviceRulesForm.optional(),
  reconciliation: reconciliationForm.optional(),
}
const messagesForm = z.strictObject(messageMembers)
type MessagesForm = z.infer<typeof messagesForm> & {
  readonly authorization_hours?: number | undefined
}

const networkForm = z.strictObject({
  ...messageMembers,
  name: z.string().regex(/^[a-z][a-z0-9_]{0,31}$/),
  brand: z.string().regex(/^[a-z][a-z0-9_]{0,31}$/),
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535).default(10_000),
  prefixes: z
    .array(z.string().regex(/^\d{1,8}(-\d{1,8})?$/))
    .min(1)
    .max(64),
  pool_size: z.int().min(1).max(64).default(5),
  timeout_seconds: z.int().min(1).max(300).default(30),
  frame: z.enum(Object.keys(framings) as FramingName[]).default('binary-2'),
  tpdu: z.string().regex(tpduForm, 'ten hexadecimal digits').optional(),
  window: z.int().min(1).max(65_535).default(256),
  sign_on: z.boolean().default(false),
  echo_seconds: z.int().min(0).max(3_600).default(30),
  authorization_hours: z.int().min(1).max(authorizationHoursMax).optional(),
  connect_wait_ms: z.int().min(0).max(connectWaitMsMax).default(connectWaitMs),
  tls: tlsForm.optional(),
})

const fileForm = z.array(networkForm).max(networksMax)

const pemOf = (path: string | undefined): Pem | undefined =>
  path === undefined ? undefined : { text: readFileSync(path, 'utf8'), path }

const dialectOf = (given: string | Record<string, unknown>) => {
  if (typeof given !== 'string') return parseDialect(given, dialects)
  const found = Object.hasOwn(dialects, given) ? dialects[given] : undefined
  if (found === undefined) {
    throw new Error(`no dialect ${given}; there are ${Object.keys(dialects).join(', ')}`)
  }
  return found
}

const checkedCodes = (codes: AnswerCodes): AnswerCodes => {
  createAnswerRules(codes)
  return codes
}

/** @throws Error for keys that are not there, and for a dialect that has no place for codes */
const checkedSecurity = (form: z.infer<typeof securityForm>, dialect: Dialect): LinkSecurity => {
  const security = linkSecurityOf(form)
  if (security.mac !== undefined) requireMacFields(dialect)
  return security
}

/** @throws Error that names the first place where dialect, content and rules do not fit together */
const spoken = (given: MessagesForm, dialectDefault: string) => {
  const dialect = dialectOf(given.dialect ?? dialectDefault)
  const takesPins = given.security?.pin !== undefined
  const takesInstallments = given.installments === 'extended_payment'
  const { reconciliation } = given
  const content = createContent(
    dialect,
    given.content,
    takesInstallments,
    takesPins,
    reconciliation !== undefined,
  )
  if (reconciliation !== undefined && !content.has('reconciliation')) {
    throw new Error('reconciliation: the content has no reconciliation')
  }
  const uploads = reconciliation !== undefined && reconciliation.batch_upload !== 'never'
  if (uploads && !content.has('batch_upload')) {
    throw new Error('reconciliation: the content has no batch_upload')
  }
  const { authorization_hours: authorizationHours } = given
  if (authorizationHours !== undefined && content.mtiOf('authorization').startsWith('02')) {
    throw new Error(
      'authorization_hours (…_AUTHORIZATION_HOURS): content.messages.authorization is a sale (mti 0200), which nobody captures, so each would be given back',
    )
  }
  return {
    dialect,
    content,
    authorizationHours,
    answers: checkedCodes(given.answers),
    security: given.security && checkedSecurity(given.security, dialect),
    advices: given.advices && adviceRulesOf(given.advices, content),
    reconciliation: reconciliation && reconciliationRulesOf(reconciliation),
  }
}

/** The dialect and content spoken with a network. */
type Spoken = ReturnType<typeof spoken>

/** The frame with its TPDU, where there is one; any frame may have it. */
const framingOf = (name: FramingName, tpdu: string | undefined): Framing =>
  tpdu === undefined ? framings[name] : { ...framings[name], tpdu: Uint8Array.fromHex(tpdu) }

/**
 * What messages to one network are like, from its JSON: of the networks file, or the whole of a messages file.
 *
 * @throws Error that says what is wrong with it
 */
export const parseNetwork = (json: unknown): Spoken => {
  const isMessages = typeof json === 'object' && json !== null && !Object.hasOwn(json, 'name')
  const parsed = (isMessages ? messagesForm : networkForm).safeParse(json)
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error))
  return spoken(parsed.data, dialectDefault)
}

/** A networks file, or a file of messages, that cannot be used. */
export class NetworksFileError extends Error {
  override readonly name = 'NetworksFileError'
  /** The file; undefined if it is about several. */
  readonly path: string | undefined

  constructor(message: string, path?: string) {
    super(message)
    this.path = path
  }
}

/** @throws NetworksFileError that names the file and what is wrong in it */
const readJson = <T>(path: string, kind: string, read: (json: unknown) => T): T => {
  try {
    return read(jsonOnce(readFileSync(path, 'utf8')))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new NetworksFileError(`${kind} file ${path}: ${reason}`, path)
  }
}

/**
 * Returns the networks that the settings describe, or undefined if they name no host.
 *
 * @throws NetworksFileError
 */
const definitionOf = (name: string, settings: NetworkSettings): NetworkDefinition | undefined => {
  const { host, messagesFile } = settings
  if (host === undefined) return undefined
  const { authorizationHours: authorization_hours } = settings
  const said = (json: unknown): Spoken =>
    spoken({ ...messagesForm.parse(json), authorization_hours }, settings.dialect)
  return {
    name,
    brand: settings.brand,
    host,
    port: settings.port,
    prefixes: settings.prefixes,
    poolSize: settings.poolSize,
    timeoutMs: settings.timeoutSeconds * 1_000,
    ...(messagesFile === undefined ? said({}) : readJson(messagesFile, 'messages', said)),
    framing: framingOf(settings.frame, settings.tpdu),
    window: settings.window,
    signOn: settings.signOn,
    echoMs: settings.echoSeconds * 1_000,
    connectWaitMs: settings.connectWaitMs,
    tls: settings.tls
      ? { ca: settings.tlsCa, certificate: settings.tlsCertificate, key: settings.tlsKey }
      : undefined,
  }
}

/**
 * The networks that a file describes.
 *
 * @throws NetworksFileError that names the file and what is wrong in it
 */
const readNetworksFile = (path: string): readonly NetworkDefinition[] =>
  readJson(path, 'networks', (json) =>
    fileForm.parse(json).map((given) => ({
      name: given.name,
      brand: given.brand,
      host: given.host,
      port: given.port,
      prefixes: given.prefixes,
      poolSize: given.pool_size,
      timeoutMs: given.timeout_seconds * 1_000,
      ...spoken(given, dialectDefault),
      framing: framingOf(given.frame, given.tpdu),
      window: given.window,
      signOn: given.sign_on,
      echoMs: given.echo_seconds * 1_000,
      connectWaitMs: given.connect_wait_ms,
      tls: given.tls && {
        ca: pemOf(given.tls.ca_path),
        certificate: pemOf(given.tls.cert_path),
        key: pemOf(given.tls.key_path),
      },
    })),
  )

/**
 * Every configured network: first those of the settings, then those of the file.
 *
 * @throws NetworksFileError
 */
export const definitionsOf = (
  { networksFile }: Pick<CardSettings, 'networksFile'>,
  networkA: NetworkSettings,
  networkB: NetworkSettings,
): readonly NetworkDefinition[] => {
  const definitions = [
    definitionOf('neta', networkA),
    definitionOf('netb', networkB),
    ...(networksFile === undefined ? [] : readNetworksFile(networksFile)),
  ].filter((definition) => definition !== undefined)
  if (new Set(definitions.map(({ name }) => name)).size < definitions.length) {
    throw new NetworksFileError('two card networks have the same name')
  }
  return definitions
}
