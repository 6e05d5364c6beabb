export { type Databases, databaseDsns, openDatabases } from './databases.ts'
export { createPipeline } from './pipeline.ts'
export { type Roles, rolesOf, withEndpoints, withJobs, withoutRole } from './roles.ts'
export { jointProblems, settingGroups, titledGroups, type Values } from './settings.ts'
