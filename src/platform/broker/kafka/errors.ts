/** Error codes of the Kafka protocol that are acted on. */
export const protocolErrorCodes = {
  unknownServerError: -1,
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  notLeaderOrFollower: 6,
  requestTimedOut: 7,
  messageTooLarge: 10,
  networkException: 13,
  coordinatorLoadInProgress: 14,
  coordinatorNotAvailable: 15,
  recordListTooLarge: 18,
  notEnoughReplicas: 19,
  notEnoughReplicasAfterAppend: 20,
  illegalGeneration: 22,
  unknownMemberId: 25,
  rebalanceInProgress: 27,
  topicAlreadyExists: 36,
  outOfOrderSequenceNumber: 45,
  duplicateSequenceNumber: 46,
  invalidProducerEpoch: 47,
  storageError: 56,
  unknownProducerId: 59,
  memberIdRequired: 79,
  unknownTopicId: 100,
} as const

/** A broker's answer that is no success. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
  readonly apiCode: number

  constructor(code: number, about: string) {
    const name = Object.entries(protocolErrorCodes).find(([, known]) => known === code)?.[0]
    super(`Kafka answers ${name ?? `error ${code}`} for ${about}`)
    this.apiCode = code
  }
}

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
