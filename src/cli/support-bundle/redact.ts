import type { Environment, SettingGroup } from '#src/platform/config/index.ts'
import { companionName } from '#src/platform/config/index.ts'
import { findSensitive, scrub, scrubFields } from '#src/platform/security/index.ts'

/** Shorter ones would be found in words of ours. */
const secretLengthMin = 6
const hidden = '***'

/**
 * The secrets of the settings, in clear, so that we find them wherever they got to: the values that `trilho config`
 * masks, and the secret parts of addresses.
 */
export const secretTexts = async (
  groups: readonly { readonly settings: SettingGroup }[],
  env: Environment,
): Promise<readonly string[]> => {
  const texts = new Set<string>()
  for (const setting of groups.flatMap(({ settings }) => Object.values(settings))) {
    const companion = companionName(setting)
    const path = companion?.endsWith('_FILE') ? env[companion] : undefined
    const read =
      path === undefined
        ? ''
        : await Bun.file(path)
            .text()
            .catch(() => '')
    for (const text of [env[setting.env] ?? '', read.trim()]) {
      const { from, mask } = setting.kind
      if (text === '' || (from !== 'secret' && mask(text) === text)) continue
      texts.add(text)
      const parts = [text, ...text.split(',')].flatMap((one) => secretsIn(one, mask(text)))
      // Lists of names with values: a header that a collector asks for.
      const values = text.split(',').map((part) => part.slice(part.indexOf('=') + 1))
      for (const part of [...parts, ...(isAddress(text) ? [] : values)]) {
        texts.add(part).add(decodeURIComponentSafely(part))
      }
    }
  }
  const long = [...texts].filter((text) => text.length >= secretLengthMin)
  // The longest first: one may be a part of another.
  return long.sort((one, other) => other.length - one.length)
}

/** In an address, the scheme comes before anything with a name. */
const isAddress = (text: string): boolean => (text.split('=', 1)[0] ?? '').includes('://')

/** Parameters of an address that keep nothing secret: their values are words that stand elsewhere too. */
const openParameters: ReadonlySet<string> = new Set([
  ...['application_name', 'channel_binding', 'client_encoding', 'connect_timeout', 'dbname'],
  ...['fallback_application_name', 'gssencmode', 'host', 'hostaddr', 'keepalives', 'options'],
  ...['port', 'replication', 'sslcert', 'sslcrl', 'sslkey', 'sslmode', 'sslnegotiation'],
  ...['sslrootcert', 'target_session_attrs', 'user'],
])

/**
 * The secret parts of an address: its password, a path that its mask hides, and the values of its parameters. The
 * address may not parse: a password may hold `@` and `/`.
 */
const secretsIn = (address: string, masked: string): readonly string[] => {
  const [, password = ''] = /:\/\/[^:@]*:(.*)@/s.exec(address) ?? []
  const [, path = '', query = ''] = /:\/\/[^/?#]*([^?#]*)\??([^#]*)/s.exec(address) ?? []
  const values = query.split('&').flatMap((parameter) => {
    const at = parameter.indexOf('=')
    return openParameters.has(parameter.slice(0, at)) ? [] : [parameter.slice(at + 1)]
  })
  return [password, ...(masked.includes(path) ? [] : [path.slice(1)]), ...values]
}

const decodeURIComponentSafely = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export type Redactor = {
  /** As pretty JSON, every field and text searched. */
  readonly json: (value: unknown) => string
  /** Metrics: searches their labels; the figures are ours. */
  readonly metrics: (text: string) => string
  /** Lines of JSON as the gateway logs; leaves out what a service manager writes before the brace. */
  readonly log: (text: string) => string
}

export const createRedactor = (secrets: readonly string[]): Redactor => {
  // Texts of JSON and of metrics escape some signs.
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  const withoutSecrets = (text: string): string =>
    forms.reduce((rest, secret) => rest.replaceAll(secret, hidden), text)
  const isSecret = (value: number): boolean => withoutSecrets(String(value)) !== String(value)
  const hide = (value: unknown): unknown => {
    if (typeof value === 'string') return withoutSecrets(value)
    if (typeof value === 'number') return isSecret(value) ? hidden : value
    if (Array.isArray(value)) return value.map(hide)
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value)
    return Object.fromEntries(members.map(([name, own]) => [withoutSecrets(name), hide(own)]))
  }
  const plain = (value: unknown): unknown => hide(JSON.parse(JSON.stringify(value ?? null)))
  /** The net below the guards: drops a line that still holds something secret. */
  const searched = (text: string): string =>
    text
      .split('\n')
      .map((line) => (findSensitive(line) === undefined ? line : '"[left out]"'))
      .join('\n')
  return {
    json: (value) => searched(JSON.stringify(scrubFields(plain(value)), undefined, 2)),
    metrics: (text) =>
      text
        .split('\n')
        .map((line) => {
          const at = line.startsWith('#') ? line.length : line.lastIndexOf(' ')
          return scrub(withoutSecrets(line.slice(0, at))) + line.slice(at)
        })
        .join('\n'),
    log: (text) => {
      const lines: string[] = []
      let others = 0
      for (const line of text.split('\n')) {
        const value = jsonOf(line)
        if (value === undefined) others += line.trim() === '' ? 0 : 1
        else lines.push(JSON.stringify(scrubFields(plain(value))))
      }
      if (others > 0) lines.push(JSON.stringify({ left_out: others, because: 'no JSON' }))
      return `${lines.join('\n')}\n`
    },
  }
}

const jsonOf = (line: string): unknown => {
  const at = line.indexOf('{')
  if (at < 0) return undefined
  try {
    return JSON.parse(line.slice(at))
  } catch {
    return undefined
  }
}
