export { type Databases, databaseDsns, openDatabases } from './databases.ts'
export { createPipeline } from './pipeline.ts'
export { jointProblems, settingGroups, titledGroups, type Values } from './settings.ts'
