import { uuidMoment } from '#src/platform/runtime/index.ts'

/** The actions that we record: all that move money, and all that change who may do or learn what. */
export const auditActions = [
  'spi.send',
  'spi.refund',
  'spi.pay',
  'spi.report',
  'spi.resend',
  'spi.resolve',
  'dict.change',
  'dict.infraction',
  'dict.claim',
  'dict.claim.act',
  'dict.lookup',
  'dict.reconcile',
  'dict.refund',
  'dict.register',
  'dict.verify',
  'lists.refresh',
  'pix.receiver',
  'pix.webhook',
  'cards.authorize',
  'cards.capture',
  'cards.void',
  'cards.increment',
  'cards.refund',
  'cards.verify',
  'cards.resolve',
  'drex.transfer',
  'drex.cancel',
  'drex.retry',
  'drex.fund',
  'drex.approve',
  'drex.resolve',
  'drex.resend',
  'drex.forget',
  'drex.delivery',
  'drex.delivery.cancel',
  'drex.lien',
  'drex.lien.adopt',
  'drex.lien.act',
  'drex.operation',
  'wallets.create',
  'wallets.change',
  'wallets.sign',
  'contracts.deploy',
  'contracts.register',
  'contracts.call',
  'streams.create',
  'streams.delete',
  'webhooks.create',
  'webhooks.change',
  'webhooks.delete',
  'webhooks.rotate',
  'webhooks.replay',
  'webhooks.test',
  'certificates.import',
  'certificates.delete',
  'keys.create',
  'keys.revoke',
  'keys.change',
  'keys.rotate',
  'certificates.export',
  'jose.sign',
  'rsfn.seal',
  'rsfn.open',
  'jose.decrypt',
  'master_key.rotate',
  'recurring.rebuild',
  'dead_letters.retry',
  'dead_letters.drop',
  'console.sign_in',
  'console.sign_out',
  'log_level.set',
  'access.refused',
] as const
export type AuditAction = (typeof auditActions)[number]

/** The one who acts. */
export type Actor = {
  /** Public id of the API key, or `cli:<user>` of a command. */
  readonly id: string
  readonly requestId: string | undefined
}

/** One act, without its payload. */
export type AuditEntry = {
  readonly actor: Actor
  readonly action: AuditAction
  /** Id of the object of the action. */
  readonly object: string
  /** The result in a word: `queued`, `created`. */
  readonly outcome: string
}

export type AuditRecord = {
  readonly id: string
  readonly actor: string
  readonly action: string
  readonly object: string
  readonly outcome: string
  readonly requestId: string | null
}

export type AuditFilter = {
  readonly actor?: string | undefined
  readonly action?: AuditAction | undefined
  readonly object?: string | undefined
  readonly from?: Date | undefined
  /** Exclusive. */
  readonly to?: Date | undefined
}

/** An entry as the endpoint and exports show it. */
export const viewOf = ({ id, actor, action, object, outcome, requestId }: AuditRecord) => ({
  id,
  at: uuidMoment(id).toISOString(),
  actor,
  action,
  object,
  outcome,
  request_id: requestId,
})

/** The entry that was shown so. */
export const recordOf = (view: Omit<ReturnType<typeof viewOf>, 'at'>): AuditRecord => {
  const { id, actor, action, object, outcome, request_id: requestId } = view
  return { id, actor, action, object, outcome, requestId }
}
