import { accessSync, constants } from 'node:fs'
import { networkFault } from '../security/keys/networks.ts'

/** How one setting's text becomes a value. `parse` throws an Error whose message never quotes the text. */
export type Kind<T> = {
  /** What the operator should have written, for the problems table and the documentation. */
  readonly expected: string
  /** `secret`: also read from NAME_FILE. `pem`: NAME_PATH names a file, NAME_BASE64 holds its content. */
  readonly from: 'value' | 'secret' | 'pem'
  readonly parse: (text: string, path: string | undefined) => T
  /** The part of the text that we may show. */
  readonly mask: (text: string) => string
}

export type ListenAddress = {
  /** Undefined: all interfaces. */
  readonly host: string | undefined
  readonly port: number
}

/** PEM text, and the file it came from so that a feature can watch it for renewal. */
export type Pem = { readonly text: string; readonly path: string | undefined }

const show = (text: string): string => text
const hide = (): string => '***'

/** A kind that stands in its variable alone, and may be shown as it is. */
export const value = <T>(expected: string, parse: (text: string) => T): Kind<T> => ({
  expected,
  from: 'value',
  mask: show,
  parse,
})

export const text = (options: { pattern?: RegExp; expected?: string } = {}): Kind<string> =>
  value(options.expected ?? 'text', (given) => {
    if (options.pattern?.test(given) === false) throw new Error('has another form')
    return given
  })

const number = (what: string, form: RegExp, min: number, max: number): Kind<number> =>
  value(`${what} from ${min} to ${max}`, (given) => {
    if (!form.test(given)) throw new Error(`is not a ${what}`)
    const found = Number(given)
    if (found < min || found > max) throw new Error('is out of range')
    return found
  })

export const integer = (min: number, max: number): Kind<number> =>
  number('whole number', /^-?\d{1,15}$/, min, max)

export const decimal = (min: number, max: number): Kind<number> =>
  number('number', /^-?\d{1,12}(\.\d{1,12})?$/, min, max)

export const boolean = (): Kind<boolean> =>
  value('`true` or `false`', (given) => {
    switch (given.toLowerCase()) {
      case 'true':
      case '1':
        return true
      case 'false':
      case '0':
        return false
      default:
        throw new Error('is neither true nor false')
    }
  })

export const oneOf = <const T extends string>(...values: readonly T[]): Kind<T> =>
  value(values.map((one) => `\`${one}\``).join(', '), (given) => {
    const found = values.find((candidate) => candidate === given)
    if (found === undefined) throw new Error('is not one of the values')
    return found
  })

/** Comma-separated items, at most `itemsMax`, none twice. */
export const list = <T>(item: Kind<T>, itemsMax = 64): Kind<readonly T[]> => ({
  expected: `comma-separated: ${item.expected}`,
  from: 'value',
  mask: (value) => {
    const shown = value.split(',').map(item.mask)
    // If an item is not valid, the comma may have been a part of a secret.
    return shown.includes(hide()) ? hide() : shown.join(',')
  },
  parse: (value) => {
    const items = value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
    if (items.length === 0) throw new Error('is empty')
    if (items.length > itemsMax) throw new Error(`holds more than ${itemsMax} items`)
    if (new Set(items).size !== items.length) throw new Error('names an item twice')
    return items.map((part) => item.parse(part, undefined))
  },
})

const addressForm = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))?:(\d{1,5})$/

/** `:8080` (all interfaces), `127.0.0.1:8080`, `host:8080`, `[::1]:8080`. Port 0 asks for a free one. */
export const listenAddress = (): Kind<ListenAddress> =>
  value('`:8080`, `127.0.0.1:8080` or `[::1]:8080`', (given) => {
    const found = addressForm.exec(given)
    if (found === null) throw new Error('is not a listen address')
    const port = Number(found[3])
    if (port > 65_535) throw new Error('names a port above 65535')
    return { host: found[1] ?? found[2], port }
  })

/** `host:port` of a server to connect to. */
export const hostPort = (): Kind<string> =>
  value('`host:port`', (given) => {
    const found = addressForm.exec(given)
    const port = Number(found?.[3] ?? 0)
    if (found === null || (found[1] ?? found[2]) === undefined) throw new Error('is not host:port')
    if (port < 1 || port > 65_535) throw new Error('names a port outside 1 to 65535')
    return given
  })

const urlBegin = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)/i

/** A text with a scheme in its parts, whatever they hold: of several `@` before the path the last ends the user's part. */
const urlParts = (value: string) => {
  const [begin = '', scheme = '', authority = ''] = urlBegin.exec(value) ?? []
  const rest = begin === '' ? '' : value.slice(begin.length)
  const hostsAt = authority.lastIndexOf('@') + 1
  return { scheme, user: authority.slice(0, hostsAt), hosts: authority.slice(hostsAt), rest }
}

