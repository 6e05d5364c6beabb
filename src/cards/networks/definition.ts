import { dialects, framings } from '#codecs/iso8583'
import type { TlsSource } from '#src/platform/security/index.ts'
import type { NetworkSettings } from '../config.ts'
import type { NetworkOptions } from './options.ts'

/** One network as it is configured, wherever that is written. */
export type NetworkDefinition = Pick<
  NetworkOptions,
  | 'name'
  | 'brand'
  | 'host'
  | 'port'
  | 'timeoutMs'
  | 'dialect'
  | 'framing'
  | 'poolSize'
  | 'window'
  | 'signOn'
  | 'echoMs'
> & {
  readonly prefixes: readonly string[]
  /** Undefined: plain TCP. */
  readonly tls: TlsSource | undefined
}

/** Of the settings; undefined without a host. */
export const definitionOf = (
  name: string,
  settings: NetworkSettings,
): NetworkDefinition | undefined => {
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
    window: settings.window,
    signOn: settings.signOn,
    echoMs: settings.echoSeconds * 1_000,
    tls: settings.tls
      ? { ca: settings.tlsCa, certificate: settings.tlsCertificate, key: settings.tlsKey }
      : undefined,
  }
}
