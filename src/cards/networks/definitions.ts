import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { type Dialect, dialects, framings, parseDialect } from '#codecs/iso8583'
import type { Pem } from '#src/platform/config/index.ts'
import type { KeyFiles } from '#src/platform/security/index.ts'
import type { CardSettings, NetworkSettings } from '../config.ts'
import { type Content, contentForm, createContent } from '../content/index.ts'
import { type AnswerCodes, answerCodes1987, answerCodesForm, createAnswerRules } from './answers.ts'
import type { NetworkOptions } from './options.ts'

/** One configured network, from the settings or from the file. */
export type NetworkDefinition = Pick<
  NetworkOptions,
  | 'name'
  | 'brand'
  | 'host'
  | 'port'
  | 'timeoutMs'
  | 'dialect'
  | 'framing'
  | 'answers'
  | 'content'
  | 'poolSize'
  | 'window'
  | 'signOn'
  | 'echoMs'
> & {
  readonly prefixes: readonly string[]
  /** Undefined: plain TCP. */
  readonly tls: KeyFiles | undefined
}

/** Of the settings; undefined without a host. */
const definitionOf = (name: string, settings: NetworkSettings): NetworkDefinition | undefined => {
  const { host } = settings
  const dialect = dialects[settings.dialect]
  if (host === undefined || dialect === undefined) return undefined
  return {
    name,
    brand: settings.brand,
    host,
    port: settings.port,
    prefixes: settings.prefixes,
    poolSize: settings.poolSize,
    timeoutMs: settings.timeoutSeconds * 1_000,
    dialect,
    framing: framings[settings.frame],
    answers: answerCodes1987,
    window: settings.window,
    signOn: settings.signOn,
    echoMs: settings.echoSeconds * 1_000,
    tls: settings.tls
      ? { ca: settings.tlsCa, certificate: settings.tlsCertificate, key: settings.tlsKey }
      : undefined,
  }
}

const networksMax = 32

const tlsForm = z.strictObject({
  ca_path: z.string().optional(),
  cert_path: z.string().optional(),
  key_path: z.string().optional(),
})

const networkForm = z.strictObject({
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
  dialect: z.union([z.string(), z.record(z.string(), z.unknown())]).default('ascii'),
  frame: z.enum(Object.keys(framings) as (keyof typeof framings)[]).default('binary-2'),
  window: z.int().min(1).max(65_535).default(256),
  sign_on: z.boolean().default(false),
  echo_seconds: z.int().min(0).max(3_600).default(30),
  installments: z.enum(['extended_payment', 'refused']).default('extended_payment'),
  content: contentForm.optional(),
  answers: answerCodesForm.default(answerCodesForm.parse({})),
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

/** Dialect and content. @throws Error that names the first place where they do not fit together */
const spoken = ({
  dialect: given,
  content,
  installments,
}: z.infer<typeof networkForm>): { readonly dialect: Dialect; readonly content: Content } => {
  const dialect = dialectOf(given)
  const takesInstallments = installments === 'extended_payment'
  return { dialect, content: createContent(dialect, content, takesInstallments) }
}

/**
 * What messages to one network of the networks file are like, from its JSON.
 *
 * @throws Error that says what is wrong with it
 */
export const parseNetwork = (json: unknown) => {
  const parsed = networkForm.safeParse(json)
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error))
  return spoken(parsed.data)
}

/** A networks file that cannot be used. */
export class NetworksFileError extends Error {
  override readonly name = 'NetworksFileError'
}

/**
 * The networks that a file describes.
 *
 * @throws NetworksFileError that names the file and what is wrong in it
 */
const readNetworksFile = (path: string): readonly NetworkDefinition[] => {
  try {
    return fileForm.parse(JSON.parse(readFileSync(path, 'utf8'))).map((given) => ({
      name: given.name,
      brand: given.brand,
      host: given.host,
      port: given.port,
      prefixes: given.prefixes,
      poolSize: given.pool_size,
      timeoutMs: given.timeout_seconds * 1_000,
      ...spoken(given),
      framing: framings[given.frame],
      answers: checkedCodes(given.answers),
      window: given.window,
      signOn: given.sign_on,
      echoMs: given.echo_seconds * 1_000,
      tls: given.tls && {
        ca: pemOf(given.tls.ca_path),
        certificate: pemOf(given.tls.cert_path),
        key: pemOf(given.tls.key_path),
      },
    }))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new NetworksFileError(`networks file ${path}: ${reason}`)
  }
}

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