/** Hides user part and query, and everything behind the scheme if a password with `/` or `?` may end there. */
const maskedUrl = (value: string, shownPath = show): string => {
  const { scheme, user, hosts, rest } = urlParts(value)
  if (scheme === '' || rest.includes('@')) return scheme + hide()
  const [path = '', query] = rest.split(/[?#]/, 2)
  const place = (user && `${hide()}@`) + hosts + shownPath(path)
  return scheme + place + (query === undefined ? '' : `?${hide()}`)
}

/** A kind of URL whose mask shows nothing of an unreadable one: nobody knows which part of it is the secret. */
const secretUrlOf = (
  kind: Pick<Kind<string>, 'expected' | 'parse'>,
  shownPath: (path: string) => string,
): Kind<string> => ({
  ...kind,
  from: 'secret',
  mask: (value) => {
    try {
      kind.parse(value, undefined)
    } catch {
      return hide()
    }
    return maskedUrl(value, shownPath)
  },
})

/** An address, or a network in CIDR notation. */
export const network = (): Kind<string> =>
  value('`address` or `address/bits`', (given) => {
    const fault = networkFault(given)
    if (fault !== undefined) throw new Error(`is ${fault}`)
    return given
  })

/** An absolute URL of one of the protocols (`https`). Kept as written; user part and query are masked. */
export const url = (...protocols: readonly string[]): Kind<string> => ({
  expected: `URL with ${protocols.map((name) => `\`${name}://\``).join(' or ')}`,
  from: 'value',
  mask: (value) =>
    urlParts(value).scheme === '' && !/[@?#]/.test(value) ? value : maskedUrl(value),
  parse: (value) => {
    const parsed = URL.parse(value)
    if (parsed === null) throw new Error('is not a URL')
    if (!protocols.includes(parsed.protocol.slice(0, -1))) throw new Error('has another protocol')
    if (parsed.hostname === '' && !parsed.protocol.startsWith('postgres')) {
      throw new Error('names no host')
    }
    return value
  },
})

/** A URL, or `host:port` for one of the first protocol. */
export const urlOrHostPort = (protocol: string, ...more: readonly string[]): Kind<string> => {
  const ofUrl = url(protocol, ...more)
  const ofHost = hostPort()
  return {
    ...ofUrl,
    expected: `${ofUrl.expected}, or ${ofHost.expected} for \`${protocol}://\``,
    parse: (value, path) =>
      value.includes('://')
        ? ofUrl.parse(value, path)
        : `${protocol}://${ofHost.parse(value, path)}`,
  }
}

/** A URL that may hold a password, or a key in its path: as `url`, and readable from NAME_FILE. */
export const secretUrl = (...protocols: readonly string[]): Kind<string> =>
  secretUrlOf(url(...protocols), (path) => (path.length > 1 ? `/${hide()}` : path))

const schemes = ['postgres://', 'postgresql://']
const hostForm = /^(?:\[[0-9a-fA-F:.]+\]|[^[\]:,\s]*)(?::(\d{1,5}))?$/
const hostsMax = 16
const targetParameter = 'target_session_attrs'
/** A process that writes payments has no use for a standby, so we refuse the other targets that libpq knows. */
const targets: readonly string[] = ['any', 'read-write', 'primary']

export type DatabaseUrl = {
  /** The same connection string for each host. */
  readonly servers: readonly [string, ...string[]]
  /** True if only a server that takes writes will do, per `target_session_attrs`; the default with several hosts. */
  readonly isPrimary: boolean
  /** Paths of the files that its TLS goes by, where the string names them. */
  readonly tlsFiles?: TlsFiles
}

export type TlsFiles = { readonly ca?: string; readonly cert?: string; readonly key?: string }

