import type {
  EffectiveSetting,
  Environment,
  PlatformSettings,
  SettingGroup,
  SettingProblem,
} from '#src/platform/config/index.ts'
import type { Migration } from '#src/platform/database/index.ts'
import type { RailRooms, RateLimits } from '#src/platform/http/index.ts'
import type { Feature, Inspector } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import type { Authenticator, KeyMaterial } from '#src/platform/security/index.ts'

/** The parts that every feature may be given. */
export type PlatformDeps = {
  readonly logger: Logger
  readonly cardsLogger: Logger
  readonly metrics: Metrics
  readonly version: string
  /** Knows the features' own keys too; so it is not to be asked before they have started. */
  readonly authenticator: Authenticator
  /** The TLS material of the HTTP listeners; undefined: plain HTTP. */
  readonly tls?: KeyMaterial | undefined
  /** Undefined: no caller is limited. */
  readonly rates?: RateLimits
  /** Undefined: as many requests at once as come. */
  readonly rooms?: RailRooms
}

/** The program as `src/main.ts` puts it together, seen by the commands. */
export type Program = {
  readonly version: string
  readonly settingGroups: readonly { readonly title: string; readonly settings: SettingGroup }[]
  readonly inspectors: readonly Inspector[]
  readonly migrations: readonly Migration[]
  /** The indexes and constraints of a database that has them all. */
  readonly structure: readonly string[]
  readonly load: (env: Environment) => LoadedProgram
}

export type LoadedProgram = {
  readonly problems: readonly SettingProblem[]
  readonly warnings: readonly string[]
  readonly effective: readonly EffectiveSetting[]
  readonly platform: PlatformSettings
  /** The connection string of DATABASE_DSN: cards alone may have another. */
  readonly database: string | undefined
  /** The connection strings that hold our schema, each once. */
  readonly databases: readonly string[]
  /** Connections that a process opens to each at most. */
  readonly connectionsMax: number
  /** Days that audit entries are kept. */
  readonly auditRetentionDays: number
  /** Must only be called when there are no problems. */
  readonly createFeatures: (deps: PlatformDeps) => readonly Feature[]
}

/** The input and output of a command; tests give their own. */
export type Io = {
  readonly env: Environment
  readonly out: (text: string) => void
  /**
   * Resolves once the reader has taken all of `out`, so that a slow one costs no memory. @throws if it takes no more
   */
  readonly taken: () => Promise<void>
  readonly err: (text: string) => void
  /** Writes over the last line of standard error; undefined where that is no terminal. */
  readonly overwrite?: ((line: string) => void) | undefined
  /** All of standard input, or its last bytes. */
  readonly readInput: (tailBytesMax?: number) => Promise<Uint8Array>
}
