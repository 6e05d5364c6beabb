import type { Kind } from './kinds.ts'

export type Setting<T> = {
  /** The environment variable. */
  readonly env: string
  readonly kind: Kind<unknown>
  /** The text that the operator would write; undefined when the setting has no default. */
  readonly default: string | undefined
  /** One sentence for the documentation. */
  readonly doc: string
  /** Exists only in the type: the value that {@link SettingValues} gives for this setting. */
  readonly value?: T
}

export type SettingGroup = Readonly<Record<string, Setting<unknown>>>

type ValueOf<S> = S extends Setting<infer T> ? T : never

/** The parsed values of a group, by property name. */
export type SettingValues<G extends SettingGroup> = { readonly [K in keyof G]: ValueOf<G[K]> }

/**
 * Declares one setting.
 *
 * @example setting('HTTP_ADDR', listenAddress(), { default: ':8080', doc: 'HTTP listen address.' })
 */
export function setting<T>(
  env: string,
  kind: Kind<T>,
  options: { readonly default: string; readonly doc: string },
): Setting<T>
export function setting<T>(
  env: string,
  kind: Kind<T>,
  options: { readonly doc: string },
): Setting<T | undefined>
export function setting<T>(
  env: string,
  kind: Kind<T>,
  options: { readonly default?: string; readonly doc: string },
): Setting<T | undefined> {
  return { env, kind, default: options.default, doc: options.doc }
}

/** The settings of one feature: exported from its `config.ts`, parsed by `loadSettings` in main. */
export const defineSettings = <const G extends SettingGroup>(group: G): G => group

/** The other variable a setting may come from, if its kind has one. */
export const companionName = (setting: Setting<unknown>): string | undefined => {
  switch (setting.kind.from) {
    case 'value':
      return undefined
    case 'secret':
      return `${setting.env}_FILE`
    case 'pem':
      return `${setting.env.replace(/_PATH$/, '')}_BASE64`
  }
}