/** `allow` is missing: it would begin in clear. */
const tlsModes: readonly string[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']
const tlsParameters = [
  ['ca', 'sslrootcert'],
  ['cert', 'sslcert'],
  ['key', 'sslkey'],
] as const

/**
 * A connection string as libpq knows it, with one host or several (`h1:5432,h2`).
 *
 * @throws Error with what is wrong
 */
export const parseDatabaseUrl = (value: string): DatabaseUrl => {
  const { scheme, user, hosts: authority, rest } = urlParts(value)
  if (!schemes.includes(scheme)) throw new Error('is not a URL of PostgreSQL')
  if (/[@#]/.test(rest)) {
    throw new Error('has an @ or # that is not percent-encoded, as a password must (%40, %23)')
  }
  const hosts = authority.split(',')
  if (hosts.length > hostsMax) throw new Error(`names more than ${hostsMax} hosts`)
  for (const host of hosts) {
    const found = hostForm.exec(host)
    if (found === null || (host === '' && hosts.length > 1))
      throw new Error(`has a host that is none`)
    if (Number(found[1] ?? 1) < 1 || Number(found[1] ?? 1) > 65_535) {
      throw new Error('names a port outside 1 to 65535')
    }
  }
  const [place = '', query = ''] = rest.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  const tlsFiles = takeTlsFiles(parameters)
  const target = parameters.get(targetParameter) ?? (hosts.length > 1 ? 'primary' : 'any')
  if (!targets.includes(target)) {
    throw new Error(`has a ${targetParameter} that is none of ${targets.join(', ')}`)
  }
  parameters.delete(targetParameter)
  const ending = `${place}${parameters.size === 0 ? '' : `?${parameters}`}`
  const servers = hosts.map((host) => scheme + user + host + ending)
  if (servers.some((one) => URL.parse(one) === null)) throw new Error('is not a URL')
  return {
    servers: servers as [string, ...string[]],
    isPrimary: target !== 'any',
    ...(tlsFiles && { tlsFiles }),
  }
}

/** The driver knows the mode alone, and would tell the server of the files. */
const takeTlsFiles = (parameters: URLSearchParams): TlsFiles | undefined => {
  const mode = parameters.get('sslmode') ?? ''
  if (mode !== '' && !tlsModes.includes(mode)) {
    throw new Error(`has an sslmode that is none of ${tlsModes.join(', ')}`)
  }
  const named = tlsParameters.flatMap(([option, name]) => {
    const path = parameters.get(name)
    parameters.delete(name)
    return path === null ? [] : [[option, path]]
  })
  if (named.length === 0) return undefined
  if (!mode.startsWith('verify-')) {
    throw new Error('names files for TLS, which need sslmode=verify-full')
  }
  return Object.fromEntries(named)
}

const isReadable = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** A connection string of PostgreSQL, of one host or several. */
export const databaseUrl = (): Kind<string> => {
  const parse = (value: string): string => {
    const { tlsFiles = {} } = parseDatabaseUrl(value)
    if (!Object.values(tlsFiles).every(isReadable)) {
      throw new Error('names a file for TLS that cannot be read')
    }
    return value
  }
  const expected = 'URL with `postgres://`, of one host or several (`h1:5432,h2:5432`)'
  return secretUrlOf({ expected, parse }, show)
}

export const path = (): Kind<string> =>
  value('path of a file or directory', (given) => {
    if (given.includes('\0')) throw new Error('holds a zero byte')
    return given
  })

export const secret = (charactersMin = 1): Kind<string> => ({
  expected: charactersMin > 1 ? `secret of at least ${charactersMin} characters` : 'secret',
  from: 'secret',
  mask: hide,
  parse: (value) => {
    if (value.length < charactersMin) throw new Error(`is shorter than ${charactersMin} characters`)
    if (/\p{Cc}/u.test(value)) throw new Error('holds a line break or another control character')
    return value
  },
})

/** PEM material: the variable NAME_PATH names a file; NAME_BASE64 holds the same content in base64. */
export const pem = (): Kind<Pem> => ({
  expected: 'path of a PEM file (or its content in base64, see the name ending in `_BASE64`)',
  from: 'pem',
  mask: hide,
  parse: (value, file) => {
    if (!/-----BEGIN [A-Z0-9 ]+-----[\s\S]+-----END [A-Z0-9 ]+-----/.test(value)) {
      throw new Error('holds no PEM block')
    }
    return { text: value, path: file }
  },
})

const pairsMax = 64
const pairNameForm = /^[!-+\--<>-~]+$/
const pairValueForm = /^\P{Cc}*$/u

type PairsOptions = {
  readonly isSecret?: boolean
  readonly name?: RegExp
  /** What the decoded value must match. */
  readonly value?: RegExp
}

/**
 * `name=value` pairs between commas, values percent-encoded (as in W3C Baggage).
 *
 * @param isSecret - also read from NAME_FILE, and never shown
 */
export const pairs = ({
  isSecret = false,
  name = pairNameForm,
  value: valueForm = pairValueForm,
}: PairsOptions = {}): Kind<Readonly<Record<string, string>>> => ({
  expected: 'comma-separated: `name=value`, the value percent-encoded',
  from: isSecret ? 'secret' : 'value',
  mask: isSecret ? hide : show,
  parse: (value) => {
    const all = value
      .split(',')
      .map((pair) => pair.trim())
      .filter((pair) => pair !== '')
    if (all.length === 0) throw new Error('is empty')
    if (all.length > pairsMax) throw new Error(`holds more than ${pairsMax} pairs`)
    const read = all.map((pair) => pairOf(pair, name, valueForm))
    if (new Set(read.map(([one]) => one)).size !== read.length) {
      throw new Error('has a name twice')
    }
    return Object.fromEntries(read)
  },
})

const pairOf = (pair: string, nameForm: RegExp, valueForm: RegExp): readonly [string, string] => {
  const at = pair.indexOf('=')
  const name = pair.slice(0, at).trim()
  if (at < 1) throw new Error('has a part without `=` and a name before it')
  if (!nameForm.test(name)) throw new Error('has a name of another form')
  const value = decoded(pair.slice(at + 1).trim())
  if (value === undefined || !valueForm.test(value)) throw new Error('has a value of another form')
  return [name, value]
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
