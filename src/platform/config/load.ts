import { readFileSync } from 'node:fs'
import { withoutSecrets } from '../security/sensitive/index.ts'
import { companionName, type Setting, type SettingGroup, type SettingValues } from './settings.ts'

export type SettingProblem = {
  readonly name: string
  /** Masked; a secret shows as `***`. */
  readonly value: string
  readonly problem: string
  readonly expected: string
  readonly fix: string
}

export type Environment = Readonly<Record<string, string | undefined>>

export type LoadedSettings<G extends Readonly<Record<string, SettingGroup>>> = {
  readonly values: { readonly [K in keyof G]: SettingValues<G[K]> }
  readonly problems: readonly SettingProblem[]
  readonly warnings: readonly string[]
  /** Every known variable with the value in force, masked, and where it comes from. */
  readonly effective: readonly EffectiveSetting[]
}

export type EffectiveSetting = {
  readonly name: string
  readonly value: string | undefined
  readonly source: 'environment' | 'file' | 'default' | 'unset'
}

/** Other programs use these prefixes too: only a name that is near to one of ours is a misspelling of it. */
const sharedPrefixes: ReadonlySet<string> = new Set([
  'API',
  'BROKER',
  'CA',
  'CERT',
  'DATABASE',
  'GRPC',
  'HTTP',
  'KEY',
  'LOG',
  'METRICS',
])
/** OpenTelemetry has many, with names near to each other. */
const foreignPrefix = 'OTEL'
const fileBytesMax = 1_048_576
const none = Symbol('nothing set')

type Found = { text: string; path: string | undefined; name: string }

/** A problem found while reading one setting. */
class SettingError extends Error {
  override readonly name = 'SettingError'
  readonly variable: string
  readonly fix: string

  constructor(variable: string, message: string, fix: string) {
    super(message)
    this.variable = variable
    this.fix = fix
  }
}

/**
 * Parses all groups at once. Bad values do not throw: they are collected, so that the operator sees
 * every problem in one go. Values of a group with a problem must not be used.
 */
export const loadSettings = <const G extends Readonly<Record<string, SettingGroup>>>(
  groups: G,
  env: Environment,
): LoadedSettings<G> => {
  const problems: SettingProblem[] = []
  const effective: EffectiveSetting[] = []
  const values: Record<string, Record<string, unknown>> = {}
  for (const [groupName, group] of Object.entries(groups)) {
    const parsed: Record<string, unknown> = {}
    for (const [property, setting] of Object.entries(group)) {
      const value = readSetting(setting, env, problems, effective)
      parsed[property] = value === none ? undefined : value
    }
    values[groupName] = parsed
  }
  return {
    values: values as LoadedSettings<G>['values'],
    problems,
    warnings: unknownVariables(groups, env),
    effective,
  }
}

const readSetting = (
  setting: Setting<unknown>,
  env: Environment,
  problems: SettingProblem[],
  effective: EffectiveSetting[],
): unknown => {
  let found: Found | undefined
  const tell = (value: string | undefined): void => {
    effective.push({ name: setting.env, value, source: sourceOf(setting, found) })
  }
  try {
    found = findText(setting, env)
    const text = found?.text ?? setting.default
    const read = text === undefined ? none : setting.kind.parse(text, found?.path)
    tell(text === undefined ? undefined : (found?.path ?? setting.kind.mask(text)))
    return read
  } catch (error) {
    const known = error instanceof SettingError
    const value = found === undefined ? '***' : (found.path ?? shownUnread(setting, found.text))
    if (found !== undefined) tell(value)
    problems.push({
      name: known ? error.variable : (found?.name ?? setting.env),
      value,
      problem: error instanceof Error ? error.message : 'cannot be read',
      expected: setting.kind.expected,
      fix: known ? error.fix : fixFor(setting),
    })
    return none
  }
}

/** A value of another form than its kind has may hold a secret where the kind has none: user and password before an `@`. */
const shownUnread = ({ kind }: Setting<unknown>, text: string): string => {
  const masked = kind.mask(text)
  return /(?<!\*\*\*)@/.test(masked) ? '***' : withoutSecrets(masked)
}

