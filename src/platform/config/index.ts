export { type DatabaseUrl, databaseUrl, parseDatabaseUrl } from './database-url.ts'
export {
  boolean,
  decimal,
  hostPort,
  integer,
  type Kind,
  type ListenAddress,
  list,
  listenAddress,
  oneOf,
  type Pem,
  pairs,
  path,
  pem,
  secret,
  secretUrl,
  text,
  url,
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
