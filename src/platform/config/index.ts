export * as kind from './kinds.ts'
export {
  type DatabaseUrl,
  type ListenAddress,
  type Pem,
  parseDatabaseUrl,
  type TlsFiles,
} from './kinds.ts'
export {
  type EffectiveSetting,
  type Environment,
  type LoadedSettings,
  loadSettings,
  type SettingProblem,
} from './load.ts'
export {
  type PlatformSettings,
  type ProcessRole,
  platformSettings,
  processRoles,
} from './platform-settings.ts'
export { problemsTable, settingsMarkdown, textTable } from './report.ts'
export {
  companionName,
  defineSettings,
  type Setting,
  type SettingGroup,
  type SettingValues,
  setting,
} from './settings.ts'
