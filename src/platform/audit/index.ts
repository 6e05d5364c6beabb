export { commandActor } from './command-actor.ts'
export {
  type Actor,
  type AuditAction,
  type AuditEntry,
  auditActions,
} from './domain.ts'
export { createAudit } from './feature.ts'
export { actorOf } from './routes.ts'
export { auditInsert, writeAudit } from './store.ts'