const sourceOf = (
  setting: Setting<unknown>,
  found: Found | undefined,
): EffectiveSetting['source'] => {
  if (found !== undefined) return found.path === undefined ? 'environment' : 'file'
  return setting.default === undefined ? 'unset' : 'default'
}

const fixFor = (setting: Setting<unknown>): string =>
  setting.default === undefined
    ? `set ${setting.env} to the expected form, or unset it`
    : `set ${setting.env} to the expected form, or unset it for ${setting.default}`

/** An empty variable counts as not set, as compose files and unit files produce them. */
const textOf = (env: Environment, name: string): string | undefined => {
  const value = env[name]
  return value === undefined || value === '' ? undefined : value
}

const findText = (setting: Setting<unknown>, env: Environment): Found | undefined => {
  const direct = textOf(env, setting.env)
  const companion = companionName(setting)
  const other = companion === undefined ? undefined : textOf(env, companion)
  if (direct !== undefined && other !== undefined) {
    throw new SettingError(
      setting.env,
      `is set, and so is ${companion}`,
      `unset one of ${setting.env} and ${companion}`,
    )
  }
  if (setting.kind.from === 'pem') return findPem(setting.env, direct, companion ?? '', other)
  if (other !== undefined && companion !== undefined) {
    return {
      text: readText(companion, other).replace(/\r?\n$/, ''),
      path: other,
      name: companion,
    }
  }
  return direct === undefined ? undefined : { text: direct, path: undefined, name: setting.env }
}

const findPem = (
  name: string,
  path: string | undefined,
  base64Name: string,
  base64: string | undefined,
): Found | undefined => {
  if (path !== undefined) return { text: readText(name, path), path, name }
  if (base64 === undefined) return undefined
  return { text: decodeBase64(base64Name, base64), path: undefined, name: base64Name }
}

/** Skips white space and accepts missing padding; refuses anything else instead of cutting it off silently. */
const decodeBase64 = (name: string, base64: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.fromBase64(base64))
  } catch {
    throw new SettingError(name, 'is not base64 of a text', `set ${name} to base64 of the PEM`)
  }
}

const readText = (name: string, path: string): string => {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    // The message leaves out the path: now and then an operator puts the key itself in its place.
    throw new SettingError(
      name,
      `names a file that cannot be read: ${code}`,
      `check that ${name} holds the path of a file, and the rights of that file`,
    )
  }
  if (bytes.length > fileBytesMax) {
    throw new SettingError(name, 'names a file above 1 MiB', `check that ${path} is the right file`)
  }
  // Drops the mark that some editors put before a text: it would be a part of the secret.
  return new TextDecoder().decode(bytes)
}

const unknownVariables = (
  groups: Readonly<Record<string, SettingGroup>>,
  env: Environment,
): string[] => {
  const known = new Set<string>()
  for (const group of Object.values(groups)) {
    for (const setting of Object.values(group)) {
      known.add(setting.env)
      const companion = companionName(setting)
      if (companion !== undefined) known.add(companion)
    }
  }
  const prefixes = new Set([...known].filter((name) => name.includes('_')).map(prefixOf))
  prefixes.delete(foreignPrefix)
  return Object.keys(env)
    .filter((name) => !known.has(name) && name.includes('_') && prefixes.has(prefixOf(name)))
    .sort()
    .flatMap((name) => {
      const near = nearest(name, known)
      if (near === undefined && sharedPrefixes.has(prefixOf(name))) return []
      const told = `${name} is no setting of this program and has no effect`
      return near === undefined ? told : `${told}; did you mean ${near}?`
    })
}

const prefixOf = (name: string): string => name.split('_', 1)[0] ?? ''

const nearest = (name: string, known: ReadonlySet<string>): string | undefined => {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(name.length / 4)) + 1
  for (const candidate of known) {
    const distance = editDistance(name, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Levenshtein distance. */
const editDistance = (left: string, right: string): number => {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      const substituted = (previous[column - 1] ?? 0) + (same ? 0 : 1)
      const inserted = (current[column - 1] ?? 0) + 1
      const removed = (previous[column] ?? 0) + 1
      current.push(Math.min(substituted, inserted, removed))
    }
    previous = current
  }
  return previous[right.length] ?? 0
}
