/**
 * The channel of a message whose sender names none: scheduled payments (PAGAGD) go by the secondary, all else,
 * returns and status reports among it, by the primary.
 */
export const channelOf = (messageType: string, params: unknown): 'PRIMARY' | 'SECONDARY' => {
  if (messageType !== 'PACS008' || typeof params !== 'object' || params === null) return 'PRIMARY'
  return 'service_level' in params && params.service_level === 'PAGAGD' ? 'SECONDARY' : 'PRIMARY'
}
