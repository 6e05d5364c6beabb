import { isStatementCanceled } from '#src/platform/database/index.ts'
import { inTimeOr, newUuid } from '#src/platform/runtime/index.ts'
import { random } from '../../random.ts'
import type { Answer } from './answers.ts'
import { noEffect, type ReadInbound } from './read.ts'

/** A message alone runs into the time limit of a statement, and a small one of its kind does not. */
export class SlowMessageError extends Error {
  override readonly name = 'SlowMessageError'
}

/** A message alone runs into it, as a small one of its kind would: the message is not to blame, and it does not count. */
export class SlowDatabaseError extends Error {
  override readonly name = 'SlowDatabaseError'
}

/** What is stored within this time tells that the database is well: a tenth of what a statement may take by default. */
const quickMs = 3_000

/**
 * Stores a message that shares its transaction with nobody, and tells one that takes too long from a database that does.
 *
 * @param probe stores a {@link smallOneLike} it, and takes that back
 * @throws SlowMessageError, or SlowDatabaseError, where a statement runs into the time limit
 */
export const storeAlone = async <T>(
  write: () => Promise<T>,
  probe: () => Promise<unknown>,
): Promise<T> => {
  try {
    return await write()
  } catch (cause) {
    if (!isStatementCanceled(cause)) throw cause
    const isStored = probe().then(
      () => true,
      () => false,
    )
    if (await inTimeOr(isStored, quickMs, false)) {
      throw new SlowMessageError('a message takes longer than a statement may', { cause })
    }
    throw new SlowDatabaseError(
      'the database is too slow to store what is received: it stays in its queue',
      { cause },
    )
  }
}

const ownCharacters = 11
const ofAnother = (id: string): string => id.slice(0, -ownCharacters) + random(ownCharacters)

/** A message of the same type that nobody has sent: it answers one thing at most, and nothing follows from it. */
export const smallOneLike = (inbound: ReadInbound, now: Date): ReadInbound => {
  const { message, answers } = inbound
  return {
    ...inbound,
    ...noEffect,
    answers: answers.slice(0, 1).map(answerLike),
    message: {
      ...message,
      id: newUuid(now),
      bizMsgIdr: message.bizMsgIdr && ofAnother(message.bizMsgIdr),
      resourceId: message.resourceId && ofAnother(message.resourceId),
      warnings: [],
      transactions: message.transactions.slice(0, 1).map((one) => ({
        ...one,
        endToEndId: one.endToEndId && ofAnother(one.endToEndId),
      })),
      xml: new Uint8Array(1),
    },
  }
}

const answerLike = (answer: Answer): Answer =>
  answer.kind === 'message'
    ? { ...answer, reference: ofAnother(answer.reference) }
    : { ...answer, endToEndId: ofAnother(answer.endToEndId) }
