/** Error codes of the Kafka protocol that are acted on. */
export const protocolErrorCodes = {
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  messageTooLarge: 10,
  coordinatorLoadInProgress: 14,
  coordinatorNotAvailable: 15,
  recordListTooLarge: 18,
  illegalGeneration: 22,
  unknownMemberId: 25,
  rebalanceInProgress: 27,
  topicAlreadyExists: 36,
  memberIdRequired: 79,
} as const

/** True when the error, or one of those it gathers or comes from, is one of these answers of a broker. */
export const hasProtocolError = (error: unknown, ...codes: readonly number[]): boolean => {
  if (typeof error !== 'object' || error === null) return false
  if ('apiCode' in error && typeof error.apiCode === 'number' && codes.includes(error.apiCode)) {
    return true
  }
  if ('errors' in error && Array.isArray(error.errors)) {
    if (error.errors.some((inner) => hasProtocolError(inner, ...codes))) return true
  }
  return 'cause' in error && hasProtocolError(error.cause, ...codes)
}

/**
 * What an error says, in one line and without what hangs on it: the library's errors carry whole answers of the broker,
 * and with them messages.
 */
export const plainError = (error: unknown): Error =>
  new Error([...new Set(sayings(error))].join(' '))

const sayings = (error: unknown): readonly string[] => {
  if (!(error instanceof Error)) return [String(error)]
  const inner = 'errors' in error && Array.isArray(error.errors) ? error.errors : []
  const said = 'apiId' in error ? `${String(error.apiId)}: ${error.message}` : error.message
  return [
    said,
    ...inner.flatMap(sayings),
    ...(error.cause === undefined ? [] : sayings(error.cause)),
  ]
}
