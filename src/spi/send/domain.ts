/**
 * The channel of a message whose sender names none: scheduled payments (PAGAGD) go by the secondary, all else,
 * returns and status reports among it, by the primary.
 */
export const channelOf = (messageType: string, params: unknown): 'PRIMARY' | 'SECONDARY' =>
  isScheduled(messageType, params) ? 'SECONDARY' : 'PRIMARY'

/** A payment without haste, which settles within 45 minutes. */
export const isScheduled = (messageType: string, params: unknown): boolean => {
  if (messageType !== 'PACS008' || typeof params !== 'object' || params === null) return false
  return 'service_level' in params && params.service_level === 'PAGAGD'
}
