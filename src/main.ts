import manifest from '../package.json' with { type: 'json' }
import { type PlatformDeps, type Program, runCli } from './cli/index.ts'
import {
  type Environment,
  type LoadedSettings,
  loadSettings,
  platformSettings,
} from './platform/config/index.ts'
import type { Feature, Inspector } from './platform/lifecycle/index.ts'
import { createTransform, iso20022Inspector } from './spi/index.ts'

/** Every feature's settings: one line per feature. */
const settingGroups = {
  platform: platformSettings,
}

const settingTitles: Readonly<Record<keyof typeof settingGroups, string>> = {
  platform: 'Platform',
}

type Values = LoadedSettings<typeof settingGroups>['values']

/** The only place where features meet: one line per feature, in the order of starting. */
const createFeatures = (_values: Values, { metrics }: PlatformDeps): readonly Feature[] => [
  createTransform({ metrics }),
]

/** What `trilho inspect` can explain, the surest test first. */
const inspectors: readonly Inspector[] = [iso20022Inspector]

const program: Program = {
  version: manifest.version,
  settingGroups: Object.entries(settingGroups).map(([name, settings]) => ({
    title: settingTitles[name as keyof typeof settingGroups],
    settings,
  })),
  inspectors,
  load: (env: Environment) => {
    const loaded = loadSettings(settingGroups, env)
    return {
      ...loaded,
      platform: loaded.values.platform,
      createFeatures: (deps) => createFeatures(loaded.values, deps),
    }
  },
}

// Always an explicit exit: a forgotten handle must not keep a stopped process alive.
process.exit(
  await runCli(
    process.argv.slice(2),
    {
      env: process.env,
      out: (text) => process.stdout.write(text),
      err: (text) => process.stderr.write(text),
      readInput: () => Bun.stdin.bytes(),
    },
    program,
  ),
)
